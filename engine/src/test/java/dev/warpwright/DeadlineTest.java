package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ProviderException;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskInfo;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskState;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Time: of an attempt, of the operation, and of those who do not care. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class DeadlineTest {
  @RegisterExtension final Spine spine;

  DeadlineTest(boolean honouringInterrupts) {
    spine = new Spine(honouringInterrupts);
  }

  @Test
  @Tag("R94")
  @Tag("R109")
  @Tag("R110")
  void anAttemptThatTakesTooLongIsInterruptedAndRetriedAndThenFollowedByTheNextTarget()
      throws Exception {
    spine.a.hangs().hangs().hangs();
    spine.b.says("from b");
    Gateway gateway = spine.build(spine.builder().attemptTimeout(Duration.ofSeconds(3)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));
    for (int i = 1; i <= 3; i++) {
      int calls = i;
      Spine.until("call " + i, () -> spine.a.count() == calls);
      spine.awaitWaitOf(Duration.ofSeconds(3));
      spine.advance(3_000);
    }

    GenerateResult result = caller.get();
    assertEquals("from b", result.text());
    for (Attempt attempt : result.attempts().subList(0, 3)) {
      assertEquals(ReasonCode.PROVIDER_ERROR, attempt.reasonCode());
      assertEquals(Optional.of(ProviderException.Kind.TIMEOUT), attempt.failure());
      assertEquals(Duration.ofSeconds(3), attempt.latency());
      assertTrue(attempt.message().contains("PT3S (attemptTimeout)"), attempt.message());
    }
  }

  @Test
  @Tag("R109")
  void byDefaultAnAttemptHas120SecondsAndAnOperation10Minutes() throws Exception {
    spine.a.hangs();
    Gateway gateway = spine.gateway();

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofMinutes(2));
    List<TaskInfo> live = gateway.diagnostics().liveTasks();
    assertEquals(Duration.ofMinutes(10), live.getFirst().deadline().remaining());
    assertEquals(Duration.ofMinutes(2), live.getLast().deadline().remaining());
    assertEquals(Duration.ofMinutes(2), spine.a.calls().getFirst().deadline().remaining());
    caller.interrupt();
    assertThrows(Exception.class, caller::get);
  }

  @Test
  @Tag("R109")
  void aProviderMayHaveItsOwnAttemptTimeout() throws Exception {
    spine.a.fails(status(400));
    spine.b.hangs();
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .attemptTimeout(Duration.ofSeconds(3))
                .attemptTimeout("b", Duration.ofSeconds(9)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));
    spine.awaitWaitOf(Duration.ofSeconds(9));
    assertEquals(Duration.ofSeconds(3), spine.a.calls().getFirst().deadline().remaining());
    caller.interrupt();
    assertThrows(Exception.class, caller::get);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  @Tag("R123")
  @Tag("R125")
  @Tag("R130")
  void theDeadlineCutsTheAttemptOffAndEndsTheOperationWithoutRetryOrFallback(int step)
      throws Exception {
    if (step == 2) {
      spine.a.asksFor(Tools.call("1"));
    }
    spine.a.fails(status(500)).hangs();
    Gateway gateway = spine.gateway();
    var request = ask(A, B).tools(Tools.echo()).maxSteps(2).timeout(Duration.ofSeconds(5)).build();

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofSeconds(5));
    spine.advance(5_000);

    var failure = caller.failure(DeadlineExceededException.class);
    assertEquals(FailureKind.DEADLINE, failure.kind());
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("step " + step) && message.contains("PT5S"), message);
    Attempt last = failure.trace().attempts().getLast();
    assertEquals(ReasonCode.DEADLINE_EXCEEDED, last.reasonCode());
    assertEquals(step, last.step());
    assertEquals(Duration.ofSeconds(5), last.latency());
    assertEquals(step + 1, failure.trace().attempts().size());
    assertEquals(1, failure.getSuppressed().length, "the failure before");
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("R124")
  void aRequestMayShortenTheDeadlineAndNotExtendIt() {
    Gateway gateway = spine.build(spine.builder().timeout(Duration.ofSeconds(5)));
    try (Operation shorter = gateway.open("x", ask(A).timeout(Duration.ofSeconds(2)).build())) {
      assertEquals(Duration.ofSeconds(2), shorter.deadline().remaining());
    }
    try (Operation longer = gateway.open("x", ask(A).timeout(Duration.ofSeconds(9)).build())) {
      assertEquals(Duration.ofSeconds(5), longer.deadline().remaining());
    }
  }

  @Test
  @Tag("R124")
  void aScopeAroundTheOperationMayShortenItToo() {
    Gateway gateway = spine.gateway();
    try (TaskScope around =
            gateway
                .tasks()
                .open("test", "around", Deadline.after(spine.time, Duration.ofSeconds(1)));
        Operation operation = gateway.open("x", request(A))) {
      assertEquals(around.deadline(), operation.deadline());
    }
  }

  @Test
  @Tag("R109")
  @Tag("R131")
  void anAttemptNeverHasLongerThanItsOperation() {
    spine.a.says("hi");
    Gateway gateway = spine.build(spine.builder().timeout(Duration.ofSeconds(5)));

    gateway.generate(request(A));

    assertEquals(Duration.ofSeconds(5), spine.a.calls().getFirst().deadline().remaining());
  }

  @Test
  @Tag("R127")
  void theDeadlineIsSharedByRetriesAndFallbacks() {
    spine.a.then(
        call -> {
          spine.advance(2_000);
          throw status(500);
        });
    spine.a.then(
        call -> {
          spine.advance(2_000);
          throw status(400);
        });
    spine.b.says("from b");
    Gateway gateway = spine.build(spine.builder().timeout(Duration.ofSeconds(5)));

    gateway.generate(request(A, B));

    assertEquals(Duration.ofSeconds(1), spine.b.calls().getFirst().deadline().remaining());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("R125")
  @Tag("R130")
  void aFailureThatComesAtTheDeadlineIsFollowedByNothing(boolean fallback) {
    for (RuntimeException late : List.of(status(400), status(500), new IllegalStateException())) {
      FakeModel slow =
          new FakeModel()
              .then(
                  call -> {
                    spine.advance(5_000);
                    throw late;
                  });
      Gateway gateway =
          spine.build(spine.builder().adapter("a", id -> slow).timeout(Duration.ofSeconds(5)));

      var failure =
          assertThrows(
              DeadlineExceededException.class,
              () -> gateway.generate(fallback ? request(A, B) : request(A)));

      assertEquals(1, failure.trace().attempts().size(), "no attempt that was never made");
      assertEquals(0, spine.b.count());
      // Whether the failure or the deadline is seen first is a race; the entry says which.
      ReasonCode seen = failure.trace().attempts().getFirst().reasonCode();
      assertEquals(
          seen == ReasonCode.PROVIDER_ERROR ? 1 : 0,
          failure.getSuppressed().length,
          () -> "" + seen);
    }
  }

  @Test
  @Tag("R125")
  void aDeadlineThatHasPassedAlreadyLeavesNoAttempt() {
    Gateway gateway = spine.gateway();
    try (TaskScope around =
        gateway.tasks().open("test", "around", Deadline.after(spine.time, Duration.ZERO))) {
      assertEquals(0, around.deadline().remainingNanos());

      var failure =
          assertThrows(DeadlineExceededException.class, () -> gateway.generate(request(A)));

      assertEquals(List.of(), failure.trace().attempts());
    }
    assertEquals(0, spine.a.count());
  }

  @Test
  @Tag("R121")
  @Tag("R126")
  void anAdapterThatIgnoresInterruptsIsLeftBehindAfterTheGraceAndListedUntilItEnds()
      throws Exception {
    spine.a.ignoresInterrupts();
    Gateway gateway = spine.build(spine.builder().timeout(Duration.ofSeconds(5)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofSeconds(5));
    spine.advance(5_000);
    spine.a.awaitInterrupted();
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(Spine.GRACE.toMillis());

    caller.failure(DeadlineExceededException.class);
    TaskInfo abandoned = gateway.diagnostics().abandonedTasks().getFirst();
    assertEquals(TaskState.ABANDONED, abandoned.state());
    assertEquals("attempt", abandoned.kind());
    assertTrue(abandoned.name().contains("a/model-a"), abandoned.name());
    assertEquals(Instant.parse("2026-01-01T12:00:00Z"), abandoned.since());

    spine.a.release();
    Spine.until("its end", () -> gateway.diagnostics().abandonedTasks().isEmpty());
  }

  @Test
  @Tag("R110")
  @Tag("R121")
  void afterAnAttemptTimeoutAStubbornAdapterDoesNotKeepTheNextFromBeingCalled() throws Exception {
    spine.a.ignoresInterrupts();
    spine.b.says("from b");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .attemptTimeout(Duration.ofSeconds(3))
                .retry(new dev.warpwright.control.RetryPolicy(0, Duration.ZERO, 0)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofSeconds(3));
    spine.advance(3_000);
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(Spine.GRACE.toMillis());

    GenerateResult result = caller.get();
    assertEquals("from b", result.text(), "the late answer is discarded");
    assertEquals(Duration.ofMillis(3_100), result.attempts().getFirst().latency());
    assertEquals(1, gateway.diagnostics().abandonedTasks().size());
  }

  @Test
  @Tag("R121")
  @Tag("R126")
  void aStubbornToolIsLeftBehindToo() throws Exception {
    CountDownLatch gate = spine.gate();
    CountDownLatch started = new CountDownLatch(1);
    spine.a.asksFor(Tools.call("1", "stubborn"));
    var tool =
        Tools.builder(
                "stubborn",
                EffectClass.IDEMPOTENT,
                (input, context) -> {
                  started.countDown();
                  Spine.awaitStubbornly(gate);
                  return "late";
                })
            .build();
    Gateway gateway = spine.build(spine.builder().timeout(Duration.ofSeconds(5)));

    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(ask(A).tools(tool).maxSteps(2).build()));
    Spine.await("the tool", started);
    spine.awaitWaitOf(Duration.ofSeconds(5));
    spine.advance(5_000);
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(Spine.GRACE.toMillis());

    caller.failure(DeadlineExceededException.class);
    TaskInfo abandoned = gateway.diagnostics().abandonedTasks().getFirst();
    assertEquals("tool stubborn", abandoned.name());
    assertEquals("tool", abandoned.kind());
  }

  @Test
  @Tag("R129")
  void afterASuccessNothingIsLeftInTheTimer() {
    spine.a.says("hi");
    Gateway gateway = spine.gateway();

    gateway.generate(request(A));

    assertEquals(0, spine.time.pendingAlarms());
    assertEquals(List.of(), gateway.diagnostics().liveTasks());
  }

  @Test
  @Tag("R121")
  void theLiveTreeSaysWhatRunsForHowLongAndUnderWhichDeadline() throws Exception {
    spine.a.hangs();
    Gateway gateway = spine.build(spine.builder().timeout(Duration.ofSeconds(5)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    spine.awaitWaitOf(Duration.ofSeconds(5));
    List<TaskInfo> live = gateway.diagnostics().liveTasks();
    assertEquals(List.of("operation", "attempt"), live.stream().map(TaskInfo::kind).toList());
    assertTrue(live.get(0).name().startsWith("generate-"), live.get(0).name());
    assertEquals("attempt 1 a/model-a", live.get(1).name());
    assertEquals(Optional.of(live.get(0).path()), live.get(1).parent());
    spine.advance(5_000);
    caller.failure(DeadlineExceededException.class);
  }

  @Test
  @Tag("R109")
  void aLateAnswerWithinTheAttemptTimeoutCounts() {
    spine.a.then(
        call -> {
          spine.advance(119_999);
          return FakeModel.answer("late", FinishReason.Kind.STOP);
        });

    assertEquals("late", spine.gateway().generate(request(A)).text());
  }

  @Test
  void withNoRetriesLeftAnAttemptTimeoutIsAnExhaustedListThatMayBeTriedAgain() throws Exception {
    spine.a.hangs();
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .attemptTimeout(Duration.ofSeconds(3))
                .retry(new dev.warpwright.control.RetryPolicy(0, Duration.ZERO, 0)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofSeconds(3));
    spine.advance(3_000);

    assertTrue(caller.failure(AttemptsExhaustedException.class).retryable());
  }
}
