package dev.warpwright.examples;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.Json;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Decides the approvals that runs wait for, and drives the runs on. */
abstract class DecideCommand implements Callable<Integer> {
  private final Console console;

  @ArgGroup(multiplicity = "1")
  private final Which which = new Which();

  @Option(names = "--by", paramLabel = "NAME", description = "Who decides; default: the user.")
  private @Nullable String by;

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final JobOptions job = new JobOptions();

  /** One or all. */
  private static final class Which {
    @Option(names = "--all", required = true, description = "All runs that wait.")
    private boolean all;

    @Option(names = "--run", required = true, paramLabel = "ID", description = "One run.")
    private @Nullable String run;
  }

  DecideCommand(Console console) {
    this.console = console;
  }

  /** The decision on a request, without who made it. */
  abstract ApprovalDecision decision(String requestId);

  /** What it was for the requests, in a word. */
  abstract String done();

  @Override
  public Integer call() {
    job.check();
    String operator = Operator.name(by);
    if (which.run != null && which.run.isBlank()) {
      throw new JobException.Usage("--run must not be blank.");
    }
    try (StopSignal _ = StopSignal.forThisThread();
        Providers providers = job.providers();
        RunStore store = Databases.openExisting(job.db());
        Effects effects = job.existingEffects()) {
      Agents agents = Agents.on(providers.gateway(), store);
      Agent agent = TriageAgent.of(providers.route(), Orders.load(), effects);
      List<RunKey> runs =
          which.all
              ? Decider.toDecide(agents.runs())
              : List.of(named(Objects.requireNonNull(which.run), agents.runs()));

      List<Decider.Result> results = new ArrayList<>();
      boolean all;
      try (Progress progress = Progress.on(console, job.progress())) {
        all =
            new Decider(agents, agent, requestId -> decision(requestId).by(operator))
                .drive(
                    runs,
                    job.concurrency(),
                    result -> {
                      results.add(result);
                      progress.tell(results.size(), runs.size(), "driven on");
                    });
      }
      if (json.isWanted()) {
        results.forEach(result -> printState(agents.runs(), result.run()));
      } else {
        print(results);
      }
      if (!all) {
        console.print(
            "Stopped after %d of %d runs. Run the same command again to go on."
                .formatted(results.size(), runs.size()));
      }
      return results.stream().anyMatch(Decider.Result::isFailed) ? 1 : 0;
    }
  }

  private void printState(Runs runs, RunKey run) {
    console.print(Json.of(RunJson.of(runs.state(run).orElseThrow())).text());
  }

  private static RunKey named(String id, Runs runs) {
    RunKey run = new RunKey(RunScope.DEFAULT, id);
    RunState state =
        runs.state(run).orElseThrow(() -> new JobException("There is no run " + id + "."));
    if (state.pendingApprovals().isEmpty() && !Decider.wasLeft(runs, run)) {
      throw new JobException(
          "Run " + id + " waits for no approval; its status is " + state.status() + ".");
    }
    return run;
  }

  private void print(List<Decider.Result> results) {
    int decided = results.stream().mapToInt(Decider.Result::decided).sum();
    console.print(
        """
        Approvals %-8s %7d
        Runs driven on     %7d
          completed        %7d
          to approve       %7d
          to reconcile     %7d
          failed           %7d\
        """
            .formatted(
                done(),
                decided,
                results.size(),
                count(results, RunStatus.COMPLETED),
                count(results, RunStatus.WAITING_APPROVAL),
                count(results, RunStatus.NEEDS_RECONCILIATION),
                results.stream().filter(Decider.Result::isFailed).count()));
    results.stream()
        .filter(Decider.Result::isFailed)
        .forEach(
            result ->
                console.print(
                    "Run %s failed: %s".formatted(result.run(), result.failure().orElse(""))));
  }

  private static long count(List<Decider.Result> results, RunStatus status) {
    return results.stream()
        .filter(result -> result.status().filter(status::equals).isPresent())
        .count();
  }
}
