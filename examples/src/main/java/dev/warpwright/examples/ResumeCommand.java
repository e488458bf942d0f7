package dev.warpwright.examples;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Drives one run on. */
@Command(
    name = "resume",
    sortOptions = false,
    description = {
      "Drives one run on: after a failure that can be resumed, a verdict, or a crash. A run that"
          + " has ended, waits for a decision or is driven elsewhere stays as it is.",
      "Exit code: 0 if it has not failed, 1 otherwise, 2 for wrong arguments."
    })
final class ResumeCommand implements Callable<Integer> {
  private final Console console;

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final JobOptions job = new JobOptions();
  @Mixin private final RunParameter run = new RunParameter();

  ResumeCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    job.check();
    var key = run.key();
    try (StopSignal _ = StopSignal.forThisThread();
        Providers providers = job.providers();
        RunStore store = Databases.openExisting(job.db());
        Effects effects = job.existingEffects()) {
      Agents agents = Agents.on(providers.gateway(), store);
      Agent agent = TriageAgent.of(providers.route(), Orders.load(), effects);
      AgentResult result = agents.resume(agent, key);
      json.print(console, RunJson.of(result.state()), RunJson.line(result.state()));
      return result.status() == RunStatus.FAILED ? 1 : 0;
    }
  }
}
