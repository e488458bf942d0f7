package dev.warpwright.tool;

import static dev.warpwright.tool.ToolBatch.one;
import static dev.warpwright.tool.ToolBatch.runs;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Running the calls of a step, and what each end means: the same for tools that declare that they
 * honour interrupts, which may run on the operation's own thread, and for those that do not.
 */
@ParameterizedClass(name = "honours interrupts: {0}")
@ValueSource(booleans = {false, true})
final class ToolRunnerTest {
  private static final Duration LIMIT = Duration.ofSeconds(3);

  @RegisterExtension final ToolBatch batch = new ToolBatch();

  @Parameter boolean honoursInterrupts;

  /** A tool that ends when it is interrupted. */
  private Tool.Builder<ToolBatch.Input> tool(
      EffectClass effect, ToolFunction<? super ToolBatch.Input> function) {
    Tool.Builder<ToolBatch.Input> tool = ToolBatch.tool(effect, function);
    return honoursInterrupts ? tool.honoursInterrupts() : tool;
  }

  private static ToolEnd.Known known(ToolEnd end) {
    return assertInstanceOf(ToolEnd.Known.class, end);
  }

  private static List<String> outputs(List<ToolEnd> ends) {
    return ends.stream().map(end -> known(end).output().text()).toList();
  }

  @Test
  @Tag("A44")
  void independentCallsOverlapAndResultsKeepTheOrderOfTheCalls() {
    CyclicBarrier all = new CyclicBarrier(3);
    CountDownLatch last = new CountDownLatch(1);
    Tool tool =
        tool(
                EffectClass.PURE,
                (input, context) -> {
                  all.await(60, TimeUnit.SECONDS); // broken unless all three run together
                  if (input.text().equals("c")) {
                    last.countDown();
                  } else {
                    ToolBatch.await(last); // so that the last call ends first
                  }
                  return input.text();
                })
            .build();

    assertEquals(List.of("\"a\"", "\"b\"", "\"c\""), outputs(batch.run(runs(tool, 3))));
  }

  @ParameterizedTest
  @CsvSource({
    // parallel of the request, maximum, parallel of the model, at the same time
    ", , true, 5",
    ", , false, 1",
    "true, , false, 5",
    "false, , true, 1",
    "true, 2, false, 2",
    ", 3, true, 3",
    ", 9, true, 5",
    "false, 3, true, 1"
  })
  @Tag("A44")
  void noMoreThanAreAllowedRunAtTheSameTime(
      Boolean parallel, Integer maximum, boolean model, int width) {
    AtomicInteger now = new AtomicInteger();
    ConcurrentLinkedQueue<Integer> seen = new ConcurrentLinkedQueue<>();
    CyclicBarrier full = new CyclicBarrier(width);
    AtomicInteger first = new AtomicInteger(width);
    Tool tool =
        tool(
                EffectClass.PURE,
                (input, context) -> {
                  seen.add(now.incrementAndGet());
                  if (first.getAndDecrement() > 0) {
                    full.await(60, TimeUnit.SECONDS); // as many as allowed do run together
                  }
                  now.decrementAndGet();
                  return input.text();
                })
            .build();
    ToolExecution options =
        parallel == null
            ? ToolExecution.DEFAULT
            : parallel
                ? new ToolExecution(
                    Optional.of(true),
                    ToolExecution.DEFAULT.maxConcurrency(),
                    false,
                    Optional.empty())
                : ToolExecution.DEFAULT.sequential();
    batch.options = maximum == null ? options : options.withMaxConcurrency(maximum);
    batch.modelDeclaresParallel = model;

    assertEquals(5, batch.run(runs(tool, 5)).size());
    assertEquals(width, seen.stream().mapToInt(Integer::intValue).max().orElse(0));
  }

  @Test
  void intentsAreWrittenBeforeTheEffectsOfAWaveAndOutcomesAfter() {
    batch.options = ToolExecution.DEFAULT.sequential();
    Tool tool = tool(EffectClass.ONCE, (input, context) -> batch.trail.add("effect")).build();

    batch.run(runs(tool, 2));

    assertEquals(
        List.of("starting [a]", "effect", "ended a", "starting [b]", "effect", "ended b"),
        List.copyOf(batch.trail));
  }

