package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.C;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which target is called, in which order, and what the caller is told of it. */
final class RoutingTest {
  @RegisterExtension final Spine spine = new Spine();

  private static List<Integer> ranks(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::targetRank).toList();
  }

  private static List<Integer> retries(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::retry).toList();
  }

  @Test
  @Tag("R7")
  @Tag("R10")
  @Tag("R12")
  void oneTargetIsEnoughAndTheResultTellsWhatHappened() {
    spine.a.then(
        call -> {
          spine.advance(300);
          return FakeModel.answer("Rayleigh.", FinishReason.Kind.STOP);
        });

    GenerateResult result = spine.gateway().generate(request(A));

    assertEquals("Rayleigh.", result.text());
    assertEquals(new FinishReason(FinishReason.Kind.STOP, "raw-STOP"), result.finishReason());
    assertEquals(A, result.targetUsed());
    assertEquals("a", result.providerUsed());
    assertEquals("model-a", result.modelUsed());
    assertEquals(Duration.ofMillis(300), result.latency());
    assertEquals(10, result.usage().input().tokens());
    assertEquals(List.of(A), result.routeDecision().orderedTargets());
    assertEquals(1, result.steps().size());
    assertEquals(
        List.of(Message.user("Why is the sky blue?"), Message.assistant("Rayleigh.")),
        result.messages());
    assertEquals(List.of(), result.toolResults());
    Usage usage = result.steps().getFirst().response().usage();
    assertEquals(
        List.of(
            new Attempt(
                1,
                A,
                ReasonCode.PROVIDER_SUCCESS,
                0,
                0,
                Duration.ofMillis(300),
                Optional.empty(),
                "",
                Optional.empty(),
                0,
                Optional.of("request-1"),
                Optional.of(usage),
                Optional.empty(),
                false)),
        result.attempts());
    assertTrue(result.attempts().getFirst().ok());
  }

  @Test
  @Tag("R8")
  @Tag("R69")
  void theModelGetsWhatTheRequestSaysAndItsOwnModelId() {
    List<String> ids = new ArrayList<>();
    ProviderAdapter adapter =
        id -> {
          ids.add(id);
          return spine.a.says("yes");
        };
    Gateway gateway = spine.build(spine.builder().adapter("a", adapter));

    gateway.generate(ask(A).temperature(0.5).maxTokens(7).build());

    assertEquals(List.of("model-a"), ids);
    var call = spine.a.calls().getFirst();
    assertEquals(0.5, call.temperature().getAsDouble());
    assertEquals(7, call.maxTokens().getAsInt());
    assertEquals(List.of(Message.user("Why is the sky blue?")), call.messages());
  }

  @Test
  @Tag("R45")
  @Tag("R60")
  @Tag("R66")
  void targetsAreRetriedAndThenFollowedByTheNextInRequestOrder() {
    spine.a.fails(status(500), 3);
    spine.b.fails(status(400));
    spine.c.says("from c");

    GenerateResult result = spine.gateway().generate(request(A, B, C));

    assertEquals(C, result.targetUsed());
    assertEquals(List.of(A, B, C), result.routeDecision().orderedTargets());
    assertEquals(RouteDecision.ReasonCode.ROUTING_ORDERED, result.routeDecision().reasonCode());
    assertEquals(List.of(0, 0, 0, 1, 2), ranks(result.attempts()));
    assertEquals(List.of(0, 1, 2, 0, 0), retries(result.attempts()));
    assertEquals(
        List.of(false, false, false, false, true),
        result.attempts().stream().map(Attempt::ok).toList());
    assertEquals(result.attempts(), result.steps().getFirst().attempts());
  }

  @Test
  @Tag("R44")
  void aTargetThatIsNamedTwiceIsOneCandidateAtItsFirstPlace() {
    spine.a.fails(status(400));
    spine.b.fails(status(400));

    var failure =
        assertThrows(
            AttemptsExhaustedException.class,
            () -> spine.gateway().generate(request(A, B, A, B, A)));

    assertEquals(1, spine.a.count());
    assertEquals(1, spine.b.count());
    assertEquals(List.of(A, B), failure.trace().decision().orElseThrow().orderedTargets());
  }

  @Test
  @Tag("R55")
  @Tag("R56")
  @Tag("R59")
  void skippedTargetsAreEntriesWithTheirReasonAndTheNextCandidateIsTried() {
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .maxTotalAttempts(1)
                .adapter(
                    "broken",
                    id -> {
                      throw new IllegalStateException("key=abc is wrong");
                    }));
    Target unknown = Target.of("nobody", "m");
    Target deployed = new Target("a", "model-a", Optional.of("east"));
    Target broken = Target.of("broken", "m");
    spine.a.says("from a");

    GenerateResult result = gateway.generate(request(unknown, deployed, broken, A));

    List<Attempt> skips = result.attempts().subList(0, 3);
    assertEquals(List.of(unknown, deployed, broken), skips.stream().map(Attempt::target).toList());
    assertEquals(List.of(0, 1, 2, 3), ranks(result.attempts()));
    for (Attempt skip : skips) {
      assertFalse(skip.ok());
      assertFalse(skip.dispatched());
      assertEquals(ReasonCode.OPERATION_SKIP, skip.reasonCode());
      assertEquals(Duration.ZERO, skip.latency());
    }
    assertTrue(skips.get(0).message().contains("nobody"));
    assertTrue(skips.get(1).message().contains("east"));
    assertTrue(skips.get(2).message().contains("[REDACTED]"), skips.get(2).message());
    assertFalse(skips.get(2).message().contains("abc"));
    assertTrue(result.attempts().getLast().ok());
  }

  @Test
  @Tag("R56")
  void anAdapterThatYieldsNothingIsSkippedToo() {
    spine.a.says("from a");
    FakeModel undeclared =
        new FakeModel() {
          @Override
          @SuppressWarnings("NullAway") // on purpose
          public ModelCapabilities capabilities() {
            return null;
          }
        };
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .adapter("null", RoutingTest::nothing)
                .adapter("undeclared", id -> undeclared));

    GenerateResult result =
        gateway.generate(request(Target.of("null", "m"), Target.of("undeclared", "m"), A));

    assertEquals(A, result.targetUsed());
    assertEquals(3, result.attempts().size());
  }

  @SuppressWarnings("NullAway") // on purpose
  private static LanguageModel nothing(String modelId) {
    return null;
  }

  @Test
  @Tag("R57")
  @Tag("R58")
  void withoutAnyCandidateTheFailureHasTheLastSkipFirstAndListsAll() {
    spine.a.with(ModelCapabilities.TEXT);
    Gateway gateway = spine.gateway();
    GenerateRequest request = ask(A, Target.of("nobody", "m")).tools(Tools.echo()).build();

    var failure = assertThrows(NoEligibleTargetException.class, () -> gateway.generate(request));

    assertEquals(FailureKind.NO_ELIGIBLE_TARGET, failure.kind());
    assertFalse(failure.retryable());
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.startsWith("No adapter is registered for provider \"nobody\"."), message);
    assertTrue(message.contains("a/model-a: The model does not declare tools."), message);
    assertEquals(
        List.of(ReasonCode.MODEL_CAPABILITIES, ReasonCode.OPERATION_SKIP),
        failure.trace().attempts().stream().map(Attempt::reasonCode).toList());
    assertEquals(0, spine.a.count());
  }

  @Test
  @Tag("R64")
  @Tag("FR-R13")
  void anExhaustedListNamesTheLastFailureThatHasAStatus() {
    spine.a.fails(status(503), 3);
    spine.b.fails(status(401));
    spine.c.fails(FakeModel.failure(ProviderException.Kind.CONNECT), 3);

    var failure =
        assertThrows(
            AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A, B, C)));

    assertEquals(FailureKind.TARGETS_EXHAUSTED, failure.kind());
    var cause = (ProviderException) failure.getCause();
    assertEquals(401, cause.status());
    assertEquals(Optional.of(B), cause.target());
    assertFalse(failure.retryable());
    assertTrue(String.valueOf(failure.getMessage()).contains("b/model-b"));
    assertEquals(7, failure.trace().attempts().size());
    assertEquals(
        List.of(A, A, A, C, C, C),
        Arrays.stream(failure.getSuppressed())
            .map(suppressed -> ((ProviderException) suppressed).target().orElseThrow())
            .toList());
  }

  @Test
  @Tag("R64")
  void aStructuredCodeCountsLikeAStatus() {
    spine.a.fails(
        ProviderException.builder(ProviderException.Kind.PROVIDER_EVENT, "Overloaded.")
            .code("overloaded_error")
            .build());
    spine.b.fails(FakeModel.failure(ProviderException.Kind.PROTOCOL));

    var failure =
        assertThrows(
            AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A, B)));

    assertEquals(Optional.of(A), ((ProviderException) failure.getCause()).target());
  }

  @Test
  @Tag("R64")
  void withoutStatusOrCodeTheLastFailureIsNamedAndDecidesWhetherToComeBack() {
    spine.a.fails(FakeModel.failure(ProviderException.Kind.PROTOCOL));
    spine.b.fails(FakeModel.failure(ProviderException.Kind.CONNECT), 3);

    var failure =
        assertThrows(
            AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A, B)));

    assertEquals(ProviderException.Kind.CONNECT, ((ProviderException) failure.getCause()).kind());
    assertTrue(failure.retryable());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  @Tag("R28")
  @Tag("R65")
  void theCapOfAttemptsSpansTargetsAndRetriesAndEndsTheOperationAtOnce(int cap) {
    spine.a.fails(status(500), 3);
    spine.b.fails(status(500), 3);
    Gateway gateway = spine.build(spine.builder().maxTotalAttempts(cap));

    var failure =
        assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A, B)));

    assertEquals(FailureKind.TOTAL_ATTEMPTS, failure.kind());
    assertFalse(failure.retryable());
    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("maximum of " + cap + " provider attempts"), message);
    assertEquals(cap, spine.a.count() + spine.b.count());
    assertEquals(cap, failure.trace().attempts().size());
    assertEquals(cap, failure.getSuppressed().length);
  }

  @Test
  @Tag("R65")
  void nobodyWaitsForARetryThatTheCapForbids() throws Exception {
    spine.a.fails(status(500));
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .maxTotalAttempts(1)
                .retry(new RetryPolicy(2, Duration.ofSeconds(5), 0)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));

    var failure = caller.failure(AttemptsExhaustedException.class); // though nobody moves time
    assertEquals(FailureKind.TOTAL_ATTEMPTS, failure.kind());
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("R65")
  void anExhaustedListIsNotTheCap() {
    spine.a.fails(status(500), 3);
    Gateway gateway = spine.build(spine.builder().maxTotalAttempts(3));

    var failure =
        assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A)));

    assertEquals(FailureKind.TARGETS_EXHAUSTED, failure.kind());
    assertTrue(failure.retryable());
  }

  @Test
  @Tag("R65")
  void laterStepsCountAgainstTheSameCap() {
    spine.a.asksFor(Tools.call("1")).asksFor(Tools.call("2")).asksFor(Tools.call("3"));
    Gateway gateway = spine.build(spine.builder().maxTotalAttempts(2));
    var request = ask(A, B).tools(Tools.echo()).maxSteps(9).build();

    var failure = assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request));

    assertEquals(FailureKind.TOTAL_ATTEMPTS, failure.kind());
    assertEquals(2, spine.a.count());
    assertEquals(0, spine.b.count());
    assertEquals(List.of(1, 2), failure.trace().attempts().stream().map(Attempt::step).toList());
  }

  @Test
  @Tag("R62")
  @Tag("R66")
  void aLaterStepBeginsWithTheWinnerAndGoesOnInTheOldOrder() {
    spine.a.fails(status(400)).fails(status(400));
    spine.b.asksFor(Tools.call("1")).fails(status(500), 3);
    spine.c.says("from c");
    var request = ask(A, B, C).tools(Tools.echo()).maxSteps(2).build();

    GenerateResult result = spine.gateway().generate(request);

    assertEquals(List.of(0, 1, 1, 1, 1, 0, 2), ranks(result.attempts()));
    assertEquals(List.of(0, 0, 0, 1, 2, 0, 0), retries(result.attempts()));
    assertEquals(
        List.of(1, 1, 2, 2, 2, 2, 2), result.attempts().stream().map(Attempt::step).toList());
    assertEquals(C, result.targetUsed());
    assertEquals(List.of(B, C), result.steps().stream().map(ModelStep::target).toList());
    assertEquals(2, result.steps().get(0).attempts().size());
    assertEquals(5, result.steps().get(1).attempts().size());
  }

  @Test
  @Tag("R61")
  void aFallbackInALaterStepGetsTheResultsAndRepeatsNoTool() {
    AtomicInteger runs = new AtomicInteger();
    spine.a.asksFor(Tools.call("1")).fails(status(400));
    spine.b.says("done");
    var request =
        ask(A, B).tools(Tools.of("echo", input -> runs.incrementAndGet())).maxSteps(3).build();

    GenerateResult result = spine.gateway().generate(request);

    assertEquals(1, runs.get());
    assertEquals(B, result.targetUsed());
    assertEquals(1, spine.b.count());
    assertEquals(3, spine.b.calls().getFirst().messages().size());
  }

  @Test
  @Tag("R68")
  void onlyTheTargetsOfTheRequestAreCalled() {
    spine.a.fails(status(400));

    assertThrows(AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A)));

    assertEquals(0, spine.b.count() + spine.c.count());
  }

  @Test
  @Tag("R69")
  void nothingOfOneTargetsFailureReachesTheNext() {
    spine.a.fails(
        ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "No.")
            .status(400)
            .requestId("request-of-a")
            .build());
    spine.b.then(
        call ->
            new dev.warpwright.model.ModelResponse(
                Message.assistant("hi"),
                new FinishReason(FinishReason.Kind.STOP, ""),
                Usage.ABSENT,
                Optional.empty()));

    GenerateResult result = spine.gateway().generate(request(A, B));

    assertEquals(Optional.of("request-of-a"), result.attempts().get(0).requestId());
    assertEquals(400, result.attempts().get(0).status());
    assertEquals(Optional.empty(), result.attempts().get(1).requestId());
    assertEquals(1, spine.b.calls().getFirst().messages().size());
  }

  @Test
  void anOperationOfAnyStepReportsEachAttemptInExactlyOneStep() {
    spine.a.fails(status(500)).says("five").says("six");
    Gateway gateway = spine.gateway();

    try (Operation operation = gateway.open("agent", ask(Target.of("nobody", "m"), A).build())) {
      ModelStep five = operation.step(5, List.of(Message.user("hi")));
      ModelStep six = operation.step(6, List.of(Message.user("hi")));

      assertEquals(3, five.attempts().size(), "the skip, the failure and the success");
      assertEquals(1, six.attempts().size());
      assertTrue(five.rebound());
      assertFalse(six.rebound());
      assertEquals(4, operation.trace().attempts().size());
    }
  }

  @Test
  void operationsHaveDifferentIdsBecauseToolKeysAreMadeFromThem() {
    Gateway gateway = spine.gateway();
    try (Operation one = gateway.open("x", request(A));
        Operation two = gateway.open("x", request(A))) {
      assertFalse(one.id().equals(two.id()), one.id());
    }
    Gateway onTheSystemsTime = Gateway.builder().adapter("a", id -> spine.a).build();
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      try (Operation operation = onTheSystemsTime.open("x", request(A))) {
        ids.add(operation.id());
      }
    }
    assertEquals(100, ids.stream().distinct().count());
  }

  @Test
  void anAdapterMayThrowOneExceptionAgainAndAgain() {
    ProviderException same = status(503);
    spine.a.fails(same, 3);
    spine.b.fails(same, 3);

    var failure =
        assertThrows(
            AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A, B)));

    assertEquals(5, failure.getSuppressed().length);
    assertEquals(Optional.empty(), same.target());
    assertSame(
        same.getStackTrace().length,
        ((ProviderException) failure.getCause()).getStackTrace().length);
  }

  @Test
  @Tag("R132")
  void aScopedValueThatTheProgramNamesIsSeenByAdapters() {
    ScopedValue<String> tenant = ScopedValue.newInstance();
    List<String> seen = new ArrayList<>();
    FakeModel model =
        new FakeModel()
            .then(
                call -> {
                  seen.add(tenant.orElse("nobody"));
                  return FakeModel.answer("Hi.", FinishReason.Kind.STOP);
                });
    Gateway gateway = spine.build(spine.builder().carry(tenant).adapter("a", id -> model));

    ScopedValue.where(tenant, "Ada").run(() -> gateway.generate(request(A)));

    assertEquals(List.of("Ada"), seen);
  }
}
