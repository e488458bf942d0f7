package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ChildrenTest {
  @RegisterExtension final TaskFixture fixture = new TaskFixture();

  private static Set<Fate<?>> all(Children children) {
    Set<Fate<?>> seen = new HashSet<>();
    children.forEach(seen::add);
    return seen;
  }

  @Test
  void a_scope_that_lives_long_forgets_the_children_that_are_done() {
    Stubborn body = fixture.stubborn();
    Children children = new Children();
    try (TaskScope scope = fixture.tree.open("server", "server")) {
      Task<String> running = scope.fork("request", "running", Deadline.never(), body);
      Task<Integer> done = scope.fork("request", "done", Deadline.never(), () -> 1);
      TaskFixture.until("its end", done::isDone);
      children.add(running);
      for (int i = 0; i < 10_000; i++) {
        children.add(done);
        assertTrue(all(children).contains(running));
        int[] places = new int[1];
        children.forEach(child -> places[0]++);
        assertTrue(places[0] <= 4, () -> "places: " + places[0]);
      }
      body.release();
      scope.join();
    }
    children.clear();
    assertEquals(Set.of(), all(children));
  }

  @Test
  void a_reader_never_misses_a_child_while_others_come_and_go() throws Exception {
    Stubborn body = fixture.stubborn();
    Children children = new Children();
    AtomicBoolean stop = new AtomicBoolean();
    CountDownLatch reading = new CountDownLatch(1);
    try (TaskScope scope = fixture.tree.open("server", "server")) {
      Task<String> running = scope.fork("request", "running", Deadline.never(), body);
      Task<Integer> done = scope.fork("request", "done", Deadline.never(), () -> 1);
      TaskFixture.until("its end", done::isDone);
      children.add(running);
      Owner<Integer> reader =
          Owner.start(
              () -> {
                int misses = 0;
                while (!stop.get()) {
                  misses += all(children).contains(running) ? 0 : 1;
                  reading.countDown();
                }
                return misses;
              });
      TaskFixture.await("the reader", reading);
      for (int i = 0; i < 200_000; i++) {
        children.add(done);
        if (i % 3 == 0) {
          children.removeLast(done);
        }
      }
      stop.set(true);
      assertEquals(0, reader.get());
      body.release();
    }
  }
}
