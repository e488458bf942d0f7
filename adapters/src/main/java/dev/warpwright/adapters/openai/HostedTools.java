package dev.warpwright.adapters.openai;

import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Calls of tools that the provider runs itself, among the items of an answer. Pure. */
final class HostedTools {
  /** The protocol's tools that look something up or draw, and change nothing anywhere. */
  private static final Set<String> WITHOUT_EFFECTS =
      Set.of("file_search_call", "image_generation_call", "web_search_call");

  /** Calls that only the program can answer, and of which it has not asked for any. */
  private static final Set<String> AWAITING =
      Set.of(
          "apply_patch_call",
          "computer_call",
          "custom_tool_call",
          "local_shell_call",
          "mcp_approval_request",
          "shell_call");

  private HostedTools() {}

  /** Whether an item asks the program for something that this adapter does not hand on. */
  static boolean awaitsTheProgram(JsonNode item) {
    return AWAITING.contains(item.path("type").asString(""));
  }

  /** Whether one was called that may have acted; of a kind that is not known, any may. */
  static boolean mayHaveActed(JsonNode output) {
    for (JsonNode item : output) {
      if (isCall(item) && !WITHOUT_EFFECTS.contains(item.path("type").asString(""))) {
        return true;
      }
    }
    return false;
  }

  /** Whether one failed. */
  static boolean failed(JsonNode output) {
    for (JsonNode item : output) {
      if (isCall(item) && item.path("status").asString("").equals("failed")) {
        return true;
      }
    }
    return false;
  }

  private static boolean isCall(JsonNode item) {
    String type = item.path("type").asString("");
    return type.endsWith("_call") && !type.equals("function_call") && !awaitsTheProgram(item);
  }
}
