package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import java.util.Set;
import java.util.regex.Pattern;

/** What vendors and models allow of tools; what breaks it is refused. Pure. */
final class ToolRules {
  private static final int MOST_TOOLS = 128;
  private static final Pattern STRICT_NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private ToolRules() {}

  /**
   * Checks the choice of a call that offers tools.
   *
   * @throws dev.warpwright.model.ProviderException if the vendor or the model does not take it
   */
  static void checkChoice(ToolChoice choice, ReasoningAsked asked, Set<Quirk> quirks) {
    if (quirks.contains(Quirk.AUTO_CHOICE_ONLY) && !(choice instanceof ToolChoice.Auto)) {
      throw RequestRules.refused(
          "This vendor leaves it to the model whether to call a tool: the tool choice must be"
              + " AUTO.");
    }
    boolean neverRequired =
        asked.facts().has(ModelTrait.NO_REQUIRED_TOOL)
            || quirks.contains(Quirk.CHOICE_IS_AUTO_OR_NONE);
    boolean taken =
        switch (choice) {
          case ToolChoice.Auto _, ToolChoice.None _ -> true;
          case ToolChoice.Required _ -> !neverRequired;
          case ToolChoice.Named _ ->
              quirks.contains(Quirk.NAMED_TOOL_UNLESS_REASONING)
                  ? !asked.reasons()
                  : !neverRequired;
        };
    if (!taken) {
      throw RequestRules.refused(
          "This model cannot be made to call a tool as it is asked: the tool choice must be AUTO or"
              + " NONE"
              + (asked.reasons() ? ", or the effort of reasoning NONE." : "."));
    }
  }

  /**
   * Checks how many tools there are, and what those of earlier calls are called.
   *
   * @throws dev.warpwright.model.ProviderException if the vendor does not take them
   */
  static void checkTools(ModelCall call, Set<Quirk> quirks) {
    if (!quirks.contains(Quirk.STRICT_TOOLS)) {
      return;
    }
    if (call.tools().size() > MOST_TOOLS) {
      throw RequestRules.refused(
          "The tools of a call must be between 0 and %d for this vendor, but are %d."
              .formatted(MOST_TOOLS, call.tools().size()));
    }
    for (Message message : call.messages()) {
      for (ToolCall earlier : message.toolCalls()) {
        if (!STRICT_NAME.matcher(earlier.name()).matches()) {
          throw RequestRules.refused(
              "The name of a tool in the conversation must match [A-Za-z0-9_-]{1,64} for this"
                  + " vendor.");
        }
      }
    }
  }
}
