package dev.warpwright;

import dev.warpwright.StreamEvent.ReasoningDelta;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Feed;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.Task;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * An answer that is shown while it comes: one attempt of a stream.
 *
 * <p>The model's thread tells what comes, and waits if the reader is slow. The operation's thread
 * waits for the end and holds the attempt to its limit: as long as nothing is shown, that is the
 * attempt's deadline, then the longest time without a sign of life. Time in which the model's
 * thread waits for the reader counts for neither.
 *
 * <p>Whether anything was shown decides what a failure means, and the writer decides that: it is
 * closed when the call has ended, also if its thread was left behind, and then nothing comes any
 * more.
 */
final class LiveAnswer implements Delivery, StreamingModel.Events {

  /*
   * The two threads meet in one field, the time of the last sign of life. While the model's thread
   * tells something, the mark TELLING stands in it, so that the time at the reader is nobody's
   * silence; the operation's thread, if it finds the mark, waits to be woken when it goes. Whoever stops the attempt for its silence puts STOPPED in the place of the very sign
   * that is too old: if anything was told meanwhile, that fails, and it is looked at again. Nothing
   * is told after STOPPED.
   */
  private static final long TELLING = -1;
  private static final long STOPPED = -2;

  /** Told to the operation, on its own thread, how far an answer is. Each at most once. */
  interface Progress {
    /** It begins to be shown, or is complete. */
    void begins();

    /** It has text. */
    void hasText();
  }

  private static final String TOO_LATE = "too late";

  private final TimeSource time;
  private final Feed.Writer<StreamEvent> writer;
  private final Duration idleTimeout;
  private final Progress progress;
  private final PartialText text = new PartialText();
  private final long startNanos;
  private final AtomicLong lastSignNanos = new AtomicLong(); // since the start; or a mark
  private volatile boolean awaited; // the operation's thread waits for the end of a telling
  private volatile Usage counters = Usage.ABSENT;
  private volatile boolean shown;
  private volatile boolean textCame;
  private volatile long firstTextNanoTime; // set before textCame
  private @Nullable TaskScope scope; // set before the model's thread begins
  private boolean torn; // model's thread; something that it told was not shown
  private boolean beginTold; // operation's thread
  private boolean textTold; // operation's thread
  private long shownCount; // operation's thread; the events, once the call has ended
  private Usage partialUsage = Usage.ABSENT; // operation's thread; once the call has ended

  /**
   * An attempt that has not begun.
   *
   * @param writer where it is shown; nobody else's
   * @param idleTimeout the longest time without a sign of life, once something was shown
   */
  LiveAnswer(
      TimeSource time, Feed.Writer<StreamEvent> writer, Duration idleTimeout, Progress progress) {
    this.time = time;
    this.writer = writer;
    this.idleTimeout = idleTimeout;
    this.progress = progress;
    this.startNanos = time.nanoTime();
  }

  @Override
  public Outcome<ModelResponse> call(TaskScope scope, Dispatch dispatch, Runnable onBegin) {
    this.scope = scope;
    Task<ModelResponse> task =
        scope.fork(
            "attempt",
            dispatch.name().toString(),
            Deadline.never(),
            () -> {
              onBegin.run();
              return Answers.stream(dispatch, this);
            });
    boolean late = follow(scope, dispatch, task);
    scope.join();
    lastSignNanos.set(STOPPED); // for one that was left behind
    shownCount = writer.close();
    shown = shownCount > 0;
    partialUsage = counters;
    Outcome<ModelResponse> outcome = task.outcome();
    if (shown || outcome instanceof Outcome.Success<ModelResponse>) {
      tellProgress(true);
    }
    return late && outcome instanceof Outcome.Cancelled<ModelResponse>(var _, boolean abandoned)
        ? new Outcome.TimedOut<>(abandoned)
        : outcome;
  }

