package dev.warpwright.bench.report;

import java.util.List;
import java.util.Optional;
import java.util.function.DoubleFunction;
import java.util.function.Function;

/**
 * What a figure of the suite should be.
 *
 * @param what the figure, in words
 * @param side on which side of the bound it should be
 * @param bound the bound
 * @param format how it is written
 * @param figure computes it of what was measured in one run; empty if that is missing
 */
record Aim(
    String what,
    Side side,
    double bound,
    DoubleFunction<String> format,
    Function<Results, Optional<Score>> figure) {

  /** A side of a bound, which belongs to both. */
  enum Side {
    /** At most. */
    AT_MOST("≤"),
    /** At least. */
    AT_LEAST("≥");

    private final String sign;

    Side(String sign) {
      this.sign = sign;
    }
  }

  private static final String OPERATION = "OperationBenchmark";
  private static final String VIRTUAL = "virtualCaller";
  private static final String PLATFORM = "platformCaller";
  private static final String ALL = "ALL_CONTROLS";
  private static final String STREAM = "StreamBenchmark";
  private static final String AGENT = "AgentBenchmark";
  private static final String IN_FLIGHT = "100000";
  private static final String BESIDE_OTHERS = "64"; // callers
  private static final String ALONE = "1";

  /** All of them. */
  static final List<Aim> ALL_AIMS =
      List.of(
          atMost(
              "all controls on, against Resilience4j's five, from a virtual thread",
              0.5,
              Text::ratio,
              results ->
                  over(subject(results, VIRTUAL, ALL), subject(results, VIRTUAL, "RESILIENCE4J"))),
          atMost(
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
          atMost(
              "nothing on, against one virtual thread started and joined, from a virtual thread",
              0.5,
              Text::ratio,
              results ->
                  over(
                      subject(results, VIRTUAL, "NOTHING_ON"),
                      subject(results, VIRTUAL, "THREAD_STARTED_AND_JOINED"))),
          atMost(
              "all controls on, from a platform thread: what it costs more than from a virtual one,"
                  + " in hand-overs of a thread",
              1,
              Text::ratio,
              results ->
                  minus(subject(results, PLATFORM, ALL), subject(results, VIRTUAL, ALL))
                      .flatMap(
                          more ->
                              subject(results, PLATFORM, "THREAD_STARTED_AND_JOINED")
                                  .map(handOver -> more.over(handOver.score())))),
          atMost(
              "a chunk of a stream, against that of the bare model",
              2,
              Text::ratio,
              results ->
                  chunk(results, "eventsRead")
                      .flatMap(
                          read ->
                              chunk(results, "bareModel")
                                  .filter(bare -> bare.low() > 0) // else it is lost in the noise
                                  .map(read::over))),
          atMost(
              "control of an agent with one tool step, in memory",
              10_000,
              Text::time,
              results ->
                  minus(
                      results.find(AGENT, "oneStepPure", "store", "memory"),
                      results.find(AGENT, "modelAndToolAlone", "store", "memory"))),
          atMost(
              "real HTTP, 64 callers: processor time of a call, against the bare JDK client",
              1.25,
              Text::ratio,
              results -> over(call(results, "warpwright"), call(results, "jdk"))),
          atMost(
              "the same under all controls",
              1.25,
              Text::ratio,
              results -> over(call(results, "warpwright-controlled"), call(results, "jdk"))),
          atMost(
              "100 000 operations in flight: heap of each beyond its bare virtual thread",
              2_000,
              Text::bytes,
              results ->
                  minus(
                      inFlight(results, "nothing on"), inFlight(results, "bare virtual threads"))),
          atMost(
              "the same under all controls",
              2_000,
              Text::bytes,
              results ->
                  minus(
                      inFlight(results, "all controls on"),
                      inFlight(results, "bare virtual threads"))),
          atLeast(
              "durable steps on PostgreSQL, 64 runs at once, against DBOS",
              10,
              results -> overDbos(results, BESIDE_OTHERS, "flows, outcome alone, postgres")),
          atLeast(
              "the same with an intent before each",
              5,
              results -> overDbos(results, BESIDE_OTHERS, "flows, intent and outcome, postgres")),
          atLeast(
              "durable steps on PostgreSQL, one run after the other, against DBOS",
              2.5,
              results -> overDbos(results, ALONE, "flows, outcome alone, postgres")),
          atLeast(
              "durable steps on H2, forced to the disk, 64 runs at once, against DBOS on"
                  + " PostgreSQL",
              4,
              results -> overDbos(results, BESIDE_OTHERS, "flows, outcome alone, h2:POWER")),
          atLeast(
              "appends on PostgreSQL, 64 callers, against the bare commit of the same rows",
              0.8,
              results ->
                  over(
                      appends(results, "appends to the store"),
                      appends(results, "raw commit of events and run"))),
          atMost(
              "a durable step in memory",
              15_000,
              Text::time,
              results ->
                  results
                      .find(
                          "DurableLoad",
                          "steps",
                          "callers",
                          ALONE,
                          "what",
                          "flows, outcome alone, memory")
                      .map(steps -> perStep(steps.score()))),
          atMost(
              "a run of 50 events taken up, on H2",
              2e6,
              Text::time,
              results -> resumed(results, "h2:POWER")),
          atMost(
              "a run of 50 events taken up, on PostgreSQL",
              2e6,
              Text::time,
              results -> resumed(results, "postgres")),
          atMost(
              "1 000 runs of a dead process go on, all of them, behind the end of its lease",
              1e9,
              Text::time,
              results ->
                  results
                      .find("TakeOver", "taken over", "runs", "1000", "share", "all")
                      .map(Result::score)));

  private static Aim atMost(
      String what,
      double bound,
      DoubleFunction<String> format,
      Function<Results, Optional<Score>> figure) {
    return new Aim(what, Side.AT_MOST, bound, format, figure);
  }

  private static Aim atLeast(String what, double bound, Function<Results, Optional<Score>> figure) {
    return new Aim(what, Side.AT_LEAST, bound, Text::ratio, figure);
  }

  /** What it should be, as it is written. */
  String wanted() {
    return side.sign + " " + format.apply(bound);
  }

  /** The figure of each run in which it was measured. */
  List<Score> each(Results results) {
    return results.runs().stream().flatMap(run -> figure.apply(run).stream()).toList();
  }

  /** The figure of one run, with the range of its middle half, or that of several. */
  static Optional<Score> together(List<Score> runs) {
    return runs.size() > 1 ? Optional.of(Score.ofRuns(runs)) : runs.stream().findFirst();
  }

  /** Whether a figure keeps to it, if its whole range does or does not. */
  Optional<Boolean> isMet(Score figure) {
    boolean low = keeps(figure.low());
    return low == keeps(figure.high()) ? Optional.of(low) : Optional.empty();
  }

  /** That in a word. */
  String verdict(Score figure) {
    return isMet(figure).map(met -> met ? "met" : "missed").orElse("open");
  }

  private boolean keeps(double figure) {
    return side == Side.AT_MOST ? figure <= bound : figure >= bound;
  }

  private static Optional<Score> over(Optional<Result> own, Optional<Result> other) {
    return own.flatMap(each -> other.map(base -> each.score().over(base.score())));
  }

  private static Optional<Score> minus(Optional<Result> own, Optional<Result> other) {
    return own.flatMap(each -> other.map(base -> each.score().minus(base.score())));
  }

  private static Optional<Result> subject(Results results, String caller, String subject) {
    return results.find(OPERATION, caller, "subject", subject);
  }

  /** What one chunk more costs. */
  private static Optional<Score> chunk(Results results, String method) {
    return minus(
            results.find(STREAM, method, "chunks", "100"),
            results.find(STREAM, method, "chunks", "1"))
        .map(difference -> difference.times(1.0 / 99));
  }

  private static Optional<Result> call(Results results, String client) {
    return results.find(
        "HttpLoad", "processor time of calls", "callers", BESIDE_OTHERS, "client", client);
  }

  private static Optional<Result> inFlight(Results results, String what) {
    return results.find("InFlight", "heap", "in flight", IN_FLIGHT, "what", what);
  }

  private static Optional<Score> overDbos(Results results, String callers, String what) {
    return over(
        results.find("DurableLoad", "steps", "callers", callers, "what", what),
        results.find("DurableLoad", "steps", "callers", callers, "what", "dbos"));
  }

  private static Optional<Result> appends(Results results, String what) {
    return results.find(
        "Appends", "appends", "callers", BESIDE_OTHERS, "store", "postgres", "what", what);
  }

  private static Score perStep(Score perSecond) {
    return new Score(1e9 / perSecond.median(), 1e9 / perSecond.high(), 1e9 / perSecond.low());
  }

  private static Optional<Score> resumed(Results results, String store) {
    return results.find("ResumeBenchmark", "resume", "store", store).map(Result::score);
  }
}
