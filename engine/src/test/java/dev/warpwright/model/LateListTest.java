package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LateListTest {
  private final AtomicInteger workings = new AtomicInteger();

  private LateList<String> late(String... elements) {
    return new LateList<>(
        elements.length,
        () -> {
          workings.incrementAndGet();
          return List.of(elements);
        });
  }

  @Test
  void nothing_is_worked_out_before_an_element_is_read() {
    LateList<String> list = late("a", "b");
    assertEquals(2, list.size());
    assertSame(list, LateList.copyOf(list));
    assertEquals(0, workings.get());
  }

  @Test
  void the_elements_are_worked_out_once() {
    LateList<String> list = late("a", "b");
    assertEquals("b", list.get(1));
    assertEquals("a", list.get(0));
    assertEquals(1, workings.get());
  }

  @Test
  void it_equals_an_ordinary_list_and_cannot_be_changed() {
    LateList<String> list = late("a", "b");
    assertEquals(List.of("a", "b"), list);
    assertEquals(List.of("a", "b").hashCode(), list.hashCode());
    assertThrows(UnsupportedOperationException.class, () -> list.set(0, "c"));
  }

  @Test
  void an_ordinary_list_is_copied() {
    List<String> list = new ArrayList<>(List.of("a"));
    List<String> copy = LateList.copyOf(list);
    list.set(0, "b");
    assertEquals(List.of("a"), copy);
  }

  @Test
  void threads_that_read_at_once_see_the_same() throws Exception {
    int threads = 4;
    try (ExecutorService readers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 500; round++) {
        LateList<String> list = late("a", "b");
        CountDownLatch start = new CountDownLatch(threads);
        List<Future<String>> read = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
          read.add(
              readers.submit(
                  () -> {
                    start.countDown();
                    start.await();
                    return list.get(1);
                  }));
        }
        for (Future<String> one : read) {
          assertEquals("b", one.get());
        }
      }
    }
  }
}