  @Test
  void ifAnIntentCannotBeWrittenNoEffectBegins() {
    Tool tool = tool(EffectClass.ONCE, (input, context) -> batch.trail.add("effect")).build();
    ToolJournal broken =
        new ToolJournal() {
          @Override
          public void starting(List<ToolRun> runs) {
            throw new IllegalStateException("fenced");
          }

          @Override
          public void endedLate(ToolRun run, ToolEnd.Known end) {}

          @Override
          public void ended(ToolRun run, ToolEnd.Known end) {}
        };
    try (TaskScope scope = batch.tree.open("operation", "operation")) {
      ToolRunner runner =
          new ToolRunner(
              scope,
              batch.time,
              ToolExecution.DEFAULT,
              true,
              new ToolCaller("run-1", java.util.Map.of()),
              broken,
              batch.runningKeys);
      assertThrows(IllegalStateException.class, () -> runner.run(runs(tool, 2)));
    }
    assertTrue(batch.trail.isEmpty());
  }

  @Test
  @Tag("A53")
  void aToolIsToldItsKeyItsCallItsAttemptAndItsDeadline() {
    List<ToolContext> told = new ArrayList<>();
    Tool tool =
        tool(EffectClass.PURE, (input, context) -> told.add(context)).timeout(LIMIT).build();

    batch.run(one(tool), Deadline.after(batch.time, Duration.ofSeconds(1)));

    ToolContext context = told.getFirst();
    assertEquals("key-a", context.idempotencyKey());
    assertEquals("a", context.callId());
    assertEquals(1, context.attempt());
    assertEquals("run-1", context.caller().operationId());
    assertEquals(Duration.ofSeconds(1), context.deadline().remaining(), "the earlier of the two");
  }

  @Test
  @Tag("A45")
  void whetherAToolIsEnabledIsAskedAgainImmediatelyBeforeItRuns() {
    AtomicBoolean enabled = new AtomicBoolean(true);
    batch.options = ToolExecution.DEFAULT.sequential();
    Tool tool =
        tool(
                EffectClass.ONCE,
                (input, context) -> {
                  enabled.set(false);
                  return "";
                })
            .enabledIf(input -> enabled.get())
            .build();

    List<ToolEnd> ends = batch.run(runs(tool, 2));

    assertEquals("\"\"", known(ends.get(0)).output().text());
    assertTrue(known(ends.get(1)).error());
    assertEquals(
        "\"Tool \\\"tool\\\" may not be used for this input now.\"",
        known(ends.get(1)).output().text());
  }

  @Test
  @Tag("A55")
  void aRunThatFollowsAnotherIsNotStoppedByAToolThatIsNoLongerEnabled() {
    Tool tool = tool(EffectClass.IDEMPOTENT, (i, c) -> "").enabledIf(input -> false).build();
    ToolRun second = one(tool).getFirst().again();

    assertEquals("\"\"", known(batch.run(List.of(second)).getFirst()).output().text());
  }

  @ParameterizedTest
  @EnumSource(EffectClass.class)
  @Tag("A47")
  void aThrowingToolHasAKnownEndWithAFixedTextTheCauseAndItsDuration(EffectClass effect) {
    IllegalStateException thrown = new IllegalStateException("secret");
    Tool tool =
        tool(
                effect,
                (input, context) -> {
                  batch.time.advance(Duration.ofMillis(70));
                  throw thrown;
                })
            .build();

    ToolEnd.Known end = known(batch.run(one(tool)).getFirst());

    assertTrue(end.error());
    assertEquals("\"Tool failed.\"", end.output().text());
    assertSame(thrown, end.cause().orElseThrow());
    assertEquals(Duration.ofMillis(70), end.duration());
    assertEquals(List.of("starting [a]", "ended a badly"), List.copyOf(batch.trail));
  }

  @Test
  @Tag("A47")
  void aToolExceptionSpeaksToTheModel() {
    Tool tool =
        tool(
                EffectClass.ONCE,
                (input, context) -> {
                  throw new ToolException("No such order \uD800.");
                })
            .build();

    assertEquals(
        "\"No such order \uFFFD.\"", known(batch.run(one(tool)).getFirst()).output().text());
  }

  @Test
  @Tag("A49")
  void aThrowingToolIsNotRunAgain() {
    AtomicInteger runs = new AtomicInteger();
    Tool tool =
        tool(
                EffectClass.IDEMPOTENT,
                (input, context) -> {
                  runs.incrementAndGet();
                  throw new IllegalStateException();
                })
            .build();

    batch.run(one(tool));

    assertEquals(1, runs.get());
  }

