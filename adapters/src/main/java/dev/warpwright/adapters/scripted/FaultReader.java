package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.InvalidRequestException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/** Reads the {@code faults} of a script. */
final class FaultReader {
  private static final List<String> EFFECTS =
      List.of(
          "status",
          "stall",
          "reset",
          "cut",
          "cutBodyAfter",
          "errorEvent",
          "wrongType",
          "garbage",
          "slowHeaders");
  private static final Pattern HEADER_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}");
  private static final Pattern HEADER_VALUE = Pattern.compile("[ -~]{0,1024}");

  /** Fields that the server writes itself, because the framing of the response hangs on them. */
  private static final Set<String> OWN_HEADERS =
      Set.of("content-length", "transfer-encoding", "connection");

  /** How a script says where in a body something happens. */
  private static final List<String> POINTS = List.of("bytes", "events", "chunks", "before");

  /** An event never stands in the middle of another. */
  private static final List<String> EVENT_POINTS = List.of("events", "chunks", "before");

  private FaultReader() {}

  /** Where a reset hits. */
  private enum Moment {
    BEFORE_HEADERS,
    AFTER_HEADERS,
    IN_BODY
  }

  /** In front of what something may happen. */
  private enum Signal {
    FINISH(Mark.FINISH),
    TERMINATOR(Mark.TERMINATOR);

    private final Mark mark;

    Signal(Mark mark) {
      this.mark = mark;
    }
  }

  /** What a script calls the two kinds of garbage. */
  private enum Garbage {
    BYTES,
    BODY
  }

  static List<FaultRule> read(List<Fields.Element> elements) {
    List<FaultRule> faults = new ArrayList<>();
    for (Fields.Element element : elements) {
      faults.add(rule(element));
    }
    return faults;
  }

  private static FaultRule rule(Fields.Element element) {
    Fields fault =
        Fields.of(
            element.node(),
            element.place(),
            "when",
            "every",
            "from",
            "times",
            "status",
            "headers",
            "body",
            "bodyBase64",
            "stall",
            "reset",
            "cut",
            "cutBodyAfter",
            "errorEvent",
            "wrongType",
            "garbage",
            "slowHeaders");
    long every = fault.number("every", 1, Long.MAX_VALUE).orElse(1);
    return new FaultRule(
        element.place().path(),
        fault.value("when").map(when -> ScriptReader.when(when, fault.place("when"))),
        every,
        fault.number("from", 1, Long.MAX_VALUE).orElse(every),
        fault.number("times", 1, Long.MAX_VALUE).orElse(Long.MAX_VALUE),
        effect(fault));
  }

  private static Fault effect(Fields fault) {
    List<String> effects = EFFECTS.stream().filter(fault::has).toList();
    if (effects.size() != 1) {
      throw fault
          .place()
          .refuse(
              "must have exactly one of "
                  + String.join(", ", EFFECTS)
                  + ", but has "
                  + (effects.isEmpty() ? "none" : String.join(", ", effects)));
    }
    String effect = effects.getFirst();
    if (!effect.equals("status")
        && (fault.has("headers") || fault.has("body") || fault.has("bodyBase64"))) {
      throw fault.place().refuse("headers and body go with status only, not with " + effect);
    }
    return switch (effect) {
      case "status" -> status(fault);
      case "stall" -> stall(fault);
      case "reset" -> reset(fault);
      case "cut" -> cut(fault);
      case "cutBodyAfter" ->
          new Fault.Cut(
              new Point.Bytes(fault.number(effect, 0, Integer.MAX_VALUE).orElse(0)),
              Fault.End.IN_CHUNK);
      case "errorEvent" -> errorEvent(fault);
      case "wrongType" -> wrongType(fault);
      case "garbage" -> garbage(fault);
      default -> new Fault.SlowHeaders(fault.duration(effect).orElse(Duration.ZERO));
    };
  }

  private static Fault stall(Fields fault) {
    Optional<JsonNode> node = fault.value("stall").filter(JsonNode::isObject);
    if (node.isPresent()) {
      return new Fault.StallIn(requiredPoint(object(fault, "stall", POINTS)));
    }
    onlyTrue(fault, "stall");
    return new Fault.Stall();
  }

  private static Fault reset(Fields fault) {
    return switch (required(fault, "reset", Moment.class)) {
      case BEFORE_HEADERS -> new Fault.Reset(false);
      case AFTER_HEADERS -> new Fault.Reset(true);
      case IN_BODY -> new Fault.Cut(new Point.Half(), Fault.End.RESET);
    };
  }

  private static Fault cut(Fields fault) {
    Fields cut = object(fault, "cut", POINTS, "end");
    return new Fault.Cut(
        requiredPoint(cut), cut.choice("end", Fault.End.class).orElse(Fault.End.IN_CHUNK));
  }

  private static Fault errorEvent(Fields fault) {
    Fields event = object(fault, "errorEvent", EVENT_POINTS, "code", "message", "failed");
    event.required("code", "the provider's code of the error");
    return new Fault.ErrorEvent(
        point(event).orElse(new Point.Chunks(0)),
        event.text("code").orElse(""),
        event.text("message").orElse("The script reports an error."),
        event.bool("failed").orElse(false));
  }

  private static Fault wrongType(Fields fault) {
    onlyTrue(fault, "wrongType");
    return new Fault.WrongType();
  }

  /** Takes an object that may say where something happens, and more. */
  private static Fields object(Fields fault, String key, List<String> points, String... more) {
    List<String> allowed = new ArrayList<>(points);
    allowed.addAll(List.of(more));
    JsonNode node = fault.required(key, "an object");
    return Fields.of(node, fault.place(key), allowed.toArray(new String[0]));
  }

  private static Point requiredPoint(Fields fields) {
    return point(fields).orElseThrow(() -> notOnePoint(fields, "none"));
  }

  private static InvalidRequestException notOnePoint(Fields fields, String present) {
    return fields
        .place()
        .refuse("must have exactly one of " + String.join(", ", POINTS) + ", but has " + present);
  }

  private static Optional<Point> point(Fields fields) {
    List<String> present = POINTS.stream().filter(fields::has).toList();
    if (present.size() > 1) {
      throw notOnePoint(fields, String.join(", ", present));
    }
    if (present.isEmpty()) {
      return Optional.empty();
    }
    if (fields.has("before")) {
      return fields.choice("before", Signal.class).map(signal -> new Point.Before(signal.mark));
    }
    long count = fields.number(present.getFirst(), 0, Integer.MAX_VALUE).orElse(0);
    return Optional.of(
        switch (present.getFirst()) {
          case "bytes" -> new Point.Bytes(count);
          case "events" -> new Point.Events(count);
          default -> new Point.Chunks(count);
        });
  }

  private static Fault garbage(Fields fault) {
    if (fault.value("garbage").filter(JsonNode::isBoolean).isPresent()) {
      onlyTrue(fault, "garbage");
      return new Fault.NoHttp();
    }
    return switch (required(fault, "garbage", Garbage.class)) {
      case BYTES -> new Fault.NoHttp();
      case BODY -> new Fault.NoJson();
    };
  }

  private static void onlyTrue(Fields fault, String key) {
    if (!fault.bool(key).orElse(true)) {
      throw fault.place(key).refuse("must be true; leave the fault out to switch it off");
    }
  }

  private static <E extends Enum<E>> E required(Fields fault, String key, Class<E> type) {
    return fault
        .choice(key, type)
        .orElseThrow(() -> new AssertionError("The effect " + key + " was chosen by its key."));
  }

  private static Fault status(Fields fault) {
    int status = (int) fault.number("status", 200, 599).orElse(500);
    if (status > 200 && status < 400) {
      throw fault.place("status").refuse("must be 200 or 400 to 599, but is the number " + status);
    }
    if (fault.has("body") && fault.has("bodyBase64")) {
      throw fault.place().refuse("has both body and bodyBase64");
    }
    Optional<Fault.Body> body =
        fault
            .text("bodyBase64")
            .map(text -> binary(text, fault.place("bodyBase64")))
            .or(() -> fault.value("body").map(FaultReader::body));
    if (status == 200 && body.isEmpty()) {
      throw fault.place().refuse("a status of 200 needs a body");
    }
    return new Fault.Status(status, headers(fault), body);
  }

  private static Fault.Body binary(String text, Place place) {
    try {
      return new Fault.Body(
          "application/octet-stream",
          new String(Base64.getDecoder().decode(text), StandardCharsets.ISO_8859_1),
          StandardCharsets.ISO_8859_1);
    } catch (IllegalArgumentException _) {
      throw place.refuse("must be bytes in base64");
    }
  }

  private static Fault.Body body(JsonNode node) {
    return node.isString()
        ? new Fault.Body("text/plain; charset=utf-8", node.stringValue())
        : new Fault.Body("application/json", StrictJson.write(node));
  }

  private static List<Map.Entry<String, String>> headers(Fields fault) {
    List<Map.Entry<String, String>> headers = new ArrayList<>();
    fault
        .value("headers")
        .ifPresent(
            node -> {
              if (!node.isObject()) {
                throw fault
                    .place("headers")
                    .refuse("must be an object of strings, but is " + Fields.kind(node));
              }
              node.properties()
                  .forEach(
                      field ->
                          headers.add(
                              header(
                                  field.getKey(),
                                  field.getValue(),
                                  fault.place("headers").member(field.getKey()))));
            });
    return headers;
  }

  private static Map.Entry<String, String> header(String name, JsonNode value, Place place) {
    if (!HEADER_NAME.matcher(name).matches()) {
      throw place.refuse("is no name of a header field");
    }
    if (OWN_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
      throw place.refuse("is written by the server itself");
    }
    if (!value.isString() || !HEADER_VALUE.matcher(value.stringValue()).matches()) {
      throw place.refuse(
          "must be a string of at most 1024 printable ASCII characters, but is "
              + (value.isString() ? "another string" : Fields.kind(value)));
    }
    return Map.entry(name, value.stringValue());
  }
}
