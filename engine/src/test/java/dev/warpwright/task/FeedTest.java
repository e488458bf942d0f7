package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.task.Outcome.Failure;
import dev.warpwright.task.Outcome.Success;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What writers and the reader of a feed see of each other. */
class FeedTest {
  private static final Outcome<String> DONE = new Success<>("done");

  @RegisterExtension final TaskFixture fixture = new TaskFixture();

  private final Feed<Integer, String> feed = new Feed<>(8, 8, element -> 1);
  private final Feed.Writer<Integer> writer = feed.writer(Function.identity());

  private static <E> Iterator<E> iterator(Feed<E, ?> feed) {
    return feed.iterator(Optional::of, end -> List.of());
  }

  private static <E> List<E> rest(Iterator<E> iterator) {
    List<E> seen = new ArrayList<>();
    iterator.forEachRemaining(seen::add);
    return seen;
  }

  /** Writes 0, 1, and so on until there is no room; how many that were. */
  private int fill() {
    try (TaskScope scope = fixture.tree.open("writer", "writer")) {
      scope.cancel("so that nothing is waited for");
      int written = 0;
      while (writer.put(written, scope)) {
        written++;
      }
      return written;
    }
  }

  private static void awaitParked(Thread thread) {
    TaskFixture.until("a thread to wait", () -> thread.getState() == Thread.State.WAITING);
  }

  @Test
  void elements_are_read_in_their_order_and_the_result_behind_them() throws Exception {
    writer.put(1);
    writer.put(2);
    Iterator<Integer> elements = iterator(feed);
    assertEquals(1, elements.next());
    writer.put(3);
    feed.end(DONE);

    assertEquals(List.of(2, 3), rest(elements));
    assertFalse(elements.hasNext());
    assertThrows(NoSuchElementException.class, elements::next);
    assertEquals("done", feed.result());
    assertEquals("done", feed.result());
    assertEquals(3, writer.close());
  }

  @Test
  void a_reader_that_finds_nothing_waits_for_the_next_element_and_for_the_end() throws Exception {
    Iterator<Integer> elements = iterator(feed);
    Owner<Integer> first = Owner.start(elements::next);
    awaitParked(first.thread());
    writer.put(7);
    assertEquals(7, first.get());

    Owner<Boolean> more = Owner.start(elements::hasNext);
    awaitParked(more.thread());
    feed.end(DONE);
    assertFalse(more.get());
  }

  @Test
  @Tag("R155")
  void unread_elements_are_never_more_than_it_holds_and_none_is_dropped() {
    Iterator<Integer> elements = iterator(feed);
    int written = fill();
    assertTrue(written >= 4 && written <= 8, () -> written + " of 8 without a reader");
    int unread = written;
    for (int round = 0; round < 5; round++) {
      elements.next();
      unread += fill() - 1;
      assertTrue(unread <= 8, "more than it holds: " + unread);
    }
    feed.end(DONE);
    assertEquals(unread, rest(elements).size());
  }

  @Test
  @Tag("R155")
  void weight_is_bounded_too_and_an_element_that_is_too_heavy_has_a_half_for_itself() {
    Feed<String, String> heavy = new Feed<>(100, 20, String::length);
    Feed.Writer<String> strings = heavy.writer(Function.identity());
    try (TaskScope scope = fixture.tree.open("writer", "writer")) {
      scope.cancel("so that nothing is waited for");
      assertTrue(strings.put("0123456789", scope));
      assertFalse(strings.put("x", scope));
      Iterator<String> elements = iterator(heavy);
      elements.next();
      assertTrue(strings.put("much heavier than a half may be", scope));
      assertFalse(strings.put("x", scope));
      elements.next();
      assertTrue(strings.put("x", scope));
    }
    assertEquals(3, strings.close());
  }

  @Test
  void a_bound_below_two_is_refused() {
    assertThrows(IllegalArgumentException.class, () -> new Feed<>(1, 2, element -> 1));
    assertThrows(IllegalArgumentException.class, () -> new Feed<>(2, 1, element -> 1));
  }

  @Test
  void a_writer_that_waits_goes_on_when_there_is_room() throws Exception {
    int written = fill();
    Owner<Boolean> waiting =
        Owner.start(
            () -> {
              writer.put(written);
              return true;
            });
    awaitParked(waiting.thread());
    Iterator<Integer> elements = iterator(feed);

    assertEquals(0, elements.next());

    assertTrue(waiting.get());
    feed.end(DONE);
    assertEquals(written, rest(elements).size());
  }

