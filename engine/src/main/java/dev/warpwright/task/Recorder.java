package dev.warpwright.task;

import dev.warpwright.task.TaskTrace.End;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Takes down what becomes of a node, and what is started in it, for a {@link TaskTrace}. A node of
 * a recorded scope has one, all others have none.
 *
 * <p>It knows nothing of its node but names, times and the end, so that a record keeps no task, no
 * body and no value alive.
 */
abstract sealed class Recorder {
  static final End CLOSED = new End.Closed(false);

  /**
   * The recorder of a scope that is opened as recorded. The record that it is opened in, if any,
   * goes on in it; if that one is full, it begins another one, and is omitted there with all that
   * is below it.
   */
  static Recorder begin(
      @Nullable Recorder outer, TaskTree tree, long startNanoTime, String kind, Object name) {
    Recorder inside = outer == null ? null : outer.child(tree.time(), startNanoTime, kind, name);
    return switch (inside) {
      case null -> Kept.first(tree, null, startNanoTime, kind, name);
      case Kept kept -> kept;
      case Omitted omitted -> Kept.first(tree, omitted, startNanoTime, kind, name);
    };
  }

  /**
   * The recorder of a node that is started in this one. On the thread of this node only.
   *
   * @param time the clock of the node's tree
   * @param startNanoTime when it started, on that clock
   */
  abstract Recorder child(TimeSource time, long startNanoTime, String kind, Object name);

  /** Takes down the end. By whoever decided it, once. */
  abstract void end(End end);

  /** Whether the end stands in the record. Any thread. */
  abstract boolean hasEnded();

  /** The record so far; empty if this node is omitted. Any thread. */
  abstract Optional<TaskTrace> trace();

  /** Takes down how a task ended. */
  final void end(Outcome<?> outcome) {
    end(
        switch (outcome) {
          case Outcome.Success<?> success -> Kept.SUCCEEDED;
          case Outcome.Failure<?>(Throwable cause) -> new End.Failed(cause.getClass().getName());
          case Outcome.TimedOut<?>(boolean abandoned) -> new End.TimedOut(abandoned);
          case Outcome.Cancelled<?>(String reason, boolean abandoned) ->
              new End.Cancelled(abandoned);
        });
  }

  /** What the nodes of one record share: its clocks and its bound. */
  private static final class Recording {
    private static final VarHandle NODES;

