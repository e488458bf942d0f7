package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** Reads the {@code faults} of a script. */
final class FaultReader {
  private static final List<String> EFFECTS =
      List.of("status", "stall", "reset", "cutBodyAfter", "garbage", "slowHeaders");
  private static final Pattern HEADER_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}");
  private static final Pattern HEADER_VALUE = Pattern.compile("[ -~]{0,1024}");

  /** Fields that the server writes itself, because the framing of the response hangs on them. */
  private static final Set<String> OWN_HEADERS =
      Set.of("content-length", "transfer-encoding", "connection");

  private FaultReader() {}

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
            "stall",
            "reset",
            "cutBodyAfter",
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
    if (!effect.equals("status") && (fault.has("headers") || fault.has("body"))) {
      throw fault.place().refuse("headers and body go with status only, not with " + effect);
    }
    return switch (effect) {
      case "status" -> status(fault);
      case "stall" -> stall(fault);
      case "reset" -> new Fault.Reset(choice(fault, "reset", Fault.Moment.class));
      case "cutBodyAfter" ->
          new Fault.CutBody((int) fault.number(effect, 0, Integer.MAX_VALUE).orElse(0));
      case "garbage" -> garbage(fault);
      default -> new Fault.SlowHeaders(fault.duration(effect).orElse(Duration.ZERO));
    };
  }

  private static Fault stall(Fields fault) {
    onlyTrue(fault, "stall");
    return new Fault.Stall();
  }

  private static Fault garbage(Fields fault) {
    if (fault.value("garbage").filter(JsonNode::isBoolean).isPresent()) {
      onlyTrue(fault, "garbage");
      return new Fault.NoHttp();
    }
    return switch (choice(fault, "garbage", Garbage.class)) {
      case BYTES -> new Fault.NoHttp();
      case BODY -> new Fault.NoJson();
    };
  }

  private static void onlyTrue(Fields fault, String key) {
    if (!fault.bool(key).orElse(true)) {
      throw fault.place(key).refuse("must be true; leave the fault out to switch it off");
    }
  }

  private static <E extends Enum<E>> E choice(Fields fault, String key, Class<E> type) {
    String name = fault.text(key).orElse("");
    E[] constants = type.getEnumConstants();
    return Arrays.stream(constants)
        .filter(constant -> constant.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                fault
                    .place(key)
                    .refuse(
                        "must be "
                            + Arrays.stream(constants)
                                .map(Enum::name)
                                .collect(Collectors.joining(" or "))
                            + ", but is \""
                            + name
                            + "\""));
  }

  private static Fault status(Fields fault) {
    int status = (int) fault.number("status", 400, 599).orElse(500);
    return new Fault.Status(status, headers(fault), fault.value("body").map(FaultReader::body));
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
