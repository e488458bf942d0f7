package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Writer;
import org.jspecify.annotations.Nullable;

/**
 * A run as the table has it.
 *
 * @param id the internal id, which stands for scope and run id
 * @param owner its owner, who may be gone
 */
record RunRow(long id, long sequence, @Nullable Writer owner, long updatedNanos) {
  /** Where the log of a run ends and begins, as its row says. */
  record Head(long sequence, RunStatus status, long createdNanos, long updatedNanos) {}

  /** Whether somebody who opened the store before this epoch owns it, or nobody. */
  boolean isFree(long epoch) {
    return owner == null || owner.epoch() < epoch;
  }
}
