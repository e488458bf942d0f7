package dev.warpwright.bench.durable;

import dev.warpwright.bench.load.Heap;
import dev.warpwright.flow.Batch;
import dev.warpwright.flow.Flow;
import dev.warpwright.flow.Flows;
import dev.warpwright.run.RunDriver;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Worker;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A batch of very many trivial items: queued by one process, driven by three workers, one of which
 * is killed when half is done and started again. On PostgreSQL each worker is a process; an H2 file
 * belongs to one, which has all three.
 *
 * <p>Every process has a heap of {@value #HEAP}. Each tells its heap behind a collection now and
 * then, so that it can be seen whether that grows with what it has done.
 */
public final class LargeBatch {
  static final String HEAP = "128m";
  private static final int WORKERS = 3;
  private static final int RUNS_AT_ONCE = 64;
  private static final int PAGE = 1_000;

  private static final Flow<Integer, Integer> FLOW =
      Flow.of(
          "item",
          Integer.class,
          Integer.class,
          (ctx, number) -> ctx.step("work", Integer.class, step -> number + 1));

  private LargeBatch() {}

  /**
   * Measures and prints a table.
   *
   * @param arguments how many items, 100 000 by default, then the stores, H2 and PostgreSQL by
   *     default
   * @throws Exception if a process failed, or an item is not done in the end
   */
  public static void main(String[] arguments) throws Exception {
    int items = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 100_000;
    List<StoreKind> stores =
        arguments.length > 1
            ? Stream.of(arguments).skip(1).map(StoreKind::parse).toList()
            : List.of(StoreKind.H2_POWER, StoreKind.POSTGRES);
    List<String> table = new ArrayList<>();
    try (Servers servers = new Servers()) {
      for (StoreKind kind : stores) {
        try (Database database = Database.fresh(kind, servers)) {
          table.add(new Measurement(database, items).measure());
        }
      }
    }
    System.out.println(
        "| store | items | queued a second | done a second | heap behind 1/4, 2/4,"
            + " 3/4, 4/4 | completed |");
    System.out.println("|---|---:|---:|---:|---|---:|");
    table.forEach(System.out::println);
  }

  /** One measurement, by the process that starts the others. */
  private static final class Measurement {
    private final Database database;
    private final int items;
    private final CountDownLatch half = new CountDownLatch(1);
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicLong[] heaps =
        Stream.generate(AtomicLong::new).limit(4).toArray(AtomicLong[]::new);

    Measurement(Database database, int items) {
      this.database = database;
      this.items = items;
    }

    String measure() throws Exception {
      long begun = System.nanoTime();
      try (Child queue = child("queue", line -> {})) {
        queue.await();
      }
      double queueing = secondsSince(begun);
      begun = System.nanoTime();
      drive();
      double driving = secondsSince(begun);
      Map<RunStatus, Integer> found = count();
      if (!found.equals(Map.of(RunStatus.COMPLETED, items))) {
        throw new IllegalStateException("Of " + items + " items there are " + found + ".");
      }
      return String.format(
          Locale.ROOT,
          "| %s | %d | %.0f | %.0f | %s MB | %d |",
          database.kind(),
          items,
          items / queueing,
          items / driving,
          String.join(
              ", ",
              Stream.of(heaps)
                  .map(heap -> String.format(Locale.ROOT, "%.1f", heap.get() / 1e6))
                  .toList()),
          found.get(RunStatus.COMPLETED));
    }

    private void drive() throws Exception {
      int processes = database.kind().isH2() ? 1 : WORKERS;
      List<Child> children = new ArrayList<>();
      try {
        for (int n = 0; n < processes; n++) {
          children.add(child("work", this::heard));
        }
        half.await();
        children.removeFirst().kill();
        children.add(child("work", this::heard));
        for (Child child : children) {
          child.await();
        }
      } finally {
        children.forEach(Child::close);
      }
    }

    private Child child(String role, Consumer<String> lines) throws IOException {
      return Child.start(
          Driven.class,
          HEAP,
          lines,
          role,
          database.kind().toString(),
          database.url(),
          String.valueOf(items));
    }

    /** A worker has done so many more, and has so much on its heap. */
    private void heard(String line) {
      String[] words = line.split(" ");
      int now = done.addAndGet(Integer.parseInt(words[0]));
      int quarter = Math.clamp((long) now * 4 / items, 0, 3);
      heaps[quarter].accumulateAndGet(Long.parseLong(words[1]), Math::max);
      if (now >= items / 2) {
        half.countDown();
      }
    }

    private Map<RunStatus, Integer> count() {
      Map<RunStatus, Integer> counts = new EnumMap<>(RunStatus.class);
      try (RunStore store = database.open()) {
        RunQuery query = RunQuery.builder(RunScope.DEFAULT).limit(PAGE).build();
        List<RunSummary> page;
        do {
          page = store.list(query, Deadline.never());
          page.forEach(summary -> counts.merge(summary.status(), 1, Integer::sum));
          query = page.isEmpty() ? query : query.after(page.getLast());
        } while (page.size() == PAGE);
      }
      return counts;
    }

    private static double secondsSince(long begun) {
      return (System.nanoTime() - begun) / 1e9;
    }
  }

  /** A process that queues or drives. */
  static final class Driven {
    private static final int TELLS_EACH = 2_500;
    private static final Duration LOOKS_EACH = Duration.ofMillis(200);

    private Driven() {}

    public static void main(String[] arguments) throws Exception {
      StoreKind kind = StoreKind.parse(arguments[1]);
      int items = Integer.parseInt(arguments[3]);
      TaskTree tasks = TaskTree.builder().build();
      String owner = arguments[0] + ProcessHandle.current().pid();
      try (RunStore store = Database.open(kind, arguments[2], owner)) {
        Flows flows = Flows.on(tasks, store);
        if (arguments[0].equals("queue")) {
          var _ =
              Batch.of(
                      "large",
                      FLOW,
                      () -> IntStream.range(0, items).iterator(),
                      n -> "item-" + n,
                      n -> n)
                  .maxConcurrency(RUNS_AT_ONCE)
                  .enqueue(flows);
        } else {
          drive(store, flows, kind.isH2() ? WORKERS : 1);
        }
      }
    }

    /** Until no item is left anywhere; says now and then how many it has done. */
    private static void drive(RunStore store, Flows flows, int workers) {
      RunDriver driver = flows.driver(FLOW);
      List<Worker> started =
          Stream.generate(() -> Worker.builder(store).drives(driver).maxRuns(RUNS_AT_ONCE).start())
              .limit(workers)
              .toList();
      long told = 0;
      boolean left = true;
      while (left) {
        left = !started.getFirst().awaitIdle(LOOKS_EACH) || isLeft(store);
        long ended = started.stream().mapToLong(worker -> worker.status().ended()).sum();
        if (!left || ended - told >= TELLS_EACH) {
          System.out.println(ended - told + " " + Heap.used());
          told = ended;
        }
      }
      started.forEach(Worker::close);
    }

    private static boolean isLeft(RunStore store) {
      RunQuery query =
          RunQuery.builder(RunScope.DEFAULT)
              .statuses(RunStatus.QUEUED, RunStatus.RUNNING)
              .limit(1)
              .build();
      return !store.list(query, Deadline.never()).isEmpty();
    }
  }
}
