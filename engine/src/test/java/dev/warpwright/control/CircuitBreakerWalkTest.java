package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.CircuitRefusal.Reason;
import dev.warpwright.model.Target;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Long random walks, step by step the same as a naive model. The model has no epochs: at a change
 * of state it goes through the calls that are under way and marks them as stale.
 */
final class CircuitBreakerWalkTest {
  private static final int WALKS = 400;
  private static final int STEPS = 500;

  @Test
  @Tag("R257")
  @Tag("R259")
  @Tag("R260")
  @Tag("R261")
  @Tag("R265")
  void every_step_of_a_random_walk_is_what_the_naive_model_says() {
    long base = System.nanoTime();
    int[] decisions = new int[4];
    for (int i = 0; i < WALKS; i++) {
      long seed = base + i;
      try {
        new Walk(seed, decisions).run();
      } catch (Throwable thrown) {
        throw new AssertionError("seed " + seed, thrown);
      }
    }
    for (int count : decisions) {
      assertTrue(count > 0, () -> "not every kind of decision: " + Arrays.toString(decisions));
    }
  }

  private enum State {
    CLOSED,
    OPEN,
    HALF_OPEN
  }

  /** A call that was let through: the real permit, and what the model knows of it. */
  private static final class Call {
    final CircuitPermit permit;
    final ModelCircuit circuit;
    boolean stale;
    boolean ended;

    Call(CircuitPermit permit, ModelCircuit circuit) {
      this.permit = permit;
      this.circuit = circuit;
    }
  }

  private static final class ModelCircuit {
    State state = State.CLOSED;
    int failures;
    @Nullable Instant until; // the latest end of the cooldowns since the last success
    final List<Call> calls = new ArrayList<>();

    void become(State next) {
      state = next;
      failures = 0;
      calls.forEach(call -> call.stale = true);
    }

    boolean isCooling(Instant now) {
      return state == State.OPEN && until != null && now.isBefore(until);
    }

    void putOff(Instant end) {
      until = until == null || end.isAfter(until) ? end : until;
    }

    long probes() {
      return calls.stream().filter(call -> !call.stale).count();
    }
  }

  private static final class Walk {
    final Random random;
    final int[] decisions;
    final ManualTime time = new ManualTime();
    final CircuitPolicy policy;
    final List<Target> targets;
    final CircuitBreaker breaker;
    final List<CircuitState> reported = new ArrayList<>();
    final List<CircuitState> expected = new ArrayList<>();
    final Map<Target, ModelCircuit> model = new LinkedHashMap<>(); // least recently asked first
    final List<Call> all = new ArrayList<>();

    Walk(long seed, int[] decisions) {
      this.random = new Random(seed);
      this.decisions = decisions;
      Duration cooldown = Duration.ofSeconds(1 + random.nextInt(30));
      this.policy =
          CircuitPolicy.builder()
              .failureThreshold(1 + random.nextInt(4))
              .cooldown(cooldown)
              .maxCooldown(cooldown.plusSeconds(random.nextInt(60)))
              .halfOpenMaxProbes(1 + random.nextInt(3))
              .maxTargets(1 + random.nextInt(4))
              .build();
      this.targets =
          IntStream.range(0, 1 + random.nextInt(5))
              .mapToObj(i -> Target.of("p", "model-" + i))
              .toList();
      this.breaker = CircuitBreaker.local(policy, time, change -> reported.add(change.to()));
    }

    void run() {
      for (int step = 0; step < STEPS; step++) {
        time.advance(Duration.ofNanos(1)); // so that "least recently" is never a tie
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> acquire(targets.get(random.nextInt(targets.size())));
          case 3, 4, 5, 6 -> end();
          default -> time.advance(someTime());
        }
        for (Target target : targets) {
          assertEquals(state(target), breaker.state(target));
        }
        assertEquals(expected, reported);
      }
    }

    private Duration someTime() {
      return random.nextBoolean()
          ? Duration.ofMillis(random.nextInt(5_000))
          : policy.maxCooldown().minusNanos(1 + random.nextInt(3));
    }

