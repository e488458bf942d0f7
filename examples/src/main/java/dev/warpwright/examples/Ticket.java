package dev.warpwright.examples;

import dev.warpwright.model.Json;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A support ticket.
 *
 * @param id unique in its file
 * @param customer who wrote it
 * @param subject its subject
 * @param body what the customer wrote
 * @param orderId the order that it is about, when known
 */
record Ticket(String id, String customer, String subject, String body, Optional<String> orderId) {
  private static final JsonType<Ticket> TYPE = JsonType.of(Ticket.class, MethodHandles.lookup());
  private static final List<String> MEMBERS =
      List.of("id", "customer", "subject", "body", "orderId");

  private static final Pattern ID = Pattern.compile("[\\p{L}\\p{N}_.:#/-]{1,100}");

  /**
   * Reads a line of a ticket file; members that a ticket does not have are ignored.
   *
   * @throws JobException if it is no ticket; the message says why
   */
  static Ticket parse(String line) {
    Json json = Json.parse(line);
    if (!(json.value() instanceof Map<?, ?> all)) {
      throw new JobException("It is no JSON object.");
    }
    Map<String, Object> members = new LinkedHashMap<>();
    for (String member : MEMBERS) {
      Object value = all.get(member);
      if (value != null) {
        members.put(member, value);
      }
    }
    Json known = Json.of(members);
    List<String> violations = TYPE.violations(known);
    if (!violations.isEmpty()) {
      throw new JobException(String.join("; ", violations) + ".");
    }
    Ticket ticket = TYPE.read(known);
    requireId("id", ticket.id);
    ticket.orderId.ifPresent(order -> requireId("orderId", order));
    return ticket;
  }

  private static void requireId(String member, String text) {
    if (!ID.matcher(text).matches()) {
      throw new JobException("$." + member + " must match " + ID + ".");
    }
  }

  /**
   * What the agent is asked. The customer's words cannot pass for a header: the subject and the
   * name are put on one line each, and the body comes last.
   */
  String prompt() {
    return "Subject: %s\nCustomer: %s\nOrder: %s\nBody:\n%s"
        .formatted(oneLine(subject), oneLine(customer), orderId.orElse("none"), body);
  }

  /** A text without line breaks and other control characters. */
  static String oneLine(String text) {
    return text.replaceAll("[\\s\\p{Cntrl}\\u0085\\u2028\\u2029]+", " ").strip();
  }
}
