package dev.warpwright.store.jdbc;

/**
 * A store that is open, as the table of workers has it.
 *
 * @param id its row
 * @param epoch what it got when it was opened, or when it lost its lease and took a new one; ended
 *     when that of the row is higher
 * @param incarnation which opening under its name it is
 */
record Worker(String id, long epoch, long incarnation) {
  /** Whether a run that somebody owns under an epoch is one of this worker. */
  boolean isOwner(String worker, long ownerEpoch) {
    return id.equals(worker) && epoch == ownerEpoch;
  }
}
