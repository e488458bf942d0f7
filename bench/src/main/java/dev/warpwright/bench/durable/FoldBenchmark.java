package dev.warpwright.bench.durable;

import dev.warpwright.bench.Measured;
import dev.warpwright.bench.report.Question;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.Writer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * What it costs to make a state of a log. Baselines: going through the events and doing nothing,
 * and decoding them, which a load from a database does before.
 */
@Question(place = 13, value = "What does it cost to make a state of a log?", baseline = "look")
public class FoldBenchmark extends Measured {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "folded");
  private static final Writer OWNER = new Writer("bench#1", 1);
  private static final Instant TIME = Instant.parse("2026-01-01T00:00:00Z");

  /** How many events the log has. */
  @Param({"10", "100", "1000", "10000"})
  public int events;

  private List<LoggedEvent> log = List.of();
  private List<byte[]> bodies = List.of();

  /** Makes the log: steps of a model's answer and a tool's outcome. */
  @Setup
  public void prepare() {
    List<LoggedEvent> made = new ArrayList<>();
    add(made, TrivialLog.started(10_000));
    for (int step = 1; made.size() < events; step++) {
      for (List<RunEvent> append : TrivialLog.step(RUN, step)) {
        append.forEach(event -> add(made, event));
      }
    }
    log = List.copyOf(made.subList(0, events));
    bodies = log.stream().map(logged -> RunEventCodec.encode(logged.event())).toList();
  }

  private static void add(List<LoggedEvent> log, RunEvent event) {
    log.add(new LoggedEvent(RUN, log.size() + 1L, OWNER, TIME, event));
  }

  /**
   * Every event looked at.
   *
   * @param hole takes them
   */
  @Benchmark
  public void look(Blackhole hole) {
    log.forEach(hole::consume);
  }

  /**
   * Every event decoded.
   *
   * @param hole takes them
   */
  @Benchmark
  public void decode(Blackhole hole) {
    for (int n = 0; n < bodies.size(); n++) {
      LoggedEvent logged = log.get(n);
      hole.consume(
          RunEventCodec.decode(
              RUN,
              logged.sequence(),
              OWNER,
              TIME,
              RunEventCodec.type(logged.event()),
              RunEventCodec.version(logged.event()),
              bodies.get(n)));
    }
  }

  /**
   * The fold.
   *
   * @return the state
   */
  @Benchmark
  public RunState fold() {
    return RunState.of(log);
  }
}
