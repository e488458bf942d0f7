package dev.warpwright.run;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * A run's log as text that another process can read: one JSON object a line, an event each, in
 * order.
 *
 * <p>Nothing is lost on the way, members of events included that only a newer Warpwright knows. The
 * text holds messages and tool data: protect it like the store.
 */
public final class RunExport {
  /**
   * What stands between the envelope and the event; it cannot be inside a text of the envelope, in
   * which quotes are escaped. The event is not read together with the envelope, so that its bytes
   * stay what they are and its depth is its own.
   */
  private static final String EVENT = ",\"event\":";

  private RunExport() {}

  /**
   * Writes a log.
   *
   * @param log the events of one run, in order
   * @return the text, each line ended by a line feed
   */
  public static String write(List<LoggedEvent> log) {
    StringBuilder text = new StringBuilder();
    for (LoggedEvent logged : log) {
      String envelope = Json.of(envelope(logged)).text();
      text.append(envelope, 0, envelope.length() - 1)
          .append(EVENT)
          .append(new String(RunEventCodec.encode(logged), StandardCharsets.UTF_8))
          .append("}\n");
    }
    return text.toString();
  }

  private static Map<String, Object> envelope(LoggedEvent logged) {
    RunScope scope = logged.run().scope();
    Map<String, Object> envelope = new LinkedHashMap<>();
    envelope.put("tenant", scope.tenant());
    scope.user().ifPresent(user -> envelope.put("user", user));
    scope.namespace().ifPresent(namespace -> envelope.put("namespace", namespace));
    envelope.put("run", logged.run().runId());
    envelope.put("sequence", logged.sequence());
    envelope.put("writer", logged.writer().name());
    envelope.put("epoch", logged.writer().epoch());
    envelope.put("time", logged.time().toString());
    envelope.put("type", RunEventCodec.type(logged.event()));
    envelope.put("version", RunEventCodec.version(logged));
    return envelope;
  }

  /**
   * Reads a log. Whether it is whole is checked where it is used.
   *
   * @param text what {@link #write} wrote
   * @return the events in order
   * @throws InvalidRequestException if a line is no event, or one of a type or version that this
   *     Warpwright does not know; the message names the line, not what is in it
   */
  public static List<LoggedEvent> read(String text) {
    List<LoggedEvent> log = new ArrayList<>();
    int number = 0;
    for (String line : text.split("\n", -1)) {
      number++;
      if (!line.isBlank()) {
        log.add(event(number, line));
      }
    }
    return log;
  }

  private static LoggedEvent event(int number, String line) {
    String object = line.strip();
    int event = object.indexOf(EVENT);
    if (event < 0 || !object.endsWith("}")) {
      throw refused(number, "is not one event, written as one line");
    }
    JsonNode tree;
    try {
      tree = StrictJson.read(object.substring(0, event) + "}");
    } catch (JacksonException e) {
      throw refused(number, "is no JSON object");
    }
    String body = object.substring(event + EVENT.length(), object.length() - 1);
    RunScope scope =
        new RunScope(
            text(number, tree, "tenant"), optional(tree, "user"), optional(tree, "namespace"));
    return RunEventCodec.decode(
        new RunKey(scope, text(number, tree, "run")),
        number(number, tree, "sequence"),
        new Writer(text(number, tree, "writer"), number(number, tree, "epoch")),
        time(number, text(number, tree, "time")),
        text(number, tree, "type"),
        Math.toIntExact(Math.min(number(number, tree, "version"), Integer.MAX_VALUE)),
        body.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(int number, JsonNode tree, String member) {
    return optional(tree, member)
        .orElseThrow(() -> refused(number, "has no text \"" + member + "\""));
  }

  private static Optional<String> optional(JsonNode tree, String member) {
    JsonNode value = tree.path(member);
    return value.isString() ? Optional.of(value.stringValue()) : Optional.empty();
  }

  private static long number(int number, JsonNode tree, String member) {
    JsonNode value = tree.path(member);
    if (!value.isIntegralNumber() || !value.canConvertToLong() || value.longValue() < 0) {
      throw refused(number, "has no number \"" + member + "\"");
    }
    return value.longValue();
  }

  private static Instant time(int number, String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeException e) {
      throw refused(number, "has a \"time\" that is none");
    }
  }

  private static InvalidRequestException refused(int number, String why) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST, "Line " + number + " of an exported log " + why + ".");
  }
}
