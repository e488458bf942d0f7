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
  private final AtomicLong signNanoTime; // of the last sign of life
  private volatile Usage counters = Usage.ABSENT;
  private volatile boolean shown;
  private volatile boolean textShown;
  private volatile long firstTextNanoTime; // set before textShown
  private @Nullable TaskScope scope; // set before the model's thread begins
  private boolean beginTold; // operation's thread
  private boolean textTold; // operation's thread

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
    this.signNanoTime = new AtomicLong(time.nanoTime());
  }

  @Override
  public Outcome<ModelResponse> call(TaskScope scope, Dispatch dispatch, Runnable onBegin) {
    this.scope = scope;
    Task<ModelResponse> task =
        scope.fork(
            "attempt",
            dispatch.name(),
            Deadline.never(),
            () -> {
              onBegin.run();
              return Answers.stream(dispatch, this);
            });
    boolean late = follow(scope, dispatch, task);
    scope.join();
    shown = writer.close();
    Outcome<ModelResponse> outcome = task.outcome();
    if (shown || outcome instanceof Outcome.Success<ModelResponse>) {
      tellBegin();
      tellText();
    }
    return late && outcome instanceof Outcome.Cancelled<ModelResponse>(var _, boolean abandoned)
        ? new Outcome.TimedOut<>(abandoned)
        : outcome;
  }

  /** Waits for the end; true if the attempt was stopped for its own limit. */
  private boolean follow(TaskScope scope, Dispatch dispatch, Task<ModelResponse> task) {
    while (!scope.isCancelled() && !scope.deadline().hasPassed()) {
      Deadline due = due(dispatch);
      if (due.hasPassed()) {
        task.cancel(TOO_LATE);
        return true;
      }
      if (scope.await(() -> task.isDone() || shown != beginTold || textShown != textTold, due)) {
        if (task.isDone()) {
          return false;
        }
        tellBegin();
        if (textShown) {
          tellText();
        }
      }
    }
    return false;
  }

  private Deadline due(Dispatch dispatch) {
    if (writer.isWaiting()) {
      return Deadline.after(time, idleTimeout); // then it is looked at again
    }
    if (!shown) {
      return dispatch.deadline();
    }
    long quietNanos = time.nanoTime() - signNanoTime.getAcquire();
    return Deadline.after(time, idleTimeout.minusNanos(quietNanos));
  }

  private void tellBegin() {
    if (!beginTold) {
      beginTold = true;
      progress.begins();
    }
  }

  private void tellText() {
    if (textShown && !textTold) {
      textTold = true;
      progress.hasText();
    }
  }

  @Override
  public void tell(ModelEvent event) throws InterruptedException {
    alive();
    switch (event) {
      case ModelEvent.Alive _ -> {}
      case ModelEvent.Counters(Usage usage) -> counters = usage;
      case ModelEvent.Text(String piece) -> {
        if (!piece.isEmpty()) {
          text.add(piece);
          show(new TextDelta(piece));
          if (!textShown) {
            firstTextNanoTime = time.nanoTime();
            textShown = true;
            wake();
          }
        }
      }
      case ModelEvent.Reasoning(String piece) -> {
        if (!piece.isEmpty()) {
          show(new ReasoningDelta(piece));
        }
      }
    }
  }

  private void show(StreamEvent event) throws InterruptedException {
    if (writer.put(event)) {
      alive(); // the silence while it waited was not the provider's
    }
    if (!shown) {
      shown = true;
      wake();
    }
  }

  private void alive() {
    signNanoTime.setRelease(time.nanoTime());
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
    if (text.length() == 0) {
      tell(new ModelEvent.Text(whole));
    } else if (text.length() != whole.length()) {
      throw ProviderException.builder(
              ProviderException.Kind.PROTOCOL,
              "The adapter told %d characters of text, but its answer has %d."
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
    return text.toString();
  }

  @Override
  public Usage partialUsage() {
    return counters;
  }

  @Override
  public OptionalLong firstTextNanoTime() {
    return textShown ? OptionalLong.of(firstTextNanoTime) : OptionalLong.empty();
  }
}
