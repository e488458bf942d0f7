package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Success;
import dev.warpwright.task.Outcome.TimedOut;
import dev.warpwright.task.TaskTrace.End;
import dev.warpwright.testing.ManualTime;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class TaskTraceTest {
  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  private static final Deadline NEVER = Deadline.never();

  private static TaskTrace traceOf(TaskScope scope) {
    return scope.trace().orElseThrow();
  }

  private static TaskTrace leaf(TaskTrace node, End end) {
    return new TaskTrace(
        node.name(), node.kind(), node.since(), node.duration(), end, List.of(), 0);
  }

  private static List<String> names(List<TaskTrace> nodes) {
    return nodes.stream().map(TaskTrace::name).toList();
  }

  @Test
  void a_trace_says_what_ran_where_when_for_how_long_and_how_it_ended() throws Exception {
    Instant start = fixture.time.now();
    TaskScope scope = tree.openRecorded("operation", "op", NEVER);
    fixture.advance(5);
    scope.call(
        "attempt",
        "one",
        NEVER,
        () -> {
          fixture.advance(20);
          try (TaskScope inner = tree.open("step", "inner")) {
            inner.fork("tool", "two", NEVER, () -> "value");
            inner.join();
            fixture.advance(100);
          }
          return "value";
        });
    scope.call(
        "attempt",
        "three",
        NEVER,
        () -> {
          throw new IOException();
        });
    scope.close();
    fixture.advance(1000);
    TaskTrace two = trace("two", "tool", start.plusMillis(25), Duration.ZERO, new End.Succeeded());
    TaskTrace inner =
        trace("inner", "step", start.plusMillis(25), millis(100), new End.Closed(false), two);
    TaskTrace one =
        trace("one", "attempt", start.plusMillis(5), millis(120), new End.Succeeded(), inner);
    TaskTrace three =
        trace(
            "three",
            "attempt",
            start.plusMillis(125),
            Duration.ZERO,
            new End.Failed("java.io.IOException"));
    TaskTrace all = trace("op", "operation", start, millis(125), new End.Closed(false), one, three);
    assertEquals(all, traceOf(scope));
    assertEquals(
        """
        op (operation) 125 ms CLOSED
          one (attempt) 120 ms SUCCEEDED
            inner (step) 100 ms CLOSED
              two (tool) 0 ns SUCCEEDED
          three (attempt) 0 ns FAILED java.io.IOException\
        """,
        all.toString());
  }

  private static TaskTrace trace(
      String name, String kind, Instant since, Duration duration, End end, TaskTrace... children) {
    return new TaskTrace(name, kind, since, duration, end, List.of(children), 0);
  }

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  @Test
  void a_scope_that_nobody_records_has_no_trace() {
    try (TaskScope scope = tree.open("operation", "op")) {
      assertNull(scope.recorder);
      assertNull(scope.fork("tool", "one", NEVER, () -> 1).recorder);
      assertEquals(Optional.empty(), scope.trace());
      try (TaskScope inner = tree.openRecorded("step", "inner", NEVER)) {
        assertEquals("inner", traceOf(inner).name());
      }
      assertEquals(Optional.empty(), scope.trace());
    }
  }

  @Test
  void what_runs_while_the_trace_is_made_says_so() throws Exception {
    Stubborn body = fixture.stubborn();
    try (TaskScope scope = tree.openRecorded("operation", "op", NEVER)) {
      fixture.advance(3);
      scope.fork("tool", "one", NEVER, body);
      body.awaitStarted();
      fixture.advance(4);
      TaskTrace before = traceOf(scope);
      assertEquals(new End.Running(), before.end());
      assertEquals(millis(7), before.duration());
      assertEquals(new End.Running(), before.children().getFirst().end());
      assertEquals(millis(4), before.children().getFirst().duration());
      body.release();
      scope.join();
      assertEquals(new End.Running(), before.children().getFirst().end());
      assertEquals(new End.Succeeded(), traceOf(scope).children().getFirst().end());
      assertEquals(
          """
          op (operation) 7.00 ms RUNNING
            one (tool) 4.00 ms RUNNING\
          """,
          before.toString());
    }
  }

  @Test
  @Tag("R121")
  void an_abandoned_task_has_its_end_and_what_it_does_afterwards_changes_no_trace()
      throws Exception {
    Stubborn body = fixture.stubborn();
    Stubborn deep = fixture.stubborn();
    AtomicReference<@Nullable TaskScope> closed = new AtomicReference<>();
    Owner<TaskTrace> owner =
        Owner.start(
            () -> {
              TaskScope scope = tree.openRecorded("operation", "op", NEVER);
              try (scope) {
                Outcome<String> outcome =
                    scope.call(
                        "attempt",
                        "one",
                        fixture.in(10),
                        () -> {
                          body.call();
                          try (TaskScope late = tree.open("step", "late")) {
                            deep.call();
                            return late.path();
                          }
                        });
                assertEquals(new TimedOut<>(true), outcome);
              }
              closed.set(scope);
              return traceOf(scope);
            });
    body.awaitStarted();
    fixture.advanceOnceParked(10);
    body.awaitInterrupted();
    fixture.advanceOnceParked(100);
    TaskTrace trace = owner.get();
    TaskTrace one = trace.children().getFirst();
    assertEquals(leaf(one, new End.TimedOut(true)), one);
    assertEquals(millis(110), one.duration());
    assertTrue(trace.toString().endsWith("one (attempt) 110 ms TIMED_OUT, abandoned"));

    String text = trace.toString();
    body.release();
    deep.awaitStarted();
    TaskScope scope = closed.get();
    assertTrue(scope != null);
    TaskTrace later = traceOf(scope).children().getFirst();
    assertEquals(List.of("late"), names(later.children()));
    assertEquals(new End.Running(), later.children().getFirst().end());
    assertEquals(new End.TimedOut(true), later.end());
    assertEquals(one.duration(), later.duration());
    assertEquals(text, trace.toString());
    assertEquals(List.of(), one.children());
  }

  @Test
  void tasks_that_were_not_run_and_a_cancelled_scope_are_in_the_trace() {
    TaskScope scope = tree.openRecorded("operation", "op", fixture.in(1000));
    scope.call("attempt", "late", fixture.in(0), () -> "ran");
    scope.fork("attempt", "running", NEVER, TaskFixture::untilInterrupted);
    scope.cancel("enough");
    scope.fork("attempt", "cancelled", NEVER, () -> "ran");
    scope.close();
    assertEquals(
        """
        op (operation) 0 ns CLOSED, cancelled
          late (attempt) 0 ns TIMED_OUT
          running (attempt) 0 ns CANCELLED
          cancelled (attempt) 0 ns CANCELLED\
        """,
        traceOf(scope).toString());
  }

  @Test
  @Tag("R358")
  void what_a_failure_or_a_cancel_says_is_in_no_trace() {
    TaskScope scope = tree.openRecorded("operation", "op", NEVER);
    scope.call(
        "attempt",
        "one",
        NEVER,
        () -> {
          throw new IllegalStateException("secret", new IOException("secret"));
        });
    scope.fork("attempt", "two", NEVER, TaskFixture::untilInterrupted);
    scope.cancel("secret");
    scope.close();
    assertFalse(traceOf(scope).toString().contains("secret"));
    assertEquals(
        List.of(new End.Failed("java.lang.IllegalStateException"), new End.Cancelled(false)),
        traceOf(scope).children().stream().map(TaskTrace::end).toList());
  }

  @Test
  void scopes_on_the_same_thread_and_of_another_tree_are_recorded_too() {
    ManualTime otherTime = new ManualTime(Instant.EPOCH, 1);
    TaskTree other = TaskTree.builder().time(otherTime).build();
    TaskScope scope = tree.openRecorded("operation", "op", NEVER);
    fixture.advance(5);
    scope.call(
        "tool",
        "agent as tool",
        NEVER,
        () -> {
          try (TaskScope nested = other.openRecorded("run", "run 1", NEVER)) {
            otherTime.advance(Duration.ofDays(1));
            fixture.advance(7);
            Outcome<Integer> outcome = nested.call("attempt", "one", NEVER, () -> 1);
            assertEquals(List.of("one"), names(traceOf(nested).children()));
            return outcome;
          }
        });
    try (TaskScope step = tree.open("step", "step")) {
      step.call("attempt", "two", NEVER, () -> 1);
    }
    scope.close();
    assertEquals(
        """
        op (operation) 12.0 ms CLOSED
          agent as tool (tool) 7.00 ms SUCCEEDED
            run 1 (run) 7.00 ms CLOSED
              one (attempt) 0 ns SUCCEEDED
          step (step) 0 ns CLOSED
            two (attempt) 0 ns SUCCEEDED\
        """,
        traceOf(scope).toString());
  }

  @Test
  void a_record_is_bounded_and_counts_what_it_omits_at_every_depth() {
    TaskScope scope = tree.openRecorded("batch", "batch", NEVER);
    for (int i = 0; i < 700; i++) {
      scope.call("item", "item " + i, NEVER, this::step);
    }
    TaskTrace trace = traceOf(scope);
    assertEquals(TaskTrace.MAX_NODES, size(trace));
    assertEquals(1 + 700 * 3, size(trace) + omittedBelow(trace));
    assertEquals(333, trace.children().size());
    assertEquals(3 * (700 - 333), trace.omitted());
    scope.call("item", "one more", NEVER, this::step);
    assertEquals(trace.omitted() + 3, traceOf(scope).omitted());
    assertTrue(traceOf(scope).toString().endsWith("\n  and 1104 more"));
    scope.close();
  }

  private Outcome<Integer> step() {
    try (TaskScope inner = tree.open("step", "inner")) {
      return inner.call("tool", "two", NEVER, () -> 1);
    }
  }

  @Test
  void a_recorded_scope_for_which_an_outer_record_has_no_room_has_a_record_of_its_own() {
    try (TaskScope scope = tree.openRecorded("batch", "batch", NEVER)) {
      for (int i = 0; i < TaskTrace.MAX_NODES - 2; i++) {
        scope.fork("item", "item " + i, fixture.in(0), () -> 1);
      }
      assertEquals(0, traceOf(scope).omitted());
      try (TaskScope last = tree.openRecorded("operation", "last", NEVER)) {
        last.call("attempt", "one", NEVER, () -> 1);
        assertEquals(1, traceOf(last).omitted());
        assertEquals(1, omittedBelow(traceOf(scope)));
      }
      try (TaskScope own = tree.openRecorded("operation", "own", NEVER)) {
        own.call("attempt", "one", NEVER, this::step);
        assertEquals(
            """
            own (operation) 0 ns RUNNING
              one (attempt) 0 ns SUCCEEDED
                inner (step) 0 ns CLOSED
                  two (tool) 0 ns SUCCEEDED\
            """,
            traceOf(own).toString());
        for (int i = 0; i < TaskTrace.MAX_NODES; i++) {
          own.fork("item", "item " + i, fixture.in(0), () -> 1);
        }
        assertEquals(4, traceOf(own).omitted());
        assertEquals(4 + TaskTrace.MAX_NODES, traceOf(scope).omitted());
      }
      try (TaskScope unrecorded = tree.open("operation", "unrecorded")) {
        assertEquals(Optional.empty(), unrecorded.trace());
      }
    }
  }

  static int size(TaskTrace trace) {
    return 1 + trace.children().stream().mapToInt(TaskTraceTest::size).sum();
  }

  static int omittedBelow(TaskTrace trace) {
    return trace.omitted() + trace.children().stream().mapToInt(TaskTraceTest::omittedBelow).sum();
  }

  @Test
  void a_record_keeps_no_value_no_failure_and_no_body_alive() {
    try (TaskScope scope = tree.openRecorded("operation", "op", NEVER)) {
      List<WeakReference<Object>> dead = new ArrayList<>();
      dead.add(callWith(scope, new Object()));
      dead.add(forkWith(scope, new Object()));
      dead.add(failWith(scope, new IOException()));
      scope.join();
      TaskFixture.until(
          "the garbage collector",
          () -> {
            System.gc();
            return dead.stream().allMatch(reference -> reference.get() == null);
          });
      assertEquals(3, traceOf(scope).children().size());
    }
  }

  private static WeakReference<Object> callWith(TaskScope scope, Object value) {
    assertEquals(new Success<>(value), scope.call("tool", "one", NEVER, () -> value));
    return new WeakReference<>(value);
  }

  private static WeakReference<Object> forkWith(TaskScope scope, Object value) {
    scope.fork("tool", "two", NEVER, () -> value);
    return new WeakReference<>(value);
  }

  private static WeakReference<Object> failWith(TaskScope scope, Exception failure) {
    scope.fork(
        "tool",
        "three",
        NEVER,
        () -> {
          throw failure;
        });
    return new WeakReference<>(failure);
  }

  @Test
  void a_trace_that_is_read_late_says_what_one_said_that_was_read_at_once() {
    TaskScope scope = tree.openRecorded("operation", "op", NEVER);
    scope.call("attempt", "one", NEVER, this::step);
    scope.callHere("attempt", "two", NEVER, this::step);
    TaskTrace running = traceOf(scope);
    fixture.advance(3);
    scope.close();
    TaskTrace late = traceOf(scope);
    TaskTrace read = traceOf(scope);
    String text = read.toString();
    fixture.advance(1_000);
    assertEquals(millis(3), late.duration());
    assertEquals(read, late);
    assertEquals(read.hashCode(), late.hashCode());
    assertEquals(text, late.toString());
    assertEquals(read.since(), running.since());
    assertEquals(new End.Running(), running.end());
  }

  @Test
  void the_text_of_a_name_is_made_when_somebody_asks() {
    List<String> made = new ArrayList<>();
    Object name =
        new Object() {
          @Override
          public String toString() {
            made.add("made");
            return "late name";
          }
        };
    TaskScope scope = tree.openRecorded("operation", name, NEVER);
    scope.callHere("attempt", name, NEVER, () -> 1);
    scope.close();
    TaskTrace trace = traceOf(scope);
    assertEquals(List.of(), made);
    assertEquals("late name", trace.name());
    assertEquals(List.of("late name"), names(trace.children()));
  }

  @Test
  void a_wall_clock_that_is_set_is_heard_of_within_a_second() {
    AtomicReference<Instant> wall = new AtomicReference<>(Instant.EPOCH);
    ManualTime time = new ManualTime(Instant.EPOCH, 1);
    TaskTree tree = TaskTree.builder().time(new Watched(time, wall)).build();
    for (int hour = 1; hour <= 3; hour++) {
      wall.set(Instant.EPOCH.plus(Duration.ofHours(hour)));
      time.advance(Duration.ofSeconds(1).plusNanos(1));
      try (TaskScope scope = tree.openRecorded("operation", "op", NEVER)) {
        assertEquals(wall.get(), traceOf(scope).since());
      }
    }
  }

  /** A time source whose wall clock is set by the test. */
  private record Watched(ManualTime time, AtomicReference<Instant> wall) implements TimeSource {
    @Override
    public Instant now() {
      return wall.get();
    }

    @Override
    public long nanoTime() {
      return time.nanoTime();
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
  void the_end_of_a_task_that_is_done_is_never_missing_in_the_trace() throws Exception {
    Owner<Void> owner =
        Owner.start(
            () -> {
              for (int i = 0; i < 5_000; i++) {
                TaskScope scope = tree.openRecorded("operation", "op", NEVER);
                Task<Integer> task = scope.fork("tool", "one", NEVER, () -> 1);
                while (!task.isDone()) {
                  LockSupport.parkNanos(1_000);
                }
                assertEquals(new End.Succeeded(), traceOf(scope).children().getFirst().end());
                scope.call("tool", "two", NEVER, () -> 1);
                assertEquals(new End.Succeeded(), traceOf(scope).children().getLast().end());
                scope.close();
              }
              return null;
            });
    owner.get();
  }

  @Test
  void a_name_cannot_forge_a_line_and_a_duration_has_three_digits() {
    List<String> lines = new ArrayList<>();
    for (Duration duration :
        List.of(
            Duration.ofNanos(7),
            Duration.ofNanos(999),
            Duration.ofNanos(1_000),
            Duration.ofNanos(9_994),
            Duration.ofNanos(9_996),
            Duration.ofNanos(99_960),
            Duration.ofNanos(999_400),
            Duration.ofNanos(999_600),
            Duration.ofMillis(1_234),
            Duration.ofMinutes(30))) {
      String line = trace("a\nb", "k", Instant.EPOCH, duration, new End.Closed(true)).toString();
      lines.add(line.substring(8, line.indexOf(" CLOSED, cancelled")));
    }
    assertEquals(
        List.of(
            "7 ns", "999 ns", "1.00 µs", "9.99 µs", "10.0 µs", "100 µs", "999 µs", "1.00 ms",
            "1.23 s", "1800 s"),
        lines);
    assertEquals(
        "a?b (k) 0 ns CANCELLED, abandoned",
        trace("a\nb", "k", Instant.EPOCH, Duration.ZERO, new End.Cancelled(true)).toString());
  }

  @Test
  void a_trace_is_immutable() {
    List<TaskTrace> children = new ArrayList<>();
    TaskTrace trace =
        new TaskTrace("n", "k", Instant.EPOCH, Duration.ZERO, new End.Running(), children, 0);
    children.add(trace);
    assertEquals(List.of(), trace.children());
    assertThrows(UnsupportedOperationException.class, () -> trace.children().add(trace));
  }
}