    static {
      try {
        NODES = MethodHandles.lookup().findVarHandle(Recording.class, "nodes", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    final TimeSource time; // a node of another tree may have another one
    final WallClock wallClock;
    private final @Nullable Omitted outer; // where this record would be if that one had room
    private @Nullable Kept first; // set when it is made
    private volatile int nodes = 1;

    /** Whether a task was left behind, below which anything may happen yet. */
    volatile boolean hasAbandoned;

    Recording(TaskTree tree, long startNanoTime, @Nullable Omitted outer) {
      this.time = tree.time();
      this.wallClock = tree.wallClock(startNanoTime);
      this.outer = outer;
    }

    @SuppressWarnings("ReferenceEquality") // a node is its own identity
    boolean isFirst(Kept node) {
      return first == node;
    }

    /** An instant just now on another clock, on that of this record. */
    long nanoTime(TimeSource other, long otherNanoTime) {
      return time.equals(other) ? otherNanoTime : time.nanoTime();
    }

    /** Counts one more node; returns whether there is room for it. */
    boolean admits() {
      if (outer != null) {
        outer.count.incrementAndGet();
      }
      return hasRoom() && (int) NODES.getAndAdd(this, 1) < TaskTrace.MAX_NODES;
    }

    /** Whether nothing was omitted yet. */
    boolean hasRoom() {
      return nodes < TaskTrace.MAX_NODES;
    }
  }

  /*
   * The list of children has one writer: tasks and scopes are started in a node by the node's thread
   * alone. So a child is put in front by a plain read and a volatile write, and whoever reads the
   * last child sees all before it. The end has one writer as well, whoever decided it.
   */
  static final class Kept extends Recorder {
    static final End RUNNING = new End.Running();
    static final End SUCCEEDED = new End.Succeeded();

    private final Recording recording;
    private final String kind;
    private final Object name;
    private final @Nullable Kept before; // the child that was started before this one
    private final long startNanoTime;
    private long endNanoTime; // written before end, read after it
    private volatile End end = RUNNING;
    private volatile @Nullable Kept lastChild; // written by the node's thread
    private volatile @Nullable Omitted omitted; // written by the node's thread

    private Kept(
        Recording recording, long startNanoTime, String kind, Object name, @Nullable Kept before) {
      this.recording = recording;
      this.kind = kind;
      this.name = name;
      this.before = before;
      this.startNanoTime = startNanoTime;
    }

    private static Kept first(
        TaskTree tree, @Nullable Omitted outer, long startNanoTime, String kind, Object name) {
      Recording recording = new Recording(tree, startNanoTime, outer);
      recording.first = new Kept(recording, startNanoTime, kind, name, null);
      return recording.first;
    }

    @Override
    Recorder child(TimeSource time, long startNanoTime, String kind, Object name) {
      if (recording.admits()) {
        long start = recording.nanoTime(time, startNanoTime);
        Kept child = new Kept(recording, start, kind, name, lastChild);
        lastChild = child;
        return child;
      }
      Omitted all = omitted;
      if (all == null) {
        all = new Omitted();
        omitted = all;
      }
      return all.child(time, startNanoTime, kind, name);
    }

    @Override
    void end(End end) {
      if (isAbandoned(end)) {
        recording.hasAbandoned = true; // first: who sees the end of a node sees this too
      }
      endNanoTime = recording.time.nanoTime();
      this.end = end;
    }

    @Override
    boolean hasEnded() {
      return !(end instanceof End.Running);
    }

    private static boolean isAbandoned(End end) {
      return switch (end) {
        case End.TimedOut(boolean abandoned) -> abandoned;
        case End.Cancelled(boolean abandoned) -> abandoned;
        case End.Running _, End.Succeeded _, End.Failed _, End.Closed _ -> false;
      };
    }

    @Override
    Optional<TaskTrace> trace() {
      return Optional.of(isWhole() ? new TaskTrace(this) : new TaskTrace(facts()));
    }

    /**
     * Whether this is a whole record that changes no more, as all in it has ended. Then the trace
     * is made when somebody reads it. A part would keep the rest of its record alive until then.
     */
    private boolean isWhole() {
      return recording.isFirst(this)
          && hasEnded()
          && recording.hasRoom()
          && !recording.hasAbandoned;
    }

    /** What there is to say of this node now. */
    TaskTrace.Facts facts() {
      End ended = end;
      Omitted all = omitted;
      return new TaskTrace.Facts(
          name.toString(),
          kind,
          recording.wallClock.at(startNanoTime),
          durationUntil(ended),
          ended,
          children(),
          all == null ? 0 : all.count.get());
    }

    /** How long it took until its end, or has taken so far. */
    Duration duration() {
      return durationUntil(end);
    }

    private Duration durationUntil(End ended) {
      long until = ended instanceof End.Running ? recording.time.nanoTime() : endNanoTime;
      return Duration.ofNanos(Math.max(0, until - startNanoTime));
    }

    /** In the order of the starts; the links lead from each child to the one before it. */
    private List<TaskTrace> children() {
      Kept last = lastChild; // one that is started meanwhile is not in the trace
      int count = 0;
      for (Kept child = last; child != null; child = child.before) {
        count++;
      }
      if (count == 0) {
        return List.of();
      }
      TaskTrace[] children = new TaskTrace[count];
      for (Kept child = last; child != null; child = child.before) {
        children[--count] = new TaskTrace(child.facts());
      }
      return List.of(children);
    }
  }

  /** The recorder of all nodes below a kept one for which there was no room: it counts them. */
  private static final class Omitted extends Recorder {
    final AtomicInteger count = new AtomicInteger();

    @Override
    Recorder child(TimeSource time, long startNanoTime, String kind, Object name) {
      count.incrementAndGet();
      return this;
    }

    @Override
    void end(End end) {}

    @Override
    boolean hasEnded() {
      return true;
    }

    @Override
    Optional<TaskTrace> trace() {
      return Optional.empty();
    }
  }
}
