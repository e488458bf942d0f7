package dev.warpwright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.SharedCalls.End;
import dev.warpwright.control.CacheKey;
import dev.warpwright.model.Digest;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two hundred callers at once on real time, with random failures, cancels, interrupts and
 * deadlines, and a check that everything adds up.
 */
@Timeout(120)
final class SharedCallsConservationTest {
  private static final int CALLERS = 200;
  private static final int ROUNDS = 40;

  @Test
  @Tag("R338")
  @Tag("R339")
  @Tag("R340")
  void nothing_is_lost_or_left_over_whatever_two_hundred_callers_do() throws Exception {
    long base = System.nanoTime();
    int[] ends = new int[5];
    for (int i = 0; i < ROUNDS; i++) {
      long seed = base + i;
      try {
        new Round(seed).run(ends);
      } catch (Throwable thrown) {
        throw new AssertionError("seed " + seed, thrown);
      }
    }
    for (int count : ends) {
      assertTrue(count > 0, () -> "not every kind of end: " + Arrays.toString(ends));
    }
  }

  /** One call that was made, and what it came to. */
  private static final class Made {
    final AtomicInteger made = new AtomicInteger();
    volatile @Nullable String answer;
    volatile @Nullable Throwable failure;
  }

  private static final class Round {
    private final Random random;
    private final TaskTree tree =
        TaskTree.builder().abandonGrace(Duration.ofSeconds(5)).build(); // nobody is stubborn
    private final SharedCalls<String> calls = new SharedCalls<>(tree);
    private final int keys;
    private final Map<Integer, Made> made = new ConcurrentHashMap<>();
    private final AtomicInteger running = new AtomicInteger();
    private final CountDownLatch ready = new CountDownLatch(CALLERS);

    Round(long seed) {
      random = new Random(seed);
      keys = 1 + random.nextInt(6);
    }

    void run(int[] counts) throws Exception {
      List<Caller<End<String>>> callers = new ArrayList<>();
      List<AtomicReference<@Nullable TaskScope>> scopes = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        int number = i;
        AtomicReference<@Nullable TaskScope> scope = new AtomicReference<>();
        Random own = new Random(random.nextLong());
        scopes.add(scope);
        callers.add(Caller.start(() -> want(number, own, scope)));
      }
      ready.await();
      Set<Integer> interrupted = disturb(callers, scopes);
      for (int i = 0; i < CALLERS; i++) {
        check(i, callers.get(i).get(), counts);
        assertTrue(
            interrupted.contains(i) || !callers.get(i).leftInterrupted(),
            "an interrupt out of nowhere");
      }
      assertEquals(0, calls.inFlight());
      Spine.until("the end of all tasks", () -> tree.liveCount() == 0);
      assertEquals(0, running.get());
      assertEquals(0, tree.detachedFailures());
      made.values().forEach(one -> assertEquals(1, one.made.get()));
    }

    private End<String> want(int number, Random own, AtomicReference<@Nullable TaskScope> mine) {
      CacheKey key = new CacheKey(Digest.hex("key " + own.nextInt(keys)));
      Duration patience =
          Duration.ofNanos(own.nextInt(4) == 0 ? own.nextInt(3_000_000) : 60_000_000_000L);
      Duration limit =
          Duration.ofNanos(own.nextInt(4) == 0 ? own.nextInt(3_000_000) : 60_000_000_000L);
      ready.countDown();
      try (TaskScope scope =
          tree.open("operation", "operation " + number, Deadline.after(tree.time(), patience))) {
        mine.set(scope);
        return calls.share(key, scope, limit, flight -> make(number, own, flight));
      }
    }

    private String make(int number, Random own, TaskScope scope) throws Exception {
      Made one = made.computeIfAbsent(number, leader -> new Made());
      one.made.incrementAndGet();
      running.incrementAndGet();
      try {
        Outcome<String> outcome =
            scope.call("attempt", "attempt", Deadline.never(), () -> attempt(number, own));
        switch (outcome) {
          case Outcome.Success<String>(String answer) -> one.answer = answer;
          case Outcome.Failure<String>(Throwable cause) -> one.failure = cause;
          default -> one.failure = new IOException(outcome.toString());
        }
      } finally {
        running.decrementAndGet();
      }
      Throwable failure = one.failure;
      if (failure != null) {
        throw new IOException(Integer.toString(number), failure);
      }
      return "answer of " + number;
    }

    private String attempt(int number, Random own) throws Exception {
      switch (own.nextInt(5)) {
        case 0 -> {}
        case 1 -> throw new IOException("failed");
        case 2 -> new CountDownLatch(1).await(own.nextInt(3_000), TimeUnit.MICROSECONDS);
        case 3 -> {
          tree.time().sleep(Duration.ofNanos(own.nextInt(2_000_000)));
          throw new IOException("failed late");
        }
        default -> tree.time().sleep(Duration.ofNanos(own.nextInt(2_000_000)));
      }
      return "answer of " + number;
    }

    /** Cancels or interrupts some; returns whom it has interrupted. */
    private Set<Integer> disturb(
        List<Caller<End<String>>> callers, List<AtomicReference<@Nullable TaskScope>> scopes) {
      Set<Integer> interrupted = ConcurrentHashMap.newKeySet();
      int victims = random.nextInt(CALLERS);
      for (int i = 0; i < victims; i++) {
        int victim = random.nextInt(CALLERS);
        TaskScope scope = scopes.get(victim).get();
        if (random.nextBoolean() || scope == null) {
          interrupted.add(victim);
          callers.get(victim).interrupt();
        } else {
          scope.cancel("disturbed");
        }
        for (int spin = random.nextInt(500); spin > 0; spin--) {
          Thread.onSpinWait();
        }
      }
      return interrupted;
    }

    /** Every end comes from a call that was made, and who led one did so alone. */
    private void check(int number, End<String> end, int[] counts) {
      switch (end) {
        case End.Answered<String>(String answer, boolean joined) -> {
          counts[joined ? 0 : 1]++;
          int leader = Integer.parseInt(answer.substring("answer of ".length()));
          Made one = made.get(leader);
          assertNotNull(one);
          assertEquals(answer, one.answer);
          assertEquals(joined, leader != number);
        }
        case End.Failed<String>(Throwable cause, boolean joined) -> {
          counts[joined ? 2 : 3]++;
          int leader = Integer.parseInt(cause.getMessage());
          Made one = made.get(leader);
          assertNotNull(one);
          assertSame(one.failure, cause.getCause());
          assertEquals(joined, leader != number);
        }
        case End.Left<String> left -> counts[4]++;
      }
    }
  }
}
