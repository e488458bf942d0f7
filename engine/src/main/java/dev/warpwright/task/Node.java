package dev.warpwright.task;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A node of the task tree: a scope, or a task that runs in one. Under a task hangs the scope that
 * its thread has open, under a scope hang its tasks and the scope that its owner has open in it.
 */
abstract sealed class Node permits TaskScope, Fate {
  /**
   * The innermost node that the current thread is in; unset outside any. One for all trees, so that
   * a scope of one tree that is opened inside another's obeys both.
   */
  private static final ThreadLocal<@Nullable Node> INNERMOST = new ThreadLocal<>();

  final TaskTree tree;
  final @Nullable Node parent;
  final String kind;
  private final Object name; // its text is made when somebody asks
  final Deadline deadline;
  private final long startNanoTime;

  /** Takes down what becomes of this node; null if nobody asked for it. */
  final @Nullable Recorder recorder;

  /** The scope that is open directly in this node, on this node's thread. Written there alone. */
  volatile @Nullable TaskScope inner;

  Node(
      TaskTree tree,
      @Nullable Node parent,
      String kind,
      Object name,
      Deadline deadline,
      boolean beginsRecord) {
    this.tree = tree;
    this.parent = parent;
    this.kind = Objects.requireNonNull(kind, "kind");
    this.name = Objects.requireNonNull(name, "name");
    this.deadline = deadline;
    this.startNanoTime = tree.time().nanoTime();
    Recorder outer = parent == null ? null : parent.recorder;
    if (beginsRecord) {
      this.recorder = Recorder.begin(outer, tree, startNanoTime, kind, name);
    } else {
      this.recorder = outer == null ? null : outer.child(tree.time(), startNanoTime, kind, name);
    }
  }

  /** The innermost node that the calling thread is in. */
  static @Nullable Node innermost() {
    return INNERMOST.get();
  }

  /** Makes this the innermost node of the calling thread. */
  final void enter() {
    INNERMOST.set(this);
  }

  /**
   * Makes the parent the innermost node of the calling thread again. Without one the entry stays,
   * empty: it keeps nothing alive, and the thread's next scope need not make it again.
   */
  final void leave() {
    INNERMOST.set(parent);
  }

  /** Its own name. */
  String name() {
    return name.toString();
  }

  /** Its place in the tree; made when somebody asks. */
  String path() {
    return parent == null ? name() : parent.path() + "/" + name;
  }

  /** Whether its deadline had passed when it was made. */
  final boolean beganTooLate() {
    return deadline.hasPassedAt(tree.time(), startNanoTime);
  }

  /** Where this node is in its life. Any thread. */
  abstract TaskState currentState();

  /** Why a scope that is opened here is born cancelled; null if it is not. Any thread. */
  abstract @Nullable String stopReason();

  /** When whoever waits for this node's thread gives it up, as far as is known. Any thread. */
  abstract Deadline givenUpAt();

  /** Visits this node and those below it, parents first, without those of other trees. */
  void visit(Consumer<? super Node> visitor) {
    visitor.accept(this);
    TaskScope open = inner;
    if (open != null && open.tree == tree) {
      open.visit(visitor);
    }
  }

  final TaskInfo info(TaskState state) {
    TimeSource time = tree.time();
    Instant since = time.now().minusNanos(time.nanoTime() - startNanoTime);
    return new TaskInfo(
        path(), name(), kind, since, deadline, state, Optional.ofNullable(parent).map(Node::path));
  }
}