  @Test
  void a_writer_that_waits_in_a_scope_goes_on_when_there_is_room() throws Exception {
    int written = fill();
    Owner<Boolean> waiting =
        Owner.start(
            () -> {
              try (TaskScope scope = fixture.tree.open("writer", "writer", fixture.in(1_000))) {
                return writer.put(written, scope);
              }
            });
    fixture.time.awaitAlarms(1);

    assertEquals(0, iterator(feed).next());

    assertTrue(waiting.get());
  }

  @Test
  @Tag("R131")
  void a_wait_for_room_ends_at_the_deadline_and_at_a_cancel_of_the_scope() throws Exception {
    int written = fill();
    Owner<Boolean> late =
        Owner.start(
            () -> {
              try (TaskScope scope = fixture.tree.open("writer", "writer", fixture.in(1_000))) {
                return writer.put(written, scope);
              }
            });
    fixture.time.awaitAlarms(1);
    fixture.advance(1_000);
    assertFalse(late.get());

    AtomicReference<TaskScope> opened = new AtomicReference<>();
    Owner<Boolean> cancelled =
        Owner.start(
            () -> {
              try (TaskScope scope = fixture.tree.open("writer", "writer", fixture.in(1_000))) {
                opened.set(scope);
                return writer.put(written, scope);
              }
            });
    fixture.time.awaitAlarms(1);
    opened.get().cancel("no more");
    assertFalse(cancelled.get());
    assertEquals(written, writer.close());
  }

  @Test
  void nothing_comes_from_a_writer_that_is_closed_also_if_it_waits() throws Exception {
    int written = fill();
    Owner<InterruptedException> waiting =
        Owner.start(() -> assertThrows(InterruptedException.class, () -> writer.put(written)));
    awaitParked(waiting.thread());

    assertEquals(written, writer.close());

    waiting.get();
    assertThrows(InterruptedException.class, () -> writer.put(written));
    assertEquals(written, writer.close());
    feed.end(DONE);
    assertEquals(written, rest(iterator(feed)).size());
  }

  @Test
  void a_closed_writer_says_whether_anything_came_from_it_and_leaves_the_others_alone()
      throws Exception {
    Feed.Writer<Integer> other = feed.writer(Function.identity());
    other.put(5);
    assertEquals(0, writer.close());
    other.put(6);
    assertEquals(2, other.close());
    feed.end(DONE);
    assertEquals(List.of(5, 6), rest(iterator(feed)));
  }

  @Test
  void an_interrupt_of_a_writer_that_waits_is_thrown_and_its_element_is_not_written()
      throws Exception {
    int written = fill();
    Owner<InterruptedException> waiting =
        Owner.start(() -> assertThrows(InterruptedException.class, () -> writer.put(written)));
    awaitParked(waiting.thread());

    waiting.thread().interrupt();

    waiting.get();
    feed.end(DONE);
    assertEquals(written, rest(iterator(feed)).size());
  }

  @Test
  void at_the_end_those_who_wait_for_room_are_refused() throws Exception {
    fill();
    Owner<InterruptedException> thread =
        Owner.start(() -> assertThrows(InterruptedException.class, () -> writer.put(99)));
    awaitParked(thread.thread());
    Feed.Writer<Integer> other = feed.writer(Function.identity());
    Owner<Boolean> owner =
        Owner.start(
            () -> {
              try (TaskScope scope = fixture.tree.open("writer", "writer", fixture.in(1_000))) {
                return other.put(99, scope);
              }
            });
    fixture.time.awaitAlarms(1);

    feed.end(DONE);

    thread.get();
    assertFalse(owner.get());
    assertFalse(rest(iterator(feed)).contains(99));
  }

  @Test
  void what_an_element_is_made_with_throws_to_the_writer_and_nothing_is_written() {
    Feed.Writer<Integer> broken =
        feed.writer(
            given -> {
              throw new IllegalStateException("no element");
            });
    assertThrows(IllegalStateException.class, () -> broken.put(1));
    assertEquals(0, broken.close());
  }

  @Test
  void only_the_first_end_counts_and_it_is_a_result_or_a_failure() {
    feed.end(DONE);
    feed.end(new Failure<>(new IllegalStateException("too late")));
    assertEquals("done", feed.result());
    assertTrue(feed.hasEnded());
    assertThrows(IllegalArgumentException.class, () -> feed.end(new Outcome.TimedOut<>(false)));
  }

