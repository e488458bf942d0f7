package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.Append;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ForwardingStore;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a parent makes of child flows that went on, or failed, while nobody drove it. */
@Timeout(60)
final class ChildFailureTest {
  private static final Duration HOUR = Duration.ofHours(1);

  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 7);
  private final RunStore store = RunStore.inMemory(time);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final Flows flows = Flows.on(tasks, store);
  private final Runs runs = Runs.in(store, time);
  private final List<String> effects = Collections.synchronizedList(new ArrayList<>());

  private static Flow<String, String> flow(String id, FlowBody<String, String> body) {
    return Flow.of(id, String.class, String.class, body);
  }

  private String pay(FlowContext ctx) {
    return ctx.step(
        "pay",
        String.class,
        StepOptions.once(),
        step -> {
          effects.add("pay");
          throw new IllegalStateException("refused");
        });
  }

  private RunKey below(RunKey run) {
    return new RunKey(
        run.scope(), runs.state(run).orElseThrow().children().getFirst().started().childRunId());
  }

  @Test
  @Tag("F33")
  @Tag("F20")
  void a_once_step_of_a_child_that_failed_is_not_made_again_because_its_parent_wakes() {
    Flow<String, String> child =
        flow(
            "child",
            (ctx, in) -> {
              ctx.sleep(HOUR);
              return pay(ctx);
            });
    Flow<String, String> parent =
        flow(
            "parent",
            (ctx, in) -> {
              try {
                return ctx.child(child, in);
              } catch (StepFailedException e) {
                return "failed";
              }
            });
    RunKey run = flows.run(parent, "x").run();
    time.advance(HOUR);
    assertEquals(RunStatus.FAILED, flows.resume(child, below(run)).status());
    assertEquals("failed", flows.resume(parent, run).orThrow());
    assertEquals(List.of("pay"), effects);
  }

  @Test
  @Tag("F55")
  @Tag("F51")
  void a_crash_before_the_failure_of_a_child_is_recorded_makes_its_once_step_again_only_if_asked() {
    AtomicBoolean dies = new AtomicBoolean(true);
    RunStore dying =
        new ForwardingStore(store) {
          @Override
          public void append(Append append, Deadline deadline) {
            if (append.events().stream().anyMatch(ChildFinished.class::isInstance)
                && dies.getAndSet(false)) {
              throw new IllegalStateException("The process dies.");
            }
            super.append(append, deadline);
          }
        };
    Flow<String, String> child = flow("child", (ctx, in) -> pay(ctx));
    Flow<String, String> parent = flow("parent", (ctx, in) -> ctx.child(child, in));
    Flows mortal = Flows.on(tasks, dying);
    assertThrows(IllegalStateException.class, () -> mortal.run(parent, "p", "x"));
    RunKey run = new RunKey(RunScope.DEFAULT, "p");

    assertEquals(RunStatus.FAILED, flows.resume(parent, run).status());
    assertEquals(List.of("pay"), effects);

    for (int resumes = 1; resumes <= 2; resumes++) { // of a failed run, which makes it again
      assertEquals(RunStatus.FAILED, flows.resume(parent, run).status());
      assertEquals(1 + resumes, effects.size());
    }
  }

  @Test
  @Tag("F33")
  @Tag("F42")
  void a_resume_of_a_parent_goes_on_with_a_child_that_waits_no_more_and_writes_nothing_before() {
    Flow<String, String> child =
        flow("child", (ctx, in) -> "" + ctx.approval("ok", in, HOUR).approved());
    Flow<String, String> parent = flow("parent", (ctx, in) -> ctx.child(child, in));
    FlowResult<String> waits = flows.run(parent, "x");
    assertEquals(waits.log(), flows.resume(parent, waits.run()).log());

    RunState asks = runs.waiting(waits.run().scope()).getFirst();
    var _ =
        runs.decide(
            asks.run(), ApprovalDecision.approve(asks.pendingApprovals().getFirst().requestId()));
    assertEquals("true", flows.resume(parent, waits.run()).orThrow());
  }
}
