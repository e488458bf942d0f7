package dev.warpwright.task;

import dev.warpwright.task.Outcome.Success;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jetbrains.lincheck.Lincheck;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The hand-over of a feed under a model checker, which runs a race again and again, each time with
 * another interleaving of its threads. A wait that nobody ends is a deadlock to it.
 */
class FeedModelCheckTest {
  private static final int INTERLEAVINGS = 60;
  private static final Outcome<String> DONE = new Success<>("done");

  /** The checker takes what only a thread's body refers to for local to one thread. */
  @SuppressWarnings("UnusedVariable")
  private static volatile @Nullable Feed<Integer, String> published;

  private interface Race {
    void run(Feed<Integer, String> feed) throws InterruptedException;
  }

  private interface Side {
    void run() throws InterruptedException;
  }

  private static void check(Race race) {
    Runnable once =
        () -> {
          Feed<Integer, String> feed = new Feed<>(2, 2, element -> 1);
          published = feed;
          try {
            race.run(feed);
          } catch (InterruptedException e) {
            throw new AssertionError(e);
          }
        };
    once.run(); // loads the classes: not a part of what is explored
    Lincheck.runConcurrentTest(INTERLEAVINGS, once);
  }

  private static void race(Side... sides) throws InterruptedException {
    Thread[] threads = new Thread[sides.length];
    AtomicReference<@Nullable Throwable> thrown = new AtomicReference<>();
    for (int i = 1; i < sides.length; i++) {
      Side side = sides[i];
      threads[i] =
          new Thread(
              () -> {
                try {
                  side.run();
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              });
      threads[i].setUncaughtExceptionHandler((thread, failure) -> thrown.set(failure));
      threads[i].start();
    }
    sides[0].run();
    for (int i = 1; i < sides.length; i++) {
      threads[i].join();
    }
    require(thrown.get() == null, "failed on another thread");
  }

  /** The checker follows these into every call, which makes an assertion of JUnit expensive. */
  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  private static List<Integer> readAll(Feed<Integer, String> feed) {
    List<Integer> seen = new ArrayList<>();
    feed.iterator(Optional::of, failure -> Optional.<Integer>empty()).forEachRemaining(seen::add);
    return seen;
  }

  @Test
  @Tag("R155")
  void a_writer_that_is_ahead_and_a_reader_that_is_ahead_wake_each_other() {
    check(
        feed -> {
          Feed.Writer<Integer> writer = feed.writer(Function.identity());
          List<Integer> seen = new ArrayList<>();
          race(
              () -> seen.addAll(readAll(feed)),
              () -> {
                for (int i = 0; i < 3; i++) {
                  writer.put(i);
                }
                feed.end(DONE);
              });
          require(seen.equals(List.of(0, 1, 2)), "lost, twice or out of order");
        });
  }

  @Test
  void a_close_of_a_writer_and_its_last_element_agree_on_who_was_first() {
    check(
        feed -> {
          Feed.Writer<Integer> writer = feed.writer(Function.identity());
          writer.put(0); // so that the next one has to wait for the reader
          long[] counts = new long[2];
          List<Integer> seen = new ArrayList<>();
          race(
              () -> {
                counts[0] = writer.close();
                feed.end(DONE);
              },
              () -> {
                try {
                  writer.put(1);
                  counts[1] = 2;
                } catch (InterruptedException refused) {
                  counts[1] = 1;
                }
              },
              () -> seen.addAll(readAll(feed)));
          require(counts[0] == counts[1], "told as written and refused, or the reverse");
          require(seen.size() == counts[0], "read another number than was written");
        });
  }

  @Test
  @Tag("R151")
  void all_who_close_come_back_when_the_end_comes() {
    check(
        feed ->
            race(
                feed::close,
                () -> {
                  feed.close();
                  require(feed.hasEnded(), "came back before the end");
                },
                () -> feed.end(DONE)));
  }
}
