package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Capability;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.TokenCount.Provenance;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolFailedException;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.Usage;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.ToolExecution;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The loop of model calls and tools of a text operation, which has no log. */
final class ToolLoopTest {
  @RegisterExtension final Spine spine = new Spine();

  private final ConcurrentLinkedQueue<String> trail = new ConcurrentLinkedQueue<>();

  private dev.warpwright.tool.Tool noting(String name) {
    return Tools.of(
        name,
        input -> {
          trail.add(input.text());
          return "did " + input.text();
        });
  }

  private static ToolResult only(GenerateResult result) {
    assertEquals(1, result.toolResults().size());
    return result.toolResults().getFirst();
  }

  @Test
  @Tag("R16")
  @Tag("R386")
  void theModelGetsTheResultsOfItsCallsAndAnswersInTheNextStep() {
    spine.a.asksFor(Tools.call("1"), Tools.call("2")).says("done");

    GenerateResult result =
        spine.gateway().generate(ask(A).tools(noting("echo")).maxSteps(5).build());

    assertEquals("done", result.text());
    assertEquals(FinishReason.Kind.STOP, result.finishReason().kind());
    assertEquals(2, result.steps().size());
    assertEquals(
        List.of(Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT),
        result.messages().stream().map(message -> message.role()).toList());
    assertEquals(List.of("1", "2"), result.toolResults().stream().map(ToolResult::callId).toList());
    assertEquals(result.toolResults(), spine.a.calls().get(1).messages().get(2).toolResults());
    assertEquals("\"did text of 1\"", result.toolResults().getFirst().output().text());
    assertEquals(1, spine.a.calls().getFirst().tools().size());
  }

  @ParameterizedTest
  @EnumSource(
      value = FinishReason.Kind.class,
      names = {"STOP", "TOOL_CALLS"})
  @Tag("R386")
  @Tag("R146")
  void whenTheStepsAreUsedUpTheLastCallsAreRunAndTheResultIsReturnedAsItStands(
      FinishReason.Kind kind) {
    spine.a.then(call -> FakeModel.answer(kind, Tools.call("1")));

    GenerateResult result = spine.gateway().generate(ask(A).tools(noting("echo")).build());

    assertEquals(FinishReason.Kind.TOOL_CALLS, result.finishReason().kind());
    assertEquals("raw-" + kind, result.finishReason().raw());
    assertEquals(List.of("text of 1"), List.copyOf(trail));
    assertEquals("1", only(result).callId());
    assertEquals(Role.TOOL, result.messages().getLast().role());
    assertEquals(1, spine.a.count());
  }

  @ParameterizedTest
  @CsvSource({
    "LENGTH, OUTPUT_TRUNCATION",
    "PAUSED, OUTPUT_TRUNCATION",
    "OTHER, OUTPUT_TRUNCATION",
    "REFUSAL, OUTPUT_REFUSAL",
    "CONTENT_FILTER, OUTPUT_REFUSAL"
  })
  @Tag("R146")
  @Tag("A41")
  void noToolOfACutOffAnswerRunsAndNothingElseIsTried(
      FinishReason.Kind kind, FailureKind expected) {
    spine.a.then(call -> FakeModel.answer(kind, Tools.call("1")));

    var failure =
        assertThrows(
            InvalidOutputException.class,
            () -> spine.gateway().generate(ask(A, B).tools(noting("echo")).maxSteps(3).build()));

    assertEquals(expected, failure.kind());
    assertEquals(1, failure.trace().attempts().size());
    assertTrue(trail.isEmpty());
  }

  @ParameterizedTest
  @EnumSource(value = FinishReason.Kind.class, names = "ERROR", mode = EnumSource.Mode.EXCLUDE)
  @Tag("R145")
  void withoutCallsEveryFinishButErrorIsAResult(FinishReason.Kind kind) {
    spine.a.then(call -> FakeModel.answer("so far", kind));

    GenerateResult result = spine.gateway().generate(request(A));

    assertEquals("so far", result.text());
    assertEquals(kind, result.finishReason().kind());
  }