    private CircuitState state(Target target) {
      ModelCircuit circuit = model.get(target);
      if (circuit == null || circuit.state == State.CLOSED) {
        return new CircuitState.Closed();
      }
      return circuit.isCooling(time.now()) && circuit.until != null
          ? new CircuitState.Open(circuit.until)
          : new CircuitState.HalfOpen();
    }

    private void acquire(Target target) {
      CircuitDecision decision = breaker.tryAcquire(target);
      ModelCircuit circuit = touch(target);
      if (circuit == null) {
        assertEquals(new CircuitRefusal(Reason.TABLE_FULL, time.now()), decision);
        decisions[0]++;
      } else if (circuit.isCooling(time.now()) && circuit.until != null) {
        assertEquals(new CircuitRefusal(Reason.OPEN, circuit.until), decision);
        decisions[1]++;
      } else {
        if (circuit.state == State.OPEN) {
          circuit.become(State.HALF_OPEN);
          expected.add(new CircuitState.HalfOpen());
        }
        if (circuit.state == State.HALF_OPEN && circuit.probes() >= policy.halfOpenMaxProbes()) {
          assertEquals(new CircuitRefusal(Reason.PROBING, time.now()), decision);
          decisions[2]++;
        } else {
          Call call = new Call((CircuitPermit) decision, circuit);
          circuit.calls.add(call);
          all.add(call);
          decisions[3]++;
        }
      }
    }

    private @Nullable ModelCircuit touch(Target target) {
      ModelCircuit circuit = model.remove(target);
      if (circuit == null) {
        if (model.size() == policy.maxTargets()) {
          Optional<Target> victim =
              model.entrySet().stream()
                  .filter(entry -> entry.getValue().calls.isEmpty())
                  .filter(entry -> !entry.getValue().isCooling(time.now()))
                  .map(Map.Entry::getKey)
                  .findFirst();
          if (victim.isEmpty()) {
            return null;
          }
          model.remove(victim.get());
        }
        circuit = new ModelCircuit();
      }
      model.put(target, circuit);
      return circuit;
    }

    /** Ends some call, now and then one that has ended before. */
    private void end() {
      if (all.isEmpty()) {
        return;
      }
      Call call = all.get(random.nextInt(all.size()));
      int kind = random.nextInt(5);
      Duration retryAfter = Duration.ofSeconds(random.nextInt(100));
      switch (kind) {
        case 0 -> call.permit.success();
        case 1 -> call.permit.failure(Optional.of(retryAfter));
        case 2, 3 -> call.permit.failure(Optional.empty());
        default -> call.permit.close();
      }
      if (!call.ended) {
        call.ended = true;
        call.circuit.calls.remove(call);
        switch (kind) {
          case 0 -> succeeded(call);
          case 1 -> failed(call, retryAfter);
          case 2, 3 -> failed(call, Duration.ZERO);
          default -> {}
        }
      }
      if (random.nextInt(4) != 0) {
        all.removeIf(old -> old.ended);
      }
    }

    private void succeeded(Call call) {
      ModelCircuit circuit = call.circuit;
      if (!call.stale && circuit.state != State.OPEN) {
        circuit.until = null;
        circuit.failures = 0;
        if (circuit.state == State.HALF_OPEN) {
          circuit.become(State.CLOSED);
          expected.add(new CircuitState.Closed());
        }
      }
    }

    private void failed(Call call, Duration retryAfter) {
      ModelCircuit circuit = call.circuit;
      Duration cooldown =
          List.of(policy.cooldown(), retryAfter).stream().max(Duration::compareTo).orElseThrow();
      cooldown =
          List.of(policy.maxCooldown(), cooldown).stream().min(Duration::compareTo).orElseThrow();
      Instant end = time.now().plus(cooldown);
      if (circuit.isCooling(time.now())) {
        circuit.putOff(end);
      } else if (!call.stale) {
        circuit.putOff(end);
        circuit.failures++;
        if (circuit.state == State.HALF_OPEN || circuit.failures >= policy.failureThreshold()) {
          circuit.become(State.OPEN);
          expected.add(new CircuitState.Open(Objects.requireNonNull(circuit.until)));
        }
      }
    }
  }
}
