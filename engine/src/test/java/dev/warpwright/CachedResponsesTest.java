package dev.warpwright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.CacheKey;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A cache that is slow, fails or lies harms no operation. */
@Timeout(60)
final class CachedResponsesTest {
  private static final Duration TIMEOUT = Duration.ofMillis(5);
  private static final CacheKey KEY = new CacheKey(Digest.hex("key"));
  private static final ModelResponse ANSWER = answer(Message.assistant("Because."));

  private final ManualTime time = new ManualTime();
  private final TaskTree tree = TaskTree.builder().time(time).abandonGrace(Spine.GRACE).build();
  private final Backend backend = new Backend();
  private final CachedResponses responses = over(backend);

  private CachedResponses over(ResponseCache cache) {
    return new CachedResponses(tree, CachePolicy.of(cache, "test").withTimeout(TIMEOUT));
  }

  private static ModelResponse answer(Message message) {
    return new ModelResponse(
        message, new FinishReason(FinishReason.Kind.STOP, ""), Usage.ABSENT, Optional.empty());
  }

  @AfterEach
  void nothing_is_left() {
    backend.gate.countDown();
    Spine.until("the end of all tasks: " + tree.live(), () -> tree.liveCount() == 0);
    Spine.until("the last alarm: " + time, () -> time.pendingAlarms() == 0);
    Spine.until("the last write", () -> responses.pendingWrites() == 0);
    assertEquals(List.of(), tree.abandoned());
    assertEquals(0, tree.detachedFailures());
  }

  /** A cache over a network that the test can cut. */
  private static final class Backend implements ResponseCache {
    final Map<CacheKey, ModelResponse> kept = new ConcurrentHashMap<>();
    final AtomicInteger gets = new AtomicInteger();
    final AtomicInteger puts = new AtomicInteger();
    final AtomicInteger interrupts = new AtomicInteger();
    final CountDownLatch gate = new CountDownLatch(1);
    volatile boolean stalls;
    volatile boolean fails;

    @Override
    public Optional<ModelResponse> get(CacheKey key) throws InterruptedException {
      gets.incrementAndGet();
      behave();
      return Optional.ofNullable(kept.get(key));
    }

    @Override
    public void put(CacheKey key, ModelResponse response) throws InterruptedException {
      puts.incrementAndGet();
      behave();
      kept.put(key, response);
    }

    private void behave() throws InterruptedException {
      if (fails) {
        throw new IllegalStateException("no connection");
      }
      if (stalls) {
        try {
          gate.await();
        } catch (InterruptedException e) {
          interrupts.incrementAndGet();
          throw e;
        }
      }
    }
  }

  private void awaitWaitOf(Duration wait) {
    Spine.until(
        "a wait of " + wait + "; " + time, () -> time.toString().contains("in " + wait + ": "));
  }

  private Optional<ModelResponse> get(CachedResponses from) {
    try (TaskScope scope = tree.open("operation", "operation")) {
      return from.get(scope, KEY);
    }
  }

  @Test
  @Tag("R341")
  void what_was_kept_is_found() {
    assertEquals(Optional.empty(), get(responses));
    responses.put(KEY, ANSWER);
    assertTrue(responses.flush(Duration.ofSeconds(10)));
    assertEquals(Optional.of(ANSWER), get(responses));
    assertEquals(0, responses.failures());
  }

  @Test
  @Tag("R341")
  @Tag("C30")
  void a_stalled_look_up_is_a_miss_when_its_time_is_over() throws Exception {
    backend.kept.put(KEY, ANSWER);
    backend.stalls = true;
    Caller<Optional<ModelResponse>> caller = Caller.start(() -> get(responses));
    Spine.until("the look-up", () -> backend.gets.get() == 1);
    awaitWaitOf(TIMEOUT);
    time.advance(TIMEOUT);

    assertEquals(Optional.empty(), caller.get());
    assertEquals(1, backend.gets.get());
    assertEquals(1, responses.failures());
    Spine.until("the interrupt of the look-up", () -> backend.interrupts.get() == 1);
  }

