package dev.warpwright.bench.durable;

import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowResult;
import dev.warpwright.flow.Flows;
import dev.warpwright.flow.StepOptions;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.TaskTree;

/** A flow of so many steps that do nothing, one after the other: each step is one outcome. */
final class TrivialFlow {
  /** What the log has of a step. */
  enum Intent {
    /** Its outcome alone. */
    NONE,
    /** That it begins, durable before it does, and its outcome. */
    LOGGED;

    private StepOptions options() {
      return this == NONE ? StepOptions.pure() : StepOptions.once();
    }
  }

  private final TaskTree tasks = TaskTree.builder().build();
  private final Flow<String, String> flow;

  /**
   * Makes it.
   *
   * @param steps how many
   * @param intent whether a step may be repeated
   * @param step what a step does
   */
  TrivialFlow(int steps, Intent intent, Runnable step) {
    StepOptions options = intent.options();
    this.flow =
        Flow.of(
            "trivial",
            String.class,
            String.class,
            (ctx, input) -> {
              for (int n = 0; n < steps; n++) {
                var _ =
                    ctx.step(
                        "step",
                        String.class,
                        options,
                        info -> {
                          step.run();
                          return "done";
                        });
              }
              return "done";
            });
  }

  Flows on(RunStore store) {
    return Flows.on(tasks, store);
  }

  /** Runs once, to the end, which is checked. */
  void run(Flows flows) {
    FlowResult<String> result = flows.run(flow, "go");
    if (result.status() != RunStatus.COMPLETED) {
      throw new IllegalStateException("A flow ended as " + result.status());
    }
  }
}
