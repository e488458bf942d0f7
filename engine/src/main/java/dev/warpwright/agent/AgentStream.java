package dev.warpwright.agent;

import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.agent.AgentEvent.Failure;
import dev.warpwright.agent.AgentEvent.Output;
import dev.warpwright.agent.AgentEvent.RunFinish;
import dev.warpwright.run.RunState;
import dev.warpwright.task.Feed;
import dev.warpwright.task.Outcome;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A run of an agent, or a piece of one, while it is driven.
 *
 * {@snippet :
 * try (AgentStream stream = agents.stream(AgentRequest.builder(agent, question).build())) {
 *   for (AgentEvent event : stream) {
 *     switch (event) {
 *       case AgentEvent.Output(StreamEvent.TextDelta(String piece)) -> System.out.print(piece);
 *       case AgentEvent.ToolStart start -> System.out.println("... " + start.call().name());
 *       default -> {}
 *     }
 *   }
 *   AgentResult result = stream.collect();
 * }
 * }
 *
 * <p>It is the same run as a blocking one: what is in its log, what is done once, and how it can be
 * resumed do not depend on whether somebody reads along. The work begins when the stream is made,
 * on a thread of its own, and is ahead of its reader by at most what the {@linkplain
 * dev.warpwright.Gateway.Builder#streamBufferEvents buffer} holds: then it waits, and nothing is
 * dropped. The model's text is not held back until it is durable; all else is shown when it is.
 *
 * <p>An answer falls back to another target until its first piece is shown. If it breaks after
 * that, the run fails and can be resumed: then the step is asked again from its beginning.
 *
 * <p>It is read once, by one thread at a time: by one iterator, and by {@link #collect()} at any
 * point. While a reader is slow the provider's silence is not counted, but the deadline of the
 * invocation runs; if it passes, what was not shown by then is in the log only. An interrupt of a
 * reader that waits cancels the invocation and stays set.
 *
 * <p>Close it, best with try-with-resources: a stream that is left without being closed runs on to
 * its end or to its deadline.
 */
public final class AgentStream implements Iterable<AgentEvent>, AutoCloseable {
  private final Feed<AgentEvent, AgentResult> feed;
  private final AtomicReference<@Nullable RunState> left; // set before the feed ends

  AgentStream(Feed<AgentEvent, AgentResult> feed, AtomicReference<@Nullable RunState> left) {
    this.feed = feed;
    this.left = left;
  }

  /**
   * The events. The last is {@link RunFinish}, before it stands a {@link Failure} if the run
   * failed; a run that had ended before, or still waits, shows little else. What {@link #collect()}
   * would throw, its {@code hasNext} throws after them.
   *
   * @return the only iterator
   * @throws IllegalStateException if the stream has an iterator already
   */
  @Override
  public Iterator<AgentEvent> iterator() {
    return feed.iterator(Optional::of, this::ending);
  }

  private List<AgentEvent> ending(Outcome<AgentResult> end) {
    List<AgentEvent> events = new ArrayList<>(2);
    switch (end) {
      case Outcome.Success<AgentResult>(AgentResult result) -> {
        if (result.driven()) {
          result.failure().map(Failure::new).ifPresent(events::add);
        }
        events.add(new RunFinish(result.state()));
      }
      case Outcome.Failure<AgentResult>(Throwable cause) -> {
        events.add(new Failure(cause));
        Optional.ofNullable(left.get()).map(RunFinish::new).ifPresent(events::add);
      }
      default -> throw new IllegalStateException("neither a result nor a failure");
    }
    return events;
  }

  /**
   * The pieces of text alone, of all steps of this invocation. It is the same reading: its iterator
   * is the stream's only one. It ends without an exception also where the run failed or waits, as
   * {@link #collect()} does: ask the result.
   *
   * @return the pieces
   */
  public Iterable<String> text() {
    return () ->
        feed.iterator(
            event ->
                event instanceof Output(TextDelta(String text))
                    ? Optional.of(text)
                    : Optional.empty(),
            end -> List.of());
  }

  /**
   * Reads what is left and gives the result, as the blocking call would have: every outcome that is
   * in the log, failures too.
   *
   * @return the result, always the same
   * @throws dev.warpwright.model.OperationCancelledException if the stream was closed, its reader
   *     interrupted or the invocation's handle cancelled; the trace names the run, if there is one
   *     by then, which can be resumed
   * @throws dev.warpwright.model.WarpwrightException what else the blocking call throws
   */
  public AgentResult collect() {
    return feed.result();
  }

  /**
   * Cancels the invocation if it has not ended, as an interrupt of a blocking call does, and waits
   * for its end, which comes within about the {@linkplain
   * dev.warpwright.Gateway.Builder#abandonGrace grace}. The run is not cancelled: it is handed back
   * and can be resumed at once. What was shown can still be read; behind it comes an {@link
   * dev.warpwright.model.OperationCancelledException}. Does nothing after the end. Any thread; an
   * interrupt ends the wait and stays set.
   */
  @Override
  public void close() {
    feed.close();
  }
}
