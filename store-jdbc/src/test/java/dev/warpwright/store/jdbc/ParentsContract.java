package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunStarted.HandedOver;
import dev.warpwright.run.RunEvent.RunStarted.Life;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What retention knows of the parents of runs: in old tables, and in large ones. */
@Timeout(120)
abstract class ParentsContract {
  private static final Set<RunStatus> COMPLETED = Set.of(RunStatus.COMPLETED);

  /** A database without tables. */
  abstract String empty() throws SQLException;

  /** The migrations to that database. */
  abstract FluentConfiguration migrations(String url);

  abstract Dialect dialect(String url);

  /** A table of the numbers from 1 on, in a column n. */
  abstract String numbers(int count);

  @AfterEach
  void nothingIsLeft() {
    Databases.assertNoThreadLeft();
  }

  private static Deadline soon() {
    return Deadline.after(TimeSource.system(), Duration.ofSeconds(60));
  }

  private static RunStarted started(
      @Nullable String input,
      @Nullable String parent,
      @Nullable HandedOver handoff,
      @Nullable Life life) {
    return new RunStarted(
        "agent",
        "1",
        Map.of(),
        Optional.empty(),
        List.of(Message.user("\"parent\":\"root\"}\0ä€\uD83C\uDF0D".repeat(400))),
        1,
        List.of(),
        Map.of("parent", "root"),
        Optional.empty(),
        false,
        Optional.empty(),
        Optional.ofNullable(input).map(Json::parse),
        Optional.ofNullable(parent),
        Optional.ofNullable(handoff),
        Optional.ofNullable(life),
        Optional.empty());
  }

  private static void insert(Connection connection, String id, RunStatus status, RunStarted first)
      throws SQLException {
    try (PreparedStatement run =
            connection.prepareStatement(
                "INSERT INTO ww_run (tenant, user_id, namespace, run_id, agent_id, status,"
                    + " sequence, owner_epoch, created_nanos, updated_nanos)"
                    + " VALUES ('default', '', '', ?, 'agent', ?, 1, 0, 1, 1)");
        PreparedStatement event =
            connection.prepareStatement(
                "INSERT INTO ww_event (run, sequence, append_id, type, version, writer, epoch,"
                    + " time_nanos, codec, body) SELECT id, 1, 1, ?, ?, 'x', 1, 1, 1, ?"
                    + " FROM ww_run WHERE run_id = ?")) {
      run.setString(1, id);
      run.setString(2, status.name());
      run.executeUpdate();
      event.setString(1, RunEventCodec.type(first));
      event.setInt(2, RunEventCodec.version(first));
      event.setBytes(3, RunEventCodec.encode(first));
      event.setString(4, id);
      event.executeUpdate();
    }
  }

  @Test
  @Tag("A119")
  @Tag("F78")
  void child_runs_of_an_older_version_stay_with_their_parents_too() throws Exception {
    String url = empty();
    migrations(url).table("ww_schema_history").target("3").load().migrate();
    String flat = "{\"parent\":\"root\"}";
    String nested = "{\"a\":" + flat + "}";
    Life life = new Life(Optional.of(Duration.ofDays(1)), true, Optional.of("root"));
    HandedOver handoff = new HandedOver("h", "agent", Map.of("parent", "root"));
    try (Connection connection = Databases.connect(url)) {
      insert(connection, "root", RunStatus.RUNNING, started(null, null, null, null));
      insert(connection, "child", RunStatus.COMPLETED, started(null, "root", null, null));
      insert(connection, "flow", RunStatus.COMPLETED, started(flat, "root", null, life));
      insert(connection, "plain", RunStatus.COMPLETED, started(nested, null, null, null));
      insert(connection, "lives", RunStatus.COMPLETED, started(flat, null, null, life));
      insert(connection, "handed", RunStatus.COMPLETED, started(null, "root", handoff, null));
    }
    try (RunStore store = Databases.builder(url).open()) {
      assertEquals(3, store.deleteExpired(Instant.EPOCH.plusSeconds(1), COMPLETED, 10, soon()));

      assertEquals(
          Set.of("root", "child", "flow"),
          store.list(RunQuery.all(RunScope.DEFAULT), soon()).stream()
              .map(summary -> summary.run().runId())
              .collect(Collectors.toSet()));
      assertTrue(store.delete(new RunKey(RunScope.DEFAULT, "root"), soon()));
      assertEquals(2, store.deleteExpired(Instant.EPOCH.plusSeconds(1), COMPLETED, 10, soon()));
    }
  }

  @Test
  @Tag("F78")
  void expired_runs_are_read_by_an_index_and_each_parent_is_looked_up_by_its_key()
      throws Exception {
    String url = empty();
    ExpiredQuery query = new ExpiredQuery(dialect(url).isExpired(), COMPLETED, Long.MAX_VALUE);
    try (RunStore store = Databases.builder(url).open();
        Connection connection = Databases.connect(url)) {
      Databases.execute(
          url,
          "INSERT INTO ww_run (tenant, user_id, namespace, run_id, agent_id, status, sequence,"
              + " owner_epoch, created_nanos, updated_nanos, parent_run_id)"
              + " SELECT 'default', '', '', 'r' || n, 'a', 'COMPLETED', 1, 0, 1, n, 'r' || n / 3"
              + " FROM "
              + numbers(20_000));
      Databases.execute(url, "ANALYZE");
      String plan = query.plan(connection, 100).toLowerCase(Locale.ROOT);

      assertTrue(plan.contains("ww_run_ended"), plan);
      assertTrue(plan.contains("ww_run_identity"), plan);
      assertFalse(plan.contains("seq scan"), plan);
      assertFalse(plan.contains("tablescan"), plan);
      assertEquals(100, store.deleteExpired(Instant.EPOCH.plusSeconds(1), COMPLETED, 100, soon()));
    }
  }
}
