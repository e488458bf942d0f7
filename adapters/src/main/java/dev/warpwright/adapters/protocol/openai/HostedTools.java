package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderException;
import java.util.Set;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Tools that the provider runs itself: whether a call that failed may have left something behind.
 *
 * <p>What an answer shows decides. Where a failure shows no items, the tools that were offered do,
 * unless the status says that the request was refused. Pure.
 */
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
          "shell_call");

  /** Tools of which the same holds, and those that the program itself runs. */
  private static final Pattern OFFERED_WITHOUT_EFFECTS =
      Pattern.compile(
          "function|custom|web_search.*|file_search|image_generation|local_shell|computer.*"
              + "|apply_patch");

  private HostedTools() {}

  /** Whether a failure that shows no items leaves it open what an offered tool has done. */
  static boolean mayHaveActed(ModelCall call, ProviderException failure) {
    boolean open =
        switch (failure.kind()) {
          case READ, PROTOCOL -> true;
          case HTTP_STATUS -> failure.status() >= 500 || failure.status() == 408;
          case PROVIDER_EVENT -> failure.status() >= 500 || failure.status() == 0;
          case CONNECT, TIMEOUT, CONTEXT_LENGTH, TOOL_CALL, UNSUPPORTED, OTHER ->
              false; // not sent, or refused
        };
    return open && mayAct(call);
  }

  /** Whether a call offers a tool that the provider runs and that may change something. */
  static boolean mayAct(ModelCall call) {
    return offersEffects(RequestRules.readOptions(call).path("tools"));
  }

  private static boolean offersEffects(JsonNode tools) {
    for (JsonNode tool : tools) {
      String type = tool.path("type").asString("");
      if (!OFFERED_WITHOUT_EFFECTS.matcher(type).matches()) {
        return true;
      }
    }
    return false;
  }

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