  @Test
  @Tag("R341")
  void a_look_up_that_fails_is_a_miss() {
    backend.fails = true;
    assertEquals(Optional.empty(), get(responses));
    assertEquals(1, responses.failures());
  }

  @Test
  @Tag("R341")
  @Tag("C30")
  void a_caller_that_is_cancelled_during_the_look_up_dispatches_nothing() throws Exception {
    backend.stalls = true;
    SharedCalls<ModelResponse> calls = new SharedCalls<>(tree);
    AtomicInteger dispatches = new AtomicInteger();
    AtomicReference<@Nullable TaskScope> own = new AtomicReference<>();
    Caller<SharedCalls.End<ModelResponse>> caller =
        Caller.start(
            () -> {
              try (TaskScope scope = tree.open("operation", "operation")) {
                own.set(scope);
                assertEquals(Optional.empty(), responses.get(scope, KEY));
                return calls.share(
                    KEY,
                    scope,
                    Duration.ofMinutes(1),
                    flight -> {
                      dispatches.incrementAndGet();
                      return ANSWER;
                    });
              }
            });
    Spine.until("the look-up", () -> backend.gets.get() == 1);
    TaskScope scope = own.get();
    assertTrue(scope != null);
    scope.cancel("not wanted");

    assertInstanceOf(SharedCalls.End.Left.class, caller.get());
    assertEquals(0, dispatches.get());
    assertEquals(0, responses.failures());
  }

  @Test
  @Tag("R343")
  void an_answer_that_would_never_be_kept_is_not_believed_either() {
    ToolCall call = new ToolCall("1", "pay", Json.EMPTY_OBJECT, Optional.empty());
    backend.kept.put(KEY, answer(new Message(Role.ASSISTANT, List.of(call))));
    assertEquals(Optional.empty(), get(responses));

    backend.kept.clear();
    responses.put(KEY, answer(new Message(Role.ASSISTANT, List.of(call))));
    assertEquals(0, responses.pendingWrites());
    assertEquals(0, backend.puts.get());
  }

  @Test
  @Tag("R342")
  @Tag("R346")
  void nobody_waits_for_a_write_but_a_flush() throws Exception {
    backend.stalls = true;
    responses.put(KEY, ANSWER);
    assertEquals(1, responses.pendingWrites());
    Spine.until("the write", () -> backend.puts.get() == 1);
    assertFalse(responses.flush(Duration.ZERO));

    Caller<Boolean> flush = Caller.start(() -> responses.flush(Duration.ofMinutes(1)));
    awaitWaitOf(Duration.ofMinutes(1));
    backend.gate.countDown();
    assertTrue(flush.get());
    assertEquals(0, responses.pendingWrites());
    assertEquals(ANSWER, backend.kept.get(KEY));
  }

  @Test
  @Tag("R346")
  void a_flush_waits_for_the_writes_that_were_pending_and_no_others() throws Exception {
    backend.stalls = true;
    responses.put(KEY, ANSWER);
    Spine.until("the write", () -> backend.puts.get() == 1);
    awaitWaitOf(TIMEOUT);
    Caller<Boolean> flush = Caller.start(() -> responses.flush(Duration.ofMinutes(1)));
    awaitWaitOf(Duration.ofMinutes(1));
    time.advance(TIMEOUT.minusMillis(1));
    responses.put(KEY, ANSWER);
    Spine.until("the other write", () -> backend.puts.get() == 2);
    time.advance(Duration.ofMillis(1));

    assertTrue(flush.get());
    assertEquals(1, responses.pendingWrites());
  }

  @Test
  @Tag("R342")
  @Tag("R364")
  void beyond_256_pending_writes_more_are_dropped_and_counted() {
    backend.stalls = true;
    for (int i = 0; i < 259; i++) {
      responses.put(new CacheKey(Digest.hex("key " + i)), ANSWER);
    }
    assertEquals(256, responses.pendingWrites());
    assertEquals(3, responses.droppedWrites());

    backend.gate.countDown();
    assertTrue(responses.flush(Duration.ofMinutes(1)));
    assertEquals(256, backend.kept.size());
    responses.put(KEY, ANSWER);
    assertTrue(responses.flush(Duration.ofMinutes(1)));
    assertEquals(ANSWER, backend.kept.get(KEY));
    assertEquals(3, responses.droppedWrites());
  }

