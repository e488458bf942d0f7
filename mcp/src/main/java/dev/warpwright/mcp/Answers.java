package dev.warpwright.mcp;

import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Answers what a server asks of its client, beside what is under way. At most {@value #MAX} answers
 * wait to be sent at a time; a server that asks for more before it takes them gets none.
 */
final class Answers {
  private static final int MAX = 8;
  private static final Duration TIME = Duration.ofSeconds(2);

  private final TaskTree tasks;
  private final AtomicInteger waiting = new AtomicInteger();

  Answers(TaskTree tasks) {
    this.tasks = tasks;
  }

  /** Sends the answer soon, or never; does not wait. */
  void answer(Session session, Incoming.Request asked) {
    if (waiting.incrementAndGet() > MAX
        || !tasks.detach("mcp", "mcp answer", TIME, () -> send(session, Rpc.answer(asked)))) {
      waiting.decrementAndGet();
    }
  }

  private void send(Session session, byte[] message) {
    try {
      session.send(message);
    } catch (ExchangeException | InterruptedException _) {
      // it asked, and does not take the answer
    } finally {
      waiting.decrementAndGet();
    }
  }
}