  /** A tool that notes its runs and waits until it is interrupted. */
  private Tool hanging(EffectClass effect, List<ToolContext> contexts) {
    return tool(
            effect,
            (input, context) -> {
              contexts.add(context);
              new CountDownLatch(1).await();
              return "unreachable";
            })
        .timeout(LIMIT)
        .build();
  }

  @ParameterizedTest
  @CsvSource({"PURE, Known", "IDEMPOTENT, Unknown", "ONCE, Unknown"})
  @Tag("A61")
  void aToolThatDoesNotKnowWhetherItHasActedPutsItsCallInDoubt(EffectClass effect, String end) {
    Tool tool =
        tool(
                effect,
                (input, context) -> {
                  throw new OutcomeUnknownException(new IllegalStateException("read timed out"));
                })
            .build();

    assertEquals(end, batch.run(one(tool)).getFirst().getClass().getSimpleName());
    assertEquals(
        effect == EffectClass.IDEMPOTENT
            ? List.of("starting [a]", "starting [a again]")
            : effect == EffectClass.ONCE
                ? List.of("starting [a]")
                : List.of("starting [a]", "ended a badly"),
        List.copyOf(batch.trail));
  }

  @Test
  void aToolThatHasActedIsNotAFailureBecauseItsOutputIsNoJson() {
    for (Object odd : new Object[] {new Object(), Double.NaN, Thread.currentThread()}) {
      Tool tool = tool(EffectClass.ONCE, (input, context) -> odd).build();

      ToolEnd.Known end = known(batch.run(one(tool)).getFirst());

      assertFalse(end.error());
      assertEquals("\"The tool has run. Its result cannot be shown.\"", end.output().text());
    }
  }

  @Test
  @Tag("A57")
  void whileACallThatWasGivenUpIsStillAtWorkNobodySaysThatItDidNotTakePlace() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = batch.gate();
    Tool stubborn =
        ToolBatch.tool(
                EffectClass.ONCE,
                (input, context) -> {
                  begun.countDown();
                  ToolBatch.awaitStubbornly(release);
                  return "late";
                })
            .timeout(LIMIT)
            .reconciler((key, input) -> new Reconciler.Finding.NotExecuted())
            .build();
    FutureTask<List<ToolEnd>> ends = ToolBatch.elsewhere(() -> batch.run(one(stubborn)));
    ToolBatch.await(begun);
    batch.awaitWaitOf(LIMIT);
    batch.time.advance(LIMIT);
    batch.awaitWaitOf(ToolBatch.GRACE);
    batch.time.advance(ToolBatch.GRACE);
    assertInstanceOf(ToolEnd.Unknown.class, ToolBatch.get(ends).getFirst());

    assertEquals(new Reconciler.Finding.Unknown(), found(stubborn));

