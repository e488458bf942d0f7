package dev.warpwright.run;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.OperationTrace;
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
 * Logs of runs as text that another process can read: one JSON object a line, an event each, in
 * order, UTF-8 and ended by a line feed; the logs of several runs one behind the other.
 *
 * <p>The same log always gives the same text, and nothing is lost on the way: values stand as they
 * were stored, with every digit, members of events included that only a newer Warpwright knows. The
 * first line of a run says how many lines it has and what their SHA-256 is, so that a text that was
 * cut short or altered by accident is refused. The text holds messages and tool data: protect it
 * like the store. A {@linkplain #writeMasked masked} one does not, and can be looked at only.
 *
 * <p>Stateless and thread-safe.
 */
public final class RunExport {
  /** How long a line may be that is read, in characters: 64 Mi. */
  static final int MAX_LINE = 64 * 1024 * 1024;

  /** How many events are read at most. */
  static final int MAX_EVENTS = 1_000_000;

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
    return write(log, false);
  }

  /**
   * Writes a log without what people, models, tools and the program said: prompts, answers, inputs
   * and outputs, values, notes, reasons and words of errors. Kinds, names, ids, digests, numbers
   * and times are left.
   *
   * @param log the events of one run, in order
   * @return the text, marked in each line as masked; {@link #view} reads it
   */
  public static String writeMasked(List<LoggedEvent> log) {
    return write(log.stream().map(RunExport::masked).toList(), true);
  }

  private static LoggedEvent masked(LoggedEvent logged) {
    return new LoggedEvent(
        logged.run(),
        logged.sequence(),
        logged.writer(),
        logged.time(),
        Masking.mask(logged.event()));
  }

  private static String write(List<LoggedEvent> log, boolean masked) {
    if (log.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    LoggedEvent first = log.getFirst();
    for (LoggedEvent logged : log) {
      append(text, envelope(logged, masked), logged);
    }
    String digest = Digest.of(text.toString());
    int firstLine = text.indexOf("\n") + 1;
    StringBuilder head = new StringBuilder();
    Map<String, Object> envelope = envelope(first, masked);
    envelope.put("events", log.size());
    envelope.put("digest", digest);
    append(head, envelope, first);
    return text.replace(0, firstLine, head.toString()).toString();
  }

  private static void append(StringBuilder text, Map<String, Object> envelope, LoggedEvent logged) {
    String json = Json.of(envelope).text();
    text.append(json, 0, json.length() - 1)
        .append(EVENT)
        .append(new String(RunEventCodec.encode(logged), StandardCharsets.UTF_8))
        .append("}\n");
  }

  private static Map<String, Object> envelope(LoggedEvent logged, boolean masked) {
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
    if (masked) {
      envelope.put("masked", true);
    }
    return envelope;
  }

  /**
   * Reads the log of one run, or of several as one list. Whether a log breaks a rule is checked
   * where it is used.
   *
   * @param text what {@link #write} wrote, of this version or an earlier one, or several of those
   * @return the events in order
   * @throws InvalidRequestException if a line is no event, or one of a type or version that this
   *     Warpwright does not know; if a run's lines are not those that its first line announces; or
   *     if the text is masked. The message names the line, not what is in it
   * @throws LimitExceededException if a line has more than 64 Mi characters, or the text more than
   *     a million events
   */
  public static List<LoggedEvent> read(String text) {
    return readRuns(text).stream().flatMap(List::stream).toList();
  }

  /**
   * Reads the logs of runs.
   *
   * @param text what {@link #write} wrote, once or several times
   * @return a log for each run, in the order of the text
   * @throws InvalidRequestException as {@link #read}
   * @throws LimitExceededException as {@link #read}
   */
  static List<List<LoggedEvent>> readRuns(String text) {
    return readRuns(text, false);
  }

  /**
   * Shows what happened in runs of which there is only a text, masked or not.
   *
   * @param text what {@link #write} or {@link #writeMasked} wrote, once or several times
   * @return a view for each run, in the order of the text
   * @throws InvalidRequestException as {@link #read}, but for masked text; or if a log breaks a
   *     rule
   * @throws LimitExceededException as {@link #read}
   */
  public static List<Timeline> view(String text) {
    return readRuns(text, true).stream().map(Timeline::of).toList();
  }

  private static List<List<LoggedEvent>> readRuns(String text, boolean toView) {
    List<Part> parts = new ArrayList<>();
    int number = 0;
    int events = 0;
    int from = 0;
    while (from < text.length()) {
      int end = text.indexOf('\n', from);
      int to = end < 0 ? text.length() : end;
      number++;
      if (to - from > MAX_LINE || events == MAX_EVENTS) {
        throw new LimitExceededException(
            "An exported log may have %d events, in lines of %d characters; line %d is beyond that."
                .formatted(MAX_EVENTS, MAX_LINE, number),
            null,
            OperationTrace.NONE);
      }
      String line = text.substring(from, to);
      if (!line.isBlank()) {
        take(parts, line(number, line), number, toView);
        events++;
      }
      from = to + 1;
    }
    parts.forEach(Part::requireWhole);
    return parts.stream().map(part -> part.log).toList();
  }

  private static void take(List<Part> parts, Line line, int number, boolean toView) {
    if (line.masked() && !toView) {
      throw refused(number, "is masked: it can be viewed, but not used");
    }
    boolean begins = line.event().sequence() == 1;
    Part last = parts.isEmpty() ? null : parts.getLast();
    if (last == null || begins || !last.log.getFirst().run().equals(line.event().run())) {
      parts.add(new Part(number, line));
      return;
    }
    if (last.first.masked() != line.masked()) {
      throw refused(number, "is masked and others of its run are not, or the other way round");
    }
    last.log.add(line.event());
  }

  /** The lines of one run. */
  private static final class Part {
    final int number;
    final Line first;
    final List<LoggedEvent> log = new ArrayList<>();

    Part(int number, Line first) {
      this.number = number;
      this.first = first;
      log.add(first.event());
    }

    void requireWhole() {
      if (first.digest().isEmpty()) {
        return; // an earlier version wrote none
      }
      if (first.events() != log.size()) {
        throw refused(
            number,
            "announces %d events of its run, but there are %d"
                .formatted(first.events(), log.size()));
      }
      StringBuilder text = new StringBuilder();
      log.forEach(logged -> append(text, envelope(logged, first.masked()), logged));
      if (!Digest.of(text.toString()).equals(first.digest().get())) {
        throw refused(number, "announces events of another digest: the text was altered");
      }
    }
  }

  /** A line, with what the first one of a run says of all. */
  private record Line(LoggedEvent event, boolean masked, long events, Optional<String> digest) {}

  private static Line line(int number, String line) {
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
    LoggedEvent logged =
        RunEventCodec.decode(
            new RunKey(scope, text(number, tree, "run")),
            number(number, tree, "sequence"),
            new Writer(text(number, tree, "writer"), number(number, tree, "epoch")),
            time(number, text(number, tree, "time")),
            text(number, tree, "type"),
            Math.toIntExact(Math.min(number(number, tree, "version"), Integer.MAX_VALUE)),
            body.getBytes(StandardCharsets.UTF_8));
    Optional<String> digest = optional(tree, "digest");
    return new Line(
        logged,
        tree.has("masked"),
        digest.isPresent() ? number(number, tree, "events") : 0,
        digest);
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
