package dev.warpwright.mcp;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.Json;
import java.util.Optional;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * A tool as a server describes it.
 *
 * @param name the server's name of it
 * @param description what it says that it does, cut at the bound
 * @param schema of its input
 * @param readOnly whether the server says that it changes nothing
 * @param idempotent whether the server says that a second run changes nothing more
 */
record RemoteTool(
    String name, String description, Json schema, boolean readOnly, boolean idempotent) {
  private static final int MAX_NAME = 128;
  private static final int MAX_DESCRIPTION = 16_384;
  private static final int MAX_SCHEMA = 65_536;
  private static final Pattern UNUSUAL = Pattern.compile("[^A-Za-z0-9_.-]");
  private static final Pattern UNFIT = Pattern.compile("[^A-Za-z0-9_-]");

  /** Reads a description, or says why it is none that can be used. */
  sealed interface Reading {
    /** It can be used. */
    record Usable(RemoteTool tool) implements Reading {}

    /**
     * It cannot.
     *
     * @param name the server's name of the tool, made harmless
     * @param why completes "it …"
     */
    record Unusable(String name, String why) implements Reading {}
  }

  static Reading read(JsonNode tool) {
    String name = Rpc.text(tool, "name");
    if (name.isEmpty() || name.length() > MAX_NAME) {
      return unusable(name, "has a name that is not of 1 to " + MAX_NAME + " characters");
    }
    JsonNode schema = tool.path("inputSchema");
    if (!Rpc.text(schema, "type").equals("object")) {
      return unusable(name, "has no input schema of the type object");
    }
    String text = StrictJson.write(schema);
    if (text.length() > MAX_SCHEMA) {
      return unusable(name, "has an input schema of more than " + MAX_SCHEMA + " characters");
    }
    String description =
        Optional.of(Rpc.text(tool, "description"))
            .filter(given -> !given.isBlank())
            .orElseGet(() -> Rpc.text(tool, "title"));
    JsonNode hints = tool.path("annotations");
    return new Reading.Usable(
        new RemoteTool(
            name,
            Rpc.cut(description, MAX_DESCRIPTION),
            Json.parse(text),
            hints.path("readOnlyHint").asBoolean(false),
            hints.path("idempotentHint").asBoolean(false)));
  }

  private static Reading unusable(String name, String why) {
    return new Reading.Unusable(harmless(name), why);
  }

  /** A server's text for a log. */
  static String harmless(String name) {
    return UNUSUAL.matcher(Rpc.cut(name, MAX_NAME)).replaceAll("?");
  }

  /** The name with what models' providers do not take replaced. */
  String fittingName() {
    return UNFIT.matcher(name).replaceAll("_");
  }

  /** Another one if the server comes to mean something else by the same name. */
  String version() {
    return Digest.of(description + "\n" + schema.canonical());
  }
}
