package dev.warpwright.mcp;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.tool.ToolException;
import java.util.StringJoiner;
import tools.jackson.databind.JsonNode;

/** What the result of {@code tools/call} means for the model. Pure. */
final class CallOutput {
  private static final int MAX_ERROR = 10_000;
  private static final int MAX_NAME = 100;

  private CallOutput() {}

  /**
   * The output of a call: the structured content if there is some, which the texts only repeat,
   * else the texts as one, with a note in place of what is no text.
   *
   * @param result an object
   * @throws ToolException with the server's words if it says that the tool failed
   */
  static Json of(JsonNode result) {
    String text = text(result.path("content"));
    if (result.path("isError").asBoolean(false)) {
      throw new ToolException(
          text.isBlank() ? "The tool failed and did not say why." : Rpc.cut(text, MAX_ERROR));
    }
    JsonNode structured = result.path("structuredContent");
    return structured.isObject() ? Json.parse(StrictJson.write(structured)) : Json.of(text);
  }

  /** The words of an error that stands in place of a result. */
  static ToolException refused(Incoming.Failure failure) {
    return new ToolException(
        "The tool server refused the call with code %d. %s"
            .formatted(failure.code(), Rpc.cut(failure.message(), MAX_ERROR))
            .strip());
  }

  private static String text(JsonNode content) {
    StringJoiner texts = new StringJoiner("\n");
    for (JsonNode item : content) {
      String type = Rpc.text(item, "type");
      texts.add(
          switch (type) {
            case "text" -> Rpc.text(item, "text");
            case "resource" -> resource(item.path("resource"));
            case "resource_link" -> "[resource " + Rpc.text(item, "uri") + "]";
            default ->
                "[%s %s is not shown]"
                    .formatted(
                        type.isEmpty() ? "content" : Rpc.cut(type, MAX_NAME),
                        Rpc.cut(Rpc.text(item, "mimeType"), MAX_NAME))
                    .replace("  ", " ");
          });
    }
    return texts.toString();
  }

  private static String resource(JsonNode resource) {
    return resource.path("text").isString()
        ? Rpc.text(resource, "text")
        : "[resource " + Rpc.text(resource, "uri") + " is not shown]";
  }
}
