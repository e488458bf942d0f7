package dev.warpwright.examples;

import dev.warpwright.flow.Batch;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.Runs;
import dev.warpwright.tool.ToolContext;
import java.util.Optional;

/**
 * Tells a tool for which ticket it works.
 *
 * <p>From what the program wrote when it started the run, never from what the model says: a ticket
 * that talks the model into naming another ticket or customer gains nothing.
 */
final class RunTickets {
  private final Runs runs;

  RunTickets(Runs runs) {
    this.runs = runs;
  }

  /** The id of the ticket. */
  String idOf(ToolContext context) {
    return Optional.ofNullable(context.caller().metadata().get(Batch.ITEM)).orElseThrow();
  }

  /** The customer who wrote the ticket. */
  String customerOf(ToolContext context) {
    RunKey run = new RunKey(RunScope.DEFAULT, context.caller().operationId());
    RunState state = runs.state(run).orElseThrow();
    return state.started().messages().stream()
        .filter(message -> message.role() == Role.USER)
        .map(Message::text)
        .map(Ticket::customerOf)
        .findFirst()
        .orElseThrow();
  }
}
