package dev.warpwright.bench.durable;

import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.bench.Measured;
import dev.warpwright.bench.report.Question;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Standing;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What it costs to take up a run of 50 events whose driver is gone, and of which nothing is left to
 * be done but its end: acquire, load, fold, write that it goes on, then that it has ended.
 * Baseline: loading the log alone.
 *
 * <p>The aim is 2 ms.
 */
@Question(
    place = 12,
    value = "What does it cost to take up a run whose driver is gone?",
    baseline = "load")
public class ResumeBenchmark extends Measured {
  private static final int EVENTS = 50;
  private static final int STEPS = 12; // as many as make 50 events and the end

  /** The store. */
  @Param({"memory", "h2:POWER", "postgres"})
  public String store = "memory";

  private final Servers servers = new Servers();
  private final TrivialAgent trivial = TrivialAgent.of(STEPS, EffectClass.PURE, () -> {});
  private List<LoggedEvent> log = List.of();
  private int runs;
  private @Nullable Database database;
  private @Nullable RunStore open;
  private RunKey next = new RunKey(RunScope.DEFAULT, "none");

  /**
   * Opens the store and makes the log.
   *
   * @throws Exception if the database does not start
   */
  @Setup
  public void prepare() throws Exception {
    AgentResult whole = trivial.run(trivial.on(RunStore.inMemory()));
    log = whole.log().subList(0, whole.log().size() - 1);
    if (log.size() < EVENTS) {
      throw new IllegalStateException("The log has only " + log.size() + " events.");
    }
    database = Database.fresh(StoreKind.parse(store), servers);
    open = database.open();
  }

  private RunStore open() {
    return Objects.requireNonNull(open, "open");
  }

  /** Puts the next run there; not measured. */
  @Setup(Level.Invocation)
  public void leaveBehind() {
    next = new RunKey(RunScope.DEFAULT, "left-" + ++runs);
    List<LoggedEvent> copy =
        log.stream()
            .map(
                each ->
                    new LoggedEvent(
                        next, each.sequence(), each.writer(), each.time(), each.event()))
            .toList();
    open().adopt(copy, Standing.of(RunStatus.RUNNING), Deadline.never());
  }

  /**
   * Ends everything.
   *
   * @throws Exception if the database does not stop
   */
  @TearDown
  public void close() throws Exception {
    open().close();
    Objects.requireNonNull(database, "database").close();
    servers.close();
    trivial.close();
  }

  /**
   * The log alone.
   *
   * @return it
   */
  @Benchmark
  public List<LoggedEvent> load() {
    return open().load(next, 1, Deadline.never());
  }

  /**
   * The run taken up, its last answer read, and its end written.
   *
   * @return how it ended
   */
  @Benchmark
  public AgentResult resume() {
    Agents agents = trivial.on(open());
    AgentResult result = agents.resume(trivial.agent(), next);
    TrivialAgent.requireCompleted(result);
    return result;
  }
}
