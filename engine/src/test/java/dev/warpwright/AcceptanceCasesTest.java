package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Prices.usd;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.cost.PriceCeiling;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Target;
import dev.warpwright.model.TokenCount.Provenance;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Whole stories of routed operations, blocking and streaming, with all that must be true then. */
@ParameterizedClass
@EnumSource
@Timeout(120)
final class AcceptanceCasesTest {
  /** How the caller asks. */
  enum Form {
    BLOCKING {
      @Override
      GenerateResult ask(Gateway gateway, GenerateRequest request) {
        return gateway.generate(request);
      }
    },
    STREAMING {
      @Override
      GenerateResult ask(Gateway gateway, GenerateRequest request) {
        try (TextStream stream = gateway.streamText(request)) {
          return stream.collect();
        }
      }
    };

    abstract GenerateResult ask(Gateway gateway, GenerateRequest request);
  }

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @Parameter Form form;

  @RegisterExtension final Spine spine = new Spine();

  private GenerateResult answer(Gateway gateway, GenerateRequest request) {
    return form.ask(gateway, request);
  }

  private Caller<GenerateResult> call(Gateway gateway, GenerateRequest request) {
    return Caller.start(() -> form.ask(gateway, request));
  }

  private Gateway retrying(int maxRetries, Duration backoff) {
    return spine.build(spine.builder().retry(new RetryPolicy(maxRetries, backoff, 0)));
  }

