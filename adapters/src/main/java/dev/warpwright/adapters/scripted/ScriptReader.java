package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Reads and checks a whole script; the form is documented at {@link Script}. */
final class ScriptReader {
  private static final JsonMapper MAPPER =
      StrictJson.mapper()
          .rebuild()
          .enable(JsonReadFeature.ALLOW_JAVA_COMMENTS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  private ScriptReader() {}

  static Script read(String text, String source) {
    Place place = new Place(source, "");
    Fields script = Fields.of(tree(text, source), place, "rules", "faults");
    return new Script(rules(script), FaultReader.read(script.list("faults")));
  }

  private static JsonNode tree(String text, String source) {
    try {
      return MAPPER.readTree(text);
    } catch (JacksonException e) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          source
              + ": line "
              + (e.getLocation() == null ? 1 : e.getLocation().getLineNr())
              + ", column "
              + (e.getLocation() == null ? 1 : e.getLocation().getColumnNr())
              + ": "
              + e.getOriginalMessage()
              + ". A script is one JSON object without repeated keys; // comments are allowed.");
    }
  }

  private static List<Rule> rules(Fields script) {
    JsonNode present = script.required("rules", "an array of at least one rule");
    List<Rule> rules = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (Fields.Element element : script.list("rules")) {
      Rule rule = rule(element);
      if (!names.add(rule.name())) {
        throw element
            .place()
            .member("name")
            .refuse("\"" + rule.name() + "\" is the name of an earlier rule; names are unique");
      }
      if (!rules.isEmpty() && rules.getLast().when().always()) {
        throw element
            .place()
            .refuse("cannot be reached: the rule before it, whose when is {}, always matches");
      }
      rules.add(rule);
    }
    if (rules.isEmpty()) {
      throw script
          .place("rules")
          .refuse("must hold at least one rule, but is " + Fields.kind(present) + " without any");
    }
    return rules;
  }

  private static Rule rule(Fields.Element element) {
    Fields rule = Fields.of(element.node(), element.place(), "name", "when", "answer");
    String name = rule.text("name").orElse(element.place().path());
    if (name.isBlank()) {
      throw rule.place("name").refuse("must not be blank");
    }
    JsonNode when =
        rule.required("when", "an object of conditions, {} for a rule that always holds");
    JsonNode answer = rule.required("answer", "an object with text, json, refusal or tools");
    When condition = when(when, rule.place("when"));
    return Rule.of(
        name, condition, AnswerReader.read(answer, condition.variables(), rule.place("answer")));
  }

  static When when(JsonNode node, Place place) {
    Fields when = Fields.of(node, place, "turn", "user", "system", "model", "result");
    OptionalLong turn = when.number("turn", 0, 1_000_000);
    When condition =
        new When(
            turn.isPresent() ? OptionalInt.of((int) turn.getAsLong()) : OptionalInt.empty(),
            when.regex("user"),
            when.regex("system"),
            when.regex("model"),
            when.value("result").map(result -> result(result, when.place("result"))));
    refuseRepeatedGroups(condition, when);
    return condition;
  }

  private static When.Result result(JsonNode node, Place place) {
    Fields result = Fields.of(node, place, "tool", "output", "error");
    return new When.Result(result.text("tool"), result.regex("output"), result.bool("error"));
  }

  private static void refuseRepeatedGroups(When condition, Fields when) {
    Set<String> seen = new TreeSet<>();
    List<Optional<Pattern>> regexes =
        List.of(
            condition.user(),
            condition.system(),
            condition.model(),
            condition.result().flatMap(When.Result::output));
    for (Optional<Pattern> regex : regexes) {
      for (String name : regex.map(Pattern::namedGroups).orElse(Map.of()).keySet()) {
        if (!seen.add(name)) {
          throw when.place().refuse("the group \"" + name + "\" stands in more than one regex");
        }
      }
    }
  }
}
