package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Prices.usd;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CacheKey;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.CircuitState;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Answers from the cache, and calls that operations share. */
final class CacheTest {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @RegisterExtension final Spine spine = new Spine();

  private Gateway.Builder builder() {
    return spine
        .builder()
        .retry(new RetryPolicy(0, Duration.ZERO, 0))
        .costAccounting(Prices.accounting())
        .cache(CachePolicy.of(ResponseCache.inMemory(), "credentials-1"));
  }

  private static GenerateRequest.Builder cached() {
    return ask(A).cacheScope("tenant-1");
  }

  /** A model that answers when the gate is opened. */
  private CountDownLatch gatedAnswer(String text) {
    CountDownLatch gate = spine.gate();
    spine.a.then(
        call -> {
          gate.await();
          return FakeModel.answer(text, FinishReason.Kind.STOP);
        });
    return gate;
  }

  private static Attempt only(GenerateResult result) {
    assertEquals(1, result.attempts().size());
    return result.attempts().getFirst();
  }

  @Test
  @Tag("C27")
  @Tag("R344")
  @Tag("R335")
  void the_second_same_question_makes_no_call_costs_nothing_and_is_marked() {
    spine.a.says("blue").says("of another tenant").says("another question");
    Gateway gateway = spine.build(builder());
    GenerateResult first = gateway.generate(cached().build());

    GenerateResult second = gateway.generate(cached().build());

    assertEquals("blue", second.text());
    assertEquals(1, spine.a.count());
    assertFalse(only(first).cacheHit());
    assertTrue(only(second).cacheHit());
    CostValuation cost = only(second).cost().orElseThrow();
    assertEquals(CostValuation.Status.KNOWN, cost.status());
    assertEquals(Optional.of(usd("0")), cost.amount());
    assertEquals(10, second.usage().input().tokens(), "usage describes the answer");
    assertTrue(only(second).dispatched(), "it counts against the total of attempts");

    assertEquals(
        "of another tenant", gateway.generate(ask(A).cacheScope("tenant-2").build()).text());
    assertEquals("another question", gateway.generate(cached().temperature(0.5).build()).text());
  }

  @Test
  @Tag("R335")
  void without_a_scope_nothing_is_cached() {
    spine.a.says("1").says("2");
    Gateway gateway = spine.build(builder());
    gateway.generate(ask(A).build());

    assertEquals("2", gateway.generate(ask(A).build()).text());
  }

  @Test
  @Tag("C30")
  @Tag("R336")
  void options_of_a_provider_bypass_the_cache() {
    spine.a.says("1").says("2");
    Gateway gateway = spine.build(builder());
    GenerateRequest request = cached().providerOptions("a", Json.parse("{\"seed\":1}")).build();
    gateway.generate(request);

    assertEquals("2", gateway.generate(request).text());
  }

  @Test
  @Tag("R321")
  @Tag("R267")
  @Tag("R244")
  void a_hit_reserves_no_money_and_says_nothing_of_the_target() {
    BudgetStore store = BudgetStore.local(usd("1"));
    TargetMetrics metrics = TargetMetrics.local(Duration.ofSeconds(60), 8, 8, spine.time);
    CircuitBreaker breaker =
        CircuitBreaker.local(CircuitPolicy.builder().failureThreshold(2).build(), spine.time);
    Gateway gateway =
        spine.build(
            builder()
                .metrics(metrics)
                .circuitBreaker(breaker)
                .budget(store, ReservationRule.fixed(usd("0.10"))));
    spine.a.says("blue").fails(status(500));
    GenerateRequest request = cached().budgetScope("b").build();
    gateway.generate(request);
    assertEquals(1, metrics.snapshot(A).orElseThrow().successes());
    GenerateRequest fails = cached().budgetScope("b").temperature(1).build();
    assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(fails));

    gateway.generate(request);

