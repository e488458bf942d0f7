package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.wire.RequestRules;
import dev.warpwright.adapters.wire.ToolResultText;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolSpec;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes the body of a Chat Completions request. Pure: the same call gives the same bytes.
 *
 * <p>Only documented members are written, and only when they are set. Decisions that the protocol
 * leaves open:
 *
 * <ul>
 *   <li>A tool's result is JSON text, see {@link ToolResultText}.
 *   <li>The input of a call that could not be read is replayed as the empty object: the protocol
 *       wants JSON there, and servers whose prompt templates parse it fail on anything else. The
 *       call's result tells the model what was wrong.
 *   <li>A turn that holds only calls has the content null, or empty where the vendor wants that.
 *   <li>Of private state only what {@link PrivateReasoning} names is sent.
 *   <li>Tools add to those of the provider options, so that those can be asked for that a vendor
 *       runs itself.
 *   <li>A form of answer is asked for as {@link OpenAiFormat} says.
 * </ul>
 *
 * @param dialect how the vendor speaks
 * @param modelId the provider's id of the model
 * @param facts what is known of the model
 */
record ChatRequest(ChatDialect dialect, String modelId, ModelFacts facts) {

  /** The body of a request for a whole answer, UTF-8. */
  byte[] body(ModelCall call) {
    return utf8(members(call).put("stream", false));
  }

  /** The body of a request for an answer while it comes, UTF-8. */
  byte[] streamed(ModelCall call) {
    ObjectNode body = members(call).put("stream", true);
    if (!dialect.has(Quirk.NO_STREAM_OPTIONS)) {
      Members.object(body, "stream_options").put("include_usage", true);
    }
    if (dialect.has(Quirk.TOOL_STREAM) && body.has("tools")) {
      body.put("tool_stream", true);
    }
    return utf8(body);
  }

  private static byte[] utf8(ObjectNode body) {
    return StrictJson.bytes(body);
  }

  private ObjectNode members(ModelCall call) {
    ObjectNode body = RequestRules.providerOptions(call);
    ReasoningAsked asked = ReasoningAsked.of(call, body, facts, dialect.quirks());
    if (dialect.has(Quirk.MODEL_IN_PATH)) {
      body.remove("model");
    } else {
      body.put("model", modelId);
    }
    new ChatMessages(dialect, modelId, call, body.putArray("messages")).write(call);
    tools(call, asked, body);
    call.temperature()
        .ifPresent(value -> body.put("temperature", RequestRules.decimal("temperature", value)));
    call.maxTokens().ifPresent(limit -> limit(limit, call, body));
    dialect.reasoning().write(asked, body);
    if (dialect.has(Quirk.UPSTREAM_FALLBACK)) {
      Members.object(body, "provider").putIfAbsent("allow_fallbacks", BooleanNode.FALSE);
    }
    call.output().ifPresent(format -> format(format, body.putObject("response_format")));
    asked.check(body, dialect.notWhileReasoning());
    return body;
  }

  private void limit(int limit, ModelCall call, ObjectNode body) {
    if (limit > dialect.mostOutput()) {
      throw RequestRules.refused(
          "maxTokens must be between 1 and %d for this vendor, but is %d."
              .formatted(dialect.mostOutput(), limit));
    }
    boolean completion =
        facts.has(ModelTrait.MAX_COMPLETION_TOKENS)
            || (call.reasoning().isPresent() && !dialect.has(Quirk.ONE_NAME_FOR_LIMIT));
    body.put(completion ? "max_completion_tokens" : "max_tokens", limit);
  }

  private void format(OutputFormat format, ObjectNode out) {
    boolean told = dialect.has(Quirk.SCHEMA_IN_MESSAGE);
    OpenAiFormat.writeChat(told ? new OutputFormat.JsonObject() : format, out);
  }

  private void tools(ModelCall call, ReasoningAsked asked, ObjectNode body) {
    ToolRules.checkTools(call, dialect.quirks());
    if (!RequestRules.offersTools(call)) {
      return; // the protocol refuses a tool choice without tools
    }
    ToolRules.checkChoice(call.toolChoice(), asked, dialect.quirks());
    ArrayNode tools = Members.array(body, "tools");
    for (ToolSpec tool : call.tools()) {
      ObjectNode function = tools.addObject().put("type", "function").putObject("function");
      function.put("name", tool.name());
      function.put("description", tool.description());
      function.set("parameters", StrictJson.read(tool.inputSchema().text()));
    }
    switch (call.toolChoice()) {
      case ToolChoice.Auto _ -> { // the protocol's default
        if (dialect.has(Quirk.CHOICE_IS_AUTO_OR_NONE)) {
          body.put("tool_choice", "auto");
        }
      }
      case ToolChoice.None _ -> body.put("tool_choice", "none");
      case ToolChoice.Required _ ->
          body.put("tool_choice", dialect.has(Quirk.REQUIRED_IS_ANY) ? "any" : "required");
      case ToolChoice.Named named ->
          body.putObject("tool_choice")
              .put("type", "function")
              .putObject("function")
              .put("name", named.name());
    }
  }
}
