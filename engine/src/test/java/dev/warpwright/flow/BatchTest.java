package dev.warpwright.flow;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.ended;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.FakeModel;
import dev.warpwright.agent.Invocation;
import dev.warpwright.agent.MortalStore;
import dev.warpwright.agent.Prices;
import dev.warpwright.agent.Program;
import dev.warpwright.agent.World;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.flow.BatchItem.Outcome;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Worker;
import dev.warpwright.task.Cancellation;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many items through one agent. */
@Timeout(60)
final class BatchTest {
  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Agent agent =
      Agent.builder("agent", Program.ROUTE)
          .tools(
              world.reconciled("refund").build(),
              world.tool("pay", EffectClass.ONCE).requiresApproval().build())
          .build();
  private Optional<Program> program = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    program.ifPresent(Program::assertNothingIsLeft);
  }

  private Program program(FakeModel.Answer... answers) {
    program = Optional.of(Program.on(store, FakeModel.of(answers)));
    return program.get();
  }

  /** What a model call is about: the prompt of its item. */
  private static String item(ModelCall call) {
    return call.messages().stream()
        .filter(message -> message.role() == Role.USER)
        .map(Message::text)
        .findFirst()
        .orElseThrow();
  }

  private static FakeModel.Answer refunding() {
    return call -> calls(call("c1", "refund", item(call))).give(call);
  }

  private Batch<String, Agents> batch(List<String> items) {
    return Batch.of("batch", agent, items, item -> item, item -> item);
  }

  private static List<String> items(int count) {
    return IntStream.range(0, count).mapToObj(i -> "item-" + i).toList();
  }

  @Test
  @Tag("F59")
  @Tag("F65")
  void every_item_has_its_run_and_the_report_says_what_became_of_each() {
    Program program = program(refunding(), text("Done."));

    BatchReport report = batch(items(20)).run(program.agents);

    assertEquals(20, report.size());
    assertEquals(20, report.count(Outcome.COMPLETED));
    assertFalse(report.stopped());
    assertEquals(
        items(20).stream().sorted().toList(),
        report.items().stream().map(BatchItem::key).sorted().toList());
    assertEquals(20, report.items().stream().map(BatchItem::run).distinct().count());
    assertEquals(20, world.effects().size());
    assertEquals(new BatchItem.Work(40, 0, 0, 20), report.work());
    assertEquals(400, report.usage().input().tokens());
    for (BatchItem item : report.items()) {
      var started = program.agents.runs().state(item.run().orElseThrow()).orElseThrow().started();
      assertEquals(Map.of(Batch.BATCH, "batch", Batch.ITEM, item.key()), started.metadata());
      assertEquals(Optional.of("batch:" + item.key()), started.idempotencyKey());
    }
  }

  @Test
  @Tag("F59")
  void a_batch_that_is_queued_is_driven_by_a_worker_and_queueing_it_again_changes_nothing() {
    Program program = program(refunding(), text("Done."));
    Batch<String, Agents> batch = batch(items(20)).maxConcurrency(3);

    List<RunKey> queued = batch.enqueue(program.agents);

    assertEquals(20, queued.stream().distinct().count());
    assertEquals(queued, batch.enqueue(program.agents));
    assertEquals(List.of(), world.effects());
    for (int i = 0; i < 20; i++) {
      var started = program.agents.runs().state(queued.get(i)).orElseThrow().started();
      assertEquals(Map.of(Batch.BATCH, "batch", Batch.ITEM, "item-" + i), started.metadata());
    }
    try (Worker worker =
        Worker.builder(store)
            .drives(program.agents.driver(agent))
            .tasks(program.gateway.tasks())
            .start()) {
      assertTrue(worker.awaitIdle(Duration.ofHours(1)));
      assertEquals(20, worker.status().ended());
    }
    assertEquals(20, world.effects().size());
    assertEquals(queued, batch.enqueue(program.agents));
    assertEquals(20, batch.run(program.agents).count(Outcome.SKIPPED));
    assertThrows(
        ConflictException.class,
        () ->
            Batch.of("batch", agent, items(1), item -> item, item -> "else")
                .enqueue(program.agents));
  }

  @Test
  void an_interrupt_stops_the_queueing_and_stays_set() {
    Program program = program();
    Thread.currentThread().interrupt();
    assertEquals(List.of(), batch(items(5)).enqueue(program.agents));
    assertTrue(Thread.interrupted());
    assertEquals(List.of(), program.runs());
  }

  @Test
  @Tag("F59")
  void no_more_items_are_under_way_than_allowed_and_a_lazy_source_is_not_read_ahead() {
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger handedOut = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    AtomicInteger farthestAhead = new AtomicInteger();
    AtomicInteger passes = new AtomicInteger();
    Program program =
        program(
            call -> {
              most.accumulateAndGet(running.incrementAndGet(), Math::max);
              Thread.onSpinWait();
              running.decrementAndGet();
              ended.incrementAndGet();
              return text("Done.").give(call);
            });
    Iterable<Integer> lazy =
        () -> {
          boolean forKeys = passes.getAndIncrement() == 0;
          Iterator<Integer> numbers = IntStream.range(0, 200).iterator();
          return new Iterator<>() {
            @Override
            public boolean hasNext() {
              return numbers.hasNext();
            }

            @Override
            public Integer next() {
              if (!forKeys) {
                farthestAhead.accumulateAndGet(
                    handedOut.incrementAndGet() - ended.get(), Math::max);
              }
              return numbers.next();
            }
          };
        };

    BatchReport report =
        Batch.of("batch", agent, lazy, String::valueOf, String::valueOf)
            .maxConcurrency(3)
            .run(program.agents);

    assertEquals(200, report.count(Outcome.COMPLETED));
    assertTrue(most.get() <= 3, () -> most + " at once");
    assertTrue(farthestAhead.get() <= 3, () -> farthestAhead + " read ahead");
  }

  @Test
  @Tag("F60")
  void two_items_with_one_key_or_a_blank_key_are_refused_before_the_first_run() {
    Program program = program(text("Done."));

    InvalidRequestException twice =
        assertThrows(
            InvalidRequestException.class, () -> batch(List.of("a", "b", "a")).run(program.agents));
    assertTrue(String.valueOf(twice.getMessage()).contains("\"a\""));
    assertThrows(InvalidRequestException.class, () -> batch(List.of("a", " ")).run(program.agents));
    assertThrows(
        InvalidRequestException.class,
        () -> Batch.of(" ", agent, List.of("a"), item -> item, item -> item));

    assertEquals(List.of(), program.runs());
  }

  @Test
  @Tag("F60")
  void batches_and_items_whose_keys_run_together_are_different_runs() {
    Program program = program(text("Done."));

    BatchReport one =
        Batch.of("a:b", agent, List.of("c"), item -> item, item -> "x").run(program.agents);
    BatchReport two =
        Batch.of("a", agent, List.of("b:c"), item -> item, item -> "x").run(program.agents);

    assertNotEquals(one.items().getFirst().run(), two.items().getFirst().run());
    assertEquals(1, two.count(Outcome.COMPLETED));
  }

  @Test
  @Tag("F61")
  void a_rerun_skips_what_has_ended_and_gives_its_recorded_result() {
    Program program = program(refunding(), text("Done."));
    BatchReport first = batch(items(5)).run(program.agents);
    List<String> log = program.types(first.items().getFirst().run().orElseThrow());

    BatchReport second = batch(items(6)).run(program.agents);

    assertEquals(5, second.count(Outcome.SKIPPED));
    assertEquals(1, second.count(Outcome.COMPLETED));
    assertEquals(6, world.effects().size());
    assertEquals(new BatchItem.Work(2, 0, 0, 1), second.work());
    assertEquals(120, second.usage().input().tokens(), "the tokens of all runs");
    assertEquals(
        runs(first), runs(new BatchReport(5, withoutLast(second), false, first.duration())));
    assertEquals(log, program.types(first.items().getFirst().run().orElseThrow()));
  }

  private static List<BatchItem> withoutLast(BatchReport report) {
    return report.items().stream().filter(item -> !item.key().equals("item-5")).toList();
  }

  private static Map<String, String> runs(BatchReport report) {
    return report.items().stream()
        .collect(Collectors.toMap(BatchItem::key, item -> item.run().orElseThrow().runId()));
  }

  @Test
  @Tag("F61")
  void a_rerun_resumes_what_failed_resumably_and_leaves_what_waits() {
    AtomicBoolean healthy = new AtomicBoolean();
    Program program =
        program(
            call -> {
              if (item(call).equals("waits")) {
                return calls(call("c1", "pay", "o1")).give(call);
              }
              return item(call).equals("fails") && !healthy.get()
                  ? status(503).give(call)
                  : text("Done.").give(call);
            },
            text("Paid."));
    Batch<String, Agents> batch = batch(List.of("works", "fails", "waits"));

    BatchReport first = batch.run(program.agents);
    assertEquals(1, first.count(Outcome.COMPLETED));
    assertEquals(1, first.count(Outcome.FAILED));
    assertEquals(1, first.count(Outcome.WAITING_APPROVAL));
    BatchItem failed = item(first, "fails");
    assertEquals(Optional.of(FailureKind.TARGETS_EXHAUSTED), failed.failure());
    assertTrue(failed.run().isPresent());

    healthy.set(true);
    BatchReport second = batch.run(program.agents);
    assertEquals(Outcome.COMPLETED, item(second, "fails").outcome());
    assertEquals(failed.run(), item(second, "fails").run());
    assertEquals(Outcome.WAITING_APPROVAL, item(second, "waits").outcome());
    assertEquals(Outcome.SKIPPED, item(second, "works").outcome());

    var waiting = item(second, "waits").run().orElseThrow();
    var request = program.agents.runs().state(waiting).orElseThrow().pendingApprovals().getFirst();
    var _ = program.agents.resume(agent, waiting, ApprovalDecision.approve(request.requestId()));
    assertEquals(3, batch.run(program.agents).count(Outcome.SKIPPED));
  }

  private static BatchItem item(BatchReport report, String key) {
    return report.items().stream().filter(item -> item.key().equals(key)).findFirst().orElseThrow();
  }

  @Test
  @Tag("F61")
  void a_run_that_failed_for_good_stays_failed_and_is_not_asked_again() {
    AtomicInteger asked = new AtomicInteger();
    Program program =
        program(
            call -> {
              asked.incrementAndGet();
              return ended(FinishReason.Kind.LENGTH, "", call("c1", "refund", "x")).give(call);
            });
    Batch<String, Agents> batch = batch(List.of("a"));

    assertEquals(1, batch.run(program.agents).count(Outcome.FAILED));
    BatchReport second = batch.run(program.agents);

    assertEquals(Outcome.FAILED, item(second, "a").outcome());
    assertEquals(Optional.of(FailureKind.OUTPUT_TRUNCATION), item(second, "a").failure());
    assertEquals(1, asked.get());
  }

  @Test
  void what_is_noted_of_an_item_reaches_its_tools_and_a_model_cannot_change_it() {
    List<Map<String, String>> seen = new ArrayList<>();
    Tool tool =
        Tool.of(
            "look",
            "Looks.",
            Nothing.class,
            EffectClass.PURE,
            (input, context) -> seen.add(context.caller().metadata()));
    Agent looking = Agent.builder("looking", Program.ROUTE).tools(tool).build();
    Program program = program(calls(new ToolCall("c1", "look", Json.EMPTY_OBJECT)), text("Done."));

    BatchReport report =
        Batch.of("b", looking, List.of("x"), item -> item, item -> item)
            .metadata(item -> Map.of("owner", "Ada", Batch.ITEM, "another"))
            .run(program.agents);

    assertEquals(1, report.count(Outcome.COMPLETED));
    assertEquals(List.of(Map.of("owner", "Ada", Batch.BATCH, "b", Batch.ITEM, "x")), seen);
  }

  /** No input. */
  public record Nothing() {}

  @Test
  @Tag("F61")
  void a_changed_item_is_a_conflict_of_that_item_alone() {
    Program program = program(text("Done."));
    var _ = batch(List.of("a", "b")).run(program.agents);

    BatchReport report =
        Batch.of(
                "batch",
                agent,
                List.of("a", "b", "c"),
                item -> item,
                item -> item.replace("b", "x"))
            .run(program.agents);

    assertEquals(Outcome.SKIPPED, item(report, "a").outcome());
    assertEquals(Outcome.COMPLETED, item(report, "c").outcome());
    assertEquals(Outcome.FAILED, item(report, "b").outcome());
    assertEquals(Optional.of(FailureKind.CONFLICT), item(report, "b").failure());
    assertTrue(item(report, "b").message().orElseThrow().contains("messages"));
  }

  @Test
  @Tag("A131")
  @Tag("F61")
  void an_item_whose_run_was_cancelled_has_failed_and_is_not_driven_again() {
    Program program = program(refunding(), text("Done."));
    Agent paying =
        Agent.builder("paying", Program.ROUTE)
            .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
            .build();
    Batch<String, Agents> batch = Batch.of("b", paying, List.of("x"), item -> item, item -> item);
    BatchItem waiting = batch.run(program.agents).items().getFirst();
    var _ = program.agents.runs().cancel(waiting.run().orElseThrow());

    BatchItem cancelled = batch.run(program.agents).items().getFirst();

    assertEquals(Outcome.FAILED, cancelled.outcome());
    assertEquals(Optional.of(FailureKind.CANCELLED), cancelled.failure());
    assertEquals(waiting.run(), cancelled.run());
    assertEquals(0, cancelled.work().dispatches());
  }

  @Test
  @Tag("R318")
  void each_item_is_paid_by_its_own_account() {
    BudgetStore budget = BudgetStore.local(Prices.usd("1"));
    program =
        Optional.of(
            Program.having(
                store,
                FakeModel.of(refunding(), text("Done.")),
                gateway ->
                    gateway
                        .costAccounting(Prices.accounting())
                        .budget(budget, ReservationRule.fixed(Prices.usd("0.10")))));

    BatchReport report =
        batch(List.of("a", "b"))
            .invocation(item -> Invocation.builder().budgetScope("account of " + item).build())
            .run(program.get().agents);

    assertEquals(2, report.count(Outcome.COMPLETED));
    assertEquals(Prices.usd("0.04"), budget.snapshot("account of a").spent());
    assertEquals(Prices.usd("0.04"), budget.snapshot("account of b").spent());
  }

  @Test
  @Tag("A25")
  @Tag("F61")
  void an_item_that_its_own_handle_cancels_fails_alone_and_can_be_resumed() {
    Cancellation stop = new Cancellation();
    Program program =
        program(
            call -> {
              if (item(call).equals("b")) {
                stop.cancel("not this one");
                new CountDownLatch(1).await();
              }
              return text("Done.").give(call);
            });

    BatchReport report =
        batch(List.of("a", "b", "c"))
            .maxConcurrency(1)
            .invocation(
                item ->
                    item.equals("b")
                        ? Invocation.builder().cancellation(stop).build()
                        : Invocation.DEFAULT)
            .run(program.agents);

    assertFalse(report.stopped());
    assertEquals(2, report.count(Outcome.COMPLETED));
    assertEquals(Optional.of(FailureKind.CANCELLED), item(report, "b").failure());
    RunState left =
        program.agents.runs().state(item(report, "b").run().orElseThrow()).orElseThrow();
    assertTrue(left.failure().orElseThrow().resumable());
  }

  @Test
  @Tag("F61")
  void an_item_that_cannot_be_asked_for_fails_alone() {
    Program program = program(text("Done."));
    String tooLong = "k".repeat(300);

    BatchReport report =
        Batch.of(
                "batch",
                agent,
                List.of("a", "broken", tooLong, "b"),
                item -> item,
                item -> {
                  if (item.equals("broken")) {
                    throw new IllegalStateException("secret");
                  }
                  return item;
                })
            .run(program.agents);

    assertEquals(2, report.count(Outcome.COMPLETED));
    assertEquals(2, report.count(Outcome.FAILED));
    assertEquals(Optional.of(FailureKind.INTERNAL), item(report, "broken").failure());
    assertFalse(item(report, "broken").message().orElseThrow().contains("secret"));
    assertEquals(Optional.of(FailureKind.INVALID_REQUEST), item(report, tooLong).failure());
  }

  @Test
  @Tag("F61")
  void an_error_in_one_item_fails_that_item_and_no_other() {
    Program program =
        program(
            call -> {
              if (item(call).equals("b")) {
                throw new StackOverflowError();
              }
              return text("Done.").give(call);
            });
    Batch<String, Agents> batch = batch(List.of("a", "b", "c")).maxConcurrency(2);

    for (int round = 0; round < 2; round++) {
      BatchReport report = batch.run(program.agents);
      assertEquals(1, report.count(Outcome.FAILED));
      assertEquals(Optional.of(FailureKind.INTERNAL), item(report, "b").failure());
      assertEquals(2, report.count(Outcome.COMPLETED) + report.count(Outcome.SKIPPED));
    }
  }

  @Test
  @Tag("F64")
  void progress_is_told_in_order_by_one_thread_and_a_failing_listener_is_ignored() {
    Program program =
        program(
            call -> item(call).equals("item-3") ? status(400).give(call) : text("x").give(call));
    List<BatchProgress> told = Collections.synchronizedList(new ArrayList<>());
    Thread caller = Thread.currentThread();

    BatchReport report =
        batch(items(10))
            .maxConcurrency(2)
            .onProgress(
                progress -> {
                  assertEquals(caller, Thread.currentThread());
                  told.add(progress);
                  throw new IllegalStateException("ignored");
                })
            .run(program.agents);

    assertEquals(9, report.count(Outcome.COMPLETED));
    assertEquals(20, told.size(), "each beginning and each end");
    int done = 0;
    for (BatchProgress progress : told) {
      assertEquals(
          10,
          progress.pending()
              + progress.running()
              + progress.completed()
              + progress.waiting()
              + progress.failed()
              + progress.skipped());
      assertTrue(progress.running() <= 2);
      assertTrue(progress.done() >= done);
      done = progress.done();
    }
    BatchProgress last = told.getLast();
    assertEquals(new BatchProgress(10, 0, 9, 0, 1, 0, report.usage(), report.cost()), last);
    assertEquals(0, last.pending());
    assertEquals(90, last.usage().input().tokens());
  }

  @Test
  @Tag("F61")
  void a_batch_whose_process_died_is_run_again_and_no_item_acts_twice() {
    List<String> items = items(6);
    for (int write = 1; write < 30; write += 3) {
      RunStore own = RunStore.inMemory();
      MortalStore mortal = MortalStore.dyingAt(write, write % 2 == 0, own);
      World before = new World();
      Agent acting =
          Agent.builder("agent", Program.ROUTE).tools(before.reconciled("refund").build()).build();
      Batch<String, Agents> batch =
          Batch.of("batch", acting, items, item -> item, item -> item).maxConcurrency(2);
      Program dying = Program.on(mortal, FakeModel.of(refunding(), text("Done.")));
      BatchReport cutShort = batch.run(dying.agents);
      assertTrue(cutShort.count(Outcome.FAILED) > 0, "nothing works in a dead process");
      mortal.bury();

      Program next = Program.on(own, FakeModel.of(refunding(), text("Done.")));
      BatchReport report = batch.run(next.agents);

      assertEquals(6, report.count(Outcome.COMPLETED) + report.count(Outcome.SKIPPED));
      Map<String, Integer> refunds = new HashMap<>();
      before.effects().forEach(effect -> refunds.merge(effect.order(), 1, Integer::sum));
      assertEquals(items.stream().collect(Collectors.toMap(i -> i, i -> 1)), refunds);
      assertEquals(6, next.runs().size());
      next.assertNothingIsLeft();
    }
  }

  @Test
  void an_interrupt_stops_the_batch_which_is_resumable() throws Exception {
    CountDownLatch began = new CountDownLatch(2);
    AtomicBoolean hang = new AtomicBoolean(true);
    Program program =
        program(
            call -> {
              if (hang.get()) {
                began.countDown();
                new CountDownLatch(1).await();
              }
              return text("Done.").give(call);
            });
    AtomicReference<Optional<BatchReport>> stopped = new AtomicReference<>(Optional.empty());
    AtomicBoolean flag = new AtomicBoolean();
    Thread caller =
        Thread.ofVirtual()
            .start(
                () -> {
                  stopped.set(Optional.of(batch(items(9)).maxConcurrency(2).run(program.agents)));
                  flag.set(Thread.currentThread().isInterrupted());
                });
    began.await();
    caller.interrupt();
    caller.join();

    BatchReport report = stopped.get().orElseThrow();
    assertTrue(report.stopped());
    assertEquals(List.of(), report.items());
    assertTrue(flag.get());
    assertEquals(2, program.runs().size());
    program.assertNothingIsLeft();

    hang.set(false);
    BatchReport rest = batch(items(9)).run(program.agents);
    assertFalse(rest.stopped());
    assertEquals(9, rest.count(Outcome.COMPLETED));
    assertEquals(9, program.runs().size());
  }

  @Test
  void a_batch_may_be_of_another_scope() {
    Program program = program(text("Done."));
    RunScope scope = RunScope.of("tenant");

    BatchReport report = batch(items(1)).scope(scope).run(program.agents);

    assertEquals(scope, report.items().getFirst().run().orElseThrow().scope());
    assertEquals(List.of(), program.runs());
  }
}