    assertEquals(usd("0.02"), store.snapshot("b").spent());
    assertEquals(usd("0.10"), store.snapshot("b").uncertain(), "of the failed call alone");
    assertEquals(1, metrics.snapshot(A).orElseThrow().successes());
    assertEquals(0, metrics.snapshot(A).orElseThrow().inFlight());
    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
  }

  @Test
  @Tag("R338")
  @Tag("R344")
  void the_same_question_at_the_same_time_is_one_call() throws Exception {
    CountDownLatch gate = gatedAnswer("blue");
    Gateway gateway = spine.build(builder());
    List<Caller<GenerateResult>> callers = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      callers.add(Caller.start(() -> gateway.generate(cached().build())));
    }
    callers.forEach(caller -> caller.awaitWaitIn(SharedCalls.class, "share"));
    assertEquals(1, gateway.diagnostics().inFlightCacheKeys());

    gate.countDown();

    int hits = 0;
    for (Caller<GenerateResult> caller : callers) {
      GenerateResult result = caller.get();
      assertEquals("blue", result.text());
      hits += only(result).cacheHit() ? 1 : 0;
    }
    assertEquals(49, hits);
    assertEquals(1, spine.a.count());
    assertEquals(0, gateway.diagnostics().inFlightCacheKeys());
  }

  @Test
  @Tag("R339")
  void a_shared_call_survives_the_cancel_of_its_leader_and_ends_with_the_last_who_leaves()
      throws Exception {
    CountDownLatch gate = gatedAnswer("blue");
    Gateway gateway = spine.build(builder());
    Cancellation leading = new Cancellation();
    Caller<GenerateResult> leader =
        Caller.start(() -> gateway.generate(cached().cancellation(leading).build()));
    Spine.until("the call", () -> spine.a.count() == 1);
    Caller<GenerateResult> follower = Caller.start(() -> gateway.generate(cached().build()));
    follower.awaitWaitIn(SharedCalls.class, "share");

    leading.cancel("gone");
    leader.failure(OperationCancelledException.class);
    gate.countDown();
    assertEquals("blue", follower.get().text());
    assertEquals(1, spine.a.count());

    spine.a.hangs();
    Cancellation last = new Cancellation();
    Caller<GenerateResult> alone =
        Caller.start(() -> gateway.generate(cached().temperature(1).cancellation(last).build()));
    spine.a.awaitBusy();
    last.cancel();
    spine.a.awaitInterrupted();
    alone.failure(OperationCancelledException.class);
  }

  @Test
  @Tag("R340")
  @Tag("FR-K03")
  @Tag("C35")
  void a_failed_shared_call_is_led_again_by_exactly_one_of_those_who_wait() throws Exception {
    CountDownLatch gate = spine.gate();
    spine.a.then(
        call -> {
          gate.await();
          throw status(500);
        });
    spine.a.says("blue");
    Gateway gateway = spine.build(builder());
    List<Caller<Optional<String>>> callers = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      callers.add(
          Caller.start(
              () -> {
                try {
                  return Optional.of(gateway.generate(cached().build()).text());
                } catch (AttemptsExhaustedException failed) {
                  return Optional.empty();
                }
              }));
    }
    callers.forEach(caller -> caller.awaitWaitIn(SharedCalls.class, "share"));

    gate.countDown();

    int failed = 0;
    for (Caller<Optional<String>> caller : callers) {
      failed += caller.get().isEmpty() ? 1 : 0;
    }
    assertEquals(1, failed, "the one who led");
    assertEquals(2, spine.a.count());
  }

  /** A cache elsewhere that is broken. */
  private static final class Broken implements ResponseCache {
    @Override
    public Optional<ModelResponse> get(CacheKey key) {
      throw new IllegalStateException("down");
    }

    @Override
    public void put(CacheKey key, ModelResponse response) {
      throw new IllegalStateException("down");
    }
  }

  @Test
  @Tag("R104")
  @Tag("R341")
  @Tag("R342")
  @Tag("C35")
  void a_cache_that_is_down_is_a_miss_and_never_repeats_a_call() {
    spine.a.says("1").says("2");
    Gateway gateway =
        spine.build(spine.builder().cache(CachePolicy.of(new Broken(), "credentials-1")));

    assertEquals("1", gateway.generate(cached().build()).text());
    assertEquals("2", gateway.generate(cached().build()).text());

    assertTrue(gateway.flushControls(PATIENCE));
    assertEquals(2, spine.a.count());
    assertTrue(gateway.diagnostics().cacheFailures() >= 4);
    assertEquals(0, gateway.diagnostics().pendingCacheWrites());
  }

  /** In memory, and the caller is interrupted just then. */
  private record InterruptedAt(ResponseCache cache) implements ResponseCache {
    @Override
    public boolean blocking() {
      return false;
    }

    @Override
    public Optional<ModelResponse> get(CacheKey key) throws InterruptedException {
      Thread.currentThread().interrupt();
      return cache.get(key);
    }

    @Override
    public void put(CacheKey key, ModelResponse response) throws InterruptedException {
      cache.put(key, response);
    }
  }

  @Test
  @Tag("R17")
  @Tag("R256")
  @Tag("R341")
  void an_interrupt_between_look_up_and_call_is_a_cancel_and_not_the_targets_failure()
      throws Exception {
    CircuitBreaker breaker =
        CircuitBreaker.local(CircuitPolicy.builder().failureThreshold(1).build(), spine.time);
    CachePolicy cache =
        CachePolicy.of(new InterruptedAt(ResponseCache.inMemory()), "credentials-1");
    Gateway gateway = spine.build(spine.builder().cache(cache).circuitBreaker(breaker));
    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(ask(A).cacheScope("tenant-1").build()));

    var cancelled = caller.failure(OperationCancelledException.class);

    assertEquals(ReasonCode.REQUEST_ABORTED, cancelled.trace().attempts().getFirst().reasonCode());
    assertTrue(caller.leftInterrupted());
    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
    assertEquals(0, spine.a.count());
  }
}
