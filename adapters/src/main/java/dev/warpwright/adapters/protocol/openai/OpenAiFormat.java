package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.SchemaDialect;
import dev.warpwright.model.OutputFormat;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * How OpenAI's protocols ask for a form of answer. Rules of a schema that strict mode refuses
 * become words in its descriptions. Pure.
 */
final class OpenAiFormat {
  /** Source: OpenAI's guide to structured outputs, supported schemas. */
  private static final Set<String> FORMATS =
      Set.of("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid");

  private static final SchemaDialect DIALECT = new SchemaDialect(OpenAiFormat::takes, true);

  private OpenAiFormat() {}

  private static boolean takes(String keyword, JsonNode value) {
    return switch (keyword) {
      case "minLength", "maxLength", "uniqueItems" -> false;
      case "format" -> FORMATS.contains(value.asString(""));
      case "pattern" -> SchemaDialect.isPlain(value.asString(""));
      default -> true;
    };
  }

  /** The {@code response_format} of Chat Completions. */
  static void writeChat(OutputFormat format, ObjectNode out) {
    switch (format) {
      case OutputFormat.JsonObject() -> out.put("type", "json_object");
      case OutputFormat.JsonSchema schema ->
          write(schema, out.put("type", "json_schema").putObject("json_schema"));
    }
  }

  /** The {@code text.format} of Responses, which has no level of its own for the schema. */
  static void writeResponses(OutputFormat format, ObjectNode out) {
    switch (format) {
      case OutputFormat.JsonObject() -> out.put("type", "json_object");
      case OutputFormat.JsonSchema schema -> write(schema, out.put("type", "json_schema"));
    }
  }

  private static void write(OutputFormat.JsonSchema format, ObjectNode out) {
    out.put("name", format.name());
    format.description().ifPresent(words -> out.put("description", words));
    out.put("strict", true).set("schema", DIALECT.write(format.schema()));
  }
}