    release.countDown();
    ToolBatch.until(() -> batch.tree.abandoned().isEmpty());
    assertEquals(new Reconciler.Finding.NotExecuted(), found(stubborn));
  }

  @ParameterizedTest
  @CsvSource({"PURE, false", "ONCE, true"})
  @Tag("A62")
  void whatAToolReturnsAfterItWasGivenUpIsToldOnceUnlessItHasNoEffect(
      EffectClass effect, boolean told) throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch release = batch.gate();
    Tool stubborn =
        ToolBatch.tool(
                effect,
                (input, context) -> {
                  begun.countDown();
                  ToolBatch.awaitStubbornly(release);
                  return "late";
                })
            .timeout(LIMIT)
            .build();
    FutureTask<List<ToolEnd>> ends = ToolBatch.elsewhere(() -> batch.run(one(stubborn)));
    ToolBatch.await(begun);
    batch.awaitWaitOf(LIMIT);
    batch.time.advance(LIMIT);
    batch.awaitWaitOf(ToolBatch.GRACE);
    batch.time.advance(ToolBatch.GRACE);
    ToolBatch.get(ends);
    assertEquals(0, batch.trail.stream().filter("ended late a"::equals).count());

    release.countDown();
    ToolBatch.until(() -> batch.tree.abandoned().isEmpty());

    assertEquals(told ? 1 : 0, batch.trail.stream().filter("ended late a"::equals).count());
  }

  @Test
  @Tag("A46")
  void aPureToolThatTimesOutIsAnErrorThatSaysSo() throws Exception {
    List<ToolContext> contexts = new CopyOnWriteArrayList<>();
    FutureTask<List<ToolEnd>> ends =
        ToolBatch.elsewhere(() -> batch.run(one(hanging(EffectClass.PURE, contexts))));
    ToolBatch.until(() -> contexts.size() == 1);
    batch.awaitWaitOf(LIMIT);
    batch.time.advance(LIMIT);

    ToolEnd.Known end = known(ToolBatch.get(ends).getFirst());
    assertTrue(end.error());
    assertEquals("\"Tool timed out after PT3S.\"", end.output().text());
    assertEquals(LIMIT, end.duration());
  }

  @Test
  @Tag("FR-E03")
  @Tag("A46")
  @Tag("A55")
  void aToolThatMustNotBeRepeatedHasAnUnknownOutcomeWhenItTimesOut() throws Exception {
    List<ToolContext> contexts = new CopyOnWriteArrayList<>();
    FutureTask<List<ToolEnd>> ends =
        ToolBatch.elsewhere(() -> batch.run(one(hanging(EffectClass.ONCE, contexts))));
    ToolBatch.until(() -> contexts.size() == 1);
    batch.awaitWaitOf(LIMIT);
    batch.time.advance(LIMIT);

    assertInstanceOf(ToolEnd.Unknown.class, ToolBatch.get(ends).getFirst());
    assertEquals(List.of("starting [a]"), List.copyOf(batch.trail), "no outcome is guessed");
  }

  @Test
  @Tag("FR-E03")
  @Tag("A46")
  @Tag("A55")
  void aRepeatableToolIsRunOnceMoreWithTheSameKeyAndIsThenUnknown() throws Exception {
    List<ToolContext> contexts = new CopyOnWriteArrayList<>();
    FutureTask<List<ToolEnd>> ends =
        ToolBatch.elsewhere(() -> batch.run(one(hanging(EffectClass.IDEMPOTENT, contexts))));
    for (int i = 1; i <= 2; i++) {
      int runs = i;
      ToolBatch.until(() -> contexts.size() == runs);
      batch.awaitWaitOf(LIMIT);
      batch.time.advance(LIMIT);
    }

    assertInstanceOf(ToolEnd.Unknown.class, ToolBatch.get(ends).getFirst());
    assertEquals(List.of(1, 2), contexts.stream().map(ToolContext::attempt).toList());
    assertEquals(
        List.of("key-a", "key-a"), contexts.stream().map(ToolContext::idempotencyKey).toList());
    assertEquals(List.of("starting [a]", "starting [a again]"), List.copyOf(batch.trail));
  }

  @Test
  @Tag("A46")
  void aRepeatableToolMaySucceedTheSecondTime() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Tool tool =
        tool(
                EffectClass.IDEMPOTENT,
                (input, context) -> {
                  if (context.attempt() == 1) {
                    begun.countDown();
                    new CountDownLatch(1).await();
                  }
                  return "done";
                })
            .timeout(LIMIT)
            .build();
    FutureTask<List<ToolEnd>> ends = ToolBatch.elsewhere(() -> batch.run(one(tool)));
    ToolBatch.await(begun);
    batch.awaitWaitOf(LIMIT);
    batch.time.advance(LIMIT);

    assertEquals("\"done\"", known(ToolBatch.get(ends).getFirst()).output().text());
    assertEquals(
        List.of("starting [a]", "starting [a again]", "ended a again"), List.copyOf(batch.trail));
  }

  @Test
  @Tag("A46")
  @Tag("R121")
  void aStubbornToolIsLeftBehindAndListedAndTheOthersHaveTheirEnds() throws Exception {
    CountDownLatch gate = batch.gate();
    CountDownLatch begun = new CountDownLatch(1);
    Tool tool =
        tool(
                EffectClass.PURE,
                (input, context) -> {
                  if (input.text().equals("a")) {
                    begun.countDown();
                    ToolBatch.awaitStubbornly(gate);
                  }
                  return input.text();
                })
            .timeout(LIMIT)
            .build();
    FutureTask<List<ToolEnd>> ends = ToolBatch.elsewhere(() -> batch.run(runs(tool, 2)));
    ToolBatch.await(begun);
    ToolBatch.until(() -> batch.trail.contains("ended b"));
    batch.awaitWaitOf(LIMIT);
    batch.time.advance(LIMIT);
    batch.awaitWaitOf(ToolBatch.GRACE);
    batch.time.advance(ToolBatch.GRACE);

    List<ToolEnd> both = ToolBatch.get(ends);
    assertTrue(known(both.get(0)).error());
    assertEquals("\"b\"", known(both.get(1)).output().text());
    assertEquals("tool tool", batch.tree.abandoned().getFirst().name());
  }

  @Test
  void aToolThatReturnsInTheGraceHasAKnownOutcome() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Tool tool =
        tool(
                EffectClass.ONCE,
                (input, context) -> {
                  begun.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    return "it was done by then";
                  }
                  return "unreachable";
                })
            .timeout(LIMIT)
            .build();
    FutureTask<List<ToolEnd>> ends = ToolBatch.elsewhere(() -> batch.run(one(tool)));
    ToolBatch.await(begun);
    batch.awaitWaitOf(LIMIT);
    batch.time.advance(LIMIT);

    assertEquals("\"it was done by then\"", known(ToolBatch.get(ends).getFirst()).output().text());
  }

  @ParameterizedTest
  @CsvSource({"PURE, CutOff", "IDEMPOTENT, CutOff", "ONCE, Unknown"})
  @Tag("A55")
  void whatACancelCutsOffMayBeRunAgainOrIsUnknown(EffectClass effect, String expected)
      throws Exception {
    List<ToolContext> contexts = new CopyOnWriteArrayList<>();
    List<TaskScope> scopes = new ArrayList<>();
    FutureTask<List<ToolEnd>> ends =
        ToolBatch.elsewhere(
            () -> {
              try (TaskScope scope = batch.tree.open("operation", "operation")) {
                scopes.add(scope);
                return batch.runner(scope).run(one(hanging(effect, contexts)));
              }
            });
    ToolBatch.until(() -> contexts.size() == 1);
    scopes.getFirst().cancel("enough");

    assertEquals(expected, ToolBatch.get(ends).getFirst().getClass().getSimpleName());
  }

  @ParameterizedTest
  @CsvSource({"PURE, CutOff", "IDEMPOTENT, CutOff", "ONCE, Unknown"})
  @Tag("R17")
  void anInterruptOfTheCallerCutsOffAndStaysSet(EffectClass effect, String expected)
      throws Exception {
    List<ToolContext> contexts = new CopyOnWriteArrayList<>();
    Thread[] caller = new Thread[1];
    AtomicBoolean set = new AtomicBoolean();
    FutureTask<List<ToolEnd>> ends =
        ToolBatch.elsewhere(
            () -> {
              caller[0] = Thread.currentThread();
              List<ToolEnd> found = batch.run(one(hanging(effect, contexts)));
              set.set(Thread.interrupted());
              return found;
            });
    ToolBatch.until(() -> contexts.size() == 1);
    caller[0].interrupt();

    assertEquals(expected, ToolBatch.get(ends).getFirst().getClass().getSimpleName());
    assertTrue(set.get());
  }

  @Test
  void aToolHasAThreadOfItsOwnUnlessItHonoursInterruptsAndRunsAlone() {
    List<Thread> threads = new CopyOnWriteArrayList<>();
    Tool tool =
        tool(EffectClass.PURE, (input, context) -> threads.add(Thread.currentThread())).build();

    batch.run(one(tool));
    batch.run(runs(tool, 2)); // at the same time
    batch.options = ToolExecution.DEFAULT.sequential();
    batch.run(runs(tool, 2));

    List<Boolean> onOwners =
        threads.stream().map(thread -> thread.equals(Thread.currentThread())).toList();
    boolean here = honoursInterrupts;
    assertEquals(List.of(here, false, false, here, here), onOwners);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void nothingBeginsInAnOperationThatIsOverAndNoIntentIsWritten(boolean interrupted) {
    Tool tool = tool(EffectClass.ONCE, (input, context) -> batch.trail.add("effect")).build();
    List<ToolEnd> ends;
    if (interrupted) {
      Thread.currentThread().interrupt();
      ends = batch.run(runs(tool, 2));
      assertTrue(Thread.interrupted());
    } else {
      ends = batch.run(runs(tool, 2), Deadline.after(batch.time, Duration.ZERO));
    }

    ends.forEach(end -> assertInstanceOf(ToolEnd.CutOff.class, end));
    assertTrue(batch.trail.isEmpty());
  }

  @Test
  @Tag("A55")
  void aRunWhoseIntentIsWrittenAndThatNeverBeganIsCutOffAndNotUnknown() {
    Tool tool = tool(EffectClass.ONCE, (input, context) -> batch.trail.add("effect")).build();
    try (TaskScope scope = batch.tree.open("operation", "operation")) {
      ToolJournal cancelling =
          new ToolJournal() {
            @Override
            public void starting(List<ToolRun> runs) {
              scope.cancel("while the intent was written");
            }

            @Override
            public void endedLate(ToolRun run, ToolEnd.Known end) {}

            @Override
            public void ended(ToolRun run, ToolEnd.Known end) {}
          };
      List<ToolEnd> ends =
          new ToolRunner(
                  scope,
                  batch.time,
                  ToolExecution.DEFAULT,
                  true,
                  new ToolCaller("run-1", java.util.Map.of()),
                  cancelling,
                  batch.runningKeys)
              .run(runs(tool, 2));

      ends.forEach(end -> assertInstanceOf(ToolEnd.CutOff.class, end));
    }
    assertTrue(batch.trail.isEmpty());
  }

  @ParameterizedTest
  @CsvSource({"1, false, Known", "1, true, CutOff", "2, true, Known"})
  @Tag("A47")
  void ifAskedToTheFirstErrorStopsABatchInSequenceAndNoOther(int width, boolean stop, String rest) {
    batch.options = ToolExecution.DEFAULT.withMaxConcurrency(width);
    if (stop) {
      batch.options = batch.options.stoppingOnError();
    }
    Tool tool =
        tool(
                EffectClass.ONCE,
                (input, context) -> {
                  if (input.text().equals("b")) {
                    throw new IllegalStateException();
                  }
                  return input.text();
                })
            .build();

    List<ToolEnd> ends = batch.run(runs(tool, 5));

    assertTrue(known(ends.get(1)).error());
    assertEquals(rest, ends.get(3).getClass().getSimpleName());
    assertEquals(rest, ends.get(4).getClass().getSimpleName());
  }

  @Test
  @Tag("R3")
  void anErrorIsRethrownAfterTheOthersWereCancelled() {
    LinkageError error = new LinkageError("no such class");
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    Tool tool =
        tool(
                EffectClass.PURE,
                (input, context) -> {
                  if (input.text().equals("a")) {
                    ToolBatch.await(begun);
                    throw error;
                  }
                  begun.countDown();
                  try {
                    new CountDownLatch(1).await();
                  } catch (InterruptedException e) {
                    interrupted.countDown();
                  }
                  return "";
                })
            .build();

    assertSame(error, assertThrows(LinkageError.class, () -> batch.run(runs(tool, 2))));
    assertEquals(0, interrupted.getCount());
  }

  @Test
  void aReconcilerThatFailsOrSaysNothingKnowsNothing() {
    Tool.Builder<ToolBatch.Input> builder = tool(EffectClass.ONCE, (input, context) -> "");
    var executed = new Reconciler.Finding.Executed(Json.EMPTY_OBJECT);
    var unknown = new Reconciler.Finding.Unknown();

    assertEquals(executed, found(builder.reconciler((key, input) -> executed).build()));
    assertEquals(unknown, found(builder.reconciler(ToolRunnerTest::nothing).build()));
    assertEquals(
        unknown,
        found(
            builder
                .reconciler(
                    (key, input) -> {
                      throw new java.io.IOException("down");
                    })
                .build()));
    assertEquals(unknown, found(tool(EffectClass.ONCE, (input, context) -> "").build()));
  }

  @SuppressWarnings("NullAway") // on purpose
  private static Reconciler.Finding nothing(String key, ToolBatch.Input input) {
    return null;
  }

  private Reconciler.Finding found(Tool tool) {
    try (TaskScope scope = batch.tree.open("operation", "operation")) {
      return batch.runner(scope).reconcile(tool, one(tool).getFirst().call(), "key-a");
    }
  }

  @Test
  void aMaximumBelowOneIsRefused() {
    assertThrows(InvalidRequestException.class, () -> ToolExecution.DEFAULT.withMaxConcurrency(0));
  }

  @Test
  void theFirstWaveIsWhatBeginsAtOnce() {
    Tool tool = tool(EffectClass.ONCE, (input, context) -> "").build();
    try (TaskScope scope = batch.tree.open("operation", "operation")) {
      batch.options = ToolExecution.DEFAULT.withMaxConcurrency(2);
      assertEquals(2, batch.runner(scope).firstWave(runs(tool, 5)).size());
      assertEquals(List.of(), batch.runner(scope).firstWave(List.of()));
      batch.modelDeclaresParallel = false;
      assertEquals(1, batch.runner(scope).firstWave(runs(tool, 5)).size());
    }
  }
}