  @Test
  @Tag("A40")
  @Tag("R386")
  void callsThatCannotBeRunAreAnsweredWithAnErrorAndTheOthersRun() {
    var tools =
        List.of(
            noting("echo"),
            Tools.builder("off", EffectClass.PURE, (input, context) -> trail.add("off"))
                .enabledIf(input -> false)
                .build());
    spine
        .a
        .asksFor(
            Tools.call("1", "nope"),
            ToolCall.malformed("2", "echo", "{oops"),
            new ToolCall("3", "echo", Json.of(Map.of("txt", 1))),
            Tools.call("4", "off"),
            Tools.call("5"))
        .says("done");

    GenerateResult result = spine.gateway().generate(ask(A).tools(tools).maxSteps(2).build());

    assertEquals(List.of("text of 5"), List.copyOf(trail));
    List<ToolResult> results = result.toolResults();
    assertEquals(
        List.of(true, true, true, true, false), results.stream().map(ToolResult::error).toList());
    assertEquals(
        List.of("1", "2", "3", "4", "5"), results.stream().map(ToolResult::callId).toList());
    assertTrue(results.get(0).output().text().contains("The tools are: echo, off."));
    assertTrue(results.get(1).output().text().contains("not a JSON object"));
    assertTrue(results.get(2).output().text().contains("text"), results.get(2).output().text());
    assertTrue(results.get(3).output().text().contains("off"));
  }

