package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FlowTest {
  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 7);
  private final RunStore store = RunStore.inMemory(time);
  private final Flows flows = Flows.on(TaskTree.builder().time(time).build(), store);
  private final List<String> effects = new ArrayList<>();

  private String act(String what) {
    effects.add(what);
    return what;
  }

  private static List<String> types(FlowResult<?> result) {
    return result.log().stream()
        .map(LoggedEvent::event)
        .map(e -> e.getClass().getSimpleName())
        .toList();
  }

  @Test
  @Tag("F11")
  void steps_are_recorded_before_they_return() {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) ->
                ctx.step("one", String.class, step -> act("1" + in))
                    + ctx.step("two", String.class, StepOptions.pure(), step -> act("2")));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals("1x2", result.orThrow());
    assertEquals(
        List.of(
            "RunStarted",
            "FlowStepStarted",
            "FlowStepFinished",
            "FlowStepFinished",
            "RunCompleted"),
        types(result));
    assertEquals(List.of("1x", "2"), effects);
  }

  @Test
  void a_sleep_suspends_and_goes_on_when_it_is_due() {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> {
              String one = ctx.step("one", String.class, step -> act("1"));
              ctx.sleep(Duration.ofHours(3));
              return one + ctx.step("two", String.class, step -> act("2"));
            });
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.WAITING, result.status());
    result = flows.resume(flow, result.run());
    assertEquals(RunStatus.WAITING, result.status());
    time.advance(Duration.ofHours(3));
    result = flows.resume(flow, result.run());
    assertEquals("12", result.orThrow());
    assertEquals(List.of("1", "2"), effects);
  }

  @Test
  void an_approval_and_a_signal_are_waited_for() {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> {
              Decision decision = ctx.approval("big", in, Duration.ofDays(1));
              Optional<String> word = ctx.awaitSignal("word", String.class, Duration.ofDays(1));
              return decision.approved() + word.orElse("none");
            });
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    String request = result.state().pendingApprovals().getFirst().requestId();
    result = flows.resume(flow, result.run(), ApprovalDecision.approve(request));
    assertEquals(RunStatus.WAITING, result.status());
    assertTrue(flows.signal(result.run(), "word", "yes", "s1"));
    result = flows.resume(flow, result.run());
    assertEquals("trueyes", result.orThrow());
  }

  @Test
  void branches_run_side_by_side_and_the_first_failure_counts() throws Exception {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> {
              List<Branch<String>> branches = new ArrayList<>();
              for (int i = 0; i < 3; i++) {
                String n = "b" + i;
                branches.add(branch -> branch.step(n, String.class, step -> n));
              }
              return String.join("", ctx.<String>parallel("all", branches));
            });
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals("b0b1b2", result.orThrow());
  }

  @Test
  void a_failed_step_is_retried_and_a_resume_makes_it_again() {
    List<Integer> attempts = new ArrayList<>();
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) ->
                ctx.step(
                    "one",
                    String.class,
                    StepOptions.DEFAULT.retry(
                        StepRetry.attempts(2).delays(Duration.ZERO, 1, Duration.ZERO)),
                    step -> {
                      attempts.add(step.attempt());
                      if (step.attempt() < 3) {
                        throw new IllegalStateException("no");
                      }
                      return "yes";
                    }));
    FlowResult<String> result = flows.run(flow, "x");
    assertEquals(RunStatus.FAILED, result.status());
    assertEquals(FailureKind.INTERNAL, result.state().failure().orElseThrow().kind());
    result = flows.resume(flow, result.run());
    assertEquals("yes", result.orThrow());
    assertEquals(List.of(1, 2, 3), attempts);
  }

  @Test
  void another_body_is_refused_and_the_right_one_goes_on() {
    Flow<String, String> flow = waiting("one");
    FlowResult<String> result = flows.run(flow, "x");
    RunKey run = result.run();
    flows.signal(run, "go", "go", "s");
    NonDeterminismException differs =
        assertThrows(NonDeterminismException.class, () -> flows.resume(waiting("other"), run));
    assertTrue(differs.getMessage().contains("step \"one\""), differs.getMessage());
    assertEquals("gone", flows.resume(flow, run).orThrow());
  }

  private Flow<String, String> waiting(String step) {
    return Flow.of(
        "f",
        String.class,
        String.class,
        (ctx, in) -> {
          ctx.step(step, String.class, info -> act(step));
          return ctx.awaitSignal("go", String.class) + "ne";
        });
  }

  @Test
  void a_body_may_catch_a_failed_step() {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> {
              ctx.compensate("undo", step -> act("undone"));
              try {
                return ctx.step(
                    "one",
                    String.class,
                    step -> {
                      throw new IllegalStateException("no");
                    });
              } catch (StepFailedException failed) {
                ctx.runCompensations();
                return failed.isOf(IllegalStateException.class) ? "caught" : "other";
              }
            });
    assertEquals("caught", flows.run(flow, "x").orThrow());
    assertEquals(List.of("undone"), effects);
  }

  @Test
  void a_cancelled_flow_takes_back_what_was_registered() {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> {
              ctx.onCancel("undo", step -> act("undone"));
              return ctx.awaitSignal("go", String.class);
            });
    FlowResult<String> result = flows.run(flow, "x");
    dev.warpwright.run.Runs.in(store).cancel(result.run());
    result = flows.resume(flow, result.run());
    assertEquals(RunStatus.CANCELLED, result.status());
    assertEquals(List.of("undone"), effects);
    assertEquals(RunScope.DEFAULT, result.run().scope());
  }

  @Test
  @Tag("F37")
  @Tag("F43")
  void a_worker_drives_a_flow_on_when_its_timer_is_due() {
    Flow<String, String> flow =
        Flow.of(
            "f",
            String.class,
            String.class,
            (ctx, in) -> {
              ctx.sleep(Duration.ofHours(3));
              return act("awake");
            });
    RunKey run = flows.run(flow, "x").run();
    try (dev.warpwright.run.Worker worker =
        dev.warpwright.run.Worker.builder(store)
            .drives(flows.driver(flow))
            .tasks(TaskTree.builder().time(time).build())
            .start()) {
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
      assertEquals(
          RunStatus.WAITING, dev.warpwright.run.Runs.in(store).state(run).orElseThrow().status());
      time.advance(Duration.ofHours(3));
      assertTrue(worker.awaitIdle(Duration.ofSeconds(30)));
      assertEquals(List.of("awake"), effects);
    }
  }

  @Test
  void a_request_keeps_to_the_rules_of_every_run() {
    Flow<String, String> flow = waiting("one");
    FlowRequest.Builder<String, String> request = FlowRequest.builder(flow, "x");

    assertThrows(
        InvalidRequestException.class, () -> request.metadata(Map.of("warpwright.batch", "1")));
    assertThrows(InvalidRequestException.class, () -> request.idempotencyKey(" "));
    assertThrows(InvalidRequestException.class, () -> request.idempotencyKey("k".repeat(257)));
  }
}
