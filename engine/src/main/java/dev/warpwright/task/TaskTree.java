package dev.warpwright.task;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The task trees of one embedding: opens their roots, says what runs in them now, and keeps the
 * tasks that were left behind in view until they end.
 *
 * <pre>{@code
 * TaskTree tasks = TaskTree.builder().carry(TENANT).build();
 * try (TaskScope operation = tasks.open("operation", "generate-17", deadline)) {
 *   Outcome<Answer> outcome =
 *       operation.call("attempt", "attempt 1 openai/gpt", Deadline.never(), () -> ask(question));
 * }
 * }</pre>
 *
 * <p>A task sees what its starter saw: the scoped values that the builder {@linkplain Builder#carry
 * names} and the MDC of SLF4J are those of the thread that started it, at that moment. What it puts
 * into its MDC ends with it.
 *
 * <p>A tree has no life cycle: it holds only what runs. Safe for use by any thread.
 */
public final class TaskTree {
  private static final Duration MAX_GRACE = Duration.ofSeconds(5);

  private final TimeSource time;
  private final Duration abandonGrace;
  private final long graceNanos;
  private final List<ScopedValue<?>> carried;

  /** The open scopes that hang under no node of this tree. */
  private final Set<TaskScope> roots = ConcurrentHashMap.newKeySet();

  /** The running tasks that hang under no scope: detached ones, and those that were abandoned. */
  private final Set<Task<?>> loose = ConcurrentHashMap.newKeySet();

  private volatile WallClock wallClock; // as it was read not long ago; by whoever finds it old

  private final LongAdder detachedFailures = new LongAdder();
  private final LongAdder abandonedErrors = new LongAdder();
  private final LongAdder closeFailures = new LongAdder();

  private TaskTree(Builder builder) {
    this.time = builder.time;
    this.abandonGrace = builder.abandonGrace;
    this.graceNanos = builder.abandonGrace.toNanos();
    this.carried = List.copyOf(builder.carried);
    this.wallClock = WallClock.read(time);
  }

  /**
   * Starts to describe a tree.
   *
   * @return a builder with the defaults: the system's time, 100 ms grace, nothing carried
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Opens a scope with no deadline of its own. As {@link #open(String, String, Deadline)}.
   *
   * @param kind what the scope is to the caller, such as {@code operation}
   * @param name its name, a part of the names of all threads below it
   * @return the open scope; close it on this thread
   */
  public TaskScope open(String kind, String name) {
    return open(kind, name, Deadline.never());
  }

  /**
   * Opens a scope that the calling thread owns.
   *
   * <p>If the thread is in a scope or a task already, of this tree or of another, the new scope
   * hangs under the innermost one: it inherits its deadline if that is earlier, its cancellation
   * reaches the new scope, and if it is cancelled already the new scope is cancelled from the
   * start. Scopes of a thread are closed in the reverse order in which they were opened.
   *
   * @param kind what the scope is to the caller, such as {@code operation}
   * @param name its name, a part of the names of all threads below it
   * @param deadline until when all that runs in it may take; {@link Deadline#never()} for no limit
   *     but the inherited one
   * @return the open scope; close it on this thread
   */
  public TaskScope open(String kind, String name, Deadline deadline) {
    return open(kind, name, deadline, false);
  }

  /**
   * Opens a scope that takes down what becomes of it and of all that is started below it, for
   * {@link TaskScope#trace()}: its tasks, the scopes that they open, and so on, also in another
   * tree. Otherwise as {@link #open(String, String, Deadline)}.
   *
   * <p>The record keeps at most {@value TaskTrace#MAX_NODES} nodes and counts the others. A scope
   * that is opened as recorded below another such one is a part of the other's record; if there is
   * no room left in it, it begins a record of its own.
   *
   * @param kind what the scope is to the caller, such as {@code operation}
   * @param name its name, a part of the names of all threads below it, or an immutable object whose
   *     text is its name, for one that is made only when somebody asks
   * @param deadline until when all that runs in it may take; {@link Deadline#never()} for no limit
   *     but the inherited one
   * @return the open scope; close it on this thread
   */
  public TaskScope openRecorded(String kind, Object name, Deadline deadline) {
    return open(kind, name, deadline, true);
  }

  private TaskScope open(String kind, Object name, Deadline deadline, boolean recorded) {
    Objects.requireNonNull(deadline, "deadline");
    Node parent = Node.innermost();
    Deadline effective = parent == null ? deadline : deadline.earlier(parent.deadline);
    TaskScope scope = new TaskScope(this, parent, kind, name, effective, recorded);
    if (scope.isRoot()) {
      roots.add(scope);
    }
    scope.begin();
    return scope;
  }

