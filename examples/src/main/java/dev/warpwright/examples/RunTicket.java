package dev.warpwright.examples;

import dev.warpwright.flow.Batch;
import dev.warpwright.tool.ToolContext;
import java.util.Map;
import java.util.Objects;

/**
 * The ticket that a tool works for.
 *
 * <p>From what the program noted when it started the run, never from what the model says: a ticket
 * that talks the model into naming another ticket or customer gains nothing.
 *
 * @param id the id of the ticket
 * @param customer who wrote it
 */
record RunTicket(String id, String customer) {
  private static final String CUSTOMER = "customer";

  /** What a run notes of its ticket. */
  static Map<String, String> metadataOf(Ticket ticket) {
    return Map.of(CUSTOMER, ticket.customer());
  }

  static RunTicket of(ToolContext context) {
    Map<String, String> noted = context.caller().metadata();
    return new RunTicket(
        Objects.requireNonNull(noted.get(Batch.ITEM)), Objects.requireNonNull(noted.get(CUSTOMER)));
  }
}
