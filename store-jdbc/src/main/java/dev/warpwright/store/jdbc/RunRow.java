package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Writer;
import org.jspecify.annotations.Nullable;

/**
 * A run as the table has it.
 *
 * @param id the internal id, which stands for scope and run id
 * @param owner its owner, who may be gone
 * @param ownership whose worker the owner's is
 */
record RunRow(
    long id, long sequence, @Nullable Writer owner, Ownership ownership, long updatedNanos) {
  /** Where the log of a run ends and begins, as its row says. */
  record Head(long sequence, RunStatus status, long createdNanos, long updatedNanos) {}

  /** Whose a run is, by the epochs of the workers. */
  enum Ownership {
    /** Nobody's, or that of a worker whose epoch has ended. */
    NONE,
    /** That of this store. */
    HERE,
    /** That of another store that is open. */
    ELSEWHERE
  }

  /** Whether nobody owns it, or somebody whose epoch has ended. */
  boolean isFree() {
    return ownership == Ownership.NONE;
  }

  /** Whether a driver of this store may write as this owner. */
  boolean isDrivenBy(Writer writer) {
    return ownership == Ownership.HERE && writer.equals(owner);
  }
}
