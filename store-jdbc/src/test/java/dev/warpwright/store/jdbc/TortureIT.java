package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A little of every kind of {@link Torture} that no test of a single thing contains. */
@Timeout(300)
final class TortureIT {
  @TempDir private Path folder;

  @AfterEach
  void nothingIsLeft() {
    Databases.assertNoThreadLeft();
  }

  @Test
  @Tag("A3")
  void a_power_cut_loses_nothing_that_h2_has_acknowledged() throws Exception {
    Ordeal ordeal = Ordeal.rounds(8);

    PowerCuts.survive(ordeal, folder);

    assertEquals(0, ordeal.lost());
    assertTrue(ordeal.blows() > 0);
  }

  /** The control of the test above: it must be the force that makes the difference. */
  @Test
  void without_a_force_a_power_cut_loses_acknowledged_events() throws Exception {
    Ordeal ordeal = Ordeal.rounds(2);

    PowerCuts.lose(ordeal, folder);

    assertTrue(ordeal.lost() > 0);
  }
}