  private static List<ReasonCode> codes(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::reasonCode).toList();
  }

  @Test
  @Tag("C1")
  void a_primary_that_is_out_of_quota_is_tried_three_times_and_then_replaced() {
    spine.a.fails(status(429), 3);
    spine.b.says("from b");

    GenerateResult result = answer(retrying(2, Duration.ZERO), request(A, B));

    assertEquals("from b", result.text());
    assertEquals("b", result.providerUsed());
    assertEquals(List.of(A, A, A, B), result.attempts().stream().map(Attempt::target).toList());
    assertEquals(
        List.of(429, 429, 429), result.attempts().stream().limit(3).map(Attempt::status).toList());
    assertEquals(3, spine.a.count());
    assertEquals(1, spine.b.count());
  }

  @Test
  @Tag("C2")
  void what_a_provider_does_not_count_is_estimated() {
    spine.a.then(
        call ->
            FakeModel.response(
                List.of(new Part.Text("Because it scatters.")),
                FinishReason.Kind.STOP,
                Usage.ABSENT));

    Usage usage = answer(spine.gateway(), request(A)).usage();

    assertTrue(usage.total().tokens() > 0, usage.toString());
    assertEquals(usage.input().tokens() + usage.output().tokens(), usage.total().tokens());
    assertEquals(Provenance.ESTIMATED, usage.input().provenance());
    assertEquals(Provenance.ESTIMATED, usage.output().provenance());
    assertTrue(usage.estimated());
  }

  @Test
  @Tag("C9")
  void an_attempt_that_is_too_slow_fails_as_timed_out_and_its_call_is_cancelled() throws Exception {
    Duration limit = Duration.ofMillis(10);
    spine.a.hangs();
    Gateway gateway =
        spine.build(
            spine.builder().attemptTimeout(limit).retry(new RetryPolicy(0, Duration.ZERO, 0)));

    Caller<GenerateResult> caller = call(gateway, request(A));
    spine.a.awaitBusy();
    spine.awaitWaitOf(limit);
    spine.time.advance(limit);

    var failure = caller.failure(AttemptsExhaustedException.class);
    spine.a.awaitInterrupted(); // which is its only way out: it did not complete
    ProviderException cause = assertInstanceOf(ProviderException.class, failure.getCause());
    assertEquals(ProviderException.Kind.TIMEOUT, cause.kind());
    Attempt attempt = failure.trace().attempts().getFirst();
    assertEquals(1, failure.trace().attempts().size());
    assertEquals(Optional.of(ProviderException.Kind.TIMEOUT), attempt.failure());
    assertFalse(attempt.ok());
    assertEquals(limit, attempt.latency());
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("C15")
  void observers_that_never_return_keep_nobody_waiting_and_are_cancelled_afterwards()
      throws Exception {
    BlockingQueue<String> busy = new LinkedBlockingQueue<>();
    Set<String> cancelled = ConcurrentHashMap.newKeySet();
    spine.a.says("hi");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .attemptObserver((id, told) -> hang("attempt", busy, cancelled))
                .routeObserver(told -> hang("route", busy, cancelled)));

    assertEquals("hi", answer(gateway, request(A)).text()); // though nobody moves time

    assertEquals(Set.of(), cancelled);
    for (int i = 1; i <= 2; i++) {
      String observer = Objects.requireNonNull(busy.poll(60, TimeUnit.SECONDS));
      spine.awaitWaitOf(Duration.ofSeconds(1));
      spine.advance(1_000);
      Spine.until("the cancellation of " + observer, () -> cancelled.contains(observer));
    }
    assertEquals(Set.of("attempt", "route"), cancelled);
    assertTrue(gateway.flushObservers(PATIENCE));
    assertEquals(1, spine.a.count());
  }

  /** Comes back only when it is interrupted. */
  private static void hang(String observer, Queue<String> busy, Set<String> cancelled) {
    busy.add(observer);
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      cancelled.add(observer);
    }
  }

  @Test
  @Tag("C16")
  void what_is_out_of_bounds_is_refused_with_the_bound_and_the_value() {
    Gateway gateway = spine.gateway();
    Target[] nine = Collections.nCopies(9, B).toArray(Target[]::new);

    assertRefused(
        "A request may name at most 8 fallbacks (maxFallbacks), but names 9.",
        () -> answer(gateway, request(A, nine)));
    assertRefused(
        "modelId must not contain control characters, but contains U+000A.",
        () -> answer(gateway, request(Target.of("a", "model\na"))));
    assertRefused(
        "maxCostPer1kTokens must be 0 or more, but is -0.01 USD.",
        () -> answer(gateway, ask(A).priceCeiling(PriceCeiling.of(usd("-0.01"))).build()));
    assertRefused(
        "maxRetries must be between 0 and 5, but is 6.", () -> retrying(6, Duration.ZERO));
    assertEquals(0, spine.a.count() + spine.b.count());
  }

  private static void assertRefused(String message, Executable call) {
    assertEquals(message, assertThrows(InvalidRequestException.class, call).getMessage());
  }

  @Test
  @Tag("C17")
  void a_cancel_during_the_backoff_ends_the_operation_with_the_callers_reason() throws Exception {
    Cancellation cancellation = new Cancellation();
    spine.a.fails(status(503));
    Caller<GenerateResult> caller =
        call(retrying(2, Duration.ofSeconds(7)), ask(A, B).cancellation(cancellation).build());
    spine.awaitWaitOf(Duration.ofSeconds(7));

    cancellation.cancel("the user left");

    var failure = caller.failure(OperationCancelledException.class);
    assertEquals(FailureKind.CANCELLED, failure.kind());
    assertTrue(failure.getMessage().contains("the user left"), failure.getMessage());
    assertEquals(List.of(ReasonCode.PROVIDER_ERROR), codes(failure.trace().attempts()));
    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
  }

  private static ProviderException later(Duration wait) {
    return ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "Later.")
        .status(429)
        .retryAfter(wait)
        .build();
  }

  @Test
  @Tag("C21")
  void who_is_to_come_back_after_two_minutes_is_not_waited_for() {
    spine.a.fails(later(MINUTE.multipliedBy(2)));
    spine.b.says("from b");

    GenerateResult result = answer(retrying(2, Duration.ofMillis(200)), request(A, B));

    assertEquals(B, result.targetUsed());
    assertEquals(Duration.ZERO, result.latency());
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("C21")
  void who_is_to_come_back_after_a_minute_is_waited_for_exactly_that_long() throws Exception {
    spine.a.fails(later(MINUTE)).says("at last");
    Caller<GenerateResult> caller = call(retrying(2, Duration.ofMillis(200)), request(A, B));
    Instant asked = spine.time.now();

    spine.awaitWaitOf(MINUTE);
    spine.time.advance(MINUTE.minusNanos(1));
    spine.awaitWaitOf(Duration.ofNanos(1)); // still waits
    assertEquals(1, spine.a.count());
    spine.time.advance(Duration.ofNanos(1));

    GenerateResult result = caller.get();
    assertEquals("at last", result.text());
    assertEquals(MINUTE, result.latency());
    assertEquals(asked.plus(MINUTE), spine.time.now());
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("C21")
  void the_wait_for_who_is_to_come_back_is_ended_by_a_cancel() throws Exception {
    Cancellation cancellation = new Cancellation();
    spine.a.fails(later(MINUTE));
    Caller<GenerateResult> caller =
        call(retrying(2, Duration.ofMillis(200)), ask(A, B).cancellation(cancellation).build());
    spine.awaitWaitOf(MINUTE);

    cancellation.cancel("enough");

    caller.failure(OperationCancelledException.class); // though nobody moves time
    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("C25")
  void a_background_queue_of_one_holds_one_of_three_calls_and_a_flush_empties_it()
      throws Exception {
    CountDownLatch gate = spine.gate();
    spine.a.says("1").says("2").says("3").says("4");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .observerMode(ObserverMode.BACKGROUND)
                .observerQueue(1)
                .attemptObserver((id, attempt) -> Spine.awaitStubbornly(gate)));

    for (int i = 0; i < 3; i++) {
      answer(gateway, request(A));
    }

    assertEquals(1, gateway.diagnostics().pendingObservers());
    assertEquals(2, gateway.diagnostics().droppedObservers());
    gate.countDown();
    assertTrue(gateway.flushObservers(PATIENCE));
    assertEquals(0, gateway.diagnostics().pendingObservers());
    answer(gateway, request(A));
    assertTrue(gateway.flushObservers(PATIENCE));
    assertEquals(2, gateway.diagnostics().droppedObservers(), "there is room again");
  }

  private static ProviderException.Builder toolFailure() {
    return ProviderException.builder(
            ProviderException.Kind.TOOL_CALL, "A tool of the provider failed.")
        .status(500);
  }

  @Test
  @Tag("C38")
  void a_hosted_tool_that_may_have_acted_is_neither_retried_nor_failed_over() {
    spine.a.fails(toolFailure().build());

    assertEndedByTool();
  }

  @Test
  @Tag("C38")
  void a_hosted_tool_without_effects_that_may_be_repeated_is_retried_and_failed_over() {
    spine.a.fails(toolFailure().withoutEffects(true).build(), 3);
    spine.b.says("from b");

    GenerateResult result = answer(retrying(2, Duration.ZERO), request(A, B));

    assertEquals("from b", result.text());
    assertEquals(List.of(A, A, A, B), result.attempts().stream().map(Attempt::target).toList());
  }

  @Test
  @Tag("C38")
  void a_hosted_tool_without_effects_that_may_not_be_repeated_ends_the_operation() {
    spine.a.fails(toolFailure().withoutEffects(false).build());

    assertEndedByTool();
  }

  private void assertEndedByTool() {
    Gateway gateway = retrying(2, Duration.ZERO);

    var end = assertThrows(AttemptsExhaustedException.class, () -> answer(gateway, request(A, B)));

    assertEquals(FailureKind.PROVIDER_TOOL, end.kind());
    assertFalse(end.retryable());
    assertEquals(
        ProviderException.Kind.TOOL_CALL,
        assertInstanceOf(ProviderException.class, end.getCause()).kind());
    assertEquals(List.of(ReasonCode.PROVIDER_ERROR), codes(end.trace().attempts()));
    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
  }
}
