package dev.warpwright.adapters.scripted;

import dev.warpwright.adapters.scripted.AnswerTemplate.Tool;
import dev.warpwright.adapters.scripted.AnswerTemplate.Words;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/** Reads the {@code answer} of a rule. */
final class AnswerReader {
  private static final Pattern TOOL_NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private final Set<String> variables;

  private AnswerReader(Set<String> variables) {
    this.variables = variables;
  }

  static AnswerTemplate read(JsonNode node, Set<String> variables, Place place) {
    return new AnswerReader(variables).answer(node, place);
  }

  private AnswerTemplate answer(JsonNode node, Place place) {
    Fields answer =
        Fields.of(
            node,
            place,
            "text",
            "pieces",
            "json",
            "refusal",
            "tools",
            "thinking",
            "usage",
            "finish",
            "latency",
            "stream");
    List<Tool> tools = tools(answer);
    Words words = words(answer);
    if (tools.isEmpty() && words instanceof Words.None) {
      throw place.refuse(
          "says nothing: at least one of text, pieces, json, refusal and tools is needed");
    }
    if (words instanceof Words.Refusal && (!tools.isEmpty() || answer.has("finish"))) {
      throw place.refuse("a refusal stands alone: without text, json, tools and finish");
    }
    Optional<StreamReader> stream =
        answer.value("stream").map(form -> StreamReader.of(form, place.member("stream")));
    return new AnswerTemplate(
        answer.text("thinking").map(text -> template(answer, "thinking")),
        words,
        tools,
        answer
            .value("usage")
            .map(usage -> usage(usage, place.member("usage")))
            .orElse(Usage.ABSENT),
        finish(answer),
        answer.duration("latency").orElse(Duration.ZERO),
        stream.map(StreamReader::chunks).orElse(ScriptedChunks.DEFAULT),
        stream.map(StreamReader::wire).orElse(WireForm.DEFAULT));
  }

  private Words words(Fields answer) {
    List<Words> present = new ArrayList<>();
    answer.text("text").ifPresent(text -> present.add(new Words.Text(template(answer, "text"))));
    if (answer.has("pieces")) {
      present.add(new Words.Pieces(pieces(answer)));
    }
    answer
        .value("json")
        .ifPresent(
            json ->
                present.add(
                    new Words.Value(JsonTemplate.of(json, variables, answer.place("json")))));
    answer
        .text("refusal")
        .ifPresent(text -> present.add(new Words.Refusal(template(answer, "refusal"))));
    if (present.size() > 1) {
      throw answer.place().refuse("has more than one of text, pieces, json and refusal");
    }
    return present.isEmpty() ? new Words.None() : present.getFirst();
  }

  private List<Template> pieces(Fields answer) {
    List<Template> pieces = new ArrayList<>();
    for (Fields.Element element : answer.list("pieces")) {
      if (!element.node().isString()) {
        throw element.place().refuse("must be a string, but is " + Fields.kind(element.node()));
      }
      pieces.add(Template.of(element.node().stringValue(), variables, element.place()));
    }
    return pieces;
  }

  private Template template(Fields fields, String key) {
    return Template.of(fields.text(key).orElse(""), variables, fields.place(key));
  }

  private List<Tool> tools(Fields answer) {
    List<Tool> tools = new ArrayList<>();
    for (Fields.Element element : answer.list("tools")) {
      tools.add(tool(Fields.of(element.node(), element.place(), "name", "input", "rawInput")));
    }
    return tools;
  }

  private Tool tool(Fields tool) {
    tool.required("name", "the tool's name");
    String name = tool.text("name").orElse("");
    if (!TOOL_NAME.matcher(name).matches()) {
      throw tool.place("name")
          .refuse("must match " + TOOL_NAME + ", but \"" + name + "\" does not");
    }
    if (tool.has("input") && tool.has("rawInput")) {
      throw tool.place().refuse("has both input and rawInput");
    }
    if (tool.has("rawInput")) {
      return new Tool.Malformed(name, template(tool, "rawInput"));
    }
    Optional<JsonNode> input = tool.value("input");
    if (input.isEmpty()) {
      return new Tool.Call(name, new JsonTemplate.Constant(Json.EMPTY_OBJECT));
    }
    if (!input.get().isObject()) {
      throw tool.place("input").refuse("must be an object, but is " + Fields.kind(input.get()));
    }
    return new Tool.Call(name, JsonTemplate.of(input.get(), variables, tool.place("input")));
  }

  private static Usage usage(JsonNode node, Place place) {
    Fields usage =
        Fields.of(node, place, "input", "output", "cachedInput", "cacheWrite", "reasoning");
    usage.required("input", "the number of input tokens");
    usage.required("output", "the number of output tokens");
    TokenCount input = tokens(usage, "input");
    TokenCount output = tokens(usage, "output");
    return new Usage(
        input,
        tokens(usage, "cachedInput"),
        tokens(usage, "cacheWrite"),
        output,
        tokens(usage, "reasoning"),
        TokenCount.reported(input.tokens() + output.tokens()),
        Optional.empty());
  }

  private static TokenCount tokens(Fields usage, String key) {
    OptionalLong tokens = usage.number(key, 0, 1_000_000_000_000L);
    return tokens.isPresent() ? TokenCount.reported(tokens.getAsLong()) : TokenCount.ABSENT;
  }

  private static Optional<FinishReason> finish(Fields answer) {
    return answer
        .text("finish")
        .map(
            raw ->
                switch (raw) {
                  case "stop" -> new FinishReason(FinishReason.Kind.STOP, raw);
                  case "tool_calls" -> new FinishReason(FinishReason.Kind.TOOL_CALLS, raw);
                  case "length" -> new FinishReason(FinishReason.Kind.LENGTH, raw);
                  case "content_filter" -> new FinishReason(FinishReason.Kind.CONTENT_FILTER, raw);
                  default ->
                      throw answer
                          .place("finish")
                          .refuse(
                              "must be stop, tool_calls, length or content_filter, but is \""
                                  + raw
                                  + "\"");
                });
  }
}