  /** Waits for the end; true if the attempt was stopped for its own limit. */
  private boolean follow(TaskScope scope, Dispatch dispatch, Task<ModelResponse> task) {
    long heardNanos = 0; // when a telling was found to have ended: a sign of life too
    while (!scope.isCancelled() && !scope.deadline().hasPassed()) {
      long sign = lastSignNanos.get();
      if (sign == TELLING) {
        awaited = true;
        scope.await(
            () -> task.isDone() || hasProgress() || lastSignNanos.get() != TELLING,
            Deadline.never());
        awaited = false;
        heardNanos = sinceStart();
      } else {
        Deadline due = due(dispatch, Math.max(sign, heardNanos));
        if (!scope.await(() -> task.isDone() || hasProgress(), due)
            && due.hasPassed()
            && lastSignNanos.compareAndSet(sign, STOPPED)) {
          task.cancel(TOO_LATE);
          return true;
        }
      }
      if (task.isDone()) {
        return false;
      }
      tellProgress(shown);
    }
    return false;
  }

  private boolean hasProgress() {
    return shown != beginTold || textCame != textTold;
  }

  /** When to stop the attempt, unless there is another sign of life. */
  private Deadline due(Dispatch dispatch, long sign) {
    return shown
        ? Deadline.after(time, idleTimeout.minusNanos(sinceStart() - sign))
        : dispatch.deadline();
  }

  private void tellProgress(boolean begins) {
    if (begins && !beginTold) {
      beginTold = true;
      progress.begins();
    }
    if (textCame && !textTold) {
      textTold = true;
      progress.hasText();
    }
  }

  @Override
  public void tell(ModelEvent event) throws InterruptedException {
    long before = lastSignNanos.get();
    if (torn || before < 0 || !lastSignNanos.compareAndSet(before, TELLING)) {
      throw new InterruptedException("nobody waits for this answer any more");
    }
    try {
      take(event);
    } finally {
      lastSignNanos.compareAndSet(TELLING, sinceStart());
      if (awaited) {
        wake();
      }
    }
  }

  private void take(ModelEvent event) throws InterruptedException {
    switch (event) {
      case ModelEvent.Alive _ -> {}
      case ModelEvent.Counters(Usage usage) -> counters = usage;
      case ModelEvent.Text(String piece) -> {
        if (!piece.isEmpty()) {
          text.add(piece);
          noteFirstText();
          show(new TextDelta(piece));
        }
      }
      case ModelEvent.Reasoning(String piece) -> {
        if (!piece.isEmpty()) {
          text.add(""); // so that there is a piece for each event that is shown
          show(new ReasoningDelta(piece));
        }
      }
    }
  }

  private void noteFirstText() {
    if (!textCame) {
      firstTextNanoTime = time.nanoTime();
      textCame = true;
      wake();
    }
  }

  private void show(StreamEvent event) throws InterruptedException {
    torn = true;
    writer.put(event);
    torn = false; // else nothing may follow, even if the model swallows what was thrown
    if (!shown) {
      shown = true;
      wake();
    }
  }

  private long sinceStart() {
    return time.nanoTime() - startNanos;
  }

  private void wake() {
    if (scope != null) {
      scope.wake();
    }
  }

  /**
   * Compares what was told with the complete answer; a text that was not told at all is shown now.
   * On the model's thread.
   */
  void complete(String whole) throws InterruptedException {
    if (torn) {
      throw new InterruptedException("a part of the answer was not shown");
    }
    if (text.length() == 0) {
      tell(new ModelEvent.Text(whole));
    } else if (!text.is(whole)) {
      throw ProviderException.builder(
              ProviderException.Kind.PROTOCOL,
              "The adapter told another text, of %d characters, than its answer has, of %d."
                  .formatted(text.length(), whole.length()))
          .build();
    }
  }

  @Override
  public boolean isShown() {
    return shown;
  }

  @Override
  public String partialText() {
    return text.first(shownCount);
  }

  @Override
  public Usage partialUsage() {
    return partialUsage;
  }

  @Override
  public OptionalLong firstTextNanoTime() {
    return textCame ? OptionalLong.of(firstTextNanoTime) : OptionalLong.empty();
  }
}
