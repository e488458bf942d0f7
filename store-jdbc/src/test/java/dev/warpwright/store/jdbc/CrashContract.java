package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.store.jdbc.CommitHook.Boundary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * On every database: what the store has acknowledged is there after the process died, whole and in
 * order; for longer, see {@link Torture}. The same database goes through all rounds of a test.
 */
@Timeout(600)
@Tag("A3")
abstract class CrashContract {
  private static final int ROUNDS = 6;

  /** The URL of the database of this test, in which there is nothing yet. */
  abstract String url();

  @AfterEach
  void nothingIsLeft() {
    Databases.assertNoThreadLeft();
  }

  @Test
  void kill_9_loses_nothing_that_was_acknowledged() throws Exception {
    CrashRounds.kill(Ordeal.rounds(ROUNDS), this::url);
  }

  @ParameterizedTest
  @EnumSource(Boundary.class)
  void halting_at_a_boundary_loses_nothing_that_was_acknowledged(Boundary boundary)
      throws Exception {
    Ordeal ordeal = Ordeal.rounds(1);

    CrashRounds.haltAt(ordeal, url(), boundary, 20);

    assertTrue(ordeal.acknowledged() > 0, "nothing was acknowledged before the crash");
  }
}
