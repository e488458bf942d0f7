package dev.warpwright.bench.durable;

import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.bench.Measured;
import dev.warpwright.bench.report.Question;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What an agent costs that makes one step with a tool, then answers: a run begun, two answers of
 * the model and the tool's outcome written, folded and driven on, the run's end. Beside it the
 * share of one step in a run of a hundred. Baseline: the model and the tool alone.
 *
 * <p>The aim is 10 µs in memory.
 */
@Question(
    place = 11,
    value = "What does an agent's step with a tool cost?",
    baseline = "modelAndToolAlone")
public class AgentBenchmark extends Measured {
  private static final int MANY_STEPS = 100;
  private static final int RUNS_OF_A_STORE = 100;
  private static final ModelCall CALL =
      ModelCall.builder(List.of(Message.user("Take every step."))).build();

  /** The store. */
  @Param({"memory", "h2:POWER", "postgres"})
  public String store = "memory";

  private final Servers servers = new Servers();
  private final TrivialAgent pure = TrivialAgent.of(1, EffectClass.PURE, () -> {});
  private final TrivialAgent once = TrivialAgent.of(1, EffectClass.ONCE, () -> {});
  private final TrivialAgent many = TrivialAgent.of(MANY_STEPS, EffectClass.PURE, () -> {});
  private @Nullable Database database;
  private @Nullable RunStore open;
  private int runs;

  /**
   * Opens the store.
   *
   * @throws Exception if the database does not start
   */
  @Setup
  public void prepare() throws Exception {
    database = Database.fresh(StoreKind.parse(store), servers);
    open = database.open();
  }

  /**
   * Ends everything.
   *
   * @throws Exception if the database does not stop
   */
  @TearDown
  public void close() throws Exception {
    Objects.requireNonNull(open, "open").close();
    Objects.requireNonNull(database, "database").close();
    servers.close();
    pure.close();
    once.close();
    many.close();
  }

  /** A store in memory keeps what has ended: it is replaced before that costs anything. */
  private Agents agents(TrivialAgent trivial) {
    RunStore current = Objects.requireNonNull(open, "open");
    if (StoreKind.parse(store) == StoreKind.MEMORY && ++runs % RUNS_OF_A_STORE == 0) {
      current.close();
      current = RunStore.inMemory();
      open = current;
    }
    return trivial.on(current);
  }

  /**
   * The model called twice and a tool that does nothing.
   *
   * @param hole takes the answers
   * @throws Exception never
   */
  @Benchmark
  public void modelAndToolAlone(Blackhole hole) throws Exception {
    hole.consume(pure.model().generate(CALL));
    hole.consume(pure.model().generate(CALL));
  }

  /**
   * A run with one step whose tool has no effect, and no intent in the log.
   *
   * @return the run
   */
  @Benchmark
  public AgentResult oneStepPure() {
    return pure.run(agents(pure));
  }

  /**
   * A run with one step whose tool must run once.
   *
   * @return the run
   */
  @Benchmark
  public AgentResult oneStepOnce() {
    return once.run(agents(once));
  }

  /**
   * One of a hundred steps whose tools have no effect.
   *
   * @return the run
   */
  @Benchmark
  @OperationsPerInvocation(MANY_STEPS)
  public AgentResult stepOfAHundred() {
    return many.run(agents(many));
  }
}
