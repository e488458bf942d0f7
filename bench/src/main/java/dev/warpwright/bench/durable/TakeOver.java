package dev.warpwright.bench.durable;

import dev.warpwright.bench.load.Environment;
import dev.warpwright.bench.load.Meter;
import dev.warpwright.bench.load.Options;
import dev.warpwright.bench.load.Rounds;
import dev.warpwright.bench.report.Question;
import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowRequest;
import dev.warpwright.flow.Flows;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Worker;
import dev.warpwright.task.TaskTree;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/**
 * How soon the runs of a killed process go on in another one, on PostgreSQL: counted from the end
 * of the dead process's lease, by the clock that both processes and the server share.
 */
@Question(
    place = 19,
    value = "How soon do the runs of a dead process go on in another one?",
    by = "share",
    baseline = "half")
public final class TakeOver {
  private static final int MAX_RUNS = 10_000;

  private TakeOver() {}

  /**
   * Measures and prints a table.
   *
   * @param arguments {@code --runs}, 1 000 by default, {@code --rounds}, 1 by default, and {@code
   *     --json FILE}
   * @throws Exception if a process failed
   */
  public static void main(String[] arguments) throws Exception {
    Options options = Options.parse(Set.of("--runs", "--rounds", "--json"), arguments);
    int runs = options.number("--runs", 1, 1_000);
    int rounds = options.number("--rounds", 1, 1);
    System.out.println("| runs | behind the lease's end: half | 99 of 100 | all |");
    System.out.println("|---:|---:|---:|---:|");
    List<List<Map<String, Object>>> figures = new ArrayList<>();
    try (Servers servers = new Servers()) {
      while (figures.size() < rounds) {
        Meter meter = measure(servers, runs);
        System.out.printf(
            "| %d | %d ms | %d ms | %d ms |%n",
            runs,
            meter.percentile(0.5).toMillis(),
            meter.percentile(0.99).toMillis(),
            meter.percentile(1).toMillis());
        figures.add(
            List.of(
                Map.of(
                    "runs",
                    runs,
                    "halfNanos",
                    meter.percentile(0.5).toNanos(),
                    "p99Nanos",
                    meter.percentile(0.99).toNanos(),
                    "allNanos",
                    meter.percentile(1).toNanos())));
      }
    }
    Optional<Path> json = options.file("--json");
    if (json.isPresent()) {
      Rounds.write(json.get(), TakeOver.class, Environment.here(), figures);
    }
  }

  private static Meter measure(Servers servers, int runs) throws Exception {
    try (Database database = Database.fresh(StoreKind.POSTGRES, servers);
        RunStore store = database.open()) {
      CountDownLatch all = new CountDownLatch(runs);
      try (Child child =
          Child.start(
              Doomed.class,
              "512m",
              line -> all.countDown(),
              database.url(),
              String.valueOf(runs))) {
        all.await();
        TaskTree tasks = TaskTree.builder().build();
        CountDownLatch left = new CountDownLatch(runs);
        Meter meter = new Meter();
        AtomicReference<Instant> end = new AtomicReference<>();
        Flow<String, String> flow =
            flow(
                () -> {
                  meter.took(Math.max(1, Duration.between(end.get(), Instant.now()).toNanos()));
                  left.countDown();
                });
        child.kill();
        end.set(leaseEnd(database));
        try (Worker worker =
            Worker.builder(store)
                .drives(Flows.on(tasks, store).driver(flow))
                .maxRuns(MAX_RUNS)
                .start()) {
          left.await();
          var _ = worker.awaitIdle(Duration.ofSeconds(10));
        }
        return meter;
      }
    }
  }

  private static Flow<String, String> flow(Runnable step) {
    return Flow.of(
        "taken",
        String.class,
        String.class,
        (ctx, input) -> {
          ctx.run("step", info -> step.run());
          return "done";
        });
  }

  private static Instant leaseEnd(Database database) throws SQLException {
    try (Connection connection = database.connect();
        PreparedStatement query =
            connection.prepareStatement("SELECT lease_until FROM ww_worker WHERE id = 'doomed'");
        ResultSet row = query.executeQuery()) {
      row.next();
      return Instant.ofEpochMilli(row.getLong(1));
    }
  }

  /** The process that is killed: each of its runs is in a step that does not end. */
  static final class Doomed {
    private Doomed() {}

    public static void main(String[] arguments) throws Exception {
      int runs = Integer.parseInt(arguments[1]);
      CountDownLatch never = new CountDownLatch(1);
      try (RunStore store = Database.open(StoreKind.POSTGRES, arguments[0], "doomed")) {
        Flows flows = Flows.on(TaskTree.builder().build(), store);
        Flow<String, String> flow =
            flow(
                () -> {
                  System.out.println("begun");
                  try {
                    never.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                });
        for (int n = 0; n < runs; n++) {
          var _ = flows.enqueue(FlowRequest.builder(flow, "go").build());
        }
        Worker.builder(store).drives(flows.driver(flow)).maxRuns(MAX_RUNS).start();
        never.await();
      }
    }
  }
}
