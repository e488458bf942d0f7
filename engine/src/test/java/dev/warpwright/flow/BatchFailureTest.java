package dev.warpwright.flow;

import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.FakeModel;
import dev.warpwright.agent.Invocation;
import dev.warpwright.agent.Prices;
import dev.warpwright.agent.Program;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.cost.CostTotal;
import dev.warpwright.flow.BatchItem.Outcome;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of a batch when items fail, how it is cancelled, and its report from the store. */
@Timeout(60)
final class BatchFailureTest {
  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 7);
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final Flows flows = Flows.on(tasks, store);
  private final Runs runs = Runs.in(store, time);
  private final List<String> effects = Collections.synchronizedList(new ArrayList<>());

  private static Batch<String, Flows> batch(FlowBody<String, String> body, List<String> items) {
    Flow<String, String> flow = Flow.of("f", String.class, String.class, body);
    return Batch.of("batch", flow, items, item -> item, item -> item).maxConcurrency(1);
  }

  private static List<String> items(int count) {
    return IntStream.range(0, count).mapToObj(i -> "item-" + i).toList();
  }

  private String failing(FlowContext ctx, String in) {
    ctx.run("act", step -> effects.add(in));
    throw new IllegalStateException("no");
  }

  private int begunWhenAllFail(FailurePolicy policy, int size) {
    effects.clear();
    BatchReport report =
        Batch.of(
                "batch " + policy,
                Flow.of("f", String.class, String.class, this::failing),
                items(size),
                item -> item,
                item -> item)
            .maxConcurrency(1)
            .onFailure(policy)
            .run(flows);
    assertEquals(effects.size(), report.count(Outcome.FAILED));
    assertEquals(effects.size() < size, report.stopped());
    return effects.size();
  }

  @Test
  @Tag("F62")
  void failures_stop_the_others_as_the_policy_says() {
    assertEquals(9, begunWhenAllFail(FailurePolicy.CONTINUE, 9));
    assertEquals(1, begunWhenAllFail(FailurePolicy.stopStarting(), 9));
    assertEquals(4, begunWhenAllFail(FailurePolicy.stopStarting().maxFailures(3), 9));
    assertEquals(6, begunWhenAllFail(FailurePolicy.stopStarting().maxFailureFraction(0.25), 20));
    assertEquals(1, begunWhenAllFail(FailurePolicy.cancelAll(), 9));
    assertEquals(9, begunWhenAllFail(FailurePolicy.stopStarting().maxFailureFraction(1), 9));
  }

  @Test
  @Tag("F62")
  void a_policy_is_held_to_its_bounds() {
    FailurePolicy policy = FailurePolicy.stopStarting();
    assertThrows(InvalidRequestException.class, () -> policy.maxFailures(-1));
    assertThrows(InvalidRequestException.class, () -> policy.maxFailureFraction(1.01));
    assertThrows(InvalidRequestException.class, () -> policy.maxFailureFraction(Double.NaN));
    assertThrows(InvalidRequestException.class, () -> FailurePolicy.CONTINUE.maxFailures(1));
  }

  /** One item fails while another one is at work. */
  private BatchReport runWithOneAtWork(FailurePolicy policy, AtomicBoolean healthy) {
    CountDownLatch atWork = new CountDownLatch(1);
    CountDownLatch failed = new CountDownLatch(1);
    return batch(
            (ctx, in) ->
                ctx.step(
                    "work",
                    String.class,
                    step -> {
                      if (healthy.get()) {
                        return in;
                      }
                      if (in.equals("item-0")) {
                        atWork.countDown();
                        if (policy != FailurePolicy.CONTINUE) {
                          failed.await();
                        }
                        return in;
                      }
                      atWork.await();
                      throw new IllegalStateException("no");
                    }),
            items(3))
        .maxConcurrency(2)
        .onProgress(
            now -> {
              if (now.failed() > 0 && policy.toString().contains("STOP_STARTING")) {
                failed.countDown();
              }
            })
        .onFailure(policy)
        .run(flows);
  }

  @Test
  @Tag("F62")
  void items_at_work_come_to_their_end_when_only_the_starting_stops() {
    BatchReport report = runWithOneAtWork(FailurePolicy.stopStarting(), new AtomicBoolean());
    assertTrue(report.stopped());
    assertEquals(Map.of("item-0", Outcome.COMPLETED, "item-1", Outcome.FAILED), outcomes(report));
  }

  @Test
  @Tag("F62")
  void items_at_work_are_interrupted_when_all_are_cancelled_and_a_rerun_goes_on_with_them() {
    AtomicBoolean healthy = new AtomicBoolean();
    BatchReport report = runWithOneAtWork(FailurePolicy.cancelAll(), healthy);
    assertTrue(report.stopped());
    assertEquals(Map.of("item-1", Outcome.FAILED), outcomes(report));
    healthy.set(true);
    assertEquals(3, runWithOneAtWork(FailurePolicy.cancelAll(), healthy).count(Outcome.COMPLETED));
  }

  private static Map<String, Outcome> outcomes(BatchReport report) {
    return report.items().stream().collect(Collectors.toMap(BatchItem::key, BatchItem::outcome));
  }

  @Test
  @Tag("F62")
  void failures_of_earlier_runs_do_not_count() {
    FlowBody<String, String> body =
        (ctx, in) -> {
          if (in.equals("item-0")) {
            throw new InvalidRequestException(FailureKind.INVALID_REQUEST, "for good");
          }
          return in;
        };
    Batch<String, Flows> batch = batch(body, items(3)).onFailure(FailurePolicy.stopStarting());
    assertEquals(1, batch.run(flows).items().size());
    BatchReport again = batch.run(flows);
    assertEquals(2, again.count(Outcome.COMPLETED));
    assertFalse(again.stopped());
  }

  // --- budget and cost

  private Batch<String, Agents> asking(List<String> items) {
    Agent agent = Agent.builder("agent", Program.ROUTE).build();
    return Batch.of("paid", agent, items, item -> item, item -> item)
        .maxConcurrency(1)
        .invocation(item -> Invocation.builder().budgetScope("account").build());
  }

  @Test
  @Tag("F66")
  void a_budget_that_is_used_up_lets_no_further_item_begin() {
    BudgetStore budget = BudgetStore.local(Prices.usd("0.11"));
    Program program =
        Program.having(
            store,
            FakeModel.of(text("Done.")),
            gateway ->
                gateway
                    .costAccounting(Prices.accounting())
                    .budget(budget, ReservationRule.fixed(Prices.usd("0.10"))));
    BatchReport report = asking(items(9)).run(program.agents);
    assertEquals(Optional.of(FailureKind.BUDGET_DENIED), report.items().getLast().failure());
    assertEquals(1, report.count(Outcome.FAILED));
    assertTrue(report.count(Outcome.COMPLETED) >= 1);
    assertTrue(report.stopped());
    assertEquals(report.items().size(), program.runs().size());
  }

  @Test
  @Tag("F64")
  @Tag("F65")
  void the_cost_of_all_items_is_added_up() {
    Program program =
        Program.having(
            store,
            FakeModel.of(text("Done.")),
            gateway -> gateway.costAccounting(Prices.accounting()));
    List<BatchCost> told = new ArrayList<>();
    BatchReport report =
        asking(items(3)).onProgress(now -> told.add(now.cost())).run(program.agents);
    assertEquals(report.cost(), told.getLast());
    Money one = BatchCost.of(report.items().subList(0, 1)).estimated().getFirst();
    assertEquals(List.of(one.plus(one).plus(one)), report.cost().estimated());
    assertEquals(0, report.cost().unknownItems());
  }

  @Test
  @Tag("F65")
  void what_is_estimated_and_what_is_unknown_stand_beside_what_is_known() {
    BatchItem known = costing("KNOWN", "1");
    BatchItem estimated = costing("ESTIMATED", "2");
    BatchItem unknown = costing("UNKNOWN", "");
    BatchCost cost = BatchCost.of(List.of(known, estimated, unknown, known, unknown));
    assertEquals(List.of(Prices.usd("2")), cost.known());
    assertEquals(List.of(Prices.usd("2")), cost.estimated());
    assertEquals(2, cost.unknownItems());
    assertFalse(cost.isExact());
    assertTrue(BatchCost.of(List.of(known, known)).isExact());
  }

  private static BatchItem costing(String status, String amount) {
    return new BatchItem(
        "k",
        Outcome.COMPLETED,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Usage.ABSENT,
        Optional.of(
            new CostTotal(
                CostValuation.Status.valueOf(status),
                amount.isEmpty() ? Optional.empty() : Optional.of(Prices.usd(amount)),
                amount.isEmpty() ? List.of("no-price") : List.of())),
        BatchItem.Work.NONE,
        Duration.ZERO);
  }

  // --- cancel

  @Test
  @Tag("F67")
  void a_cancelled_batch_cancels_what_runs_and_waits_and_begins_no_more() throws Exception {
    CountDownLatch atWork = new CountDownLatch(1);
    Batch<String, Flows> batch =
        batch(
            (ctx, in) -> {
              ctx.onCancel("undo", step -> effects.add("undo " + in));
              return switch (in) {
                case "item-0" -> in;
                case "item-1" -> ctx.awaitSignal("unsent", String.class);
                default ->
                    ctx.step(
                        "work",
                        String.class,
                        step -> {
                          atWork.countDown();
                          new CountDownLatch(1).await();
                          return in;
                        });
              };
            },
            items(9));
    FutureTask<BatchReport> drive = new FutureTask<>(() -> batch.run(flows));
    Thread.ofVirtual().start(drive);
    atWork.await();

    assertEquals(2, batch.cancel(flows));

    BatchReport report = drive.get();
    assertTrue(report.stopped());
    assertEquals(3, report.items().size());
    assertEquals(
        Map.of(
            "item-0",
            RunStatus.COMPLETED,
            "item-1",
            RunStatus.CANCELLED,
            "item-2",
            RunStatus.CANCELLED),
        report.items().stream()
            .collect(
                Collectors.toMap(
                    BatchItem::key,
                    item -> runs.state(item.run().orElseThrow()).orElseThrow().status())));
    assertEquals(List.of("undo item-1", "undo item-2"), effects.stream().sorted().toList());
    assertEquals(0, batch.cancel(flows));
  }

  // --- the report from the store

  @Test
  @Tag("F65")
  @Tag("F68")
  void a_report_from_the_store_says_the_same_and_drives_nothing() {
    Batch<String, Flows> batch =
        batch(
            (ctx, in) -> {
              time.advance(Duration.ofSeconds(1));
              String one = ctx.step("one", String.class, step -> in);
              return switch (in) {
                case "item-1" -> this.failing(ctx, in);
                case "item-2" -> "" + ctx.approval("big", in, Duration.ofDays(9));
                case "item-3" -> ctx.awaitSignal("unsent", String.class);
                case "item-4" ->
                    throw new InvalidRequestException(FailureKind.INVALID_REQUEST, "for good");
                default -> one;
              };
            },
            items(7));
    assertEquals(List.of(), batch.report(flows).items());
    assertTrue(batch.report(flows).stopped());
    BatchReport report = batch.run(flows);
    assertEquals(report, batch.report(flows));
    assertEquals(items(7), report.items().stream().map(BatchItem::key).toList());
    List<?> logs = report.items().stream().map(item -> runs.log(item.run().orElseThrow())).toList();
    assertEquals(report, batch.report(flows));
    assertEquals(
        logs, report.items().stream().map(item -> runs.log(item.run().orElseThrow())).toList());

    BatchReport again = batch.run(flows); // the failed one is tried again
    assertEquals(3, again.count(Outcome.SKIPPED));
    BatchReport rebuilt = batch.report(flows);
    assertEquals(3, rebuilt.count(Outcome.COMPLETED));
    assertEquals(again.usage(), rebuilt.usage());
    assertEquals(again.cost(), rebuilt.cost());
  }

  @Test
  @Tag("F68")
  void a_report_from_the_store_knows_a_changed_item_and_the_work_of_agents() {
    Program program =
        Program.having(
            store,
            FakeModel.of(text("Done.")),
            gateway -> gateway.costAccounting(Prices.accounting()));
    Batch<String, Agents> batch = asking(items(3));
    BatchReport report = batch.run(program.agents);
    BatchReport rebuilt = batch.report(program.agents);
    assertEquals(report.items(), rebuilt.items());
    assertEquals(new BatchItem.Work(3, 0, 0, 0), rebuilt.work());
    assertEquals(report.cost(), rebuilt.cost());

    Agent agent = Agent.builder("agent", Program.ROUTE).build();
    Batch<String, Agents> changed =
        Batch.of("paid", agent, items(3), item -> item, item -> item + "!").maxConcurrency(1);
    assertEquals(changed.run(program.agents).items(), changed.report(program.agents).items());
    assertEquals(
        Optional.of(FailureKind.CONFLICT),
        changed.report(program.agents).items().getFirst().failure());
  }
}