  @Test
  @Tag("R342")
  void a_write_that_takes_too_long_is_given_up() throws Exception {
    backend.stalls = true;
    responses.put(KEY, ANSWER);
    Spine.until("the write", () -> backend.puts.get() == 1);
    awaitWaitOf(TIMEOUT);
    time.advance(TIMEOUT);
    Spine.until("the end of the write", () -> responses.pendingWrites() == 0);
    assertEquals(1, backend.interrupts.get());
    assertEquals(1, responses.failures());
    assertEquals(1, backend.puts.get());
  }

  /** Time of which all goes by before a task that is watched gets a thread. */
  private final class NoThreadInTime implements TimeSource {
    private final AtomicInteger alarms = new AtomicInteger();
    private final AtomicReference<@Nullable CachedResponses> responses = new AtomicReference<>();

    @Override
    public long nanoTime() {
      return time.nanoTime();
    }

    @Override
    public Instant now() {
      return time.now();
    }

    @Override
    public RandomGenerator random() {
      return time.random();
    }

    /** The first alarm goes off at once, and is waited for until it has had its effect. */
    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      Alarm alarm = time.alarm(atNanoTime, action);
      if (alarms.getAndIncrement() == 0) {
        time.advance(TIMEOUT);
        CachedResponses written = Objects.requireNonNull(responses.get());
        Spine.until(
            "the stop of the write", () -> alarms.get() > 1 || written.pendingWrites() == 0);
      }
      return alarm;
    }
  }

  @Test
  @Tag("R342")
  @Tag("R346")
  void a_write_whose_time_is_over_before_it_begins_does_not_stay_pending_for_ever() {
    NoThreadInTime busy = new NoThreadInTime();
    TaskTree busyTree = TaskTree.builder().time(busy).abandonGrace(Spine.GRACE).build();
    CachedResponses late =
        new CachedResponses(busyTree, CachePolicy.of(backend, "test").withTimeout(TIMEOUT));
    busy.responses.set(late);

    late.put(KEY, ANSWER);

    Spine.until("the end of the write", () -> late.pendingWrites() == 0);
    Spine.until("the end of all tasks", () -> busyTree.liveCount() == 0);
    assertTrue(late.flush(Duration.ZERO));
  }

  /** Whoever looks at it loses the whole time of a write. */
  private record Hurry(ManualTime time) implements TimeSource {
    @Override
    public long nanoTime() {
      time.advance(TIMEOUT);
      return time.nanoTime();
    }

    @Override
    public Instant now() {
      return time.now();
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      return time.alarm(atNanoTime, action);
    }

    @Override
    public RandomGenerator random() {
      return time.random();
    }
  }

  @Test
  @Tag("R342")
  void a_write_that_is_not_begun_leaves_its_room_to_the_next_and_is_counted() {
    TaskTree hurried = TaskTree.builder().time(new Hurry(time)).abandonGrace(Spine.GRACE).build();
    CachedResponses late =
        new CachedResponses(hurried, CachePolicy.of(backend, "test").withTimeout(TIMEOUT));
    int writes = 2 * CachedResponses.MAX_PENDING;
    for (int i = 0; i < writes; i++) {
      late.put(KEY, ANSWER);
      Spine.until("the end of the write", () -> late.pendingWrites() == 0);
    }
    Spine.until("the end of all tasks", () -> hurried.liveCount() == 0);
    assertEquals(0, late.droppedWrites());
    assertEquals(0, backend.puts.get());
    assertEquals(writes, late.failures());
  }

  @Test
  @Tag("R104")
  @Tag("R342")
  @Tag("C35")
  void a_write_that_fails_never_repeats_a_call() {
    backend.fails = true;
    assertEquals(1, callsUntilAnswered(responses));
    assertTrue(responses.flush(Duration.ofMinutes(1)));
    assertEquals(1, backend.puts.get());
    assertEquals(1, responses.failures());
  }

  /** Makes a shared call that keeps its answer; how often it was made. */
  private int callsUntilAnswered(CachedResponses into) {
    SharedCalls<ModelResponse> calls = new SharedCalls<>(tree);
    AtomicInteger made = new AtomicInteger();
    try (TaskScope scope = tree.open("operation", "operation")) {
      var end =
          calls.share(
              KEY,
              scope,
              Duration.ofMinutes(1),
              flight -> {
                made.incrementAndGet();
                into.put(KEY, ANSWER);
                return ANSWER;
              });
      assertEquals(new SharedCalls.End.Answered<>(ANSWER, false), end);
    }
    return made.get();
  }

  /** A cache that is asked in place. */
  private static class InPlace implements ResponseCache {
    final AtomicReference<@Nullable Thread> thread = new AtomicReference<>();

    @Override
    public boolean blocking() {
      return false;
    }

    @Override
    public Optional<ModelResponse> get(CacheKey key) {
      thread.set(Thread.currentThread());
      return Optional.of(ANSWER);
    }

    @Override
    public void put(CacheKey key, ModelResponse response) {
      thread.set(Thread.currentThread());
    }
  }

  @Test
  void a_cache_that_never_waits_is_asked_in_place() {
    InPlace cache = new InPlace();
    CachedResponses inPlace = over(cache);
    assertEquals(Optional.of(ANSWER), get(inPlace));
    assertSame(Thread.currentThread(), cache.thread.getAndSet(null));
    inPlace.put(KEY, ANSWER);
    assertSame(Thread.currentThread(), cache.thread.get());
    assertEquals(0, inPlace.pendingWrites());
  }

  @Test
  @Tag("R104")
  @Tag("R342")
  void a_cache_that_fails_in_place_disturbs_nobody_either() {
    CachedResponses failing =
        over(
            new InPlace() {
              @Override
              public Optional<ModelResponse> get(CacheKey key) {
                throw new IllegalStateException();
              }

              @Override
              public void put(CacheKey key, ModelResponse response) {
                throw new IllegalStateException();
              }
            });
    assertEquals(Optional.empty(), get(failing));
    assertEquals(1, callsUntilAnswered(failing));
    assertEquals(2, failing.failures());
  }

  @Test
  @Tag("R104")
  @Tag("R342")
  void an_error_in_a_cache_in_place_is_a_miss_too_and_takes_no_answer_away() {
    CachedResponses failing =
        over(
            new InPlace() {
              @Override
              public Optional<ModelResponse> get(CacheKey key) {
                throw new StackOverflowError();
              }

              @Override
              public void put(CacheKey key, ModelResponse response) {
                throw new StackOverflowError();
              }
            });
    assertEquals(Optional.empty(), get(failing));
    assertEquals(1, callsUntilAnswered(failing));
    assertEquals(2, failing.failures());
  }

  @Test
  @Tag("R338")
  void who_missed_before_another_call_ended_and_leads_after_it_makes_no_second_one() {
    CachedResponses local = over(ResponseCache.inMemory(10, Duration.ofMinutes(5), time));
    SharedCalls<ModelResponse> calls = new SharedCalls<>(tree);
    AtomicInteger made = new AtomicInteger();
    assertEquals(Optional.empty(), get(local));
    for (int i = 0; i < 2; i++) {
      try (TaskScope scope = tree.open("operation", "operation")) {
        assertEquals(
            new SharedCalls.End.Answered<>(ANSWER, false),
            calls.share(KEY, scope, Duration.ofMinutes(1), flight -> call(local, made)));
      }
    }
    assertEquals(1, made.get());
  }

  private static ModelResponse call(CachedResponses local, AtomicInteger made) {
    return local
        .getAgain(KEY)
        .orElseGet(
            () -> {
              made.incrementAndGet();
              local.put(KEY, ANSWER);
              return ANSWER;
            });
  }

  @Test
  void a_cache_that_may_wait_is_not_asked_again() {
    backend.kept.put(KEY, ANSWER);
    assertEquals(Optional.empty(), responses.getAgain(KEY));
    assertEquals(0, backend.gets.get());
  }
}
