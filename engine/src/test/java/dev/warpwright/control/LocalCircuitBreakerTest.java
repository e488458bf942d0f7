package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.contract.CircuitBreakerContract;
import dev.warpwright.control.CircuitRefusal.Reason;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The breaker of one process: the contract, its table, its reports. */
final class LocalCircuitBreakerTest extends CircuitBreakerContract {
  private static final Target A = Target.of("p", "a");
  private static final Target B = Target.of("p", "b");
  private static final Target C = Target.of("p", "c");

  private final List<CircuitTransition> transitions = new ArrayList<>();

  @Override
  protected CircuitBreaker breaker(CircuitPolicy policy, ManualTime time) {
    return CircuitBreaker.local(policy, time, transitions::add);
  }

  private CircuitBreaker ofTwoTargets() {
    return breaker(CircuitPolicy.builder().failureThreshold(3).maxTargets(2).build(), time);
  }

  private void use(CircuitBreaker breaker, Target target) {
    time.advance(Duration.ofNanos(1));
    permit(breaker, target).close();
  }

  private void failTwice(CircuitBreaker breaker, Target target) {
    time.advance(Duration.ofNanos(1));
    fail(breaker, target);
    fail(breaker, target);
  }

  @Test
  @Tag("R265")
  void a_full_table_forgets_the_closed_idle_target_that_was_asked_for_least_recently() {
    CircuitBreaker breaker = ofTwoTargets();
    failTwice(breaker, A);
    failTwice(breaker, B);
    use(breaker, A);
    use(breaker, C); // in the place of B
    fail(breaker, B); // in the place of A; its count has begun anew
    assertEquals(new Closed(), breaker.state(B));
    fail(breaker, B);
    fail(breaker, B);
    assertEquals(new Open(time.now().plusSeconds(30)), breaker.state(B));
    time.advance(Duration.ofNanos(1));
    fail(breaker, A);
    assertEquals(new Closed(), breaker.state(A));
  }

  @Test
  @Tag("R265")
  void the_target_that_stays_keeps_its_count() {
    CircuitBreaker breaker = ofTwoTargets();
    failTwice(breaker, A);
    use(breaker, B);
    use(breaker, A);
    use(breaker, C);
    fail(breaker, A);
    assertEquals(new Open(time.now().plusSeconds(30)), breaker.state(A));
  }

  @Test
  @Tag("R265")
  void a_new_target_is_refused_while_all_others_are_active_or_open() {
    CircuitBreaker breaker = ofTwoTargets();
    open(breaker, A);
    CircuitPermit active = permit(breaker, B);
    assertEquals(new CircuitRefusal(Reason.TABLE_FULL, time.now()), breaker.tryAcquire(C));
    assertEquals(new Closed(), breaker.state(C));
    active.success();
    permit(breaker, C).success(); // in the place of B
    open(breaker, C);
    assertEquals(new CircuitRefusal(Reason.TABLE_FULL, time.now()), breaker.tryAcquire(B));
    assertEquals(new Open(time.now().plusSeconds(30)), breaker.state(A));
    assertEquals(new Open(time.now().plusSeconds(30)), breaker.state(C));
  }

  @Test
  @Tag("R265")
  void a_late_call_from_before_keeps_its_target_in_the_table() {
    CircuitBreaker breaker = ofTwoTargets();
    CircuitPermit late = permit(breaker, A);
    CircuitPermit other = permit(breaker, B);
    assertEquals(new CircuitRefusal(Reason.TABLE_FULL, time.now()), breaker.tryAcquire(C));
    late.failure(Optional.empty());
    late.close(); // the second end must not count one out twice
    permit(breaker, C).close();
    other.close();
  }

  @Test
  @Tag("R265")
  void targets_whose_cooldown_is_over_do_not_lock_new_ones_out_for_ever() {
    CircuitBreaker breaker = ofTwoTargets();
    open(breaker, A);
    open(breaker, B);
    time.advance(Duration.ofSeconds(30));
    CircuitPermit probe = permit(breaker, A);
    permit(breaker, C).close(); // in the place of B, which is not needed any more
    assertEquals(new Closed(), breaker.state(B));
    probe.close();
  }

  @Test
  @Tag("R266")
  void each_change_is_reported_with_its_targets_and_times_and_nothing_else() {
    CircuitBreaker breaker = breaker(POLICY, time);
    Instant start = time.now();
    open(breaker, A);
    CircuitState open = new Open(start.plusSeconds(30));
    time.advance(Duration.ofSeconds(31));
    fail(breaker, A);
    CircuitState reopened = new Open(start.plusSeconds(61));
    time.advance(Duration.ofSeconds(30));
    permit(breaker, A).close();
    permit(breaker, A).success();
    permit(breaker, A).success();
    assertEquals(
        List.of(
            new CircuitTransition(A, new Closed(), open, start),
            new CircuitTransition(A, open, new HalfOpen(), start.plusSeconds(31)),
            new CircuitTransition(A, new HalfOpen(), reopened, start.plusSeconds(31)),
            new CircuitTransition(A, reopened, new HalfOpen(), start.plusSeconds(61)),
            new CircuitTransition(A, new HalfOpen(), new Closed(), start.plusSeconds(61))),
        transitions);
    assertEquals(Optional.of(start.plusSeconds(30)), transitions.get(0).openUntil());
    assertEquals(Optional.empty(), transitions.get(1).openUntil());
    assertEquals(Optional.of(start.plusSeconds(61)), transitions.get(2).openUntil());
  }

  @Test
  @Tag("R266")
  void an_observer_that_throws_changes_nothing() {
    for (Throwable thrown : List.of(new IllegalStateException("no"), new AssertionError("no"))) {
      CircuitBreaker breaker =
          CircuitBreaker.local(
              POLICY,
              time,
              transition -> {
                LocalCircuitBreakerTest.<RuntimeException>sneak(thrown);
              });
      open(breaker, A);
      assertEquals(new Open(time.now().plusSeconds(30)), breaker.state(A));
      time.advance(Duration.ofSeconds(30));
      CircuitPermit probe = permit(breaker, A);
      probe.success();
      assertEquals(new Closed(), breaker.state(A));
    }
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T extends Throwable> void sneak(Throwable thrown) throws T {
    throw (T) thrown;
  }

  @Test
  @Tag("R266")
  void the_observer_may_use_the_breaker() {
    CircuitBreaker[] own = new CircuitBreaker[1];
    List<CircuitState> seen = new ArrayList<>();
    own[0] =
        CircuitBreaker.local(
            POLICY,
            time,
            transition -> {
              seen.add(own[0].state(transition.target()));
              permit(own[0], B).close();
            });
    open(own[0], A);
    assertEquals(List.of(new Open(time.now().plusSeconds(30))), seen);
  }
}
