package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Success;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Random feeds with several writers, a reader that may lose interest, and threads that close,
 * cancel and interrupt; each is read to its end, and everything that was accepted is counted.
 */
class FeedStressTest {
  private static final int ROUNDS = 4_000;

  /** The n-th element of a writer. */
  private record Element(int writer, int number, long weight) {}

  @Test
  @Tag("R155")
  void what_is_accepted_is_read_once_and_in_order_and_nobody_waits_for_ever() throws Exception {
    long base = System.nanoTime();
    Counts counts = new Counts();
    for (int i = 0; i < ROUNDS; i++) {
      long seed = base + i;
      try {
        new Round(new Random(seed), counts).run();
      } catch (Throwable thrown) {
        throw new AssertionError("seed " + seed, thrown);
      }
    }
    assertTrue(counts.refused.get() > 0, "no writer was ever refused");
    assertTrue(counts.read > ROUNDS, "hardly anything was read");
  }

  private static final class Counts {
    final AtomicInteger refused = new AtomicInteger();
    long read; // test's thread
  }

  private static final class Round {
    private final Random random;
    private final Counts counts;
    private final TaskTree tree = TaskTree.builder().build();
    private final Feed<Element, String> feed;
    private final List<Feed.Writer<Element>> writers = new ArrayList<>();
    private final List<Owner<Integer>> writing = new ArrayList<>();
    private int closers;

    Round(Random random, Counts counts) {
      this.random = random;
      this.counts = counts;
      this.feed = new Feed<>(2 + random.nextInt(20), 2 + random.nextInt(40), Element::weight);
    }

    void run() throws Exception {
      int count = 1 + random.nextInt(4);
      for (int i = 0; i < count; i++) {
        Feed.Writer<Element> writer = feed.writer(Function.identity());
        writers.add(writer);
        Random own = new Random(random.nextLong());
        int number = i;
        boolean scoped = random.nextInt(3) == 0;
        int most = random.nextInt(60);
        writing.add(
            Owner.start(
                () ->
                    scoped
                        ? writeInScope(writer, number, most, own)
                        : write(writer, number, most, own)));
      }
      Owner<List<Element>> reader = Owner.start(read(new Random(random.nextLong())));
      List<Owner<Boolean>> disturbing = disturb();
      int[] accepted = new int[count];
      for (int i = 0; i < count; i++) {
        accepted[i] = writing.get(i).get();
      }
      for (Owner<Boolean> one : disturbing.subList(0, disturbing.size() - closers)) {
        one.get();
      }
      long[] closed = writers.stream().mapToLong(Feed.Writer::close).toArray();
      feed.end(new Success<>("done"));
      List<Element> seen = reader.get();
      for (Owner<Boolean> one : disturbing) {
        assertTrue(one.get());
      }
      check(seen, accepted, closed);
    }

    /** Threads that close writers, cancel, interrupt, or wait for the end; the last ones last. */
    private List<Owner<Boolean>> disturb() {
      List<Owner<Boolean>> threads = new ArrayList<>();
      for (int i = 0; i < writers.size(); i++) {
        Feed.Writer<Element> writer = writers.get(i);
        Thread thread = writing.get(i).thread();
        switch (random.nextInt(4)) {
          case 0 ->
              threads.add(
                  Owner.start(
                      () -> {
                        long first = writer.close();
                        return writer.close() == first;
                      }));
          case 1 ->
              threads.add(
                  Owner.start(
                      () -> {
                        thread.interrupt();
                        return true;
                      }));
          default -> {}
        }
      }
      if (random.nextInt(3) == 0) {
        threads.add(
            Owner.start(
                () -> {
                  feed.cancel("no more");
                  return true;
                }));
      }
      closers = random.nextInt(3);
      for (int i = 0; i < closers; i++) {
        threads.add(
            Owner.start(
                () -> {
                  feed.close();
                  return feed.hasEnded();
                }));
      }
      return threads;
    }

    private Element element(int writer, int number, Random own) {
      return new Element(writer, number, own.nextInt(8) == 0 ? 50 : own.nextInt(5));
    }

    /** How many were accepted. */
    private int write(Feed.Writer<Element> writer, int number, int most, Random own) {
      for (int i = 0; i < most; i++) {
        try {
          writer.put(element(number, i, own));
        } catch (InterruptedException refused) {
          counts.refused.incrementAndGet();
          return i;
        }
        pause(own);
      }
      Thread.interrupted(); // it came too late
      return most;
    }

    private int writeInScope(Feed.Writer<Element> writer, int number, int most, Random own) {
      try (TaskScope scope = tree.open("writer", "writer")) {
        Cancellation.Registration leaving = feed.cancellation().onCancel(scope::cancel);
        try {
          for (int i = 0; i < most; i++) {
            if (!writer.put(element(number, i, own), scope)) {
              counts.refused.incrementAndGet();
              return i;
            }
            pause(own);
          }
          return most;
        } finally {
          leaving.close();
        }
      } finally {
        Thread.interrupted();
      }
    }

    private Callable<List<Element>> read(Random own) {
      return () -> {
        List<Element> seen = new ArrayList<>();
        Iterator<Element> elements = feed.iterator(Optional::of, end -> List.of());
        while (elements.hasNext()) {
          seen.add(elements.next());
          pause(own);
        }
        return seen;
      };
    }

    @SuppressWarnings("ThreadPriorityCheck") // so that the others get somewhere else meanwhile
    private static void pause(Random own) {
      if (own.nextInt(4) == 0) {
        Thread.yield();
      }
    }

    private void check(List<Element> seen, int[] accepted, long[] closed) {
      int[] next = new int[accepted.length];
      for (Element element : seen) {
        assertEquals(next[element.writer()]++, element.number(), "lost, twice, or out of order");
      }
      for (int i = 0; i < accepted.length; i++) {
        assertEquals(accepted[i], next[i], "accepted and not read, or refused and read");
        assertEquals(closed[i], next[i], "another number than its close has said");
      }
      assertEquals("done", feed.result());
      assertEquals(0, feed.cancellation().listeners());
      assertEquals(0, tree.liveCount());
      counts.read += seen.size();
    }
  }
}
