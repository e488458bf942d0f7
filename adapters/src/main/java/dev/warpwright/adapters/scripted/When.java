package dev.warpwright.adapters.scripted;

import dev.warpwright.model.ToolResult;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A {@code when}: all parts that are present must hold.
 *
 * @param turn the number of assistant messages after the last user message
 * @param user found in the last user text
 * @param system found in the system text
 * @param model found in the model id
 * @param result fits the latest tool result
 */
record When(
    OptionalInt turn,
    Optional<Pattern> user,
    Optional<Pattern> system,
    Optional<Pattern> model,
    Optional<Result> result) {
  static final When ALWAYS =
      new When(
          OptionalInt.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  /**
   * What the latest tool result must be.
   *
   * @param tool only results of this tool count
   * @param output found in the compact JSON text
   * @param error whether it must be a failure or a success
   */
  record Result(Optional<String> tool, Optional<Pattern> output, Optional<Boolean> error) {}

  boolean always() {
    return equals(ALWAYS);
  }

  /** The names of all groups, which are the variables of the rule. */
  Set<String> variables() {
    Set<String> names = new TreeSet<>();
    user.ifPresent(regex -> names.addAll(regex.namedGroups().keySet()));
    system.ifPresent(regex -> names.addAll(regex.namedGroups().keySet()));
    model.ifPresent(regex -> names.addAll(regex.namedGroups().keySet()));
    result.flatMap(Result::output).ifPresent(regex -> names.addAll(regex.namedGroups().keySet()));
    return names;
  }

  /** The variables if all parts hold, empty if one does not. */
  Optional<Map<String, String>> match(Conversation conversation) {
    if (turn.isPresent() && turn.getAsInt() != conversation.turn()) {
      return Optional.empty();
    }
    Map<String, String> variables = new HashMap<>();
    boolean holds =
        found(model, Optional.of(conversation.modelId()), variables)
            && found(system, Optional.of(conversation.system()), variables)
            && found(user, conversation.user(), variables)
            && fits(conversation, variables);
    return holds ? Optional.of(variables) : Optional.empty();
  }

  private boolean fits(Conversation conversation, Map<String, String> variables) {
    if (result.isEmpty()) {
      return true;
    }
    Result expected = result.get();
    Optional<ToolResult> latest = conversation.latestResult(expected.tool());
    return latest.isPresent()
        && expected.error().map(error -> error == latest.get().error()).orElse(true)
        && found(expected.output(), latest.map(actual -> actual.output().text()), variables);
  }

  private static boolean found(
      Optional<Pattern> regex, Optional<String> text, Map<String, String> variables) {
    if (regex.isEmpty()) {
      return true;
    }
    if (text.isEmpty()) {
      return false;
    }
    Matcher matcher = regex.get().matcher(text.get());
    matcher.region(0, Math.min(text.get().length(), Conversation.MAX_MATCHED));
    if (!matcher.find()) {
      return false;
    }
    for (String name : regex.get().namedGroups().keySet()) {
      String captured = matcher.group(name);
      variables.put(name, captured == null ? "" : captured);
    }
    return true;
  }
}
