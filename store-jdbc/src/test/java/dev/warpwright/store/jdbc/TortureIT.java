package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A little of each kind of {@link Torture} that no other test contains. */
@NeedsPostgres
@DisabledOnOs(OS.WINDOWS)
@Timeout(300)
final class TortureIT {
  @TempDir private Path folder;

  @AfterEach
  void nothingIsLeft() {
    Databases.assertNoThreadLeft();
  }

  private static String postgres() throws Exception {
    return PostgresServer.get().cleared();
  }

  @Test
  @Tag("A3")
  void a_power_cut_loses_nothing_that_h2_has_acknowledged() throws Exception {
    Ordeal ordeal = Ordeal.rounds(4);

    PowerCuts.survive(ordeal, folder);

    assertEquals(16, ordeal.blows());
    assertEquals(0, ordeal.lost());
  }

  /** The control of the test above: it must be the force that makes the difference. */
  @Test
  void without_a_force_a_power_cut_loses_acknowledged_events() throws Exception {
    Ordeal ordeal = Ordeal.rounds(1);

    PowerCuts.lose(ordeal, folder);

    assertTrue(ordeal.lost() > 0);
  }

  @Test
  @Tag("A3")
  @Tag("A113")
  void a_server_that_is_stopped_at_once_and_started_again_loses_and_doubles_nothing()
      throws Exception {
    Storms.stop(Ordeal.rounds(2));
  }

  @Test
  void a_storm_of_interrupts_leaves_a_store_in_a_file_whole() throws Exception {
    Storms.interrupt(Ordeal.rounds(1), () -> Databases.inFile(folder));
  }

  @Test
  void a_storm_of_interrupts_leaves_a_store_on_postgres_whole() throws Exception {
    Storms.interrupt(Ordeal.rounds(1), TortureIT::postgres);
  }

  @Test
  @Tag("A121")
  void connections_that_are_cut_around_commits_lose_and_double_nothing() throws Exception {
    Storms.cut(Ordeal.rounds(1), TortureIT::postgres);
  }

  @Test
  @Tag("A112")
  @Tag("A122")
  void clocks_that_are_wrong_or_jump_move_no_run_and_turn_no_time_back() throws Exception {
    WrongClocks.survive(Ordeal.rounds(2), TortureIT::postgres);
  }

  @Test
  void eight_processes_that_boot_at_once_make_the_schema_or_bring_it_to_this_version()
      throws Exception {
    BootRace.race(Ordeal.rounds(2));
  }

  @Test
  @Tag("A122")
  @Tag("A123")
  void of_three_workers_that_are_killed_now_and_then_every_run_ends_and_acts_once()
      throws Exception {
    Ordeal ordeal = Ordeal.rounds(1);

    Fleet.drive(
        ordeal,
        Fleet.Harm.KILL,
        postgres(),
        folder.resolve("world"),
        300,
        Duration.ofSeconds(15),
        Duration.ofSeconds(3),
        Duration.ofSeconds(3));

    assertTrue(ordeal.blows() > 0);
  }

  @Test
  @Tag("A123")
  @Tag("A125")
  void a_worker_that_was_frozen_for_twice_its_lease_writes_nothing_late_and_repeats_nothing()
      throws Exception {
    Ordeal ordeal = Ordeal.rounds(1);

    Fleet.drive(
        ordeal,
        Fleet.Harm.FREEZE,
        postgres(),
        folder.resolve("world"),
        100,
        Duration.ofSeconds(10),
        Duration.ofSeconds(1),
        Duration.ofSeconds(2));

    assertTrue(ordeal.blows() > 0);
  }
}
