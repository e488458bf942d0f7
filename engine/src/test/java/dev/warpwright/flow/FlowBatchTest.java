package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.flow.BatchItem.Outcome;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Worker;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many items through one flow; what holds of agents too is in {@link BatchTest}. */
@Timeout(60)
class FlowBatchTest {
  private final ManualTime time = new ManualTime();
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final Flows flows = Flows.on(tasks, store);
  private final List<String> effects = Collections.synchronizedList(new ArrayList<>());

  private String act(String what) {
    effects.add(what);
    return what;
  }

  private Flow<String, String> flow(FlowBody<String, String> body) {
    return Flow.of("f", String.class, String.class, body);
  }

  private static Batch<String, Flows> batch(Flow<String, String> flow, List<String> items) {
    return Batch.of("batch", flow, items, item -> item, item -> "of " + item);
  }

  private static List<String> items(int count) {
    return IntStream.range(0, count).mapToObj(i -> "item-" + i).toList();
  }

  private static Map<String, Outcome> outcomes(BatchReport report) {
    return report.items().stream().collect(Collectors.toMap(BatchItem::key, BatchItem::outcome));
  }

  @Test
  @Tag("F59")
  @Tag("F61")
  void every_item_has_its_run_and_a_rerun_skips_them() {
    Batch<String, Flows> batch =
        batch(flow((ctx, in) -> ctx.step("act", String.class, step -> act(in))), items(20));

    BatchReport report = batch.run(flows);
    BatchReport again = batch.run(flows);

    assertEquals(20, report.count(Outcome.COMPLETED));
    assertEquals(20, again.count(Outcome.SKIPPED));
    assertEquals(20, effects.size());
    for (BatchItem item : report.items()) {
      RunState state = Runs.in(store).state(item.run().orElseThrow()).orElseThrow();
      assertEquals("of " + item.key(), state.output().orElseThrow().value());
      assertEquals(
          Map.of(Batch.BATCH, "batch", Batch.ITEM, item.key()), state.started().metadata());
    }
  }

  @Test
  @Tag("F61")
  void a_failed_item_stops_no_other_and_a_rerun_tries_its_failed_step_again() {
    List<String> broken = new ArrayList<>(List.of("of item-1"));
    Batch<String, Flows> batch =
        batch(
            flow(
                (ctx, in) -> {
                  ctx.run("begin", step -> act("begin " + in));
                  return ctx.step(
                      "end",
                      String.class,
                      step -> {
                        if (broken.contains(in)) {
                          throw new IllegalArgumentException("broken");
                        }
                        return in;
                      });
                }),
            items(3));

    BatchReport report = batch.run(flows);
    broken.clear();
    BatchReport again = batch.run(flows);

    assertEquals(
        Map.of("item-0", Outcome.COMPLETED, "item-1", Outcome.FAILED, "item-2", Outcome.COMPLETED),
        outcomes(report));
    assertEquals(
        Map.of("item-0", Outcome.SKIPPED, "item-1", Outcome.COMPLETED, "item-2", Outcome.SKIPPED),
        outcomes(again));
    assertEquals(3, effects.size());
  }

  @Test
  @Tag("F61")
  void an_item_whose_input_has_changed_is_a_conflict_and_the_others_go_on() {
    Flow<String, String> flow = flow((ctx, in) -> in);
    var _ = batch(flow, items(2)).run(flows);

    BatchReport changed =
        Batch.of("batch", flow, items(3), item -> item, item -> "of " + item.replace("0", "9"))
            .run(flows);

    assertEquals(
        Map.of("item-0", Outcome.FAILED, "item-1", Outcome.SKIPPED, "item-2", Outcome.COMPLETED),
        outcomes(changed));
    assertEquals(
        List.of(FailureKind.CONFLICT),
        changed.items().stream().flatMap(item -> item.failure().stream()).toList());
  }

