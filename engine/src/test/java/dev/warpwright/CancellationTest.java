package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.task.TaskScope;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An interrupt is a cancel, wherever the operation is. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class CancellationTest {
  @RegisterExtension final Spine spine;

  CancellationTest(boolean honouringInterrupts) {
    spine = new Spine(honouringInterrupts);
  }

  private static void assertCancelled(Caller<?> caller) throws Exception {
    var failure = caller.failure(OperationCancelledException.class);
    assertEquals(FailureKind.CANCELLED, failure.kind());
    assertFalse(failure.retryable());
    assertTrue(String.valueOf(failure.getMessage()).contains("interrupted"));
    assertTrue(caller.leftInterrupted(), "the flag is set again");
  }

  private static List<ReasonCode> reasons(OperationCancelledException failure) {
    return failure.trace().attempts().stream().map(Attempt::reasonCode).toList();
  }

  @Test
  @Tag("R17")
  @Tag("R110")
  @Tag("R117")
  void anInterruptDuringAnAttemptInterruptsItAndIsAnAttemptOfItsOwnKind() throws Exception {
    spine.a.fails(status(500)).hangs();
    Gateway gateway = spine.gateway();

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));
    spine.a.awaitBusy();
    caller.interrupt();

    assertCancelled(caller);
    spine.a.awaitInterrupted();
    var failure = caller.failure(OperationCancelledException.class);
    assertEquals(List.of(ReasonCode.PROVIDER_ERROR, ReasonCode.REQUEST_ABORTED), reasons(failure));
    assertEquals(1, failure.getSuppressed().length);
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("R17")
  @Tag("R121")
  void aStubbornAdapterKeepsAnInterruptedCallerForTheGraceOnly() throws Exception {
    spine.a.ignoresInterrupts();
    Gateway gateway = spine.gateway();

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    spine.a.awaitBusy();
    caller.interrupt();
    spine.a.awaitInterrupted();
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(Spine.GRACE.toMillis());

    assertCancelled(caller);
    assertEquals(1, gateway.diagnostics().abandonedTasks().size());
  }

  @Test
  @Tag("R17")
  void aCallerThatIsInterruptedAlreadyCallsNobody() {
    Gateway gateway = spine.gateway();
    Thread.currentThread().interrupt();
    try {
      var failure =
          assertThrows(OperationCancelledException.class, () -> gateway.generate(request(A)));

      assertTrue(Thread.currentThread().isInterrupted());
      assertEquals(List.of(), failure.trace().attempts());
      assertEquals(0, spine.a.count());
    } finally {
      Thread.interrupted();
    }
  }

  @Test
  @Tag("R17")
  @Tag("R102")
  void anInterruptEndsABackoffAtOnceWithoutRetryOrFallback() throws Exception {
    spine.a.fails(status(500));
    Gateway gateway =
        spine.build(spine.builder().retry(new RetryPolicy(2, Duration.ofSeconds(9), 0)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));
    spine.awaitWaitOf(Duration.ofSeconds(9));
    caller.interrupt();

    assertCancelled(caller);
    var failure = caller.failure(OperationCancelledException.class);
    assertEquals(List.of(ReasonCode.PROVIDER_ERROR), reasons(failure));
    assertEquals(1, failure.getSuppressed().length);
    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("R102")
  void anInterruptThatComesWithAFailureIsNotFollowedByTheNextTarget() throws Exception {
    AtomicReference<Thread> owner = new AtomicReference<>();
    spine.a.then(
        call -> {
          owner.get().interrupt();
          throw status(400);
        });
    Gateway gateway = spine.gateway();

    Caller<GenerateResult> caller =
        Caller.start(
            () -> {
              owner.set(Thread.currentThread());
              return gateway.generate(request(A, B));
            });

    assertCancelled(caller);
    assertEquals(1, caller.failure(OperationCancelledException.class).trace().attempts().size());
    assertEquals(0, spine.b.count());
  }

  @ParameterizedTest
  @EnumSource(
      value = EffectClass.class,
      names = {"PURE", "IDEMPOTENT"})
  @Tag("R17")
  @Tag("R116")
  void anInterruptReachesRunningTools(EffectClass effect) throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    spine.a.asksFor(Tools.call("1", "slow"));
    Gateway gateway = spine.gateway();
    var tool = slow(effect, started, interrupted);

    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(ask(A).tools(tool).maxSteps(2).build()));
    Spine.await("the tool", started);
    caller.interrupt();

    assertCancelled(caller);
    Spine.await("its interrupt", interrupted);
    assertEquals(1, spine.a.count());
  }

  private static dev.warpwright.tool.Tool slow(
      EffectClass effect, CountDownLatch started, CountDownLatch interrupted) {
    return Tools.builder(
            "slow",
            effect,
            (input, context) -> {
              started.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
              }
              return "unreachable";
            })
        .build();
  }

  @Test
  @Tag("R386")
  void aToolThatMustNotBeRepeatedAndIsInterruptedHasAnUnknownOutcomeBecauseOfTheCancel()
      throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    spine.a.asksFor(Tools.call("1", "slow"));
    Gateway gateway = spine.gateway();
    var tool = slow(EffectClass.ONCE, started, new CountDownLatch(1));

    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(ask(A).tools(tool).maxSteps(2).build()));
    Spine.await("the tool", started);
    caller.interrupt();

    var failure = caller.failure(UnknownOutcomeException.class);
    assertEquals(OperationCancelledException.class, failure.getCause().getClass());
    assertTrue(caller.leftInterrupted());
  }

  @Test
  @Tag("R17")
  @Tag("R386")
  void aToolThatNeverBeganIsNoUnknownOutcome() throws Exception {
    List<String> ran = new ArrayList<>();
    AtomicReference<Thread> owner = new AtomicReference<>();
    spine.a.then(
        call -> {
          owner.get().interrupt();
          return FakeModel.answer(FinishReason.Kind.TOOL_CALLS, Tools.call("1"));
        });
    Gateway gateway = spine.gateway();
    var tool = Tools.of("echo", input -> ran.add(input.text()));

    Caller<GenerateResult> caller =
        Caller.start(
            () -> {
              owner.set(Thread.currentThread());
              return gateway.generate(ask(A).tools(tool).maxSteps(2).build());
            });

    // Whether the answer or the interrupt is seen first is a race; both are a cancel.
    assertCancelled(caller);
    assertEquals(List.of(), ran);
  }

  @Test
  @Tag("R117")
  void theReasonOfACancelFromAboveIsCarriedAndRedacted() throws Exception {
    spine.a.hangs();
    Gateway gateway = spine.gateway();
    AtomicReference<TaskScope> around = new AtomicReference<>();

    Caller<GenerateResult> caller =
        Caller.start(
            () -> {
              try (TaskScope scope = gateway.tasks().open("test", "around")) {
                around.set(scope);
                return gateway.generate(request(A));
              }
            });
    spine.a.awaitBusy();
    around.get().cancel("the user left, api_key=abc");

    var failure = caller.failure(OperationCancelledException.class);
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("the user left"), message);
    assertFalse(message.contains("abc"), message);
    Attempt attempt = failure.trace().attempts().getFirst();
    assertEquals(ReasonCode.REQUEST_ABORTED, attempt.reasonCode());
    assertTrue(attempt.message().contains("the user left"), attempt.message());
    assertFalse(attempt.message().contains("abc"), attempt.message());
    assertFalse(caller.leftInterrupted(), "nobody interrupted it");
  }

  @Test
  @Tag("R116")
  void anOperationInsideAToolIsCancelledWithTheOneAround() throws Exception {
    Gateway gateway = spine.gateway();
    spine.a.asksFor(Tools.call("1", "nested"));
    spine.b.hangs();
    var nested =
        Tools.builder(
                "nested", EffectClass.PURE, (input, context) -> gateway.generate(request(B)).text())
            .build();

    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(ask(A).tools(nested).maxSteps(2).build()));
    spine.b.awaitBusy();
    var live = gateway.diagnostics().liveTasks();
    assertTrue(live.getLast().path().startsWith(live.getFirst().path() + "/tool nested/generate-"));
    caller.interrupt();

    assertCancelled(caller);
    spine.b.awaitInterrupted();
  }
}
