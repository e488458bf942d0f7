package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPermit;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.CircuitRefusal;
import dev.warpwright.control.CircuitRefusal.Reason;
import dev.warpwright.control.CircuitState;
import dev.warpwright.control.CircuitState.Closed;
import dev.warpwright.control.CircuitState.HalfOpen;
import dev.warpwright.control.CircuitState.Open;
import dev.warpwright.model.Target;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every {@link CircuitBreaker} must do. */
@Timeout(60)
public abstract class CircuitBreakerContract {
  /** The target that is in trouble. */
  protected static final Target TARGET = Target.of("openai", "gpt");

  /** Three failures open; 30 s to 60 s; one probe. */
  protected static final CircuitPolicy POLICY = CircuitPolicy.builder().failureThreshold(3).build();

  /** The time that the breaker goes by. */
  protected final ManualTime time = new ManualTime();

  /** Makes a breaker whose circuits are all closed. */
  protected abstract CircuitBreaker breaker(CircuitPolicy policy, ManualTime time);

  private CircuitBreaker breaker() {
    return breaker(POLICY, time);
  }

  /** A call that is let through. */
  protected static CircuitPermit permit(CircuitBreaker breaker, Target target) {
    return assertInstanceOf(CircuitPermit.class, breaker.tryAcquire(target));
  }

  private static void succeed(CircuitBreaker breaker) {
    try (CircuitPermit permit = permit(breaker, TARGET)) {
      permit.success();
    }
  }

  /** A call that is let through and fails without a Retry-After. */
  protected static void fail(CircuitBreaker breaker, Target target) {
    fail(breaker, target, Optional.empty());
  }

  private static void fail(CircuitBreaker breaker, Target target, Optional<Duration> retryAfter) {
    try (CircuitPermit permit = permit(breaker, target)) {
      permit.failure(retryAfter);
    }
  }

  /** Opens a circuit of {@link #POLICY}. */
  protected static void open(CircuitBreaker breaker, Target target) {
    for (int i = 0; i < POLICY.failureThreshold(); i++) {
      fail(breaker, target);
    }
  }

  private void openAndCoolDown(CircuitBreaker breaker) {
    open(breaker, TARGET);
    time.advance(POLICY.cooldown());
  }

  private static void assertRefused(CircuitBreaker breaker, Reason reason, Instant earliestReturn) {
    assertEquals(new CircuitRefusal(reason, earliestReturn), breaker.tryAcquire(TARGET));
  }

  private Instant in(long seconds) {
    return time.now().plusSeconds(seconds);
  }

  @Test
  @Tag("R254")
  @Tag("C32")
  void a_circuit_opens_at_the_threshold_and_not_before() {
    CircuitBreaker breaker = breaker();
    assertEquals(new Closed(), breaker.state(TARGET));
    fail(breaker, TARGET);
    fail(breaker, TARGET);
    assertEquals(new Closed(), breaker.state(TARGET));
    fail(breaker, TARGET);
    assertEquals(new Open(in(30)), breaker.state(TARGET));
  }

  @Test
  @Tag("R257")
  void a_success_starts_the_count_again() {
    CircuitBreaker breaker = breaker();
    for (int i = 0; i < 5; i++) {
      fail(breaker, TARGET);
      fail(breaker, TARGET);
      succeed(breaker);
    }
    assertEquals(new Closed(), breaker.state(TARGET));
    open(breaker, TARGET);
    assertEquals(new Open(in(30)), breaker.state(TARGET));
  }

  @Test
  @Tag("R254")
  void each_target_has_its_own_circuit_its_deployment_included() {
    CircuitBreaker breaker = breaker();
    open(breaker, TARGET);
    for (Target other :
        List.of(
            Target.of("openai", "other"),
            Target.of("azure-openai", "gpt"),
            new Target("openai", "gpt", Optional.of("eu")))) {
      assertEquals(new Closed(), breaker.state(other));
      permit(breaker, other).close();
    }
    Target deployment = new Target("openai", "gpt", Optional.of("us"));
    open(breaker, deployment);
    assertEquals(new Open(in(30)), breaker.state(deployment));
    assertEquals(new Closed(), breaker.state(new Target("openai", "gpt", Optional.of("eu"))));
  }

  @Test
  @Tag("R258")
  void an_open_circuit_receives_no_call_until_its_cooldown_has_ended() {
    CircuitBreaker breaker = breaker();
    Instant end = in(30);
    open(breaker, TARGET);
    assertRefused(breaker, Reason.OPEN, end);
    time.advance(Duration.ofSeconds(30).minusNanos(1));
    assertRefused(breaker, Reason.OPEN, end);
    assertEquals(new Open(end), breaker.state(TARGET));
    time.advance(Duration.ofNanos(1));
    assertEquals(new HalfOpen(), breaker.state(TARGET));
    permit(breaker, TARGET).close();
  }

