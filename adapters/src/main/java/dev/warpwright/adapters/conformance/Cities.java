package dev.warpwright.adapters.conformance;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolSpec;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Optional;

/** The tools and the object that models are asked for, and whether they keep to them. Pure. */
final class Cities {
  private record Place(String city) {}

  private record City(String name, boolean coastal, int population) {}

  private static final JsonType<Place> INPUT = JsonType.of(Place.class, MethodHandles.lookup());
  private static final JsonType<City> CITY = JsonType.of(City.class, MethodHandles.lookup());

  static final ToolSpec POPULATION =
      new ToolSpec("city_population", "Tells how many people live in a city.", INPUT.schema());

  static final ToolSpec WEATHER =
      new ToolSpec("city_weather", "Tells the weather in a city.", INPUT.schema());

  static final OutputFormat SCHEMA =
      new OutputFormat.JsonSchema("city", Optional.of("A city."), CITY.schema());

  private Cities() {}

  /** What is wrong with a call of one of the tools; empty if nothing is. */
  static Optional<String> fault(ToolCall call) {
    boolean known = call.name().equals(POPULATION.name()) || call.name().equals(WEATHER.name());
    if (!known) {
      return Optional.of("a tool was called that was not offered");
    }
    if (call.id().isBlank()) {
      return Optional.of("a call has no id");
    }
    if (call.malformed().isPresent()) {
      return Optional.of("the input of a call is no JSON object");
    }
    return first("the input of a call does not match its schema: ", INPUT.violations(call.input()));
  }

  /** What is wrong with a text that was to be a city; empty if nothing is. */
  static Optional<String> cityFault(String text) {
    Optional<Json> json = json(text);
    return json.isEmpty()
        ? Optional.of("the text is no JSON")
        : first("the text does not match the schema: ", CITY.violations(json.get()));
  }

  /** What is wrong with a text that was to be an object; empty if nothing is. */
  static Optional<String> objectFault(String text) {
    Optional<Json> json = json(text);
    if (json.isEmpty()) {
      return Optional.of("the text is no JSON");
    }
    return json.get().isObject() ? Optional.empty() : Optional.of("the JSON is no object");
  }

  private static Optional<String> first(String what, List<String> violations) {
    return violations.stream().findFirst().map(what::concat);
  }

  private static Optional<Json> json(String text) {
    try {
      return Optional.of(Json.parse(text));
    } catch (InvalidRequestException _) {
      return Optional.empty();
    }
  }
}
