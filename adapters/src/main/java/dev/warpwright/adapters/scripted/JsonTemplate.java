package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** A JSON value whose strings may hold variables. Immutable. */
sealed interface JsonTemplate {
  /** The value, as {@link Json#of} takes it. */
  Object value(Map<String, String> variables);

  default Json fill(Map<String, String> variables) {
    Object value = value(variables);
    return value instanceof Json json ? json : Json.of(value);
  }

  /** A value without variables. */
  record Constant(Json json) implements JsonTemplate {
    @Override
    public Object value(Map<String, String> variables) {
      return json;
    }
  }

  /** A string with variables. */
  record Text(Template template) implements JsonTemplate {
    @Override
    public Object value(Map<String, String> variables) {
      return template.fill(variables);
    }
  }

  /** A captured text as the JSON value that it is. */
  record Raw(String variable) implements JsonTemplate {
    @Override
    public Object value(Map<String, String> variables) {
      String captured = variables.getOrDefault(variable, "");
      try {
        return Json.parse(captured);
      } catch (InvalidRequestException e) {
        return captured; // no JSON: it stays a string
      }
    }
  }

  /** An object with variables somewhere below it. */
  record Members(Map<String, JsonTemplate> members) implements JsonTemplate {
    @Override
    public Object value(Map<String, String> variables) {
      Map<String, Object> filled = new LinkedHashMap<>();
      members.forEach((key, member) -> filled.put(key, member.value(variables)));
      return filled;
    }
  }

  /** An array with variables somewhere below it. */
  record Elements(List<JsonTemplate> elements) implements JsonTemplate {
    @Override
    public Object value(Map<String, String> variables) {
      return elements.stream().map(element -> element.value(variables)).toList();
    }
  }

  /** Reads a value and refuses variables that are not declared. */
  static JsonTemplate of(JsonNode node, Set<String> declared, Place place) {
    if (node.isString()) {
      return text(node.stringValue(), declared, place);
    }
    if (node.isObject()) {
      Map<String, JsonTemplate> members = new LinkedHashMap<>();
      node.properties()
          .forEach(
              member ->
                  members.put(
                      member.getKey(),
                      of(member.getValue(), declared, place.member(member.getKey()))));
      boolean constant = members.values().stream().allMatch(Constant.class::isInstance);
      JsonTemplate whole = new Members(members);
      return constant ? new Constant(whole.fill(Map.of())) : whole;
    }
    if (node.isArray()) {
      List<JsonTemplate> elements = new ArrayList<>();
      for (int i = 0; i < node.size(); i++) {
        elements.add(of(node.get(i), declared, place.element(i)));
      }
      boolean constant = elements.stream().allMatch(Constant.class::isInstance);
      JsonTemplate whole = new Elements(elements);
      return constant ? new Constant(whole.fill(Map.of())) : whole;
    }
    return constant(node);
  }

  private static JsonTemplate text(String text, Set<String> declared, Place place) {
    if (text.startsWith("${")
        && text.endsWith(":json}")
        && text.indexOf('}') == text.length() - 1) {
      String name = text.substring(2, text.length() - ":json}".length());
      return new Raw(Template.declared(name, declared, place));
    }
    Template template = Template.of(text, declared, place);
    return template.constant()
        ? new Constant(Json.of(template.fill(Map.of())))
        : new Text(template);
  }

  private static Constant constant(JsonNode node) {
    return new Constant(Json.parse(StrictJson.write(node)));
  }
}