  /**
   * Starts a task that belongs to no scope: for work that must not hold up its caller, such as
   * telling an observer. It is bounded all the same: when its timeout passes it is interrupted, and
   * if it outlives the grace too it is listed as {@link #abandoned()}. Until it ends it is {@link
   * #live()}.
   *
   * <p>What it throws, {@link Error}s included, goes nowhere but into {@link #detachedFailures()}.
   *
   * @param kind what the task is to the caller, such as {@code observer}
   * @param name its name and that of its thread
   * @param timeout how long it may take; not negative
   * @param body what it does; it should end soon after an interrupt
   * @return whether it was started; false if the system had no thread for it, which is counted like
   *     what it throws
   * @throws IllegalArgumentException if the timeout is negative
   */
  public boolean detach(String kind, String name, Duration timeout, Runnable body) {
    Objects.requireNonNull(body, "body");
    if (timeout.isNegative()) {
      throw new IllegalArgumentException("timeout must not be negative: " + timeout);
    }
    Callable<? extends @Nullable Object> quiet =
        carrying(
            () -> {
              body.run();
              return null;
            });
    return detach(new Task<>(this, kind, name, Deadline.after(time, timeout), null, quiet));
  }

  /**
   * Starts a task that belongs to no scope and whose end is the end of a feed: what it returns, or
   * throws. When the reader hears of the end, the task is not {@link #live()} any more. It has no
   * time limit but those of the scopes that it opens.
   *
   * @param <R> the type of its result
   * @param kind what the task is to the caller, such as {@code stream}
   * @param name its name and that of its thread
   * @param feed a feed without an end
   * @param body what it does
   * @return whether it was started; if the system had no thread for it, the feed has come to its
   *     end
   */
  public <R> boolean detach(String kind, String name, Feed<?, R> feed, Callable<? extends R> body) {
    return detach(new Task<>(this, kind, name, Deadline.never(), feed, carrying(body)));
  }

  /**
   * Does work on a virtual thread while the calling thread waits, if that is a platform thread; on
   * a virtual one it is done there. For work that starts several tasks: to start one from a
   * platform thread and wait for it is a hand-over to a carrier and back, to do so from a virtual
   * thread is not.
   *
   * <p>The work sees what a task would see, and what it opens hangs under the scope or task that
   * the calling thread is in. An interrupt of the calling thread interrupts the work, and is set
   * when this returns. It has no time limit but those of the scopes that it opens.
   *
   * @param <T> what comes of it
   * @param name the name of the thread
   * @param work what to do
   * @return what it returned; what it throws is thrown, with the caller's frames in its stack trace
   */
  public <T> T onVirtualThread(String name, Supplier<? extends T> work) {
    Objects.requireNonNull(work, "work");
    if (Thread.currentThread().isVirtual()) {
      return work.get();
    }
    return switch (new Handover<T>(carrying(work::get)).run(name)) {
      case Outcome.Success<T>(T value) -> value;
      case Outcome.Failure<T>(RuntimeException thrown) -> throw thrown;
      case Outcome.Failure<T>(Error thrown) -> throw thrown;
      default -> throw new IllegalStateException("The work threw a checked exception.");
    };
  }

  private boolean detach(Task<?> task) {
    loose.add(task);
    return task.start();
  }

  /**
   * Until when the calling thread has time by what it runs in.
   *
   * @return the deadline of the innermost scope or task that it is in; never, if it is in none
   */
  public Deadline deadline() {
    Node innermost = Node.innermost();
    return innermost == null ? Deadline.never() : innermost.deadline;
  }

  /**
   * What runs now, parents before children: open scopes, tasks that have not ended, and those left
   * behind.
   *
   * @return a copy; what starts or ends while it is made may be in it or not
   */
  public List<TaskInfo> live() {
    List<TaskInfo> infos = new ArrayList<>();
    visitLive((node, state) -> infos.add(node.info(state)));
    return Collections.unmodifiableList(infos);
  }

  /**
   * The number of nodes that {@link #live()} would list.
   *
   * @return how many scopes and tasks are live
   */
  public int liveCount() {
    int[] count = new int[1];
    visitLive((node, state) -> count[0]++);
    return count[0];
  }

  /**
   * The tasks that ignored their interrupt for the whole grace, were left behind, and still run.
   *
   * @return a copy, in no particular order; empty is what a healthy program has
   */
  public List<TaskInfo> abandoned() {
    List<TaskInfo> infos = new ArrayList<>();
    for (Task<?> task : loose) {
      TaskState state = task.currentState();
      if (state == TaskState.ABANDONED) {
        infos.add(task.info(state));
      }
    }
    return Collections.unmodifiableList(infos);
  }

  /**
   * How many detached tasks have thrown something.
   *
   * @return the number since the tree was built
   */
  public long detachedFailures() {
    return detachedFailures.sum();
  }