  @Test
  @Tag("F63")
  void items_that_wait_release_their_place_and_go_on_when_the_batch_is_run_again() {
    Flow<String, String> flow =
        flow(
            (ctx, in) -> {
              switch (in) {
                case "of timer" -> ctx.sleep(Duration.ofHours(1));
                case "of signal" -> ctx.awaitSignal("go", String.class);
                default -> ctx.approval("go", in, Duration.ofDays(1));
              }
              return in;
            });
    Batch<String, Flows> batch =
        batch(flow, List.of("timer", "signal", "approval")).maxConcurrency(1);

    BatchReport waiting = batch.run(flows);

    assertEquals(
        Map.of(
            "timer", Outcome.WAITING,
            "signal", Outcome.WAITING,
            "approval", Outcome.WAITING_APPROVAL),
        outcomes(waiting));
    assertEquals(outcomes(waiting), outcomes(batch.run(flows)));

    time.advance(Duration.ofHours(1));
    flows.signal(run("signal"), "go", "now", "1");
    RunState asking = Runs.in(store).state(run("approval")).orElseThrow();
    var _ =
        Runs.in(store)
            .decide(
                asking.run(),
                ApprovalDecision.approve(asking.pendingApprovals().getFirst().requestId()));

    assertEquals(3, batch.run(flows).count(Outcome.COMPLETED));
  }

  private RunKey run(String item) {
    return store.find(RunScope.DEFAULT, "batch:" + item, Deadline.never()).orElseThrow();
  }

  @Test
  @Tag("F64")
  void waiting_items_are_told_as_waiting() {
    List<BatchProgress> told = new ArrayList<>();

    var _ =
        batch(
                flow(
                    (ctx, in) -> {
                      ctx.sleep(Duration.ofHours(1));
                      return in;
                    }),
                items(3))
            .onProgress(told::add)
            .run(flows);

    assertEquals(3, told.getLast().waiting());
    assertEquals(0, told.getLast().pending());
  }

  @Test
  @Tag("F59")
  void a_batch_that_is_queued_is_driven_by_a_worker_and_queueing_it_again_changes_nothing() {
    Flow<String, String> flow = flow((ctx, in) -> ctx.step("act", String.class, s -> act(in)));
    Batch<String, Flows> batch = batch(flow, items(20)).maxConcurrency(3);

    List<RunKey> queued = batch.enqueue(flows);

    assertEquals(20, queued.stream().distinct().count());
    assertEquals(queued, batch.enqueue(flows));
    assertEquals(List.of(), effects);
    try (Worker worker =
        Worker.builder(store).drives(flows.driver(flow)).tasks(tasks).maxRuns(4).start()) {
      assertTrue(worker.awaitIdle(Duration.ofHours(1)));
    }
    assertEquals(20, effects.size());
    assertEquals(20, batch.run(flows).count(Outcome.SKIPPED));
    assertEquals(Optional.empty(), Runs.in(store).state(queued.getFirst()).orElseThrow().failure());
  }

  @Test
  @Tag("F67")
  void a_batch_is_cancelled_though_the_code_of_one_item_has_changed() {
    List<String> changed = new ArrayList<>();
    Flow<String, String> flow =
        flow(
            (ctx, in) ->
                changed.contains(in)
                    ? ctx.step("other", String.class, step -> act(in))
                    : ctx.awaitSignal("never", String.class));
    Batch<String, Flows> batch = batch(flow, items(3));
    assertEquals(3, batch.run(flows).count(Outcome.WAITING));
    changed.add("of item-0");

    assertThrows(NonDeterminismException.class, () -> batch.cancel(flows));

    assertEquals(
        List.of(RunStatus.CANCEL_REQUESTED, RunStatus.CANCELLED, RunStatus.CANCELLED),
        items(3).stream()
            .map(item -> Runs.in(store).find(RunScope.DEFAULT, "batch:" + item).orElseThrow())
            .map(run -> Runs.in(store).state(run).orElseThrow().status())
            .toList());
    assertEquals(List.of(), effects);
  }
}
