package dev.warpwright.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.TaskTree;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that takes nothing. */
@Timeout(60)
final class McpStdioTest {
  private static final byte[] LARGE = "x".repeat(500_000).getBytes(StandardCharsets.UTF_8);

  private final TaskTree tasks = TaskTree.builder().build();
  private final CountDownLatch writing = new CountDownLatch(1);
  private final CountDownLatch killed = new CountDownLatch(1);
  private final AtomicInteger kills = new AtomicInteger();

  /** Its input is a full pipe, its output says nothing, and both break when it is killed. */
  private final Child stuck =
      new Child(
          new InputStream() {
            @Override
            public int read() throws IOException {
              awaitKill();
              return -1;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
              return read();
            }
          },
          new OutputStream() {
            @Override
            public void write(int b) throws IOException {
              writing.countDown();
              awaitKill();
              throw new IOException("broken pipe");
            }
          },
          new Child.End() {
            @Override
            public void gently() {
              now();
            }

            @Override
            public void now() {
              kills.incrementAndGet();
              killed.countDown();
            }
          });

  private void awaitKill() throws IOException {
    try {
      killed.await();
    } catch (InterruptedException e) {
      throw new AssertionError("No thread that touches a pipe is interrupted.", e);
    }
  }

  @Test
  @Tag("FR-C09")
  void callers_of_a_process_that_takes_nothing_can_be_cancelled_wherever_they_wait()
      throws Exception {
    StdioSession session = StdioSession.begin(stuck, tasks, new Answers(tasks));
    List<Thread> callers = new ArrayList<>();
    CountDownLatch interrupted = new CountDownLatch(40);
    AtomicInteger neverSent = new AtomicInteger();
    for (int i = 0; i < 40; i++) { // more than the outbox holds
      long id = i;
      callers.add(
          Thread.ofVirtual()
              .start(
                  () -> {
                    var thrown =
                        assertThrows(InterruptedException.class, () -> session.exchange(id, LARGE));
                    neverSent.addAndGet(thrown instanceof NeverSentException ? 1 : 0);
                    interrupted.countDown();
                  }));
    }
    writing.await();

    callers.forEach(Thread::interrupt);

    interrupted.await();
    assertEquals(39, neverSent.get(), "all but the one that is being written");
    session.close();
    awaitNothingLive();
    assertEquals(1, kills.get());
  }

  @Test
  void of_the_requests_to_a_process_that_dies_only_the_one_being_written_may_have_been_seen()
      throws Exception {
    StdioSession session = StdioSession.begin(stuck, tasks, new Answers(tasks));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> first = threads.submit(() -> session.exchange(1, LARGE));
      writing.await();
      Future<?> second = threads.submit(() -> session.exchange(2, LARGE));

      killed.countDown(); // its output ends

      assertTrue(failure(first).mayHaveActed());
      assertFalse(failure(first).mayGoOnInAnotherSession());
      assertTrue(failure(second).mayGoOnInAnotherSession());
    }
    assertTrue(session.isOver());
    var late = assertThrows(ExchangeException.class, () -> session.exchange(3, LARGE));
    assertTrue(late.mayGoOnInAnotherSession());
    awaitNothingLive();
  }

  @Test
  void a_session_that_is_closed_ends_what_waits_in_it() throws Exception {
    StdioSession session = StdioSession.begin(stuck, tasks, new Answers(tasks));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<?> first = threads.submit(() -> session.exchange(1, LARGE));
      writing.await();
      session.close();
      assertTrue(failure(first).mayHaveActed());
    }
    session.close();
    awaitNothingLive();
    assertEquals(1, kills.get());
  }

  private static ExchangeException failure(Future<?> exchange) {
    return (ExchangeException)
        assertThrows(ExecutionException.class, () -> exchange.get(60, TimeUnit.SECONDS)).getCause();
  }

  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  private void awaitNothingLive() {
    while (tasks.liveCount() > 0) {
      Thread.yield();
    }
  }
}
