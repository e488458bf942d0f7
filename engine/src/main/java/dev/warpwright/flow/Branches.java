package dev.warpwright.flow;

import dev.warpwright.effect.Effects;
import dev.warpwright.flow.FlowContext.Mode;
import dev.warpwright.run.FlowCall;
import dev.warpwright.run.FlowEvent.ParallelFinished;
import dev.warpwright.run.FlowEvent.ParallelFinished.BranchEnd;
import dev.warpwright.run.FlowEvent.ParallelStarted;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.Task;
import dev.warpwright.task.TaskScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * One call of a parallel: runs the branches as tasks, or runs them again against the log. Confined
 * to the thread of its context, but for {@link #body}.
 *
 * <p>A branch that waits does not stop the others; when all have ended or wait, the whole body is
 * left. Which branch failed first is recorded, so that a replay throws the same.
 */
final class Branches<T> {
  private final FlowDrive drive;
  private final FlowContext context;
  private final String position;
  private final String name;
  private final List<? extends Branch<? extends T>> branches;
  private final boolean failFast;
  private final List<@Nullable BranchResult<T>> results;
  private final Queue<FlowContext> contexts = new ConcurrentLinkedQueue<>(); // of the branches
  private Optional<Integer> failed = Optional.empty(); // the first one, if that stops the others

  /** What came of a branch. */
  private sealed interface BranchResult<T> {
    record Returned<T>(T value) implements BranchResult<T> {}

    record Threw<T>(Throwable cause) implements BranchResult<T> {}

    /** It waits, or the drive is over. */
    record Left<T>() implements BranchResult<T> {}

    /** It was stopped, since another one failed. */
    record Stopped<T>() implements BranchResult<T> {}
  }

  Branches(
      FlowDrive drive,
      FlowContext context,
      String position,
      String name,
      List<? extends Branch<? extends T>> branches,
      boolean failFast) {
    this.drive = drive;
    this.context = context;
    this.position = position;
    this.name = name;
    this.branches = branches;
    this.failFast = failFast;
    this.results = new ArrayList<>(Collections.nCopies(branches.size(), null));
  }

  Branches<T> run(int maxConcurrency, Optional<FlowCall.Parallel> recorded) {
    Optional<ParallelFinished> finished = recorded.flatMap(FlowCall.Parallel::finished);
    if (recorded.isEmpty()) {
      context.requireNotCancelled();
      drive.append(new ParallelStarted(position, name, branches.size()));
      context.requireRecorded(position);
    }
    try (TaskScope scope = drive.tasks.open("parallel", "parallel " + name)) {
      if (finished.isPresent()) {
        failed = finished.get().failed();
        replay(scope, finished.get());
      } else if (context.isStopped()) {
        replayStopped(scope);
      } else if (context.isRecorded()) {
        replayOpen(scope);
      } else {
        work(scope, Math.min(maxConcurrency, Math.max(1, branches.size())));
      }
    } finally {
      contexts.forEach(FlowContext::giveUp);
    }
    if (failed.isEmpty() && !results.stream().allMatch(Branches::hasEnded)) {
      throw drive.cutOff(); // some wait, or all were stopped from outside
    }
    for (int i = 0; i < results.size(); i++) {
      if (!hasEnded(results.get(i))) {
        drive.stopped(path(i));
      }
    }
    if (finished.isEmpty()) {
      if (drive.isOver() || context.isStopped()) {
        throw Unwind.NOW;
      }
      if (context.isRecorded() && !drive.isCancelled()) {
        throw drive.replay().orElseThrow().beyond(drive, position, "end of parallel", name);
      }
      if (!drive.isCancelled()) { // else branches may have ended by what is not in the log
        drive.append(
            new ParallelFinished(position, results.stream().map(Branches::end).toList(), failed));
      }
    }
    return this;
  }

  private static boolean hasEnded(@Nullable BranchResult<?> result) {
    return result instanceof BranchResult.Returned || result instanceof BranchResult.Threw;
  }

  private String path(int index) {
    return position + "/" + index + "/";
  }

  /** One after the other; nothing of it waits. */
  private void replay(TaskScope scope, ParallelFinished finished) {
    for (int i = 0; i < branches.size(); i++) {
      BranchEnd recorded = finished.ends().get(i);
      BranchResult<T> again =
          replay(scope, i, recorded == BranchEnd.CANCELLED ? Mode.STOPPED : Mode.ENDED);
      if (recorded == BranchEnd.CANCELLED) {
        again = new BranchResult.Stopped<>();
      } else if (hasEnded(again) && end(again) != recorded) {
        throw drive.differs(
            position,
            "branch %d of parallel \"%s\" as %s".formatted(i, name, recorded),
            "branch as " + end(again));
      }
      results.set(i, again);
    }
  }

  /** The branches are in one that was stopped: what they registered for a cancel counts. */
  private void replayStopped(TaskScope scope) {
    for (int i = 0; i < branches.size(); i++) {
      var _ = replay(scope, i, Mode.STOPPED);
    }
    throw drive.cutOff();
  }

  /** The branches are in one of which the log does not say that it has ended. */
  private void replayOpen(TaskScope scope) {
    for (int i = 0; i < branches.size(); i++) {
      BranchResult<T> result = replay(scope, i, Mode.RECORDED);
      results.set(i, result);
      if (failFast && failed.isEmpty() && result instanceof BranchResult.Threw) {
        failed = Optional.of(i);
      }
    }
  }

  private BranchResult<T> replay(TaskScope scope, int index, Mode mode) {
    return result(scope.call("branch", label(index), Deadline.never(), () -> body(index, mode)));
  }

  private void work(TaskScope scope, int width) {
    Map<Task<?>, Integer> running = new HashMap<>();
    int next = 0;
    while (next < branches.size() || !running.isEmpty()) {
      while (next < branches.size() && running.size() < width && !scope.isCancelled()) {
        int index = next++;
        running.put(
            scope.fork("branch", label(index), Deadline.never(), () -> body(index, Mode.LIVE)),
            index);
      }
      Optional<Task<?>> done = running.isEmpty() ? Optional.empty() : scope.joinNext();
      if (done.isEmpty()) {
        break;
      }
      int index = Objects.requireNonNull(running.remove(done.get()), "forked above");
      @SuppressWarnings("unchecked") // forked above
      Task<BranchResult<T>> task = (Task<BranchResult<T>>) done.get();
      BranchResult<T> result = result(task.outcome());
      results.set(index, result);
      if (failFast && failed.isEmpty() && result instanceof BranchResult.Threw) {
        failed = Optional.of(index);
        scope.cancel("branch " + index + " failed");
      }
    }
    results.replaceAll(result -> result == null ? new BranchResult.Stopped<>() : result);
  }

  private String label(int index) {
    return name + " " + index;
  }

  /** On the branch's own thread. */
  private BranchResult<T> body(int index, Mode mode) {
    FlowContext own = context.branch(path(index), mode);
    contexts.add(own);
    try {
      T value = Effects.forbidden(() -> branches.get(index).run(own));
      return own.hasLeft() ? new BranchResult.Left<>() : new BranchResult.Returned<>(value);
    } catch (Unwind unwind) {
      return new BranchResult.Left<>();
    } catch (Exception e) { // one that came of an Unwind that was caught says nothing
      return own.hasLeft() ? new BranchResult.Left<>() : new BranchResult.Threw<>(e);
    }
  }

  private static <T> BranchResult<T> result(Outcome<BranchResult<T>> outcome) {
    return switch (outcome) {
      case Outcome.Success<BranchResult<T>>(BranchResult<T> result) -> result;
      case Outcome.Failure<BranchResult<T>>(Throwable cause) -> new BranchResult.Threw<>(cause);
      case Outcome.TimedOut<BranchResult<T>> late -> new BranchResult.Left<>();
      case Outcome.Cancelled<BranchResult<T>> stopped -> new BranchResult.Stopped<>();
    };
  }

  private static BranchEnd end(@Nullable BranchResult<?> result) {
    return switch (result) {
      case BranchResult.Returned<?> value -> BranchEnd.COMPLETED;
      case BranchResult.Threw<?> cause -> BranchEnd.FAILED;
      case null, default -> BranchEnd.CANCELLED;
    };
  }

  /** The values; throws the failure that counts. */
  List<T> values() throws Exception {
    for (BranchResult<T> result :
        failed.isPresent() ? Arrays.asList(results.get(failed.get())) : results) {
      if (result instanceof BranchResult.Threw<T>(Throwable cause)) {
        if (cause instanceof Error error) {
          throw error;
        }
        throw (Exception) cause;
      }
    }
    return results.stream().map(Branches::<T>value).toList();
  }

  private static <T> T value(@Nullable BranchResult<T> result) {
    if (result instanceof BranchResult.Returned<T>(T value)) {
      return value;
    }
    throw new IllegalStateException("a branch has no value");
  }

  List<BranchOutcome<T>> outcomes() {
    return IntStream.range(0, branches.size()).mapToObj(this::outcome).toList();
  }

  private BranchOutcome<T> outcome(int index) {
    return switch (results.get(index)) {
      case BranchResult.Returned<T>(T value) -> new BranchOutcome.Completed<>(value);
      case BranchResult.Threw<T>(Exception cause) -> new BranchOutcome.Failed<>(cause);
      case BranchResult.Threw<T>(Error cause) -> throw cause;
      case null, default -> throw new IllegalStateException("a branch has no outcome");
    };
  }
}
