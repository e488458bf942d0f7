package dev.warpwright.adapters.scripted;

import java.util.Map;
import java.util.Optional;

/**
 * A rule of a script.
 *
 * @param name its name
 * @param when its conditions
 * @param answer what it says
 * @param fixed its answer if it is always the same one, so that it is made and cut only once
 */
record Rule(String name, When when, AnswerTemplate answer, Optional<ScriptedAnswer> fixed) {
  static Rule of(String name, When when, AnswerTemplate answer) {
    return new Rule(
        name,
        when,
        answer,
        when.variables().isEmpty() ? Optional.of(answer.fill(Map.of())) : Optional.empty());
  }

  /** What it says to a conversation, if it holds. */
  Optional<ScriptedAnswer> answer(Conversation conversation) {
    return when.match(conversation).map(variables -> fixed.orElseGet(() -> answer.fill(variables)));
  }
}
