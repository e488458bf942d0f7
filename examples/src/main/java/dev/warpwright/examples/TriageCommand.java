package dev.warpwright.examples;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.flow.Batch;
import dev.warpwright.flow.BatchItem;
import dev.warpwright.flow.BatchProgress;
import dev.warpwright.flow.BatchReport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStore;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Puts the tickets of a file through the agent, one durable run a ticket. */
@Command(
    name = "triage",
    sortOptions = false,
    description = {
      "Puts every ticket of a file through the agent. Kill it whenever you like and run the same"
          + " command again: what is finished is skipped, what is not goes on, and nothing happens"
          + " twice.",
      "At the end the numbers are printed and written to report.json. A job that is stopped before"
          + " any ticket had an outcome writes none, and leaves the report of an earlier job as it"
          + " is.",
      "Exit code: 0 if no ticket failed (waiting for an approval is no failure, and neither is a"
          + " bad line beside a ticket), 1 otherwise, 2 for wrong arguments."
    })
final class TriageCommand implements Callable<Integer> {
  /** The key of the batch: with the id of a ticket it names the ticket's run. */
  static final String BATCH = "triage";

  private static final int SHOWN_FAILURES = 10;
  private static final int SHOWN_BAD_LINES = 20;

  private final Console console;

  @Option(
      names = "--input",
      paramLabel = "FILE.jsonl",
      description =
          "The tickets, one JSON object a line with id, customer, subject, body and"
              + " perhaps orderId; default: the two hundred shipped ones.")
  private @Nullable Path input;

  @Option(
      names = "--queue",
      description =
          "Only queues the tickets, for processes that drive them: see the command work. No report"
              + " is written.")
  private boolean queue;

  @Mixin private final JobOptions job = new JobOptions();

  TriageCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    job.check();
    try (StopSignal _ = StopSignal.forThisThread();
        Tickets tickets = tickets();
        Providers providers = job.providers();
        RunStore store = Databases.open(job.db());
        Effects effects = job.effects()) {
      warn(tickets.badLines());
      Agents agents = Agents.on(providers.gateway(), store);
      Agent agent = TriageAgent.of(providers.route(), Orders.load(), effects);

      if (queue) {
        return queue(agents, agent, tickets);
      }
      BatchReport batch = run(agents, agent, tickets);

      Report report = Report.of(batch, tickets.badLines().size());
      if (!batch.stopped() || !batch.items().isEmpty()) { // else an earlier one tells more
        report.write(job.out().resolve("report.json"));
      }
      tell(batch, report);
      return report.failed() == 0 ? 0 : 1;
    }
  }

  private Tickets tickets() {
    if (input == null) {
      return Tickets.open(() -> Lines.ofResource("/data/tickets.jsonl"));
    }
    Path file = input;
    Lines.require("--input", file);
    Tickets tickets = Tickets.open(() -> Lines.of(file));
    List<Tickets.BadLine> bad = tickets.badLines();
    if (tickets.isEmpty() && !bad.isEmpty()) {
      tickets.close();
      throw new JobException(
          "No line of %s is a ticket; line %d: %s"
              .formatted(file, bad.getFirst().number(), bad.getFirst().reason()));
    }
    return tickets;
  }

  private void warn(List<Tickets.BadLine> badLines) {
    badLines.stream()
        .limit(SHOWN_BAD_LINES)
        .forEach(bad -> console.error("Line " + bad.number() + " is skipped: " + bad.reason()));
    if (badLines.size() > SHOWN_BAD_LINES) {
      console.error("... and %d more lines.".formatted(badLines.size() - SHOWN_BAD_LINES));
    }
  }

  private int queue(Agents agents, Agent agent, Tickets tickets) {
    List<RunKey> queued = batch(agent, tickets).enqueue(agents);
    boolean all = !Thread.currentThread().isInterrupted();
    console.print(
        "%d tickets have their runs.%s"
            .formatted(
                queued.size(),
                all
                    ? " To drive them: work --db %s --out %s".formatted(job.db(), job.out())
                    : " Stopped; run the same command again to go on."));
    return all ? 0 : 1;
  }

  private Batch<Ticket, Agents> batch(Agent agent, Tickets tickets) {
    return Batch.of(BATCH, agent, tickets, Ticket::id, Ticket::prompt)
        .metadata(RunTicket::metadataOf)
        .maxConcurrency(job.concurrency());
  }

  private BatchReport run(Agents agents, Agent agent, Tickets tickets) {
    try (Progress progress = Progress.on(console, job.progress())) {
      return batch(agent, tickets)
          .onProgress(now -> progress.tell(now.done(), now.items(), counts(now)))
          .run(agents);
    }
  }

  private static String counts(BatchProgress now) {
    return "%d ok, %d waiting, %d failed, %d skipped"
        .formatted(now.completed(), now.waiting(), now.failed(), now.skipped());
  }

  private void tell(BatchReport batch, Report report) {
    report.print(console);
    batch.items().stream()
        .filter(item -> item.outcome() == BatchItem.Outcome.FAILED)
        .limit(SHOWN_FAILURES)
        .forEach(
            item ->
                console.print("%s failed: %s".formatted(item.key(), item.message().orElse(""))));
    if (report.failed() > SHOWN_FAILURES) {
      console.print(
          "and %d more; the command runs lists them".formatted(report.failed() - SHOWN_FAILURES));
    }
    if (batch.stopped()) {
      console.print(
          "Stopped after %d of %d tickets. Run the same command again to go on."
              .formatted(report.items(), batch.size()));
    } else if (report.waitingApproval() > 0) {
      console.print(
          "%d wait for an approval. To approve them all: approve --all --db %s --out %s"
              .formatted(report.waitingApproval(), job.db(), job.out()));
    }
  }
}
