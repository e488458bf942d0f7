package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.model.Capability;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** How a vendor's models are asked in Chat Completions to reason. Pure. */
public enum ReasoningStyle {
  /** OpenAI's {@code reasoning_effort}. */
  EFFORT {
    @Override
    void write(ReasoningAsked asked, ObjectNode body) {
      asked.effort().ifPresent(effort -> body.put(WORD, OpenAiEffort.word(effort)));
    }
  },

  /** A switch {@code thinking}, which any effort but NONE turns on. */
  SWITCH {
    @Override
    void write(ReasoningAsked asked, ObjectNode body) {
      asked.effort().ifPresent(effort -> turn(effort, body));
    }
  },

  /** DeepSeek: the switch {@code thinking}, and how hard if it is on. */
  DEEPSEEK {
    @Override
    void write(ReasoningAsked asked, ObjectNode body) {
      asked
          .effort()
          .ifPresent(
              effort -> {
                asked.require(effort, Effort.NONE, Effort.HIGH, Effort.MAX);
                turn(effort, body);
                if (effort != Effort.NONE) {
                  body.put(WORD, word(effort));
                }
              });
    }
  },

  /**
   * Kimi: models whose limit is {@code max_completion_tokens} have an effort, by default the most;
   * the others have the switch, and those that always reason keep what they thought.
   */
  KIMI {
    @Override
    void write(ReasoningAsked asked, ObjectNode body) {
      asked
          .effort()
          .ifPresent(
              effort -> {
                if (asked.facts().has(ModelTrait.MAX_COMPLETION_TOKENS)) {
                  asked.require(effort, Effort.MAX);
                  body.put(WORD, word(effort));
                  return;
                }
                ObjectNode thinking = turn(effort, body);
                if (asked.facts().has(ModelTrait.REASONS_ALWAYS)) {
                  thinking.put("keep", "all");
                }
              });
    }
  },

  /**
   * Z.ai: the switch, and an effort for models of which efforts are known. What was thought before
   * counts only if it is asked not to be cleared.
   */
  ZAI {
    @Override
    void write(ReasoningAsked asked, ObjectNode body) {
      asked
          .effort()
          .ifPresent(
              effort -> {
                turn(effort, body);
                if (effort != Effort.NONE && !asked.facts().efforts().isEmpty()) {
                  body.put(WORD, word(effort));
                }
              });
      boolean saysSo = body.path(SWITCH_MEMBER).path("type").asString("").equals("enabled");
      boolean canReason = asked.facts().capabilities().has(Capability.REASONING);
      if ((saysSo || (canReason && asked.reasons()))
          && (body.has("tools") || replaysReasoning(body))) {
        ObjectNode thinking = Members.object(body, SWITCH_MEMBER);
        if (!thinking.has("type")) {
          thinking.put("type", "enabled");
        }
        thinking.put("clear_thinking", false);
      }
    }
  },

  /** Qwen: the switch {@code enable_thinking}, and a budget. */
  QWEN {
    @Override
    void write(ReasoningAsked asked, ObjectNode body) {
      asked
          .wanted()
          .ifPresent(
              reasoning -> {
                switch (reasoning) {
                  case Reasoning.ByEffort(Effort effort) ->
                      body.put("enable_thinking", effort != Effort.NONE);
                  case Reasoning.ByBudget(int tokens) ->
                      body.put("enable_thinking", true).put("thinking_budget", tokens);
                }
              });
    }
  },

  /** OpenRouter: an object {@code reasoning} with an effort or a budget. */
  OBJECT {
    @Override
    void write(ReasoningAsked asked, ObjectNode body) {
      asked
          .wanted()
          .ifPresent(
              reasoning -> {
                ObjectNode object = Members.object(body, "reasoning");
                switch (reasoning) {
                  case Reasoning.ByEffort(Effort effort) -> {
                    object.remove("max_tokens"); // it takes one of them
                    object.put("effort", OpenAiEffort.word(effort));
                  }
                  case Reasoning.ByBudget(int tokens) -> {
                    object.remove("effort");
                    object.put("max_tokens", tokens);
                  }
                }
              });
    }
  },

  /** It cannot be asked for. */
  UNSUPPORTED {
    @Override
    void write(ReasoningAsked asked, ObjectNode body) {
      if (asked.wanted().isPresent()) {
        throw RequestRules.refused("This vendor cannot be asked to reason; leave it out.");
      }
    }
  };

  private static final String WORD = "reasoning_effort";
  private static final String SWITCH_MEMBER = "thinking";

  /**
   * Writes what is asked for into a request whose messages and tools are written.
   *
   * @throws dev.warpwright.model.ProviderException if the vendor has no word for it
   */
  abstract void write(ReasoningAsked asked, ObjectNode body);

  private static ObjectNode turn(Effort effort, ObjectNode body) {
    return Members.object(body, SWITCH_MEMBER)
        .put("type", effort == Effort.NONE ? "disabled" : "enabled");
  }

  /** Other vendors call the most by a word of its own. */
  private static String word(Effort effort) {
    return effort == Effort.MAX ? "max" : OpenAiEffort.word(effort);
  }

  private static boolean replaysReasoning(ObjectNode body) {
    for (JsonNode message : body.path("messages")) {
      if (message.has("reasoning_content")) {
        return true;
      }
    }
    return false;
  }
}
