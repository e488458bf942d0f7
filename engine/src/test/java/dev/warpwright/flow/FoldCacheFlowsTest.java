package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.ForwardingStore;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStates;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the drives of a flow load that waits over and over. */
@Timeout(60)
final class FoldCacheFlowsTest {
  private static final int DAYS = 20;
  private static final int SHORT = 11; // days of a log that is not worth to be kept

  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 7);
  private final RunStore kept = RunStore.inMemory(time);
  private final Counting store = new Counting(kept);
  private final Flows flows = Flows.on(TaskTree.builder().time(time).build(), store);
  private final Flow<Integer, Integer> flow =
      Flow.of(
          "daily",
          Integer.class,
          Integer.class,
          (ctx, days) -> {
            int sum = 0;
            for (int day = 1; day <= days; day++) {
              int today = day;
              sum += ctx.step("count", Integer.class, step -> today);
              ctx.sleep(Duration.ofDays(1));
            }
            return sum;
          });

  private static final class Counting extends ForwardingStore {
    int loaded; // events

    Counting(RunStore store) {
      super(store);
    }

    @Override
    public List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline) {
      List<LoggedEvent> events = super.load(run, fromSequence, deadline);
      loaded += events.size();
      return events;
    }
  }

  /** How many events each drive but the first has loaded. */
  private List<Integer> driven(Flows first, Flows later) {
    FlowResult<Integer> left = first.run(flow, DAYS);
    List<Integer> loaded = new ArrayList<>();
    while (left.status() == RunStatus.WAITING) {
      time.advance(Duration.ofDays(1));
      store.loaded = 0;
      left = later.resume(flow, left.run());
      loaded.add(store.loaded);
      List<LoggedEvent> truth = kept.load(left.run(), 1, Deadline.never());
      assertEquals(truth, left.log());
      assertEquals(RunStates.view(RunState.of(truth)), RunStates.view(left.state()));
    }
    assertEquals(DAYS * (DAYS + 1) / 2, left.orThrow());
    assertEquals(DAYS, loaded.size());
    return loaded;
  }

  @Test
  @Tag("A115")
  void each_drive_loads_the_last_event_and_what_is_new_however_long_the_run_is() {
    List<Integer> loaded = driven(flows, flows.observer(event -> {}));

    assertEquals(
        Collections.nCopies(DAYS - SHORT, 2),
        loaded.subList(SHORT, DAYS),
        "the last one, before and after the run is owned");
    assertTrue(loaded.stream().allMatch(events -> events <= 64 + 1), "a short log whole");
  }

  @Test
  @Tag("A115")
  void without_a_cache_each_drive_loads_the_whole_log() {
    List<Integer> loaded = driven(flows, flows.foldCache(0));

    for (int n = 1; n < DAYS; n++) {
      assertTrue(loaded.get(n) > loaded.get(n - 1), loaded::toString);
    }
    assertThrows(InvalidRequestException.class, () -> flows.foldCache(-1));
  }
}
