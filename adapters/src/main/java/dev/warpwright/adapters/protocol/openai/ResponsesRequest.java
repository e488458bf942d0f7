package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.adapters.wire.ToolResultText;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolSpec;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the body of a Responses request. Pure: the same call gives the same bytes.
 *
 * <p>Only documented members are written, and only when they are set. Decisions that the protocol
 * leaves open:
 *
 * <ul>
 *   <li>Nothing is stored at the provider: the whole conversation goes with every call, with {@code
 *       store} false. Options that would add a stored one are refused.
 *   <li>{@code reasoning.encrypted_content} is asked for where reasoning is to be expected; the
 *       service refuses it for models that do not reason.
 *   <li>Tools are marked as not strict: strict ones, the protocol's default, must require every
 *       member of their schema.
 *   <li>Tools, {@code include} and {@code reasoning} add to those of the provider options, so that
 *       hosted tools and a summary can be asked for.
 *   <li>A tool's result is JSON text, see {@link ToolResultText}.
 *   <li>The input of a call that could not be read is replayed as the empty object; its result
 *       tells the model what was wrong.
 *   <li>Text without characters is left out of an answer, and so is an answer of which nothing is
 *       left.
 * </ul>
 *
 * @param dialect how the vendor speaks
 * @param modelId the provider's id of the model
 * @param facts what is known of the model
 */
record ResponsesRequest(ResponsesDialect dialect, String modelId, ModelFacts facts) {
  private static final String ENCRYPTED = "reasoning.encrypted_content";

  /** The body of a request for a whole answer, UTF-8. */
  byte[] body(ModelCall call) {
    return utf8(members(call).put("stream", false));
  }

  /** The body of a request for an answer while it comes, UTF-8. */
  byte[] streamed(ModelCall call) {
    return utf8(members(call).put("stream", true));
  }

  private static byte[] utf8(ObjectNode body) {
    return StrictJson.bytes(body);
  }

  private ObjectNode members(ModelCall call) {
    ObjectNode body = RequestRules.providerOptions(call);
    for (String stored : List.of("previous_response_id", "conversation")) {
      if (body.has(stored)) {
        throw RequestRules.refused(
            "Provider options must not hold "
                + stored
                + ": the whole conversation is sent with every call, and nothing is stored.");
      }
    }
    ReasoningAsked asked = ReasoningAsked.of(call, body, facts, dialect.quirks());
    body.put("model", modelId);
    new ResponsesInput(modelId, call.toolResults(), body.putArray("input")).addAll(call.messages());
    tools(call, asked, body);
    call.temperature()
        .ifPresent(value -> body.put("temperature", RequestRules.decimal("temperature", value)));
    call.maxTokens().ifPresent(limit -> limit(limit, body));
    asked.effort().ifPresent(effort -> effort(effort, body));
    if (wantsEncrypted(call)) {
      ArrayNode include = Members.array(body, "include");
      if (include.values().stream().noneMatch(one -> one.asString("").equals(ENCRYPTED))) {
        include.add(ENCRYPTED);
      }
    }
    call.output().ifPresent(format -> format(format, body));
    asked.check(body, dialect.notWhileReasoning());
    return body.put("store", false);
  }

  private void limit(int limit, ObjectNode body) {
    if (dialect.has(Quirk.NO_LIMIT_IN_RESPONSES)) {
      throw RequestRules.refused(
          "This vendor takes maxTokens in Chat Completions only, and Responses was asked for.");
    }
    body.put("max_output_tokens", limit);
  }

  private void effort(Effort effort, ObjectNode body) {
    boolean switches = dialect.has(Quirk.SWITCH_IN_RESPONSES);
    if (switches && effort == Effort.NONE) {
      body.put("enable_thinking", false);
      return;
    }
    Effort named = switches && effort == Effort.LOW ? Effort.MINIMAL : effort;
    Members.object(body, "reasoning").put("effort", OpenAiEffort.word(named));
  }

  private boolean wantsEncrypted(ModelCall call) {
    if (dialect.has(Quirk.NEVER_ENCRYPTED)) {
      return false;
    }
    return dialect.has(Quirk.ALWAYS_ENCRYPTED)
        || facts.capabilities().has(Capability.REASONING)
        || call.reasoning().isPresent();
  }

  private void format(OutputFormat format, ObjectNode body) {
    if (dialect.has(Quirk.NO_FORMAT_IN_RESPONSES)) {
      throw RequestRules.refused(
          "This vendor takes a form of answer in Chat Completions only, and Responses was asked"
              + " for.");
    }
    OpenAiFormat.writeResponses(format, Members.object(body, "text").putObject("format"));
  }

  private void tools(ModelCall call, ReasoningAsked asked, ObjectNode body) {
    if (!RequestRules.offersTools(call)) {
      return;
    }
    ToolRules.checkChoice(call.toolChoice(), asked, dialect.quirks());
    ArrayNode tools = Members.array(body, "tools");
    for (ToolSpec tool : call.tools()) {
      ObjectNode written = tools.addObject().put("type", "function").put("name", tool.name());
      written.put("description", tool.description());
      written.set("parameters", StrictJson.read(tool.inputSchema().text()));
      written.put("strict", false);
    }
    switch (call.toolChoice()) {
      case ToolChoice.Auto _ -> {} // the protocol's default
      case ToolChoice.None _ -> body.put("tool_choice", "none");
      case ToolChoice.Required _ -> body.put("tool_choice", "required");
      case ToolChoice.Named(String name) -> named(name, body.putObject("tool_choice"));
    }
  }

  private void named(String name, ObjectNode out) {
    ObjectNode tool = out;
    if (dialect.has(Quirk.NAMED_TOOL_IS_ALLOWED_TOOLS)) {
      tool = out.put("type", "allowed_tools").put("mode", "required").putArray("tools").addObject();
    }
    tool.put("type", "function").put("name", name);
  }
}
