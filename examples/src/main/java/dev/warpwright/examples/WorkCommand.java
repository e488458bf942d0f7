package dev.warpwright.examples;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Worker;
import dev.warpwright.run.WorkerStatus;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Drives whatever is due in a database, beside other processes that do the same. */
@Command(
    name = "work",
    sortOptions = false,
    description = {
      "Drives the runs that are due: tickets that triage --queue has queued, runs whose process"
          + " died, runs whose approval was decided. On PostgreSQL any number of processes may do"
          + " so at the same time, all with the same --out, where the effects are.",
      "Ctrl-C or SIGTERM stops it in order: what does not end within 5 s is handed back, and other"
          + " workers go on with it.",
      "Exit code: 0, or 1 if a run could not be driven, 2 for wrong arguments."
    })
final class WorkCommand implements Callable<Integer> {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final Duration LOOK = Duration.ofSeconds(1);
  private static final Duration LONG = Duration.ofDays(3650);

  private final Console console;

  @Option(names = "--until-idle", description = "Ends when nothing is due any more.")
  private boolean untilIdle;

  @Mixin private final JobOptions job = new JobOptions();

  WorkCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    job.check();
    try (StopSignal _ = StopSignal.forThisThread();
        Providers providers = job.providers();
        RunStore store = Databases.open(job.db());
        Effects effects = job.effects()) {
      Agents agents = Agents.on(providers.gateway(), store);
      Agent agent = TriageAgent.of(providers.route(), Orders.load(), effects);
      Worker worker =
          Worker.builder(store)
              .drives(agents.driver(agent))
              .maxRuns(job.concurrency())
              .tasks(agents.tasks())
              .start();
      awaitEnd(worker);
      boolean interrupted = Thread.interrupted(); // its patience is for the runs
      var _ = worker.stop(PATIENCE);
      WorkerStatus end = worker.status();
      console.print(
          """
          Runs taken up      %7d
            ended or wait    %7d
            handed back      %7d
            not driven       %7d\
          """
              .formatted(end.taken(), end.ended(), end.handedBack(), end.failed()));
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
      return end.failed() == 0 ? 0 : 1;
    }
  }

  private void awaitEnd(Worker worker) {
    try (Progress progress = Progress.on(console, job.progress())) {
      if (untilIdle) {
        var _ = worker.awaitIdle(LONG);
        return;
      }
      while (!Thread.currentThread().isInterrupted()) {
        pause();
        WorkerStatus now = worker.status();
        progress.tell(
            Math.toIntExact(now.ended()),
            Math.toIntExact(now.taken()),
            "%d running, %d not driven".formatted(now.running(), now.failed()));
      }
    }
  }

  private static void pause() {
    try {
      TimeSource.system().sleep(LOOK);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
