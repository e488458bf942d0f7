package dev.warpwright.agent;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.Target;
import dev.warpwright.run.Harness;
import dev.warpwright.run.RunBinding;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunKey;
import java.util.List;
import java.util.Optional;

/**
 * That a run is resumed by the agent, on the targets, in the harness and the environment it had.
 */
final class Bindings {
  private Bindings() {}

  /**
   * Refuses what the run is not bound to.
   *
   * @param mayBeUnbound whether a run that was recorded without a harness or an environment may be
   *     resumed in one
   * @throws ConflictException if something differs; it shows both values
   */
  static void require(Agent agent, RunKey run, RunStarted started, boolean mayBeUnbound) {
    requireAgent(agent, run, started);
    requireEqual(run, "targets", names(started.targets()), names(agent.route().candidates()));
    RunBinding recorded = started.binding().orElse(RunBinding.NONE);
    RunBinding now = agent.binding();
    requireSame(
        run,
        "harness",
        recorded.harness().map(Harness::toString),
        now.harness().map(Harness::toString),
        mayBeUnbound);
    requireSame(run, "environment", recorded.environment(), now.environment(), mayBeUnbound);
  }

  /** Refuses another agent. */
  static void requireAgent(Agent agent, RunKey run, RunStarted started) {
    requireEqual(run, "agent", started.drivenBy(), agent.id());
  }

  private static String names(List<Target> targets) {
    return String.join(", ", targets.stream().map(Target::toString).toList());
  }

  private static void requireSame(
      RunKey run,
      String what,
      Optional<String> recorded,
      Optional<String> now,
      boolean mayBeUnbound) {
    if (recorded.isPresent()) {
      requireEqual(run, what, recorded.get(), now.orElse("none"));
    } else if (now.isPresent() && !mayBeUnbound) {
      throw conflict(
          "Run %s was recorded without %s and cannot be resumed with \"%s\", unless its invocation"
                  .formatted(run, what, now.get())
              + " says allowUnboundRun(true).");
    }
  }

  private static void requireEqual(RunKey run, String what, String recorded, String now) {
    if (!recorded.equals(now)) {
      throw conflict(
          "Run %s is bound to %s \"%s\" and cannot be resumed with \"%s\"."
              .formatted(run, what, recorded, now));
    }
  }

  private static ConflictException conflict(String message) {
    return new ConflictException(message, null, OperationTrace.NONE);
  }
}
