package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.CircuitState;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.CircuitOpenException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What operations tell the circuits of their targets, and what they do when one is open. */
final class CircuitTest {
  @RegisterExtension final Spine spine = new Spine();

  private final CircuitBreaker breaker =
      CircuitBreaker.local(
          CircuitPolicy.builder().failureThreshold(2).cooldown(Duration.ofSeconds(30)).build(),
          spine.time);

  private Gateway gateway() {
    return spine.build(
        spine.builder().circuitBreaker(breaker).retry(new RetryPolicy(0, Duration.ZERO, 0)));
  }

  private void open(Gateway gateway) {
    spine.a.fails(status(503), 2);
    for (int i = 0; i < 2; i++) {
      assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A)));
    }
    assertInstanceOf(CircuitState.Open.class, breaker.state(A));
  }

  private static List<ReasonCode> codes(List<Attempt> attempts) {
    return attempts.stream().map(Attempt::reasonCode).toList();
  }

  @Test
  @Tag("R258")
  @Tag("R108")
  void an_open_circuit_is_skipped_without_a_call_and_without_counting_as_an_attempt() {
    Gateway gateway = gateway();
    open(gateway);
    spine.b.says("b");

    GenerateResult result = gateway.generate(request(A, B));

    assertEquals(
        List.of(ReasonCode.CIRCUIT_OPEN, ReasonCode.PROVIDER_SUCCESS), codes(result.attempts()));
    Attempt skip = result.attempts().getFirst();
    assertEquals(0, skip.targetRank());
    assertEquals(
        "The circuit lets no call through (OPEN) until 2026-01-01T12:00:30Z at the earliest.",
        skip.message());
    assertEquals(false, skip.dispatched());
    assertEquals(2, spine.a.count());
  }

  @Test
  @Tag("R262")
  @Tag("FR-CD3")
  void when_only_open_circuits_are_left_the_exception_names_the_earliest_return() {
    Gateway gateway = gateway();
    open(gateway);

    var failure = assertThrows(CircuitOpenException.class, () -> gateway.generate(request(A)));

    assertEquals(spine.time.now().plusSeconds(30), failure.earliestReturn());
    assertTrue(
        String.valueOf(failure.getMessage()).contains("2026-01-01T12:00:30Z"),
        failure.getMessage());
    assertTrue(failure.retryable());
  }

  @Test
  @Tag("R64")
  void a_failure_before_the_last_open_circuit_is_the_cause() {
    Gateway gateway = gateway();
    open(gateway);
    spine.b.fails(status(400));

    var failure = assertThrows(CircuitOpenException.class, () -> gateway.generate(request(B, A)));

    assertEquals(400, assertInstanceOf(ProviderException.class, failure.getCause()).status());
  }

  @Test
  @Tag("R260")
  void after_the_cooldown_a_probe_that_answers_closes_the_circuit() {
    Gateway gateway = gateway();
    open(gateway);
    spine.advance(30_000);
    spine.a.says("back");

    assertEquals("back", gateway.generate(request(A)).text());

    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
  }

  @Test
  @Tag("R260")
  void a_cancelled_probe_gives_its_place_to_the_next() throws Exception {
    Gateway gateway = gateway();
    open(gateway);
    spine.advance(30_000);
    Cancellation cancellation = new Cancellation();
    spine.a.hangs().says("back");
    Caller<GenerateResult> probe =
        Caller.start(() -> gateway.generate(ask(A).cancellation(cancellation).build()));
    spine.a.awaitBusy();
    assertThrows(CircuitOpenException.class, () -> gateway.generate(request(A)));

    cancellation.cancel();

    probe.failure(OperationCancelledException.class);
    assertEquals("back", gateway.generate(request(A)).text());
  }

  @Test
  @Tag("R105")
  @Tag("R264")
  void a_failure_that_opens_the_circuit_ends_the_retries_on_that_target() {
    spine.a.fails(status(503), 2);
    spine.b.says("b");
    Gateway gateway =
        spine.build(
            spine.builder().circuitBreaker(breaker).retry(new RetryPolicy(5, Duration.ZERO, 0)));

    GenerateResult result = gateway.generate(request(A, B));

    assertEquals(2, spine.a.count(), "the second failure opened it");
    assertEquals("b", result.text());
    assertEquals(
        List.of(ReasonCode.PROVIDER_ERROR, ReasonCode.PROVIDER_ERROR, ReasonCode.PROVIDER_SUCCESS),
        codes(result.attempts()));
  }

  static Stream<ProviderException> neutral() {
    return Stream.of(
        status(400),
        status(401),
        status(404),
        status(422),
        ProviderException.builder(Kind.HTTP_STATUS, "Quota.")
            .status(429)
            .code("insufficient_quota")
            .build(),
        FakeModel.failure(Kind.CONTEXT_LENGTH),
        FakeModel.failure(Kind.PROTOCOL),
        FakeModel.failure(Kind.OTHER));
  }

  @ParameterizedTest
  @MethodSource("neutral")
  @Tag("R256")
  @Tag("FR-B05")
  @Tag("R92")
  void what_is_not_the_targets_fault_opens_nothing(ProviderException failure) {
    Gateway gateway = gateway();
    spine.a.fails(failure, 5);
    for (int i = 0; i < 5; i++) {
      assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A)));
    }

    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
  }

  @Test
  @Tag("R259")
  void retry_after_of_the_provider_lengthens_the_cooldown() {
    Gateway gateway = gateway();
    spine
        .a
        .fails(status(503))
        .fails(
            ProviderException.builder(Kind.HTTP_STATUS, "Busy.")
                .status(429)
                .retryAfter(Duration.ofSeconds(45))
                .build());
    for (int i = 0; i < 2; i++) {
      assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A)));
    }

    assertEquals(new CircuitState.Open(spine.time.now().plusSeconds(45)), breaker.state(A));
  }

  @Test
  @Tag("R94")
  @Tag("R256")
  void an_attempt_timeout_counts_and_the_operations_own_deadline_does_not() throws Exception {
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .circuitBreaker(breaker)
                .retry(new RetryPolicy(0, Duration.ZERO, 0))
                .attemptTimeout(Duration.ofMillis(50)));
    for (int i = 0; i < 2; i++) {
      spine.a.then(FakeModel::blocks);
      Caller<GenerateResult> caller =
          Caller.start(() -> gateway.generate(ask(A).timeout(Duration.ofMillis(20)).build()));
      int calls = i + 1;
      Spine.until("the call", () -> spine.a.count() == calls);
      spine.awaitWaitOf(Duration.ofMillis(20));
      spine.advance(20);
      caller.failure(RuntimeException.class);
    }
    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));

    for (int i = 0; i < 2; i++) {
      spine.a.then(FakeModel::blocks);
      Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
      int calls = i + 3;
      Spine.until("the call", () -> spine.a.count() == calls);
      spine.awaitWaitOf(Duration.ofMillis(50));
      spine.advance(50);
      caller.failure(AttemptsExhaustedException.class);
    }
    assertInstanceOf(CircuitState.Open.class, breaker.state(A));
  }
}
