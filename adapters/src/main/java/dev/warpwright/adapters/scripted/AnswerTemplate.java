package dev.warpwright.adapters.scripted;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Usage;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An answer whose texts and inputs may hold variables.
 *
 * @param thinking what it thinks first, if it says so
 * @param words what it says
 * @param tools what it calls, in order
 * @param usage what it reports
 * @param finish why it ends, if it says so
 * @param latency how long it takes
 * @param chunks how it is streamed
 * @param wire how a server writes a stream of it
 */
record AnswerTemplate(
    Optional<Template> thinking,
    Words words,
    List<Tool> tools,
    Usage usage,
    Optional<FinishReason> finish,
    Duration latency,
    ScriptedChunks chunks,
    WireForm wire) {
  /** What an answer says beside its calls. */
  sealed interface Words {
    /** Nothing. */
    record None() implements Words {}

    /** Words. */
    record Text(Template template) implements Words {}

    /** Words in prescribed pieces. */
    record Pieces(List<Template> templates) implements Words {}

    /** A JSON value as text. */
    record Value(JsonTemplate template) implements Words {}

    /** A refusal. */
    record Refusal(Template template) implements Words {}
  }

  /** A call. */
  sealed interface Tool {
    /** With an input object. */
    record Call(String name, JsonTemplate input) implements Tool {}

    /** With arguments that may be no JSON. */
    record Malformed(String name, Template arguments) implements Tool {}
  }

  ScriptedAnswer fill(Map<String, String> variables) {
    ScriptedAnswer answer =
        switch (words) {
          case Words.None() -> ScriptedAnswer.empty();
          case Words.Text(var template) -> ScriptedAnswer.text(template.fill(variables));
          case Words.Pieces(var templates) ->
              ScriptedAnswer.pieces(
                  templates.stream().map(template -> template.fill(variables)).toList());
          case Words.Value(var template) -> ScriptedAnswer.text(template.fill(variables).text());
          case Words.Refusal(var template) -> ScriptedAnswer.refusal(template.fill(variables));
        };
    if (thinking.isPresent()) {
      answer = answer.withThinking(thinking.get().fill(variables));
    }
    for (Tool tool : tools) {
      answer =
          switch (tool) {
            case Tool.Call(var name, var input) -> answer.withTool(name, input.fill(variables));
            case Tool.Malformed(var name, var arguments) ->
                answer.withMalformedTool(name, arguments.fill(variables));
          };
    }
    answer = answer.withUsage(usage).withLatency(latency).withChunks(chunks).with(wire);
    return finish.isPresent() ? answer.withFinish(finish.get()) : answer;
  }
}
