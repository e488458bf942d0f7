package dev.warpwright.store.jdbc;

import java.sql.SQLException;

/**
 * A place in every commit where a test may halt the JVM, block, or fail the database. Called on the
 * journal thread.
 */
@FunctionalInterface
interface CommitHook {
  /** The boundaries of a commit, in order. */
  enum Boundary {
    /** Nothing was sent yet. */
    BEFORE_STATEMENT,
    /** Everything was sent, the transaction is open. */
    BEFORE_COMMIT,
    /** The transaction is committed, but a power cut would undo it. */
    AFTER_COMMIT,
    /** The commit is durable, nobody was told. */
    BEFORE_ACKNOWLEDGEMENT,
    /** The callers were told. */
    AFTER_ACKNOWLEDGEMENT
  }

  /** Does nothing. */
  CommitHook NONE = boundary -> {};

  /**
   * Called at each boundary.
   *
   * @throws SQLException stands for one of the database at this place
   */
  void at(Boundary boundary) throws SQLException;
}
