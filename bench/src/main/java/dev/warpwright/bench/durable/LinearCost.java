package dev.warpwright.bench.durable;

import com.sun.management.ThreadMXBean;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.bench.load.Environment;
import dev.warpwright.bench.load.Options;
import dev.warpwright.bench.load.Rounds;
import dev.warpwright.bench.report.Question;
import dev.warpwright.model.FailureKind;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.EffectClass;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Whether a long run costs more per step than a short one: time, garbage, bytes of the log and,
 * once the store is closed, bytes in the database per step of runs of 10 to 10 000 steps.
 *
 * <p>Each is measured twice: as an agent, which has to be resumed where an invocation has made all
 * the model calls that it may, and then loads and folds what is new of its log; and as the log
 * alone, to which the same kinds of events are appended without an agent.
 */
@Question(
    place = 18,
    value = "Does a step of a long run cost more than one of a short run?",
    by = "steps",
    baseline = "10")
public final class LinearCost {
  private static final int STEPS_IN_ALL = 2_000; // of short runs, one after the other
  private static final int WARMUP_ROUNDS = 20;

  private final Servers servers;

  private LinearCost(Servers servers) {
    this.servers = servers;
  }

  /**
   * Measures and prints a table.
   *
   * @param arguments {@code --store} as for {@link DurableLoad}, {@code --steps N,...} and {@code
   *     --json FILE}
   * @throws Exception if a measurement failed
   */
  public static void main(String[] arguments) throws Exception {
    Options options = Options.parse(Set.of("--store", "--steps", "--json"), arguments);
    List<StoreKind> stores =
        options.list(
            "--store",
            StoreKind::parse,
            List.of(StoreKind.MEMORY, StoreKind.H2_POWER, StoreKind.POSTGRES));
    List<Integer> steps = options.numbers("--steps", 1, List.of(10, 100, 1_000, 10_000));
    try (Servers servers = new Servers()) {
      System.out.println(
          "| store | | steps | time a step | allocated a step | log a step | stored a step |"
              + " invocations |");
      System.out.println("|---|---|---:|---:|---:|---:|---:|---:|");
      List<Map<String, Object>> figures =
          onVirtualThread(() -> new LinearCost(servers).all(stores, steps));
      Optional<Path> json = options.file("--json");
      if (json.isPresent()) {
        Rounds.write(json.get(), LinearCost.class, Environment.here(), List.of(figures));
      }
    }
  }

  /** A platform thread would hand each run over to another one, and that would be measured too. */
  private static <T> T onVirtualThread(Callable<T> work) throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      return threads.submit(work).get();
    }
  }

  private List<Map<String, Object>> all(List<StoreKind> stores, List<Integer> steps)
      throws Exception {
    for (Way way : Way.values()) {
      for (int n = 0; n < WARMUP_ROUNDS; n++) {
        measure(StoreKind.MEMORY, way, 100);
      }
    }
    List<Map<String, Object>> figures = new ArrayList<>();
    for (StoreKind kind : stores) {
      for (Way way : Way.values()) {
        measure(kind, way, 100); // warms the store up
        for (int count : steps) {
          Cost each = measure(kind, way, count);
          System.out.println(each.row());
          figures.add(each.toMap());
        }
      }
    }
    return figures;
  }

  private enum Way {
    AGENT,
    LOG
  }

  /** What one run left: its log, and how often it was taken up. */
  private record Ran(List<LoggedEvent> log, int invocations) {}

  /** What a step cost. */
  private record Cost(
      StoreKind store,
      Way way,
      int steps,
      double nanos,
      double allocatedBytes,
      double logBytes,
      OptionalDouble storedBytes,
      int invocations) {

    String row() {
      return "| %s | %s | %d | %.1f µs | %.0f B | %.0f B | %s | %d |"
          .formatted(
              store,
              way,
              steps,
              nanos / TimeUnit.MICROSECONDS.toNanos(1),
              allocatedBytes,
              logBytes,
              storedBytes.isPresent() ? "%.0f B".formatted(storedBytes.getAsDouble()) : "",
              invocations);
    }

    Map<String, Object> toMap() {
      Map<String, Object> map = new LinkedHashMap<>();
      map.put("store", store.toString());
      map.put("way", way.toString());
      map.put("steps", steps);
      map.put("nanosPerStep", nanos);
      map.put("allocatedBytesPerStep", allocatedBytes);
      map.put("logBytesPerStep", logBytes);
      storedBytes.ifPresent(bytes -> map.put("storedBytesPerStep", bytes));
      map.put("invocations", invocations);
      return map;
    }
  }

  private Cost measure(StoreKind kind, Way way, int steps) throws Exception {
    int runs = Math.max(1, STEPS_IN_ALL / steps);
    double all = (double) runs * steps;
    try (Database database = Database.fresh(kind, servers)) {
      database.open().close();
      OptionalLong storedBefore = database.bytes();
      Measured measured = run(database, way, steps, runs);
      OptionalLong stored = database.bytes();
      return new Cost(
          kind,
          way,
          steps,
          measured.nanos() / all,
          measured.allocatedBytes() / all,
          measured.last().log().stream().mapToLong(LinearCost::bytes).sum() / (double) steps,
          stored.isEmpty()
              ? OptionalDouble.empty()
              : OptionalDouble.of((stored.getAsLong() - storedBefore.getAsLong()) / all),
          measured.last().invocations());
    }
  }

  private record Measured(long nanos, long allocatedBytes, Ran last) {}

  private static Measured run(Database database, Way way, int steps, int runs) {
    try (RunStore store = database.open();
        TrivialAgent trivial = TrivialAgent.of(steps, EffectClass.PURE, () -> {})) {
      Agents agents = trivial.on(store);
      long allocatedBefore = allocated();
      long begun = System.nanoTime();
      Ran ran = new Ran(List.of(), 0);
      for (int n = 0; n < runs; n++) {
        RunKey run = new RunKey(RunScope.DEFAULT, "linear-" + n);
        ran = way == Way.AGENT ? drive(trivial, agents, run) : append(store, run, steps);
      }
      return new Measured(System.nanoTime() - begun, allocated() - allocatedBefore, ran);
    }
  }

  private static long bytes(LoggedEvent logged) {
    return RunEventCodec.encode(logged.event()).length;
  }

  private static long allocated() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
  }

  private static Ran drive(TrivialAgent trivial, Agents agents, RunKey run) {
    AgentResult result = agents.run(trivial.request(run));
    int invocations = 1;
    while (result.status() != RunStatus.COMPLETED) {
      RunEvent.RunFailed failure = result.state().failure().orElseThrow();
      if (failure.kind() != FailureKind.TOTAL_ATTEMPTS) {
        throw new IllegalStateException("A run ended as " + failure);
      }
      result = agents.resume(trivial.agent(), run);
      invocations++;
    }
    return new Ran(result.log(), invocations);
  }

  private static Ran append(RunStore store, RunKey run, int steps) {
    TimeSource time = TimeSource.system();
    NewRun fresh = new NewRun(run, time.now(), TrivialLog.started(steps + 1));
    RunStore.Claim claim = store.create(fresh, Deadline.never());
    if (!(claim instanceof RunStore.Claim.Won(Writer owner))) {
      throw new IllegalStateException("There is a run " + run + " already.");
    }
    RunLog log = RunLog.created(store, fresh, owner, time, Deadline.never());
    for (int step = 1; step <= steps; step++) {
      for (List<RunEvent> events : TrivialLog.step(run, step)) {
        log.append(events);
      }
    }
    store.release(run, owner);
    return new Ran(log.events(), 1);
  }
}
