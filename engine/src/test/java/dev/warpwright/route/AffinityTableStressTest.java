package dev.warpwright.route;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Target;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many threads at one small table. */
final class AffinityTableStressTest {
  private static final int THREADS = 8;
  private static final int ROUNDS = 20_000;
  private static final int KEYS = 24;
  private static final int MAX_ENTRIES = 16;

  private static AffinityKey key(int number) {
    return new AffinityKey(Optional.empty(), "tenant", "k" + number);
  }

  /** Targets that are only ever stored under their own key, so a mixed-up entry shows. */
  private static Target target(int key, int version) {
    return Target.of("p" + key, "v" + version);
  }

  @Test
  @Tag("R294")
  @Tag("R296")
  void no_conversation_sees_another_and_the_table_stays_within_its_bound() throws Exception {
    AffinityTable table =
        new AffinityTable(
            new AffinityPolicy(Duration.ofHours(1), MAX_ENTRIES, 0), TimeSource.system());
    long seed = System.nanoTime();
    CountDownLatch start = new CountDownLatch(1);
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      List<Future<?>> running = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        Random random = new Random(seed + thread);
        running.add(
            threads.submit(
                () -> {
                  start.await();
                  for (int round = 0; round < ROUNDS; round++) {
                    int key = random.nextInt(KEYS);
                    if (random.nextBoolean()) {
                      table.store(key(key), target(key, random.nextInt(3)));
                    } else {
                      table
                          .find(key(key))
                          .ifPresent(found -> assertEquals("p" + key, found.provider()));
                    }
                    assertTrue(table.entries() <= MAX_ENTRIES);
                  }
                  return null;
                }));
      }
      start.countDown();
      for (Future<?> one : running) {
        one.get();
      }
    }

    assertEquals(MAX_ENTRIES, table.entries(), "seed " + seed);
    int found = 0;
    for (int key = 0; key < KEYS; key++) {
      found += table.find(key(key)).isPresent() ? 1 : 0;
    }
    assertEquals(MAX_ENTRIES, found);
  }
}