  /**
   * How many abandoned tasks have ended with an {@link Error}, which nobody was left to see.
   *
   * @return the number since the tree was built, without that of detached tasks
   */
  public long abandonedErrors() {
    return abandonedErrors.sum();
  }

  /**
   * How many values that came too late, or that their task could not hand over, threw when they
   * were closed. See {@link TaskScope#acquire}.
   *
   * @return the number since the tree was built
   */
  public long closeFailures() {
    return closeFailures.sum();
  }

  /**
   * The clocks and the timer that this tree goes by.
   *
   * @return the time source
   */
  public TimeSource time() {
    return time;
  }

  /**
   * How long an interrupted task is waited for before it is left behind.
   *
   * @return the grace, 0 to 5 s
   */
  public Duration abandonGrace() {
    return abandonGrace;
  }

  /** The wall clock, as it was read not long before an instant of just now. */
  WallClock wallClock(long nowNanoTime) {
    WallClock known = wallClock;
    if (known.isOld(nowNanoTime)) {
      known = WallClock.read(time);
      wallClock = known;
    }
    return known;
  }

  long graceNanos() {
    return graceNanos;
  }

  /** A body that runs with the calling thread's MDC and those carried values that it has bound. */
  <T extends @Nullable Object> Callable<? extends T> carrying(Callable<? extends T> body) {
    Callable<? extends T> logging = LogContext.carrying(body);
    ScopedValue.Carrier bindings = null;
    for (ScopedValue<?> value : carried) {
      if (value.isBound()) {
        bindings = bindAgain(bindings, value);
      }
    }
    if (bindings == null) {
      return logging;
    }
    ScopedValue.Carrier bound = bindings;
    return () -> bound.call(logging::call);
  }

  private static <V extends @Nullable Object> ScopedValue.Carrier bindAgain(
      ScopedValue.@Nullable Carrier bindings, ScopedValue<V> value) {
    return bindings == null
        ? ScopedValue.where(value, value.get())
        : bindings.where(value, value.get());
  }

  void closed(TaskScope root) {
    roots.remove(root);
  }

  /** Keeps a task in view that hangs under no scope any more. */
  void remember(Task<?> task) {
    loose.add(task);
  }

  void forget(Task<?> task) {
    loose.remove(task);
  }

  /** Counts what a task threw that nobody is left to see. */
  void countUnseen(Throwable thrown, boolean detached) {
    if (detached) {
      detachedFailures.increment();
    } else if (thrown instanceof Error) {
      abandonedErrors.increment();
    }
  }

  /** Counts a value that a task could not close. */
  void countCloseFailure() {
    closeFailures.increment();
  }

  private void visitLive(BiConsumer<Node, TaskState> visitor) {
    // A task that is abandoned meanwhile is met twice, never missed: it becomes loose before its
    // scope forgets it.
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Consumer<Node> once =
        node -> {
          TaskState state = node.currentState();
          if (state != TaskState.ENDED && seen.add(node)) {
            visitor.accept(node, state);
          }
        };
    roots.forEach(root -> root.visit(once));
    loose.forEach(task -> task.visit(once));
  }

  /** Describes a {@link TaskTree}. Not safe for use by several threads at once. */
  public static final class Builder {
    private TimeSource time = TimeSource.system();
    private Duration abandonGrace = Duration.ofMillis(100);
    private final List<ScopedValue<?>> carried = new ArrayList<>();

    private Builder() {}

    /**
     * Sets the clocks, timer and randomness. Default {@link TimeSource#system()}.
     *
     * @param time the time source
     * @return this builder
     */
    public Builder time(TimeSource time) {
      this.time = Objects.requireNonNull(time, "time");
      return this;
    }

    /**
     * Sets how long an interrupted task is waited for before it is left behind. Default 100 ms. A
     * task in a scope nested in another task may get less: at most half of what the outer one has
     * left, so that all of a nest are back within this time. With zero a task is left behind in the
     * moment it is interrupted, however soon it ends.
     *
     * @param grace 0 to 5 s
     * @return this builder
     * @throws IllegalArgumentException if it is outside these bounds
     */
    public Builder abandonGrace(Duration grace) {
      if (grace.isNegative() || grace.compareTo(MAX_GRACE) > 0) {
        throw new IllegalArgumentException(
            "abandonGrace must be between 0 and " + MAX_GRACE + ": " + grace);
      }
      this.abandonGrace = grace;
      return this;
    }

    /**
     * Carries a scoped value into tasks: where it is bound in the thread that starts a task, it is
     * bound to the same value in the task. May be called for several values.
     *
     * @param value the scoped value
     * @return this builder
     */
    public Builder carry(ScopedValue<?> value) {
      carried.add(Objects.requireNonNull(value, "value"));
      return this;
    }

    /**
     * Builds the tree.
     *
     * @return a new tree in which nothing runs
     */
    public TaskTree build() {
      return new TaskTree(this);
    }
  }
}
