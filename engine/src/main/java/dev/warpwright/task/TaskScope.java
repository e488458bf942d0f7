package dev.warpwright.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One structured operation: a thread's scope in which it starts tasks, waits for them, and which it
 * does not leave before they have ended or were given up.
 *
 * <pre>{@code
 * try (TaskScope scope = tasks.open("tools", "tools of step 3", deadline)) {
 *   List<Task<Result>> results = new ArrayList<>();
 *   for (ToolCall call : calls) {
 *     results.add(scope.fork("tool", call.name(), Deadline.never(), () -> run(call)));
 *   }
 *   scope.join();
 *   return results.stream().map(Task::outcome).toList();
 * }
 * }</pre>
 *
 * <p>A task is a virtual thread named by its place in the tree. It is never waited for longer than
 * its deadline, which is the earliest of its own, its scope's and those around it, plus the grace
 * of the tree: at the deadline, or when the scope is cancelled, it is interrupted; if it has not
 * ended within the grace it is <em>abandoned</em>. An abandoned task has its outcome and its owner
 * goes on; what it still does is discarded, and {@link TaskTree#abandoned()} lists it until it
 * ends.
 *
 * <p><b>Threads.</b> The thread that opened the scope owns it; {@link #call}, {@link #fork}, the
 * waits and {@link #close} throw {@link IllegalStateException} on any other thread. The remaining
 * methods are safe for use by any thread.
 *
 * <p><b>Deadlines</b> of tasks are enforced while the owner waits, in this scope or in one it has
 * nested in it. An owner that does not wait is itself what the deadline is for; it should look at
 * {@link #deadline()}. A deadline that has passed does not set {@link #isCancelled()}: what runs
 * times out, and what is started then is {@link Outcome.TimedOut} without having run.
 *
 * <p><b>Interrupts.</b> An interrupt of the owner is a cancel. No method throws {@link
 * InterruptedException}: a wait that finds the interrupt cancels the scope, ends as one that was
 * cancelled, and returns with the interrupt status set. No method leaves an interrupt status behind
 * that it did not find or receive.
 */
public final class TaskScope extends Node implements AutoCloseable {

  /*
   * The owner waits in one place, park(): check what it waits for, let the children's deadlines have
   * their effect, arm one alarm for the next instant at which something is due, park, cancel it.
   * Children do not wake the owner one by one, unless it asked for any of them: they count down, and
   * only the last, the one the owner waits for, or one that failed wakes it. So joining n children costs one park, and no thread exists
   * only to watch the clock.
   *
   * No wake-up is lost. A thread has a single park permit, and every lock it takes may consume it, the
   * timer's or one in a caller's condition. So whoever changes something first changes it, then marks
   * `signalled`, then unparks; and the owner clears the mark before it looks and looks at the mark
   * last, with nothing between that and the park.
   *
   * Cancelling needs no lock either. cancel() sets the reason and then looks for children and an
   * inner scope to stop; fork() and open() add theirs and then look at the reason. Both are volatile,
   * so at least one side sees the other; stopping twice is harmless.
   */

  private static final String OWNER_INTERRUPTED = "interrupted";

  private static final VarHandle PENDING;
  private static final VarHandle CANCEL_REASON;

  static {
    try {
      MethodHandles.Lookup lookup = MethodHandles.lookup();
      PENDING = lookup.findVarHandle(TaskScope.class, "pending", int.class);
      CANCEL_REASON = lookup.findVarHandle(TaskScope.class, "cancelReason", String.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final Thread owner;
  private final Children children = new Children();
  private volatile int pending; // children without an outcome
  private volatile @Nullable String cancelReason; // set once
  private volatile boolean signalled; // see above
  private volatile boolean awaitsNext; // the owner waits for whichever child comes first

  /** Forked tasks that have an outcome and were not given yet; made by the owner, at a fork. */
  private @Nullable Queue<Task<?>> settled;

  /** Of forked tasks, since the last join; made by the owner, at a fork. */
  private @Nullable Failures failures;

  private volatile boolean closed; // written by the owner

  TaskScope(
      TaskTree tree,
      @Nullable Node parent,
      String kind,
      Object name,
      Deadline deadline,
      boolean recorded) {
    super(tree, parent, kind, name, deadline, recorded);
    this.owner = Thread.currentThread();
  }

  /**
   * Starts a task and waits for its end, at most until its deadline and the grace after it.
   *
   * <p>If the scope is cancelled or the deadline has passed, the body does not run. If both a value
   * and the deadline are there when the owner looks, the value counts; once the task has been asked
   * to stop, its outcome is {@link Outcome.TimedOut} or {@link Outcome.Cancelled}, whatever it
   * returns. Deadlines of tasks forked earlier are enforced meanwhile.
   *
   * @param kind what the task is to the caller, such as {@code attempt}
   * @param name its name; its thread is named by the whole path
   * @param deadline its own deadline; the scope's applies as well
   * @param body what it does; it should end soon after an interrupt
   * @param <T> the type of its value; may be nullable
   * @return how it ended; never null, never thrown
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public <T extends @Nullable Object> Outcome<T> call(
      String kind, String name, Deadline deadline, Callable<? extends T> body) {
    return outcomeOf(launch(kind, name, deadline, body, true, false));
  }

  /**
   * Runs a task on the calling thread, as {@link #call} does on a thread of its own: for a body
   * that is known to end soon after an interrupt. It saves the thread and twice handing over.
   *
   * <p>At the deadline, or when the scope is cancelled, the thread is interrupted, and the outcome
   * is {@link Outcome.TimedOut} or {@link Outcome.Cancelled} when the body has ended. It cannot be
   * abandoned: a body that ignores the interrupt keeps its owner. While tasks run whose deadlines
   * the owner has to enforce, this is {@code call}.
   *
   * <p>The interrupt that was meant for the task does not outlive it. One that comes from outside
   * is a cancel, as in every wait: it is set when this returns, and if the body failed of it, the
   * scope is cancelled. A body that is interrupted ends by throwing {@link InterruptedException}
   * with the interrupt status clear, or leaves the status set; it does not do both. In one case
   * Java cannot tell the two apart: an interrupt from outside that comes between the task's own and
   * the moment in which the body notices that; it counts as the task's own.
   *
   * @param kind what the task is to the caller, such as {@code attempt}
   * @param name its name, or an immutable object whose text is its name, for one that is made only
   *     when somebody asks
   * @param deadline its own deadline; the scope's applies as well
   * @param body what it does; it leaves the thread's locals as it found them
   * @param <T> the type of its value; may be nullable
   * @return how it ended; never null, never thrown
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public <T extends @Nullable Object> Outcome<T> callHere(
      String kind, Object name, Deadline deadline, Callable<? extends T> body) {
    Objects.requireNonNull(body, "body");
    checkUsable();
    if (answersForRunning()) {
      return call(kind, name.toString(), deadline, body);
    }
    noticeInterrupt();
    InlineTask<T> task = new InlineTask<>(this, kind, name, deadline.earlier(this.deadline));
    Outcome<T> unstarted = unstarted(task);
    if (unstarted != null) {
      return unstarted;
    }
    children.add(task);
    String reason = cancelReason; // a cancel that came before the task was added has not seen it
    if (reason != null) {
      task.cancel(reason);
    }
    Outcome<T> outcome = task.runHere(body);
    children.removeLast(task);
    return outcome;
  }

  /** Whether tasks run whose deadlines nobody would enforce while this thread does not wait. */
  private boolean answersForRunning() {
    for (Node node = this; node != null && !(node instanceof Task<?>); node = node.parent) {
      if (node instanceof TaskScope scope && scope.pending > 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Starts a task that gets something which has to be given back, such as a permit, and waits for
   * it as {@link #call} does. If what it returns comes too late, it is given back.
   *
   * <pre>{@code
   * Outcome<Permit> outcome = scope.acquire("admission", "permit", deadline, shared::acquire);
   * if (outcome instanceof Success(Permit permit)) {
   *   try (permit) { ... }
   * }
   * }</pre>
   *
   * <p>A value is either the owner's, which has it in its {@link Outcome.Success} and closes it, or
   * is closed by the task, exactly once, on the task's thread and without the interrupt that
   * stopped the task: if the outcome is {@link Outcome.TimedOut} or {@link Outcome.Cancelled}, or
   * the body left a scope open. Unless it is abandoned, the task has closed it before the owner
   * gets the outcome. What {@code close} throws is counted in {@link TaskTree#closeFailures()}.
   *
   * @param kind what the task is to the caller, such as {@code admission}
   * @param name its name; its thread is named by the whole path
   * @param deadline its own deadline; the scope's applies as well
   * @param body gets it; it should end soon after an interrupt. If it throws, it must have given
   *     back what it got
   * @param <T> the type of what it gets
   * @return how it ended; never null, never thrown
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public <T extends AutoCloseable> Outcome<T> acquire(
      String kind, String name, Deadline deadline, Callable<? extends T> body) {
    return outcomeOf(launch(kind, name, deadline, body, true, true));
  }

  private <T extends @Nullable Object> Outcome<T> outcomeOf(Task<T> task) {
    park(task::isDone, Deadline.never(), false);
    children.removeLast(task);
    return task.outcome();
  }

  /**
   * Starts a task and goes on. If the scope is cancelled or the deadline has passed, the body does
   * not run and the task has its outcome at once.
   *
   * @param kind what the task is to the caller, such as {@code tool}
   * @param name its name; its thread is named by the whole path
   * @param deadline its own deadline, enforced while the owner waits; the scope's applies as well
   * @param body what it does; it should end soon after an interrupt
   * @param <T> the type of its value; may be nullable
   * @return the task, with an outcome after the next join
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public <T extends @Nullable Object> Task<T> fork(
      String kind, String name, Deadline deadline, Callable<? extends T> body) {
    return launch(kind, name, deadline, body, false, false);
  }

  /**
   * Waits until every task of the scope has an outcome.
   *
   * <p>Returns after the latest deadline of a task plus the grace at the latest; after a cancel, or
   * an interrupt of the owner, within the grace. More tasks may be forked afterwards, unless the
   * scope is cancelled.
   *
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public void join() {
    checkUsable();
    awaitChildren();
    if (failures != null) {
      failures.clear();
    }
  }

  /**
   * Waits until one more of the forked tasks has an outcome, and gives it. For an owner that starts
   * the next task when one has ended. Each task is given once, in the order in which they got their
   * outcomes; a join forgets those that were not. Deadlines, a cancel and an interrupt are as in
   * {@link #join}, so it returns after the earliest deadline of a task plus the grace at the
   * latest.
   *
   * @return a task that has an outcome; empty if none is left
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public Optional<Task<?>> joinNext() {
    checkUsable();
    Queue<Task<?>> queue = settled;
    if (queue == null) {
      return Optional.empty();
    }
    awaitsNext = true;
    try {
      park(() -> !queue.isEmpty() || pending == 0, Deadline.never(), false);
    } finally {
      awaitsNext = false;
    }
    return Optional.ofNullable(queue.poll());
  }

  /**
   * Waits until every task of the scope has an outcome or one of them has failed; the first {@link
   * Outcome.Failure} cancels the scope, and then the others get the grace. As {@link #join}
   * otherwise.
   *
   * <p>Only failures count, of the tasks forked since the last join. If it returns empty, tasks may
   * still have timed out or been cancelled; their outcomes say so.
   *
   * @return the first failure with the later ones suppressed in it, in the order in which they
   *     happened. A throwable is not added to itself or twice; nothing is added to one without a
   *     stack trace, which is probably a constant, or beyond 64
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public Optional<Throwable> joinFailFast() {
    checkUsable();
    Failures failures = this.failures;
    if (failures == null) { // nothing was ever forked
      awaitChildren();
      return Optional.empty();
    }
    park(() -> pending == 0 || !failures.isEmpty(), Deadline.never(), false);
    failures.firstName().ifPresent(name -> cancel("sibling failed: " + name));
    awaitChildren();
    return failures.take();
  }

  /**
   * Waits for a time to pass. For backoff: the wait ends early when there is no point in it.
   *
   * @param duration how long; zero and negative ones pass at once
   * @return true if the time has passed; false if before that the scope was cancelled, the owner
   *     interrupted, or the scope's deadline reached
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public boolean sleep(Duration duration) {
    checkUsable();
    noticeInterrupt();
    Deadline until = Deadline.after(tree.time(), duration);
    return park(until::hasPassed, until.earlier(deadline), true) && cancelReason == null;
  }

  /**
   * Waits until a condition holds. Whoever makes it true calls {@link #wake()} afterwards.
   *
   * @param condition what to wait for; the owner evaluates it, first of all and after every
   *     wake-up, so it must be cheap and must not block
   * @param deadline until when to wait; the scope's deadline applies as well
   * @return true if the condition held when it was last looked at, even if the scope is cancelled
   *     by then: what was granted is not lost. False if the scope was cancelled, the owner
   *     interrupted or a deadline reached first
   * @throws IllegalStateException if the caller does not own the scope, or it is closed
   */
  public boolean await(BooleanSupplier condition, Deadline deadline) {
    checkUsable();
    return park(condition, deadline.earlier(this.deadline), true);
  }

  /** Makes an owner that waits look at its condition again. Any thread; cheap; never blocks. */
  public void wake() {
    signalled = true;
    LockSupport.unpark(owner);
  }

  /**
   * Cancels the scope: interrupts its running tasks, cancels the scopes in them and those that the
   * owner has nested in this one, and wakes the owner if it waits. The owner's thread is not
   * interrupted. What is started or opened below later is cancelled from the start.
   *
   * <p>Returns without waiting for anything to end. Any thread. Only the first call counts; on a
   * closed scope there is nothing to cancel.
   *
   * @param reason why, for the outcomes of the tasks
   */
  public void cancel(String reason) {
    Objects.requireNonNull(reason, "reason");
    if (CANCEL_REASON.compareAndSet(this, null, reason)) {
      stopAll(reason);
      wake();
    }
  }

  /**
   * Whether the scope is cancelled: by {@link #cancel}, from above, by an interrupt of the owner
   * during a wait, or by a failed sibling in {@link #joinFailFast}. Any thread.
   *
   * @return true from then on
   */
  public boolean isCancelled() {
    return cancelReason != null;
  }

  /**
   * Why the scope is cancelled. Any thread.
   *
   * @return the reason of the cancel that came first; empty while it is not cancelled
   */
  public Optional<String> cancelReason() {
    return Optional.ofNullable(cancelReason);
  }

  /**
   * Until when all that runs in the scope may take. Any thread.
   *
   * @return the earlier of the scope's own deadline and the one it inherited
   */
  public Deadline deadline() {
    return deadline;
  }

  /**
   * Where the scope is in the tree. Any thread.
   *
   * @return the names from the root down, joined by {@code /}
   */
  @Override
  public String path() {
    return super.path();
  }

  /**
   * What ran in the scope and runs in it now, as a value, if the scope was {@linkplain
   * TaskTree#openRecorded opened as recorded} or is nested in one that was. A task whose outcome
   * the owner knows has its end in it; after {@link #close} only abandoned tasks may change what
   * the next trace says of those below them. Any thread.
   *
   * @return the scope and all that was started below it; empty if it is not recorded, or its record
   *     had reached its bound before it was opened
   */
  public Optional<TaskTrace> trace() {
    return recorder == null ? Optional.empty() : recorder.trace();
  }

  /**
   * Leaves the scope: interrupts the tasks that still run, waits for all of them together at most
   * one grace, abandons the rest. Does nothing on a closed scope.
   *
   * <p>An interrupt does not cut the grace short; its status is set on return.
   *
   * @throws IllegalStateException if the caller does not own the scope; or if scopes nested in it
   *     were still open on this thread, in which case they are closed first and this one all the
   *     same
   */
  @Override
  public void close() {
    checkOwner();
    if (!closed && closeWithInner()) {
      throw new IllegalStateException(
          "scope " + path() + " was closed before the scopes that were opened in it");
    }
  }

  @Override
  public String toString() {
    return path() + " " + currentState();
  }

  boolean isRoot() {
    return parent == null || parent.tree != tree;
  }

  /** Makes this the innermost scope of its owner. */
  void begin() {
    enter();
    if (parent != null) {
      parent.inner = this;
      String reason = parent.stopReason();
      if (reason != null) {
        cancel(reason);
      }
    }
  }

  /** Closes this scope, the ones nested in it first; returns whether there were any. */
  boolean closeWithInner() {
    TaskScope open = inner;
    if (open != null || pending > 0) {
      stopAll("scope closed"); // all of them now, so that their graces run at the same time
    }
    if (open != null) {
      open.closeWithInner();
    }
    awaitChildren();
    if (recorder != null) {
      recorder.end(cancelReason == null ? Recorder.CLOSED : new TaskTrace.End.Closed(true));
    }
    closed = true;
    if (parent != null) {
      parent.inner = null;
    }
    leave();
    if (isRoot()) {
      tree.closed(this);
    }
    return open != null;
  }

  /** Told by a child when it has its outcome, once. */
  void childSettled(Task<?> child, boolean awaited, @Nullable Throwable cause) {
    boolean wakes = awaited;
    if (cause != null && !awaited) {
      Objects.requireNonNull(failures).add(child.name(), cause);
      wakes = true;
    }
    if (!awaited) {
      Objects.requireNonNull(settled).add(child);
    }
    int left = (int) PENDING.getAndAdd(this, -1) - 1;
    if (wakes || left == 0 || awaitsNext) {
      wake();
    }
  }

  @Override
  TaskState currentState() {
    if (closed) {
      return TaskState.ENDED;
    }
    return cancelReason == null ? TaskState.RUNNING : TaskState.CANCELLED;
  }

  @Override
  @Nullable String stopReason() {
    return cancelReason;
  }

  @Override
  Deadline givenUpAt() {
    return parent == null ? Deadline.never() : parent.givenUpAt();
  }

  @Override
  void visit(Consumer<? super Node> visitor) {
    super.visit(visitor);
    children.forEach(child -> child.visit(visitor));
  }

  private <T extends @Nullable Object> Task<T> launch(
      String kind,
      String name,
      Deadline deadline,
      Callable<? extends T> body,
      boolean awaited,
      boolean acquires) {
    Objects.requireNonNull(body, "body");
    checkUsable();
    noticeInterrupt();
    Task<T> task =
        new Task<>(
            this,
            kind,
            name,
            deadline.earlier(this.deadline),
            awaited,
            acquires,
            tree.carrying(body));
    if (!awaited && settled == null) {
      settled = new ConcurrentLinkedQueue<>(); // a started task sees it, and the other
      failures = new Failures();
    }
    if (unstarted(task) == null) {
      PENDING.getAndAdd(this, 1);
      children.add(task);
      task.start();
      String reason = cancelReason; // a cancel that came before the task was added has not seen it
      if (reason != null) {
        task.cancel(reason);
      }
    } else if (!awaited) {
      Objects.requireNonNull(settled).add(task);
    }
    return task;
  }

  /** Gives a task for which it is too late its outcome; null if it is to be started. */
  private <T extends @Nullable Object> @Nullable Outcome<T> unstarted(Fate<T> task) {
    String reason = cancelReason;
    Outcome<T> outcome =
        task.beganTooLate()
            ? new Outcome.TimedOut<>(false)
            : reason == null ? null : new Outcome.Cancelled<>(reason, false);
    if (outcome != null) {
      task.endUnstarted(outcome);
    }
    return outcome;
  }

  private void awaitChildren() {
    if (pending > 0) {
      park(() -> pending == 0, Deadline.never(), false);
    }
    children.clear();
    if (settled != null) {
      settled.clear();
    }
  }

  /**
   * The one wait of the owner: until the condition holds (true), the limit has passed (false), or,
   * if {@code endsOnCancel}, the scope is cancelled (false).
   */
  private boolean park(BooleanSupplier condition, Deadline limit, boolean endsOnCancel) {
    boolean interrupted = false;
    try {
      while (true) {
        signalled = false;
        if (condition.getAsBoolean()) {
          return true;
        }
        if (Thread.interrupted()) {
          interrupted = true;
          cancel(OWNER_INTERRUPTED);
        }
        if ((endsOnCancel && cancelReason != null) || limit.hasPassed()) {
          return false;
        }
        Alarm alarm = enforceDeadlines().earlier(limit).alarm(new WakeUp(this));
        try {
          if (!signalled) {
            LockSupport.park(this);
          }
        } finally {
          if (alarm != null) {
            alarm.cancel();
          }
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Applies the deadlines of all tasks that this thread answers for; returns the next one due. */
  private static Deadline enforceDeadlines() {
    Deadline next = Deadline.never();
    for (Node node = innermost(); node instanceof TaskScope scope; node = scope.parent) {
      if (scope.pending > 0) {
        next = next.earlier(scope.children.enforceDeadlines());
      }
    }
    return next;
  }

  private void stopAll(String reason) {
    children.forEach(child -> child.cancel(reason));
    TaskScope open = inner;
    if (open != null) {
      open.cancel(reason);
    }
  }

  /**
   * Cancels the scope for an interrupt of its owner, unless it is cancelled; returns the reason.
   */
  String cancelByInterrupt() {
    cancel(OWNER_INTERRUPTED);
    return Objects.requireNonNull(cancelReason);
  }

  private void noticeInterrupt() {
    if (owner.isInterrupted()) {
      cancel(OWNER_INTERRUPTED);
    }
  }

  private void checkUsable() {
    checkOwner();
    if (closed) {
      throw new IllegalStateException("scope " + path() + " is closed");
    }
  }

  private void checkOwner() {
    Thread current = Thread.currentThread();
    if (current != owner) {
      throw new IllegalStateException(
          "scope " + path() + " belongs to " + owner + " and was used by " + current);
    }
  }

  /** The action of the owner's alarm. A record, so that a list of alarms says whose it is. */
  private record WakeUp(TaskScope scope) implements Runnable {
    @Override
    public void run() {
      scope.wake();
    }
  }
}