  @Test
  @Tag("R386")
  @Tag("A42")
  @Tag("A43")
  void aCallThatNeedsApprovalIsDeniedUnlessAPolicyApprovesIt() {
    var tool =
        Tools.builder("pay", EffectClass.ONCE, (input, context) -> trail.add(input.text()))
            .requiresApproval(input -> !input.text().contains("2"))
            .build();
    ToolCall[] calls = {Tools.call("1", "pay"), Tools.call("2", "pay"), Tools.call("3", "pay")};
    spine.a.asksFor(calls).asksFor(calls);
    Gateway gateway = spine.gateway();

    GenerateResult without = gateway.generate(ask(A).tools(tool).build());
    assertEquals(List.of("text of 2"), List.copyOf(trail));
    assertEquals(
        List.of(true, false, true), without.toolResults().stream().map(ToolResult::error).toList());

    trail.clear();
    GenerateResult with =
        gateway.generate(
            ask(A)
                .tools(tool)
                .toolExecution(
                    ToolExecution.DEFAULT.sequential().approving(call -> call.id().equals("3")))
                .build());
    assertEquals(List.of("text of 2", "text of 3"), List.copyOf(trail));
    assertEquals(
        List.of(true, false, false), with.toolResults().stream().map(ToolResult::error).toList());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("R123")
  @Tag("R126")
  void aRuleThatTakesItsTimeDoesNotKeepTheCallerBeyondTheDeadline(boolean honoursInterrupts)
      throws Exception {
    ConcurrentLinkedQueue<Thread> threads = new ConcurrentLinkedQueue<>();
    CountDownLatch asked = new CountDownLatch(1);
    spine.a.asksFor(Tools.call("1", "ruled"));
    var rule =
        Tools.builder("ruled", EffectClass.PURE, (input, context) -> "unreachable")
            .enabledIf(
                input -> {
                  threads.add(Thread.currentThread());
                  asked.countDown();
                  while (!Thread.currentThread().isInterrupted()) { // by the deadline
                    LockSupport.park();
                  }
                  return true;
                });
    var ruled = (honoursInterrupts ? rule.honoursInterrupts() : rule).build();
    Gateway gateway = spine.build(spine.builder().timeout(Duration.ofSeconds(5)));

    Caller<GenerateResult> caller =
        Caller.start(
            () -> {
              threads.add(Thread.currentThread());
              return gateway.generate(ask(A).tools(ruled).maxSteps(2).build());
            });
    Spine.await("the rule", asked);
    spine.awaitWaitOf(Duration.ofSeconds(5));
    spine.advance(5_000);

    assertEquals(FailureKind.DEADLINE, caller.failure(DeadlineExceededException.class).kind());
    assertEquals(honoursInterrupts, threads.poll().equals(threads.poll()));
  }

  @Test
  void anAnswerWithMoreCallsThanTheBoundIsAFailureOfTheTarget() {
    ToolCall[] many =
        IntStream.range(0, 129).mapToObj(i -> Tools.call("c" + i)).toArray(ToolCall[]::new);
    spine.a.asksFor(many);
    spine.b.asksFor(Arrays.copyOf(many, 128));
    Gateway gateway = spine.gateway();

    GenerateResult result = gateway.generate(ask(A, B).tools(noting("echo")).build());

    assertEquals(B, result.targetUsed());
    assertEquals(128, result.toolResults().size());
    assertTrue(result.attempts().getFirst().message().contains("129 tool calls"));
  }

  @Test
  @Tag("R386")
  void aTimedOutToolThatMustNotBeRepeatedEndsTheOperationWithItsOutcomeUnknown() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    spine.a.with(ModelCapabilities.TEXT_AND_TOOLS);
    spine.a.asksFor(Tools.call("1"), Tools.call("2", "slow"));
    var slow =
        Tools.builder(
                "slow",
                EffectClass.ONCE,
                (input, context) -> {
                  started.countDown();
                  new CountDownLatch(1).await();
                  return "unreachable";
                })
            .timeout(Duration.ofSeconds(3))
            .build();
    Gateway gateway = spine.gateway();

    Caller<GenerateResult> caller =
        Caller.start(
            () -> gateway.generate(ask(A, B).tools(noting("echo"), slow).maxSteps(2).build()));
    Spine.await("the tool", started);
    spine.awaitWaitOf(Duration.ofSeconds(3));
    spine.advance(3_000);

    var failure = caller.failure(UnknownOutcomeException.class);
    assertEquals(FailureKind.UNKNOWN_OUTCOME, failure.kind());
    assertFalse(failure.retryable());
    assertTrue(String.valueOf(failure.getMessage()).contains("\"slow\""));
    assertEquals(1, failure.trace().attempts().size());
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("A47")
  @Tag("R363")
  void aThrowingToolIsAnErrorResultWithAFixedTextOrTheOneThatIsMeantForTheModel() {
    var broken =
        Tools.of(
            "broken",
            input -> {
              throw new IllegalStateException("password=abc");
            });
    var telling =
        Tools.of(
            "telling",
            input -> {
              throw new dev.warpwright.tool.ToolException("There is no such order.");
            });
    spine.a.asksFor(Tools.call("1", "broken"), Tools.call("2", "telling")).says("sorry");

    GenerateResult result =
        spine.gateway().generate(ask(A).tools(broken, telling).maxSteps(2).build());

    assertEquals("\"Tool failed.\"", result.toolResults().get(0).output().text());
    assertEquals("\"There is no such order.\"", result.toolResults().get(1).output().text());
    assertTrue(result.toolResults().stream().allMatch(ToolResult::error));
    assertEquals("sorry", result.text());
  }

  @Test
  @Tag("A47")
  void aToolThatThrowsInterruptedExceptionByItselfHasFailedLikeAnyOther() {
    for (EffectClass effect : EffectClass.values()) {
      var tool =
          Tools.builder(
                  "echo",
                  effect,
                  (input, context) -> {
                    throw new InterruptedException("of its own");
                  })
              .build();
      spine.a.asksFor(Tools.call("1"));

      GenerateResult result = spine.gateway().generate(ask(A).tools(tool).build());

      assertEquals("\"Tool failed.\"", only(result).output().text());
      assertFalse(Thread.currentThread().isInterrupted());
    }
  }

  @ParameterizedTest
  @CsvSource({"true, 3", "false, 2"})
  @Tag("A47")
  void stopOnErrorEndsTheOperationAfterTheBatchOrInSequenceAtOnce(boolean parallel, int runs) {
    AtomicInteger count = new AtomicInteger();
    var tool =
        Tools.of(
            "echo",
            input -> {
              count.incrementAndGet();
              if (input.text().contains("2")) {
                throw new IllegalStateException();
              }
              return "";
            });
    spine.a.with(
        parallel
            ? ModelCapabilities.TEXT_AND_TOOLS
            : ModelCapabilities.of(Capability.TOOLS, Capability.TOOL_CHOICE));
    spine.a.asksFor(Tools.call("1"), Tools.call("2"), Tools.call("3"));
    var request =
        ask(A)
            .tools(tool)
            .maxSteps(2)
            .toolExecution(ToolExecution.DEFAULT.stoppingOnError())
            .build();

    var failure = assertThrows(ToolFailedException.class, () -> spine.gateway().generate(request));

    assertEquals(FailureKind.TOOL_FAILED, failure.kind());
    assertEquals(runs, count.get());
  }

  @Test
  @Tag("R3")
  void anErrorOfAToolIsRethrownAfterTheOthersWereCancelled() throws Exception {
    CountDownLatch started = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    LinkageError error = new LinkageError("no such class");
    var waiting =
        Tools.builder(
                "waiting",
                EffectClass.PURE,
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
    var broken =
        Tools.builder(
                "broken",
                EffectClass.PURE,
                (input, context) -> {
                  started.await();
                  throw error;
                })
            .build();
    spine.a.asksFor(Tools.call("1", "waiting"), Tools.call("2", "broken"));

    assertSame(
        error,
        assertThrows(
            LinkageError.class,
            () -> spine.gateway().generate(ask(A).tools(waiting, broken).build())));
    Spine.await("the other's interrupt", interrupted);
  }

  @Test
  @Tag("R16")
  void aToolMayCallTheGatewayItself() {
    Gateway gateway = spine.gateway();
    spine.a.asksFor(Tools.call("1", "nested")).says("outer");
    spine.b.says("inner");
    var nested =
        Tools.builder(
                "nested", EffectClass.PURE, (input, context) -> gateway.generate(request(B)).text())
            .build();

    GenerateResult result = gateway.generate(ask(A).tools(nested).maxSteps(2).build());

    assertEquals("outer", result.text());
    assertEquals("\"inner\"", only(result).output().text());
    assertEquals(2, result.attempts().size(), "the nested operation has its own");
  }

  @Test
  void callsWithoutAnyToolsInTheRequestAreAnsweredWithAnError() {
    spine.a.asksFor(Tools.call("1"));

    ToolResult result = only(spine.gateway().generate(request(A)));

    assertEquals("\"There is no tool \\\"echo\\\". There are no tools.\"", result.output().text());
  }

  @Test
  void equalCallsOfTwoOperationsHaveDifferentKeys() {
    var tool =
        Tools.builder(
                "echo",
                EffectClass.IDEMPOTENT,
                (input, context) -> trail.add(context.idempotencyKey()))
            .build();
    spine.a.asksFor(Tools.call("1")).asksFor(Tools.call("1"));
    Gateway gateway = spine.gateway();

    gateway.generate(ask(A).tools(tool).build());
    gateway.generate(ask(A).tools(tool).build());

    assertEquals(2, trail.stream().distinct().count());
    assertTrue(trail.peek().matches("generate-[0-9a-f]{16}:tool_[0-9a-f]{64}"), trail.peek());
  }

  @Test
  @Tag("R208")
  @Tag("R214")
  @Tag("R215")
  @Tag("R216")
  @Tag("R218")
  void usageIsCompletedPerStepAndSummed() {
    spine.a.then(
        call ->
            FakeModel.response(
                List.of(Tools.call("1")), FinishReason.Kind.TOOL_CALLS, Usage.reported(100, 10)));
    spine.a.then(
        call ->
            FakeModel.response(
                List.of(new Part.Text("12345678")), FinishReason.Kind.STOP, Usage.ABSENT));

    GenerateResult result =
        spine.gateway().generate(ask(A).tools(Tools.echo()).maxSteps(2).build());

    Usage first = result.steps().get(0).response().usage();
    assertEquals(110, first.total().tokens());
    assertEquals(Provenance.DERIVED, first.total().provenance());
    Usage second = result.steps().get(1).response().usage();
    assertEquals(2, second.output().tokens());
    assertEquals(Provenance.ESTIMATED, second.output().provenance());
    String sent =
        "Why is the sky blue?"
            + "{'type':'tool_call','id':'1','name':'echo','input':{'text':'text of 1'}}"
            + "{'type':'tool_result','id':'1','name':'echo','output':'text of 1'}";
    assertEquals((sent.length() + 3) / 4, second.input().tokens());
    assertEquals(12, result.usage().output().tokens());
    assertEquals(Provenance.ESTIMATED, result.usage().output().provenance());
    assertTrue(result.usage().estimated());
    assertEquals(
        List.of(first, second),
        result.attempts().stream().map(attempt -> attempt.usage().orElseThrow()).toList());
  }
}
