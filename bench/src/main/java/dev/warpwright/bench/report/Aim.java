package dev.warpwright.bench.report;

import java.util.List;
import java.util.Optional;
import java.util.function.DoubleFunction;
import java.util.function.Function;

/**
 * What a figure of the suite should be at most.
 *
 * @param what the figure, in words
 * @param atMost the bound
 * @param format how it is written
 * @param figure computes it; empty if its benchmarks did not run
 */
record Aim(
    String what,
    double atMost,
    DoubleFunction<String> format,
    Function<Results, Optional<Score>> figure) {

  private static final String OPERATION = "OperationBenchmark";
  private static final String VIRTUAL = "virtualCaller";
  private static final String PLATFORM = "platformCaller";
  private static final String ALL = "ALL_CONTROLS";
  private static final String STREAM = "StreamBenchmark";
  private static final String AGENT = "AgentBenchmark";

  /** All aims that JMH can tell. */
  static final List<Aim> ALL_AIMS =
      List.of(
          new Aim(
              "all controls on, against Resilience4j's five, from a virtual thread",
              0.5,
              Text::ratio,
              results ->
                  subject(results, VIRTUAL, ALL)
                      .flatMap(
                          all ->
                              subject(results, VIRTUAL, "RESILIENCE4J")
                                  .map(peer -> all.nanos().over(peer.nanos())))),
          new Aim(
              "garbage of that, against Resilience4j's",
              1,
              Text::ratio,
              results ->
                  subject(results, VIRTUAL, ALL)
                      .flatMap(Result::bytes)
                      .flatMap(
                          all ->
                              subject(results, VIRTUAL, "RESILIENCE4J")
                                  .flatMap(Result::bytes)
                                  .map(all::over))),
          new Aim(
              "nothing on, against one virtual thread started and joined, from a virtual thread",
              0.5,
              Text::ratio,
              results ->
                  subject(results, VIRTUAL, "NOTHING_ON")
                      .flatMap(
                          nothing ->
                              subject(results, VIRTUAL, "THREAD_STARTED_AND_JOINED")
                                  .map(thread -> nothing.nanos().over(thread.nanos())))),
          new Aim(
              "all controls on, from a platform thread: what it costs more than from a virtual one,"
                  + " in hand-overs of a thread",
              1,
              Text::ratio,
              results ->
                  subject(results, PLATFORM, ALL)
                      .flatMap(
                          platform ->
                              subject(results, VIRTUAL, ALL)
                                  .map(virtual -> platform.nanos().minus(virtual.nanos())))
                      .flatMap(
                          more ->
                              subject(results, PLATFORM, "THREAD_STARTED_AND_JOINED")
                                  .map(handOver -> more.over(handOver.nanos())))),
          new Aim(
              "a chunk of a stream, against that of the bare model",
              2,
              Text::ratio,
              results ->
                  chunk(results, "eventsRead")
                      .flatMap(read -> chunk(results, "bareModel").map(read::over))),
          new Aim(
              "control of an agent with one tool step, in memory",
              10_000,
              Text::time,
              results ->
                  results
                      .find(AGENT, "oneStepPure", "store", "memory")
                      .flatMap(
                          step ->
                              results
                                  .find(AGENT, "modelAndToolAlone", "store", "memory")
                                  .map(alone -> step.nanos().minus(alone.nanos())))));

  private static Optional<Result> subject(Results results, String caller, String subject) {
    return results.find(OPERATION, caller, "subject", subject);
  }

  /** What one chunk more costs. */
  private static Optional<Score> chunk(Results results, String method) {
    return results
        .find(STREAM, method, "chunks", "100")
        .flatMap(
            hundred ->
                results
                    .find(STREAM, method, "chunks", "1")
                    .map(one -> hundred.nanos().minus(one.nanos()).times(1.0 / 99)));
  }
}
