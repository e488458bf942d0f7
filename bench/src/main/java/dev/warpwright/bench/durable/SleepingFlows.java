package dev.warpwright.bench.durable;

import dev.warpwright.bench.load.Heap;
import dev.warpwright.bench.load.JavaProcess;
import dev.warpwright.bench.load.Meter;
import dev.warpwright.bench.load.Threads;
import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowResult;
import dev.warpwright.flow.Flows;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Worker;
import dev.warpwright.task.TaskTree;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/**
 * Flows asleep: what they take of the process that put them to sleep, and how late they wake in
 * another one that was started afterwards and has a worker.
 *
 * <p>They are due one after the other, {@value #A_SECOND} a second, from the moment when all sleep
 * on. How late a flow is, is what its body sees behind the sleep.
 */
public final class SleepingFlows {
  private static final int A_SECOND = 200;
  private static final int WARMUP_FLOWS = 1_000;
  private static final Duration PAUSE = Duration.ofSeconds(5);
  private static final Duration FOR_EVER = Duration.ofDays(10_000);

  private SleepingFlows() {}

  /**
   * Measures and prints a table.
   *
   * @param arguments how many flows, 10 000 by default, then the stores, H2 and PostgreSQL by
   *     default
   * @throws Exception if a measurement failed
   */
  public static void main(String[] arguments) throws Exception {
    int flows = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
    List<StoreKind> stores =
        arguments.length > 1
            ? Stream.of(arguments).skip(1).map(StoreKind::parse).toList()
            : List.of(StoreKind.H2_POWER, StoreKind.POSTGRES);
    System.out.println(
        "| store | asleep | threads | heap | woken | late: half | 99 of 100 | all |");
    System.out.println("|---|---:|---:|---:|---:|---:|---:|---:|");
    try (Servers servers = new Servers()) {
      for (StoreKind kind : stores) {
        try (Database database = Database.fresh(kind, servers)) {
          putToSleep(database, flows);
          wake(database, flows);
        }
      }
    }
  }

  private static void putToSleep(Database database, int count) throws Exception {
    try (RunStore store = database.open()) {
      Flows flows = Flows.on(TaskTree.builder().build(), store);
      Instant never = Instant.now().plus(FOR_EVER);
      AtOnce.each(WARMUP_FLOWS, number -> sleep(flows, flow("other", lateBy -> {}), never));
      print(database, 0);
      Instant first = Instant.now().plus(PAUSE).plusMillis(4L * count); // all sleep by then
      Flow<Instant, String> flow = flow("sleeper", lateBy -> {});
      AtOnce.each(count, number -> sleep(flows, flow, due(first, number)));
      print(database, count);
    }
  }

  private static Instant due(Instant first, int number) {
    return first.plusMillis(1_000L * number / A_SECOND);
  }

  private static void sleep(Flows flows, Flow<Instant, String> flow, Instant until) {
    FlowResult<String> result = flows.run(flow, until);
    if (result.status() != RunStatus.WAITING) {
      throw new IllegalStateException("A flow is " + result.status() + "; it came too late.");
    }
  }

  private interface Woken {
    void late(Duration lateBy);
  }

  private static Flow<Instant, String> flow(String id, Woken woken) {
    return Flow.of(
        id,
        Instant.class,
        String.class,
        (ctx, until) -> {
          ctx.sleepUntil(until);
          woken.late(Duration.between(until, Instant.now()));
          return "awake";
        });
  }

  private static void print(Database database, int asleep) throws IOException {
    System.out.printf(
        "| %s | %d | %d | %.1f MB | | | | |%n",
        database.kind(), asleep, Threads.count(), Heap.used() / 1e6);
  }

  /** Starts another process on the database, in which they wake. */
  private static void wake(Database database, int flows) throws IOException, InterruptedException {
    JavaProcess.run(
        JavaProcess.of(
                Waking.class, database.kind().toString(), database.url(), String.valueOf(flows))
            .redirectOutput(ProcessBuilder.Redirect.INHERIT));
  }

  /** The process in which they wake. */
  static final class Waking {
    private Waking() {}

    public static void main(String[] arguments) throws Exception {
      StoreKind kind = StoreKind.parse(arguments[0]);
      int count = Integer.parseInt(arguments[2]);
      CountDownLatch asleep = new CountDownLatch(count);
      Meter meter = new Meter();
      Flow<Instant, String> flow =
          flow(
              "sleeper",
              lateBy -> {
                meter.took(lateBy.toNanos());
                asleep.countDown();
              });
      try (RunStore store = Database.open(kind, arguments[1], "waking");
          Worker worker =
              Worker.builder(store)
                  .drives(Flows.on(TaskTree.builder().build(), store).driver(flow))
                  .start()) {
        asleep.await();
        var _ = worker.awaitIdle(PAUSE);
      }
      System.out.printf(
          "| %s | | | | %d | %d ms | %d ms | %d ms |%n",
          kind,
          count,
          meter.percentile(0.5).toMillis(),
          meter.percentile(0.99).toMillis(),
          meter.percentile(1).toMillis());
    }
  }
}
