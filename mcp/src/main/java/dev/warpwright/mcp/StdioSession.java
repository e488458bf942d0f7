package dev.warpwright.mcp;

import dev.warpwright.adapters.wire.Frame;
import dev.warpwright.adapters.wire.Framing;
import dev.warpwright.adapters.wire.FramingException;
import dev.warpwright.mcp.Incoming.Reply;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.task.Feed;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * A session with a process, by lines.
 *
 * <pre>
 *   caller ──Outgoing──► outbox (bounded) ──► writing task ──► the process
 *   caller ◄──reply───── waiting, by id  ◄─── reading task ◄── the process
 * </pre>
 *
 * <p>Reading and writing a pipe block and do not end at an interrupt, so no caller does either:
 * each has a detached task of its own, which ends with the session. A process that does not read
 * fills the pipe and then the outbox; whoever has something to say waits there, and can be
 * interrupted.
 *
 * <p>The session is over when the process ends its output, says a line beyond the bound, or more
 * than {@value #MAX_STRAY_LINES} lines that are no JSON. Then it is killed, and nothing is known of
 * the requests that were being or had been written.
 */
final class StdioSession implements Session {
  private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();
  private static final int OUTBOX_COUNT = 256;
  private static final int OUTBOX_BYTES = 8 * 1024 * 1024;
  private static final int MAX_STRAY_LINES = 1_000;
  private static final int BUFFER_BYTES = 8 * 1024;

  private final Child child;
  private final TaskTree tasks;
  private final Answers answers;
  private final Feed<Outgoing, Boolean> outbox =
      new Feed<>(OUTBOX_COUNT, OUTBOX_BYTES, outgoing -> outgoing.message.length);

  /**
   * The requests without a reply, by id. Whoever removes one ends it, or no longer waits for it.
   */
  private final Map<Long, Outgoing> waiting = new ConcurrentHashMap<>();

  private final AtomicReference<@Nullable ProviderException> over = new AtomicReference<>();

  private StdioSession(Child child, TaskTree tasks, Answers answers) {
    this.child = child;
    this.tasks = tasks;
    this.answers = answers;
  }

  static StdioSession begin(Child child, TaskTree tasks, Answers answers) throws ExchangeException {
    StdioSession session = new StdioSession(child, tasks, answers);
    boolean started =
        tasks.detach("mcp", "mcp reader", FOREVER, session::readAll)
            && tasks.detach("mcp", "mcp writer", FOREVER, session::writeAll);
    if (!started) {
      ProviderException why = failure("had to be given up for want of threads.", null);
      session.end(why);
      throw ExchangeException.notActedOn(why);
    }
    return session;
  }

  /**
   * A message on its way out, and what comes back if it is a request. Either the writing task takes
   * it or whoever gives it up does, so that it is known which one the process can have seen.
   */
  private static final class Outgoing {
    final byte[] message;
    final CountDownLatch written = new CountDownLatch(1); // or it never will be
    final CountDownLatch ended = new CountDownLatch(1);
    private final AtomicBoolean taken = new AtomicBoolean();
    volatile boolean seen; // set before it has ended; the process may have got some of it
    volatile @Nullable Reply reply; // set before it has ended; without one, the session is over

    Outgoing(byte[] message) {
      this.message = message;
    }

    /** True for the first who asks. */
    boolean take() {
      return taken.compareAndSet(false, true);
    }

    void answer(Reply came) {
      reply = came;
      ended.countDown();
    }

    void giveUp() {
      seen = !take();
      ended.countDown();
    }
  }

  @Override
  public Reply exchange(long id, byte[] request) throws ExchangeException, InterruptedException {
    Outgoing outgoing = new Outgoing(request);
    waiting.put(id, outgoing);
    try {
      put(outgoing);
      outgoing.ended.await();
    } catch (InterruptedException e) {
      throw outgoing.take() ? new NeverSentException() : e;
    } finally {
      waiting.remove(id);
    }
    Reply reply = outgoing.reply;
    if (reply != null) {
      return reply;
    }
    ProviderException why = Objects.requireNonNull(over.get(), "over");
    throw new ExchangeException(why, outgoing.seen, true);
  }

  @Override
  public void send(byte[] message) throws ExchangeException, InterruptedException {
    Outgoing outgoing = new Outgoing(message);
    put(outgoing);
    outgoing.written.await();
  }

  private void put(Outgoing outgoing) throws ExchangeException, InterruptedException {
    boolean taken = false;
    if (over.get() == null) {
      Feed.Writer<Outgoing> writer = outbox.writer(given -> given);
      try (TaskScope scope = tasks.open("mcp", "mcp send")) {
        taken = writer.put(outgoing, scope);
      }
    }
    ProviderException why = over.get();
    if (why != null && (!taken || outgoing.take())) {
      throw new ExchangeException(why, false, true);
    }
    if (!taken) { // the thread was interrupted, or its time is up
      Thread.interrupted();
      throw new InterruptedException();
    }
  }

  /** Of the writing task. Goes on to the end of the outbox, whatever becomes of each message. */
  private void writeAll() {
    try (OutputStream input = child.input()) {
      Iterator<Outgoing> next = outbox.iterator(Optional::of, end -> List.of());
      while (next.hasNext()) {
        write(input, next.next());
      }
    } catch (IOException e) {
      end(failure("does not take what it is told.", e)); // as it was closed
    }
  }

  private void write(OutputStream input, Outgoing outgoing) {
    if (outgoing.take()) {
      try {
        input.write(outgoing.message);
        input.write('\n');
        input.flush();
      } catch (IOException e) {
        end(failure("does not take what it is told.", e));
      }
    }
    outgoing.written.countDown();
  }

  /** Of the reading task. */
  private void readAll() {
    try (InputStream output = child.output()) {
      end(failure(read(output), null));
    } catch (IOException e) {
      end(failure("broke the connection.", e));
    } catch (FramingException _) {
      end(failure("said a line beyond the bound.", null));
    } finally {
      end(failure("is not listened to any more.", null)); // whatever else was thrown
    }
  }

  /** Reads to the end and says why it is one. */
  private String read(InputStream output) throws IOException {
    Framing lines = Framing.lines();
    byte[] buffer = new byte[BUFFER_BYTES];
    int stray = 0;
    int length = output.read(buffer);
    while (length >= 0) {
      lines.feed(buffer, length);
      for (Frame line = lines.next(); line != null; line = lines.next()) {
        stray += take(line.data()) ? 0 : 1;
      }
      if (stray > MAX_STRAY_LINES) {
        return "says more than " + MAX_STRAY_LINES + " lines that are no JSON.";
      }
      length = output.read(buffer);
    }
    return "has ended.";
  }

  /** Whether a line was JSON; some servers write what is meant for people. */
  private boolean take(String line) {
    List<Incoming> messages;
    try {
      messages = Incoming.read(line);
    } catch (JacksonException _) {
      return false;
    }
    for (Incoming message : messages) {
      if (message instanceof Incoming.Request asked) {
        answers.answer(this, asked);
      } else if (message instanceof Reply reply) {
        Outgoing request = waiting.remove(reply.id());
        if (request != null) { // else nobody waits any more, or ever has
          request.answer(reply);
        }
      }
    }
    return true;
  }

  /** Nothing is agreed by more than what was said. */
  @Override
  public void agreed(String version) {}

  @Override
  public boolean isOver() {
    return over.get() != null;
  }

  /** Ends its input and gives the process a short time to end. */
  @Override
  public void close() {
    if (finish(failure("was closed.", null))) {
      child.end().gently();
    }
  }

  private void end(ProviderException why) {
    if (finish(why)) {
      child.end().now();
    }
  }

  private boolean finish(ProviderException why) {
    boolean first = over.compareAndSet(null, why);
    if (first) {
      outbox.end(new Outcome.Success<>(true));
      // Whoever comes to wait later sees that it is over.
      waiting.values().forEach(Outgoing::giveUp);
    }
    return first;
  }

  private static ProviderException failure(String what, @Nullable Throwable cause) {
    return ProviderException.builder(Kind.READ, "The tool server " + what).cause(cause).build();
  }
}