  @Test
  void a_failure_is_thrown_as_it_is_as_often_as_it_is_asked_for() {
    RuntimeException failure = new IllegalStateException("failed");
    feed.end(new Failure<>(failure));
    assertSame(failure, assertThrows(RuntimeException.class, feed::result));
    assertSame(failure, assertThrows(RuntimeException.class, feed::result));
    assertSame(failure, assertThrows(RuntimeException.class, iterator(feed)::hasNext));

    Error error = new LinkageError("no class");
    Feed<Integer, String> other = new Feed<>(2, 2, element -> 1);
    other.end(new Failure<>(error));
    assertSame(error, assertThrows(LinkageError.class, other::result));

    Feed<Integer, String> checked = new Feed<>(2, 2, element -> 1);
    checked.end(new Failure<>(new IOException("checked")));
    assertInstanceOf(
        IOException.class, assertThrows(IllegalStateException.class, checked::result).getCause());
  }

  @Test
  void an_iterator_may_show_the_failure_before_it_throws_it_and_there_is_one() throws Exception {
    writer.put(1);
    RuntimeException failure = new IllegalStateException("failed");
    Iterator<String> texts =
        feed.iterator(element -> Optional.of("element " + element), end -> List.of("failure"));
    feed.end(new Failure<>(failure));

    assertEquals("element 1", texts.next());
    assertEquals("failure", texts.next());
    assertSame(failure, assertThrows(RuntimeException.class, texts::hasNext));
    assertSame(failure, assertThrows(RuntimeException.class, texts::next));
    assertThrows(IllegalStateException.class, () -> iterator(feed));
  }

  @Test
  void a_cancel_tells_those_who_write_and_what_was_written_can_be_read() throws Exception {
    List<String> told = new ArrayList<>();
    feed.cancellation().onCancel(told::add);
    writer.put(1);

    feed.cancel("no more");
    feed.cancel("again");

    writer.put(2); // whoever writes decides when it stops
    feed.end(DONE);
    assertEquals(List.of("no more"), told);
    assertEquals(List.of(1, 2), rest(iterator(feed)));
  }

  @Test
  void after_the_end_there_is_nothing_to_cancel() {
    feed.end(DONE);
    feed.cancel("no more");
    feed.close();
    assertFalse(feed.cancellation().isCancelled());
  }

  @Test
  @Tag("R151")
  void any_number_of_threads_may_close_and_all_of_them_come_back_at_the_end() throws Exception {
    List<Owner<Boolean>> closers = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      closers.add(
          Owner.start(
              () -> {
                feed.close();
                return feed.hasEnded();
              }));
    }
    closers.forEach(closer -> awaitParked(closer.thread()));
    assertTrue(feed.cancellation().isCancelled());

    feed.end(DONE);

    for (Owner<Boolean> closer : closers) {
      assertTrue(closer.get());
    }
  }

  @Test
  void an_interrupt_of_a_thread_that_closes_ends_its_wait_and_stays_set() throws Exception {
    Owner<Boolean> closer =
        Owner.start(
            () -> {
              feed.close();
              return Thread.interrupted() && !feed.hasEnded();
            });
    awaitParked(closer.thread());

    closer.thread().interrupt();

    assertTrue(closer.get());
  }

  @Test
  @Tag("R17")
  void an_interrupt_of_the_reader_cancels_stays_set_and_the_wait_goes_on_to_the_end()
      throws Exception {
    CountDownLatch cancelled = new CountDownLatch(1);
    feed.cancellation().onCancel(why -> cancelled.countDown());
    Owner<Boolean> reader =
        Owner.start(
            () -> {
              List<Integer> seen = rest(iterator(feed));
              return Thread.interrupted() && seen.equals(List.of(1));
            });
    awaitParked(reader.thread());

    reader.thread().interrupt();
    TaskFixture.await("the cancel", cancelled);
    writer.put(1);
    feed.end(DONE);

    assertTrue(reader.get());
  }

  @Test
  void a_second_thread_that_wants_to_read_is_refused_while_one_waits() throws Exception {
    Iterator<Integer> elements = iterator(feed);
    Owner<Integer> reader = Owner.start(elements::next);
    awaitParked(reader.thread());

    assertThrows(IllegalStateException.class, feed::result);

    writer.put(3);
    assertEquals(3, reader.get());
    feed.end(DONE);
    assertEquals("done", feed.result()); // one after the other is no fault
  }
}
