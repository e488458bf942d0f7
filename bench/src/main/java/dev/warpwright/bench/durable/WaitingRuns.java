package dev.warpwright.bench.durable;

import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.bench.load.Heap;
import dev.warpwright.bench.load.JavaProcess;
import dev.warpwright.bench.load.Threads;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * What runs cost that wait for an approval: threads, and heap after a collection, in the process
 * that began them and in one that was started afterwards, each beside the same process without
 * them; and whether that later process finds them all.
 */
public final class WaitingRuns {
  private static final int WARMUP_RUNS = 1_000;
  private static final int PAGE = 1_000;

  private WaitingRuns() {}

  /**
   * Measures and prints a table.
   *
   * @param arguments how many runs, 10 000 by default, then the stores, H2 and PostgreSQL by
   *     default
   * @throws Exception if a measurement failed
   */
  public static void main(String[] arguments) throws Exception {
    int runs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
    List<StoreKind> stores =
        arguments.length > 1
            ? Stream.of(arguments).skip(1).map(StoreKind::parse).toList()
            : List.of(StoreKind.H2_POWER, StoreKind.POSTGRES);
    System.out.println("| store | process | waiting runs | threads | heap |");
    System.out.println("|---|---|---:|---:|---:|");
    try (Servers servers = new Servers()) {
      for (StoreKind kind : stores) {
        try (Database database = Database.fresh(kind, servers)) {
          begin(database, runs);
          restart(database, runs);
        }
        try (Database empty = Database.fresh(kind, servers)) {
          empty.open().close();
          restart(empty, 0);
        }
      }
    }
  }

  private static void begin(Database database, int runs) throws Exception {
    try (RunStore store = database.open();
        TrivialAgent trivial = TrivialAgent.waiting()) {
      Agents agents = trivial.on(store);
      start(trivial, agents, "warm-up", WARMUP_RUNS);
      print(database.kind(), "that began them", 0);
      start(trivial, agents, "waiting", runs);
      print(database.kind(), "that began them", runs);
    }
  }

  private static void start(TrivialAgent trivial, Agents agents, String tenant, int runs)
      throws Exception {
    AtOnce.each(
        runs,
        number -> {
          AgentResult result = agents.run(trivial.request(RunScope.of(tenant)));
          if (result.status() != RunStatus.WAITING_APPROVAL) {
            throw new IllegalStateException("A run is " + result.status());
          }
        });
  }

  /** Starts another process on the database, which says what it found. */
  private static void restart(Database database, int runs)
      throws IOException, InterruptedException {
    JavaProcess.run(
        JavaProcess.of(
                Restarted.class, database.kind().toString(), database.url(), String.valueOf(runs))
            .redirectOutput(ProcessBuilder.Redirect.INHERIT));
  }

  /** The process that is started afterwards. */
  static final class Restarted {
    private Restarted() {}

    public static void main(String[] arguments) throws Exception {
      StoreKind kind = StoreKind.parse(arguments[0]);
      String url = arguments[1];
      int runs = Integer.parseInt(arguments[2]);
      try (RunStore store = Database.open(kind, url, "restarted");
          TrivialAgent trivial = TrivialAgent.waiting()) {
        Agents agents = trivial.on(store);
        int found = waiting(agents);
        if (found != runs) {
          throw new IllegalStateException("Of " + runs + " runs " + found + " were found.");
        }
        print(kind, "started afterwards", found);
      }
    }

    private static int waiting(Agents agents) {
      Set<String> found = new HashSet<>();
      RunQuery query =
          RunQuery.builder(RunScope.of("waiting"))
              .statuses(RunStatus.WAITING_APPROVAL)
              .limit(PAGE)
              .build();
      while (true) {
        List<RunSummary> page = agents.runs().list(query);
        page.forEach(summary -> found.add(summary.run().runId()));
        if (page.size() < PAGE) {
          return found.size();
        }
        query = query.after(page.getLast());
      }
    }
  }

  private static void print(StoreKind kind, String process, int runs) throws Exception {
    System.out.printf(
        "| %s | %s | %d | %d | %.1f MB |%n",
        kind, process, runs, Threads.count(), Heap.used() / 1e6);
  }
}
