package dev.warpwright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.SharedCalls.Call;
import dev.warpwright.SharedCalls.End;
import dev.warpwright.SharedCalls.End.Answered;
import dev.warpwright.SharedCalls.End.Failed;
import dev.warpwright.SharedCalls.End.Left;
import dev.warpwright.control.CacheKey;
import dev.warpwright.model.Digest;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import dev.warpwright.testing.ManualTime;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that are wanted by several at the same time. */
@Timeout(60)
final class SharedCallsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final Duration OPERATION = Duration.ofMinutes(10);
  private static final ScopedValue<String> WHO = ScopedValue.newInstance();

  private final ManualTime time = new ManualTime();
  private final AtomicInteger waits = new AtomicInteger(); // each wait of a caller arms an alarm
  private final TaskTree tree =
      TaskTree.builder().time(new Counting()).abandonGrace(Spine.GRACE).carry(WHO).build();
  private final SharedCalls<String> calls = new SharedCalls<>(tree);

  /** Shared calls do not begin before this is open. */
  private volatile CountDownLatch gate = new CountDownLatch(0);

  /** How far the clock is ahead of the alarms. */
  private volatile long aheadNanos;

  /** Manual time that counts how often callers wait, and lets no shared call pass its gate. */
  private final class Counting implements TimeSource {
    @Override
    public long nanoTime() {
      if (Thread.currentThread().getName().startsWith("shared call")) {
        Spine.awaitStubbornly(gate);
      }
      return time.nanoTime() + aheadNanos;
    }

    @Override
    public Instant now() {
      return time.now();
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      Alarm alarm = time.alarm(atNanoTime - aheadNanos, action);
      if (action.toString().contains("operation")) {
        waits.incrementAndGet(); // when it is armed, so that time may be moved
      }
      return alarm;
    }

    @Override
    public RandomGenerator random() {
      return time.random();
    }
  }

  @AfterEach
  void nothing_is_left() {
    assertEquals(0, calls.inFlight());
    Spine.until("the end of all tasks: " + tree.live(), () -> tree.liveCount() == 0);
    Spine.until("the last alarm: " + time, () -> time.pendingAlarms() == 0);
    assertEquals(List.of(), tree.abandoned());
    assertEquals(0, tree.detachedFailures());
  }

  private static CacheKey key(String name) {
    return new CacheKey(Digest.hex(name));
  }

  /** A call that the test answers; made as an attempt is, in a task of its own. */
  private static final class Upstream implements Call<String> {
    final AtomicInteger made = new AtomicInteger();
    final CountDownLatch began = new CountDownLatch(1);
    final CountDownLatch interrupted = new CountDownLatch(1);
    private final CompletableFuture<String> answer = new CompletableFuture<>();

    void answer(String text) {
      answer.complete(text);
    }

    void fail(Throwable cause) {
      answer.completeExceptionally(cause);
    }

    @Override
    public String make(TaskScope scope) throws Exception {
      made.incrementAndGet();
      Outcome<String> outcome = scope.call("attempt", "attempt", Deadline.never(), this::ask);
      return switch (outcome) {
        case Outcome.Success<String>(String text) -> text;
        case Outcome.Failure<String>(Exception cause) -> throw cause;
        case Outcome.Failure<String>(Throwable cause) -> throw (Error) cause;
        case Outcome.TimedOut<String> timedOut -> throw new IOException("timed out");
        case Outcome.Cancelled<String>(var reason, var abandoned) -> throw new IOException(reason);
      };
    }

    private String ask() throws Exception {
      began.countDown();
      try {
        return answer.get();
      } catch (InterruptedException e) {
        interrupted.countDown();
        throw e;
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Exception cause) {
          throw cause;
        }
        throw new AssertionError(e);
      }
    }
  }

  /** An operation that wants a call, on a thread of its own. */
  private final class Wanting {
    final AtomicReference<@Nullable TaskScope> scope = new AtomicReference<>();
    final Caller<End<String>> caller;

    Wanting(String who, String key, Deadline deadline, Call<String> call) {
      caller =
          Caller.start(
              () -> ScopedValue.where(WHO, who).call(() -> share(key(key), deadline, call)));
    }

    private End<String> share(CacheKey key, Deadline deadline, Call<String> call) {
      try (TaskScope own = tree.open("operation", "operation", deadline)) {
        scope.set(own);
        return calls.share(key, own, LIMIT, call);
      }
    }

    Answered<String> answered() throws Exception {
      if (caller.get() instanceof Answered<String> answered) {
        return answered;
      }
      throw new AssertionError("not answered, but " + caller.get());
    }

    Failed<String> failed() throws Exception {
      if (caller.get() instanceof Failed<String> failed) {
        return failed;
      }
      throw new AssertionError("not failed, but " + caller.get());
    }

    void left() throws Exception {
      assertInstanceOf(Left.class, caller.get());
    }

    void leave(Way way) {
      TaskScope own = scope.get();
      assertTrue(own != null);
      switch (way) {
        case CANCEL -> own.cancel("not wanted");
        case INTERRUPT -> caller.interrupt();
        case DEADLINE -> time.advance(SHORT);
      }
    }
  }

  /** How an operation ends before its call does. */
  enum Way {
    CANCEL,
    INTERRUPT,
    DEADLINE
  }

  private Deadline in(Duration duration) {
    return Deadline.after(tree.time(), duration);
  }

  /** Starts an operation, and comes back when it waits. */
  private Wanting want(String who, String key, Deadline deadline, Call<String> call) {
    int before = waits.get();
    Wanting wanting = new Wanting(who, key, deadline, call);
    Spine.until("a wait of the caller", () -> waits.get() > before);
    return wanting;
  }

  private Wanting want(String key, Call<String> call) {
    return want("somebody", key, in(OPERATION), call);
  }

  private Wanting wantBriefly(Call<String> call) {
    return want("somebody", "key", in(SHORT), call);
  }

  private List<Wanting> want(int count, Call<String> call) {
    List<Wanting> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(want("key", call));
    }
    return all;
  }

  private static Call<String> never() {
    return scope -> {
      throw new AssertionError("it was not to be called");
    };
  }

  @Test
  @Tag("R338")
  void identical_calls_at_the_same_time_are_made_once() throws Exception {
    Upstream upstream = new Upstream();
    Wanting leader = want("key", upstream);
    List<Wanting> others = want(49, never());
    assertEquals(1, calls.inFlight());

    upstream.answer("Because.");

    assertEquals(new Answered<>("Because.", false), leader.answered());
    for (Wanting other : others) {
      assertEquals(new Answered<>("Because.", true), other.answered());
    }
    assertEquals(1, upstream.made.get());
    assertTrue(waits.get() <= 55, () -> waits + " waits of 50 callers");
  }

  @Test
  @Tag("R338")
  void different_calls_have_nothing_to_do_with_another() throws Exception {
    Upstream one = new Upstream();
    Upstream two = new Upstream();
    Wanting first = want("one", one);
    Wanting second = want("two", two);
    assertEquals(2, calls.inFlight());
    two.answer("two");
    assertEquals(new Answered<>("two", false), second.answered());
    one.answer("one");
    assertEquals(new Answered<>("one", false), first.answered());
  }

  @Test
  @Tag("R338")
  void a_call_that_comes_when_the_other_has_ended_is_made_anew() throws Exception {
    for (String text : List.of("first", "second")) {
      Upstream upstream = new Upstream();
      Wanting wanting = want("key", upstream);
      upstream.answer(text);
      assertEquals(new Answered<>(text, false), wanting.answered());
    }
  }

  @Test
  @Tag("R338")
  void beyond_1024_keys_calls_are_made_separately() throws Exception {
    Upstream all = new Upstream();
    List<Wanting> full = new ArrayList<>();
    for (int i = 0; i < SharedCalls.MAX_KEYS; i++) {
      full.add(want("key " + i, all));
    }
    assertEquals(1_024, calls.inFlight());

    Upstream separate = new Upstream();
    Wanting one = want("another key", separate);
    Wanting two = want("another key", separate);
    Wanting joined = want("key 17", never());
    Spine.until("two separate calls", () -> separate.made.get() == 2);
    assertEquals(1_024, calls.inFlight());
    separate.answer("separate");
    assertEquals(new Answered<>("separate", false), one.answered());
    assertEquals(new Answered<>("separate", false), two.answered());

    all.answer("shared");
    for (Wanting wanting : full) {
      assertEquals(new Answered<>("shared", false), wanting.answered());
    }
    assertEquals(new Answered<>("shared", true), joined.answered());
    assertEquals(1_024, all.made.get());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  @Tag("R339")
  void a_shared_call_survives_its_leader(Way way) throws Exception {
    Upstream upstream = new Upstream();
    Wanting leader = wantBriefly(upstream);
    List<Wanting> others = want(3, never());
    Spine.await("the call", upstream.began);

    leader.leave(way);
    leader.left();
    assertEquals(way == Way.INTERRUPT, leader.caller.leftInterrupted());

    assertEquals(1, upstream.interrupted.getCount());
    upstream.answer("Because.");
    for (Wanting other : others) {
      assertEquals(new Answered<>("Because.", true), other.answered());
    }
    assertEquals(1, upstream.made.get());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  @Tag("R339")
  void one_that_leaves_disturbs_nobody(Way way) throws Exception {
    Upstream upstream = new Upstream();
    Wanting leader = want("key", upstream);
    Wanting impatient = wantBriefly(never());
    Wanting patient = want("key", never());
    Spine.await("the call", upstream.began);

    impatient.leave(way);
    impatient.left();

    upstream.answer("Because.");
    assertEquals(new Answered<>("Because.", false), leader.answered());
    assertEquals(new Answered<>("Because.", true), patient.answered());
    assertEquals(1, upstream.interrupted.getCount());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  @Tag("R339")
  void the_last_one_that_leaves_cancels_the_call(Way way) throws Exception {
    Upstream upstream = new Upstream();
    Wanting leader = want("key", upstream);
    Wanting follower = want("key", never());
    Wanting last = wantBriefly(never());
    Spine.await("the call", upstream.began);

    leader.leave(Way.CANCEL);
    leader.left();
    follower.leave(Way.INTERRUPT);
    follower.left();
    assertEquals(1, upstream.interrupted.getCount());
    assertEquals(1, calls.inFlight());

    last.leave(way);
    last.left();
    assertEquals(0, calls.inFlight());
    Spine.await("the interrupt of the call", upstream.interrupted);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  @Tag("R339")
  void nobody_joins_a_call_that_was_cancelled_although_it_still_runs(boolean answers)
      throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch began = new CountDownLatch(1);
    Wanting only =
        want(
            "key",
            scope -> {
              began.countDown();
              Spine.awaitStubbornly(release);
              if (answers) {
                return "stale";
              }
              throw new IOException("stale");
            });
    Spine.await("the call", began);
    only.leave(Way.CANCEL);
    only.left();

    Upstream upstream = new Upstream();
    Wanting next = want("key", upstream);
    Spine.await("the new call", upstream.began);
    release.countDown();
    Spine.until("the end of the first call", () -> tasks("shared call") == 2); // and its scope
    assertEquals(1, calls.inFlight());
    upstream.answer("fresh");
    assertEquals(new Answered<>("fresh", false), next.answered());
  }

  private long tasks(String kind) {
    return tree.live().stream().filter(task -> task.kind().equals(kind)).count();
  }

  @Test
  @Tag("R339")
  @Tag("R341")
  void a_call_that_nobody_waits_for_any_more_when_it_could_begin_is_not_made() throws Exception {
    gate = new CountDownLatch(1);
    Upstream upstream = new Upstream();
    Wanting only = want("key", upstream);
    only.leave(Way.CANCEL);
    only.left();
    gate.countDown();
    Spine.until("the end of the task", () -> tree.liveCount() == 0);
    assertEquals(0, upstream.made.get());
  }

  @Test
  @Tag("R340")
  @Tag("FR-K03")
  @Tag("C35")
  void when_the_leader_fails_exactly_one_of_those_who_wait_leads_a_new_call() throws Exception {
    Upstream failing = new Upstream();
    Upstream second = new Upstream();
    Wanting leader = want("key", failing);
    List<Wanting> others = want(49, second);

    IOException failure = new IOException("reset");
    failing.fail(failure);
    assertEquals(new Failed<>(failure, false), leader.failed());
    Spine.await("the new call", second.began);
    assertEquals(1, calls.inFlight());
    second.answer("Because.");

    int leaders = 0;
    for (Wanting other : others) {
      Answered<String> answered = other.answered();
      assertEquals("Because.", answered.value());
      leaders += answered.joined() ? 0 : 1;
    }
    assertEquals(1, leaders);
    assertEquals(1, failing.made.get());
    assertEquals(1, second.made.get());
    // One wait each, and one more of the new leader; not one more of everybody.
    assertTrue(waits.get() <= 58, () -> waits + " waits of 50 callers");
  }

  @Test
  @Tag("R340")
  @Tag("C35")
  void a_second_failure_is_everybodys_and_the_next_request_can_recover() throws Exception {
    IOException first = new IOException("first");
    IOException second = new IOException("second");
    Upstream failing = new Upstream();
    Upstream failingAgain = new Upstream();
    Wanting leader = want("key", failing);
    List<Wanting> others = want(9, failingAgain);

    failing.fail(first);
    assertSame(first, leader.failed().cause());
    failingAgain.fail(second);
    int leaders = 0;
    for (Wanting other : others) {
      assertSame(second, other.failed().cause());
      leaders += other.failed().joined() ? 0 : 1;
    }
    assertEquals(1, leaders);
    assertEquals(1, failingAgain.made.get());
    assertEquals(0, calls.inFlight());

    Upstream recovered = new Upstream();
    Wanting next = want("key", recovered);
    recovered.answer("Because.");
    assertEquals(new Answered<>("Because.", false), next.answered());
  }

  @Test
  @Tag("R340")
  void who_came_after_a_failure_has_not_seen_it() throws Exception {
    Upstream first = new Upstream();
    Upstream second = new Upstream();
    Upstream third = new Upstream();
    Wanting a = want("key", first);
    Wanting b = want("key", second);
    first.fail(new IOException("first"));
    a.failed();
    Spine.await("the second call", second.began);
    Wanting c = want("key", third);
    Wanting d = want("key", never());

    IOException failure = new IOException("second");
    second.fail(failure);
    assertEquals(new Failed<>(failure, false), b.failed());
    third.answer("Because.");
    assertEquals(new Answered<>("Because.", false), c.answered());
    assertEquals(new Answered<>("Because.", true), d.answered());
  }

  @Test
  @Tag("R340")
  void the_failure_of_a_call_whose_leader_has_left_makes_another_one_lead() throws Exception {
    Upstream failing = new Upstream();
    Upstream second = new Upstream();
    Wanting leader = want("key", failing);
    List<Wanting> others = want(3, second);
    leader.leave(Way.CANCEL);
    leader.left();

    failing.fail(new IOException("reset"));
    second.answer("Because.");
    for (Wanting other : others) {
      assertEquals("Because.", other.answered().value());
    }
    assertEquals(1, second.made.get());
  }

  @Test
  @Tag("R340")
  void one_whose_time_is_over_when_it_is_asked_to_lead_passes_it_on() throws Exception {
    Upstream failing = new Upstream();
    Upstream last = new Upstream();
    Wanting leader = want("key", failing);
    Wanting late = wantBriefly(never());
    Wanting next = want("key", last);
    Spine.await("the call", failing.began);

    aheadNanos = SHORT.toNanos(); // no alarm has told it yet
    failing.fail(new IOException("reset"));
    leader.failed();
    late.left();
    last.answer("Because.");
    assertEquals(new Answered<>("Because.", false), next.answered());
  }

  @Test
  @Tag("R340")
  void if_the_time_of_the_last_one_is_over_when_it_is_asked_to_lead_there_is_no_call()
      throws Exception {
    Upstream failing = new Upstream();
    Wanting leader = want("key", failing);
    Wanting late = wantBriefly(never());
    Spine.await("the call", failing.began);

    aheadNanos = SHORT.toNanos();
    failing.fail(new IOException("reset"));
    leader.failed();
    late.left();
    assertEquals(0, calls.inFlight());
  }

  @Test
  @Tag("R340")
  void one_that_leaves_when_it_is_asked_to_lead_passes_it_on() throws Exception {
    for (int round = 0; round < 100; round++) {
      Upstream last = new Upstream();
      AtomicReference<@Nullable Wanting> asked = new AtomicReference<>();
      CountDownLatch fail = new CountDownLatch(1);
      Wanting leader =
          want(
              "key",
              scope -> {
                fail.await();
                Wanting next = asked.get();
                assertTrue(next != null);
                next.leave(Way.CANCEL); // it may see this first, or that it is asked
                throw new IOException("reset");
              });
      Wanting next = want("key", never());
      asked.set(next);
      Wanting afterwards = want("key", last);
      fail.countDown();
      leader.failed();
      next.caller.get();
      last.answer("Because.");
      assertInstanceOf(Answered.class, afterwards.caller.get());
    }
  }

  @Test
  @Tag("R339")
  void the_limit_of_a_call_is_its_leaders_and_a_new_one_has_its_own() throws Exception {
    Upstream slow = new Upstream();
    Upstream second = new Upstream();
    Wanting leader = want("key", slow);
    Spine.await("the call", slow.began);
    time.awaitAlarmIn(LIMIT);
    time.advance(LIMIT.minusSeconds(1));
    Wanting follower = want("key", second);
    time.advance(Duration.ofSeconds(1));
    assertEquals("timed out", leader.failed().cause().getMessage());
    Spine.await("the interrupt", slow.interrupted);

    Spine.await("the new call", second.began);
    time.advance(LIMIT.minusSeconds(1));
    second.answer("Because.");
    assertEquals(new Answered<>("Because.", false), follower.answered());
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  @Tag("R341")
  @Tag("C30")
  void who_has_left_before_begins_nothing(Way way) {
    try (TaskScope scope = tree.open("operation", "late", in(SHORT))) {
      switch (way) {
        case CANCEL -> scope.cancel("not wanted");
        case INTERRUPT -> Thread.currentThread().interrupt();
        case DEADLINE -> time.advance(SHORT);
      }
      assertInstanceOf(Left.class, calls.share(key("key"), scope, LIMIT, never()));
    } finally {
      assertEquals(way == Way.INTERRUPT, Thread.interrupted());
    }
  }

  @Test
  void a_call_has_the_context_of_whoever_leads_it() throws Exception {
    Upstream failing = new Upstream();
    AtomicReference<String> seen = new AtomicReference<>("");
    Wanting leader = want("the first", "key", in(OPERATION), failing);
    Wanting next =
        want(
            "the second",
            "key",
            in(OPERATION),
            scope -> {
              seen.set(WHO.get());
              return "Because.";
            });
    failing.fail(new IOException("reset"));
    leader.failed();
    assertEquals(new Answered<>("Because.", false), next.answered());
    assertEquals("the second", seen.get());
  }

  @Test
  void whatever_a_call_throws_is_its_failure() throws Exception {
    for (Throwable thrown : List.of(new AssertionError(), new InterruptedException("odd"))) {
      Wanting wanting =
          new Wanting(
              "somebody",
              "key",
              in(OPERATION),
              scope -> {
                if (thrown instanceof Error error) {
                  throw error;
                }
                throw (Exception) thrown;
              });
      assertSame(thrown, wanting.failed().cause());
    }
    Wanting untidy =
        new Wanting(
            "somebody",
            "key",
            in(OPERATION),
            scope -> {
              tree.open("left", "left open");
              return "Because.";
            });
    assertInstanceOf(IllegalStateException.class, untidy.failed().cause());
  }
}