  @ParameterizedTest
  @CsvSource({"0, 30", "1, 30", "-5, 30", "30, 30", "31, 31", "60, 60", "61, 60", "99999999, 60"})
  @Tag("R259")
  @Tag("C32")
  void the_cooldown_is_the_retry_after_within_its_bounds(long retryAfter, long cooldown) {
    CircuitBreaker breaker = breaker();
    Optional<Duration> asked = Optional.of(Duration.ofSeconds(retryAfter));
    fail(breaker, TARGET, asked);
    fail(breaker, TARGET, asked);
    fail(breaker, TARGET, asked);
    assertEquals(new Open(in(cooldown)), breaker.state(TARGET));
  }

  @Test
  @Tag("R259")
  void a_later_failure_without_a_hint_does_not_shorten_what_an_earlier_one_asked_for() {
    CircuitBreaker breaker = breaker();
    Instant asked = in(55);
    fail(breaker, TARGET, Optional.of(Duration.ofSeconds(55)));
    time.advance(Duration.ofSeconds(1));
    fail(breaker, TARGET);
    fail(breaker, TARGET, Optional.of(Duration.ofSeconds(1)));
    assertEquals(new Open(asked), breaker.state(TARGET));
  }

  @Test
  @Tag("R259")
  @Tag("FR-CD1")
  void a_failure_that_arrives_during_the_cooldown_puts_its_end_off_but_never_forward() {
    CircuitBreaker breaker = breaker();
    List<CircuitPermit> late = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      late.add(permit(breaker, TARGET));
    }
    open(breaker, TARGET);
    Instant end = in(30);
    late.get(0).failure(Optional.of(Duration.ofSeconds(1)));
    assertEquals(new Open(end), breaker.state(TARGET));
    time.advance(Duration.ofSeconds(10));
    late.get(1).failure(Optional.empty());
    assertEquals(new Open(in(30)), breaker.state(TARGET));
    end = in(60);
    late.get(2).failure(Optional.of(Duration.ofSeconds(500)));
    assertEquals(new Open(end), breaker.state(TARGET));
    assertRefused(breaker, Reason.OPEN, end);
  }

  @Test
  @Tag("R260")
  @Tag("C32")
  void a_probe_that_succeeds_closes_the_circuit() {
    CircuitBreaker breaker = breaker();
    openAndCoolDown(breaker);
    CircuitPermit probe = permit(breaker, TARGET);
    assertEquals(new HalfOpen(), breaker.state(TARGET));
    assertRefused(breaker, Reason.PROBING, time.now());
    probe.success();
    assertEquals(new Closed(), breaker.state(TARGET));
    fail(breaker, TARGET);
    fail(breaker, TARGET);
    assertEquals(new Closed(), breaker.state(TARGET), "the count begins anew");
  }

  @Test
  @Tag("R260")
  @Tag("C32")
  void a_probe_that_fails_opens_it_again_with_a_new_cooldown_that_is_capped() {
    CircuitBreaker breaker = breaker();
    openAndCoolDown(breaker);
    fail(breaker, TARGET, Optional.of(Duration.ofMinutes(10)));
    assertEquals(new Open(in(60)), breaker.state(TARGET));
    time.advance(Duration.ofSeconds(60));
    fail(breaker, TARGET);
    assertEquals(new Open(in(30)), breaker.state(TARGET));
  }

  @Test
  @Tag("R260")
  @Tag("R267")
  void a_probe_that_says_nothing_gives_its_place_to_the_next() {
    CircuitBreaker breaker = breaker();
    openAndCoolDown(breaker);
    for (int i = 0; i < 10; i++) {
      CircuitPermit probe = permit(breaker, TARGET);
      assertRefused(breaker, Reason.PROBING, time.now());
      probe.close();
      assertEquals(new HalfOpen(), breaker.state(TARGET));
    }
    succeed(breaker);
    assertEquals(new Closed(), breaker.state(TARGET));
  }

  @Test
  @Tag("R256")
  @Tag("R267")
  void a_call_that_says_nothing_is_neither_a_failure_nor_a_success() {
    CircuitBreaker breaker = breaker();
    for (int i = 0; i < 100; i++) {
      permit(breaker, TARGET).close();
    }
    assertEquals(new Closed(), breaker.state(TARGET));
    fail(breaker, TARGET);
    fail(breaker, TARGET);
    permit(breaker, TARGET).close();
    fail(breaker, TARGET);
    assertEquals(new Open(in(30)), breaker.state(TARGET));
  }

  @Test
  @Tag("R269")
  void a_look_takes_no_probe() {
    CircuitBreaker breaker = breaker();
    openAndCoolDown(breaker);
    for (int i = 0; i < 100; i++) {
      assertEquals(new HalfOpen(), breaker.state(TARGET));
    }
    CircuitPermit probe = permit(breaker, TARGET);
    assertEquals(new HalfOpen(), breaker.state(TARGET));
    probe.success();
    assertEquals(new Closed(), breaker.state(TARGET));
  }

  @Test
  @Tag("R261")
  @Tag("FR-B03")
  @Tag("C32")
  void a_late_result_from_before_changes_neither_state_nor_count() {
    CircuitBreaker breaker = breaker();
    List<CircuitPermit> late = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      late.add(permit(breaker, TARGET));
    }
    open(breaker, TARGET);
    CircuitState open = breaker.state(TARGET);
    late.removeLast().success();
    late.removeLast().close();
    assertEquals(open, breaker.state(TARGET), "no late success closes an open circuit");

    time.advance(Duration.ofSeconds(30));
    late.removeLast().failure(Optional.of(Duration.ofSeconds(60)));
    assertEquals(new HalfOpen(), breaker.state(TARGET), "nor takes a failure the cooldown's end");
    CircuitPermit probe = permit(breaker, TARGET);
    late.removeLast().success();
    late.removeLast().failure(Optional.empty());
    late.removeLast().close();
    assertEquals(new HalfOpen(), breaker.state(TARGET), "nor ends it a half-open state");
    assertRefused(breaker, Reason.PROBING, time.now());

    probe.success();
    fail(breaker, TARGET);
    fail(breaker, TARGET);
    late.removeLast().failure(Optional.empty());
    assertEquals(new Closed(), breaker.state(TARGET), "nor is it counted");
    late.removeLast().success();
    fail(breaker, TARGET);
    assertEquals(new Open(in(30)), breaker.state(TARGET), "nor sets it the count back");
  }

  @Test
  @Tag("R261")
  void a_probe_from_before_does_not_end_a_later_half_open_state() {
    CircuitBreaker breaker = breaker(twoProbes(), time);
    open(breaker, TARGET);
    time.advance(Duration.ofSeconds(30));
    CircuitPermit first = permit(breaker, TARGET);
    CircuitPermit second = permit(breaker, TARGET);
    first.failure(Optional.empty());
    time.advance(Duration.ofSeconds(30));
    CircuitPermit third = permit(breaker, TARGET);
    second.success();
    assertEquals(new HalfOpen(), breaker.state(TARGET));
    permit(breaker, TARGET).close();
    third.success();
    assertEquals(new Closed(), breaker.state(TARGET));
  }

  private static CircuitPolicy twoProbes() {
    return CircuitPolicy.builder().failureThreshold(3).halfOpenMaxProbes(2).build();
  }

  @Test
  @Tag("R260")
  @Tag("R261")
  void only_the_first_end_of_a_permit_counts() {
    CircuitBreaker breaker = breaker();
    CircuitPermit permit = permit(breaker, TARGET);
    for (int i = 0; i < 10; i++) {
      permit.failure(Optional.empty());
    }
    permit.success();
    permit.close();
    assertEquals(new Closed(), breaker.state(TARGET));
    fail(breaker, TARGET);
    fail(breaker, TARGET);
    assertEquals(new Open(in(30)), breaker.state(TARGET));

    time.advance(Duration.ofSeconds(30));
    CircuitPermit probe = permit(breaker, TARGET);
    probe.close();
    probe.close();
    probe.success();
    probe.failure(Optional.empty());
    assertEquals(new HalfOpen(), breaker.state(TARGET));
    CircuitPermit next = permit(breaker, TARGET);
    assertRefused(breaker, Reason.PROBING, time.now());
    next.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 100})
  @Tag("R260")
  @Tag("FR-B01")
  void at_the_end_of_the_cooldown_a_thousand_threads_get_exactly_so_many_probes(int probes)
      throws Exception {
    CircuitPolicy policy =
        CircuitPolicy.builder().failureThreshold(3).halfOpenMaxProbes(probes).build();
    CircuitBreaker breaker = breaker(policy, time);
    open(breaker, TARGET);
    for (int round = 0; round < 5; round++) {
      time.advance(Duration.ofSeconds(30));
      List<CircuitPermit> permits = acquireAtOnce(breaker, 1_000);
      assertEquals(probes, permits.size());
      permits.removeFirst().failure(Optional.empty());
      permits.forEach(CircuitPermit::success);
      assertEquals(new Open(in(30)), breaker.state(TARGET));
    }
  }

  private static List<CircuitPermit> acquireAtOnce(CircuitBreaker breaker, int threads)
      throws Exception {
    List<CircuitPermit> permits = new ArrayList<>();
    CountDownLatch start = new CountDownLatch(1);
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Object>> decisions = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        decisions.add(
            executor.submit(
                () -> {
                  start.await();
                  return breaker.tryAcquire(TARGET);
                }));
      }
      start.countDown();
      for (Future<Object> decision : decisions) {
        if (decision.get() instanceof CircuitPermit permit) {
          permits.add(permit);
        }
      }
    }
    return permits;
  }
}
