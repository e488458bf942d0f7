package dev.warpwright;

import static dev.warpwright.FakeModel.failure;
import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
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
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a failure of one target means for the operation, in the first step and in later ones. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class FailureHandlingTest {
  @RegisterExtension final Spine spine;

  FailureHandlingTest(boolean honouringInterrupts) {
    spine = new Spine(honouringInterrupts);
  }

  /** Every kind of failure, and how often its target is called with two retries. */
  static Stream<Arguments> failures() {
    return Stream.of(1, 2)
        .flatMap(
            step ->
                Stream.of(
                        Arguments.of(status(408), 3),
                        Arguments.of(status(429), 3),
                        Arguments.of(status(500), 3),
                        Arguments.of(status(503), 3),
                        Arguments.of(status(529), 3),
                        Arguments.of(status(400), 1),
                        Arguments.of(status(401), 1),
                        Arguments.of(status(403), 1),
                        Arguments.of(status(404), 1),
                        Arguments.of(status(422), 1),
                        Arguments.of(coded(Kind.HTTP_STATUS, 429, "insufficient_quota"), 1),
                        Arguments.of(coded(Kind.HTTP_STATUS, 503, "insufficient_quota"), 1),
                        Arguments.of(coded(Kind.PROVIDER_EVENT, 529, "overloaded_error"), 3),
                        Arguments.of(coded(Kind.PROVIDER_EVENT, 400, "invalid"), 1),
                        Arguments.of(failure(Kind.PROVIDER_EVENT), 1),
                        Arguments.of(failure(Kind.CONNECT), 3),
                        Arguments.of(failure(Kind.READ), 3),
                        Arguments.of(failure(Kind.TIMEOUT), 3),
                        Arguments.of(coded(Kind.CONTEXT_LENGTH, 400, "too_long"), 1),
                        Arguments.of(coded(Kind.CONTEXT_LENGTH, 500, "too_long"), 1),
                        Arguments.of(failure(Kind.PROTOCOL), 1),
                        Arguments.of(failure(Kind.OTHER), 1),
                        Arguments.of(new IllegalStateException("503 overloaded"), 1),
                        Arguments.of(new NullPointerException(), 1))
                    .map(row -> Arguments.of(step, row.get()[0], row.get()[1])));
  }

  private static ProviderException coded(Kind kind, int status, String code) {
    return ProviderException.builder(kind, "It failed.").status(status).code(code).build();
  }

  @ParameterizedTest
  @MethodSource("failures")
  @Tag("R60")
  @Tag("R86")
  @Tag("R87")
  @Tag("R88")
  @Tag("R89")
  @Tag("R90")
  @Tag("R91")
  @Tag("R92")
  @Tag("R93")
  @Tag("R96")
  void eachKindIsRetriedOrNotAndAlwaysGoesOnToTheNextTarget(
      int step, RuntimeException failure, int calls) {
    if (step == 2) {
      spine.a.asksFor(Tools.call("1"));
    }
    spine.a.fails(failure, calls);
    spine.b.says("from b");
    var request = Spine.ask(A, B).tools(Tools.echo()).maxSteps(2).build();

    GenerateResult result = spine.gateway().generate(request);

    assertEquals("from b", result.text());
    assertEquals(step - 1 + calls, spine.a.count());
    assertEquals(1, spine.b.count());
    List<Attempt> failed = result.attempts().stream().filter(attempt -> !attempt.ok()).toList();
    assertEquals(calls, failed.size());
    for (int retry = 0; retry < calls; retry++) {
      Attempt attempt = failed.get(retry);
      assertEquals(ReasonCode.PROVIDER_ERROR, attempt.reasonCode());
      assertEquals(retry, attempt.retry());
      assertEquals(step, attempt.step());
      boolean provider = failure instanceof ProviderException;
      assertEquals(
          Optional.of(provider ? ((ProviderException) failure).kind() : Kind.OTHER),
          attempt.failure());
      assertEquals(provider ? ((ProviderException) failure).status() : 0, attempt.status());
    }
  }

  @Test
  @Tag("R96")
  void anExceptionWithoutMessageIsReportedWithAFixedText() {
    spine.a.fails(new NullPointerException());
    spine.b.fails(new IllegalStateException("bearer abcdef broke"));

    var failure =
        assertThrows(
            AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A, B)));

    List<Attempt> attempts = failure.trace().attempts();
    assertEquals("Unknown provider failure.", attempts.get(0).message());
    assertEquals("bearer [REDACTED] broke", attempts.get(1).message());
    assertFalse(failure.toString().contains("abcdef"), failure.toString());
    assertEquals(
        "java.lang.IllegalStateException: bearer [REDACTED] broke",
        failure.getCause().getCause().toString());
  }

  /** What a careless adapter may return. */
  static Stream<Arguments> badAnswers() {
    String error = "The provider ended its answer with an error.";
    return Stream.of(
        bad("The adapter returned no answer.", FailureHandlingTest::nothing),
        bad("finishReason", call -> incomplete()),
        bad(error, call -> FakeModel.answer("", FinishReason.Kind.ERROR)),
        bad(error, call -> FakeModel.answer(FinishReason.Kind.ERROR, Tools.call("1"))),
        bad(
            "Two tool calls of the answer have the same id.",
            call ->
                FakeModel.answer(FinishReason.Kind.TOOL_CALLS, Tools.call("1"), Tools.call("1"))));
  }

  private static Arguments bad(String message, FakeModel.Reply reply) {
    return Arguments.of(message, reply);
  }

  @SuppressWarnings("NullAway") // on purpose
  private static ModelResponse nothing(ModelCall call) {
    return null;
  }

  @SuppressWarnings("NullAway") // on purpose
  private static ModelResponse incomplete() {
    return new ModelResponse(
        dev.warpwright.model.Message.assistant("hi"), null, Usage.ABSENT, Optional.empty());
  }

  @ParameterizedTest
  @MethodSource("badAnswers")
  @Tag("R90")
  @Tag("R93")
  @Tag("R144")
  void anAnswerThatCannotBeUsedIsAFailureOfItsTarget(String message, FakeModel.Reply reply) {
    spine.a.then(reply);
    spine.b.says("from b");
    var request = Spine.ask(A, B).tools(Tools.echo()).maxSteps(2).build();

    GenerateResult result = spine.gateway().generate(request);

    assertEquals("from b", result.text());
    assertEquals(1, spine.a.count());
    assertEquals(ReasonCode.PROVIDER_ERROR, result.attempts().getFirst().reasonCode());
    assertEquals(message, result.attempts().getFirst().message());
  }

  @Test
  @Tag("R3")
  void anErrorOfAnAdapterIsRethrownAndNothingElseIsTried() {
    LinkageError error = new LinkageError("no such class");
    spine.a.then(
        call -> {
          throw error;
        });

    assertSame(
        error, assertThrows(LinkageError.class, () -> spine.gateway().generate(request(A, B))));
    assertEquals(0, spine.b.count());
  }

  static Stream<WarpwrightException> endingFailures() {
    OperationTrace none = OperationTrace.NONE;
    return Stream.of(
        new InvalidRequestException(FailureKind.INVALID_REQUEST, "no"),
        new InvalidOutputException(FailureKind.OUTPUT_SCHEMA, "no", null, none),
        new ConflictException("no", null, none),
        new OperationCancelledException("no", null, none),
        new UnknownOutcomeException("no", null, none));
  }

  @ParameterizedTest
  @MethodSource("endingFailures")
  @Tag("R95")
  void someExceptionsOfTheFamilyEndTheOperationAtOnce(WarpwrightException own) {
    spine.a.fails(status(500)).fails(own);

    Gateway gateway = spine.gateway();
    try (Operation operation = gateway.open("test", request(A, B))) {
      assertSame(
          own,
          assertThrows(
              WarpwrightException.class, () -> operation.step(1, request(A, B).messages())));
      assertEquals(2, operation.trace().attempts().size());
    }
    assertEquals(0, spine.b.count());
    assertEquals(1, own.getSuppressed().length);
  }

  static Stream<WarpwrightException> otherFailures() {
    OperationTrace none = OperationTrace.NONE;
    return Stream.of(
        new AttemptsExhaustedException(FailureKind.TARGETS_EXHAUSTED, "no", null, true, none),
        new DeadlineExceededException("no", null, none),
        new LimitExceededException("no", null, none));
  }

  @ParameterizedTest
  @MethodSource("otherFailures")
  @Tag("R96")
  void anAdapterThatRoutesItselfMayFailLikeAnyOther(WarpwrightException own) {
    spine.a.fails(own);
    spine.b.says("from b");

    assertEquals(B, spine.gateway().generate(request(A, B)).targetUsed());
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("R96")
  void anInterruptedExceptionThatNobodyAskedForIsAFailureLikeAnyOther() {
    spine.a.honouringInterrupts(false); // who declares it says that there is no such thing
    spine.a.then(
        call -> {
          throw new InterruptedException();
        });
    spine.b.says("from b");

    GenerateResult result = spine.gateway().generate(request(A, B));

    assertEquals("from b", result.text());
    assertEquals("Unknown provider failure.", result.attempts().getFirst().message());
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  @Tag("R98")
  void theWaitsBetweenRetriesGrowLinearly() throws Exception {
    spine.a.fails(status(500), 2).says("at last");
    Gateway gateway =
        spine.build(spine.builder().retry(new RetryPolicy(2, Duration.ofMillis(200), 0)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    spine.awaitWaitOf(Duration.ofMillis(200));
    assertEquals(1, spine.a.count());
    spine.advance(199);
    assertEquals(1, spine.a.count());
    spine.advance(1);
    spine.awaitWaitOf(Duration.ofMillis(400));
    assertEquals(2, spine.a.count());
    spine.advance(400);

    GenerateResult result = caller.get();
    assertEquals("at last", result.text());
    assertEquals(Duration.ofMillis(600), result.latency());
    assertTrue(
        result.attempts().stream().allMatch(attempt -> attempt.latency().isZero()),
        "no attempt lasts through a backoff");
  }

  @Test
  @Tag("R98")
  @Tag("R99")
  void retryAfterIsWaitedFor() throws Exception {
    spine.a.fails(later(Duration.ofSeconds(7))).says("at last");
    Gateway gateway =
        spine.build(spine.builder().retry(new RetryPolicy(2, Duration.ofMillis(200), 0)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    spine.awaitWaitOf(Duration.ofSeconds(7));
    spine.advance(7_000);

    assertEquals("at last", caller.get().text());
  }

  private static ProviderException later(Duration wait) {
    return ProviderException.builder(Kind.HTTP_STATUS, "Later.")
        .status(429)
        .retryAfter(wait)
        .build();
  }

  @Test
  @Tag("R100")
  void aRetryAfterOfMoreThanAMinuteGoesOnToTheNextTargetAtOnce() {
    spine.a.fails(later(Duration.ofSeconds(61)));
    spine.b.says("from b");

    assertEquals(B, spine.gateway().generate(request(A, B)).targetUsed());
  }

  @Test
  @Tag("R100")
  void withoutANextTargetTheErrorCarriesTheRetryAfter() {
    spine.a.fails(later(Duration.ofSeconds(90)));

    var failure =
        assertThrows(AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A)));

    assertTrue(String.valueOf(failure.getMessage()).contains("PT1M30S"), failure.getMessage());
    assertEquals(
        Optional.of(Duration.ofSeconds(90)), ((ProviderException) failure.getCause()).retryAfter());
    assertTrue(failure.retryable());
  }

  @Test
  @Tag("R101")
  @Tag("R127")
  void aWaitThatDoesNotFitIsNotBegunAndTheNextTargetIsTriedAtOnce() {
    spine.a.fails(status(500));
    spine.b.says("from b");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .timeout(Duration.ofMillis(30))
                .retry(new RetryPolicy(2, Duration.ofSeconds(1), 0)));

    assertEquals(B, gateway.generate(request(A, B)).targetUsed());
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("R101")
  @Tag("R127")
  void aWaitThatDoesNotFitAndNoNextTargetIsTheDeadlineWithFailureAndWait() {
    spine.a.fails(status(500));
    spine.b.fails(failure(Kind.CONNECT));
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .timeout(Duration.ofMillis(30))
                .retry(new RetryPolicy(2, Duration.ofSeconds(1), 0)));

    var failure =
        assertThrows(DeadlineExceededException.class, () -> gateway.generate(request(A, B)));

    String message = String.valueOf(failure.getMessage());
    assertTrue(message.contains("PT1S"), message);
    assertTrue(message.contains("b/model-b"), message);
    assertEquals(Kind.CONNECT, ((ProviderException) failure.getCause()).kind());
    assertEquals(
        List.of(500),
        Arrays.stream(failure.getSuppressed())
            .map(suppressed -> ((ProviderException) suppressed).status())
            .toList());
    assertEquals(2, failure.trace().attempts().size());
  }

  @Test
  @Tag("R101")
  void aWaitThatWouldEndAtTheDeadlineDoesNotFit() throws Exception {
    spine.a.fails(status(500));
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .timeout(Duration.ofSeconds(1))
                .retry(new RetryPolicy(2, Duration.ofSeconds(1), 0)));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));

    caller.failure(DeadlineExceededException.class); // though nobody moves time
  }

  @Test
  @Tag("R101")
  void whenTheLastTargetFailsForGoodTheListIsExhausted() {
    spine.a.fails(status(500));
    spine.b.fails(status(400));
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .timeout(Duration.ofMillis(30))
                .retry(new RetryPolicy(2, Duration.ofSeconds(1), 0)));

    assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A, B)));
  }
}
