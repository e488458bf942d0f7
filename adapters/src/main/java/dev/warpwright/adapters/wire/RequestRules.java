package dev.warpwright.adapters.wire;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import java.math.BigDecimal;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What every request writer checks before anything is sent. Pure. */
public final class RequestRules {
  private RequestRules() {}

  /**
   * A number as it reads.
   *
   * @param name what it is, for the message
   * @param value the number
   * @return its shortest decimal form
   * @throws ProviderException if it is not finite
   */
  public static BigDecimal decimal(String name, double value) {
    if (!Double.isFinite(value)) {
      throw refused(name + " must be a finite number.");
    }
    return new BigDecimal(Double.toString(value));
  }

  /**
   * The members that only the provider knows, to begin a request's body with: what the writer sets
   * afterwards replaces them.
   *
   * @param call what is asked
   * @return a new object with the call's provider options
   * @throws ProviderException if they are no object
   */
  public static ObjectNode providerOptions(ModelCall call) {
    if (readOptions(call) instanceof ObjectNode options) {
      return options;
    }
    throw refused("Provider options must be a JSON object.");
  }

  /**
   * The provider options, to look at.
   *
   * @param call what is asked
   * @return a new tree of the call's provider options, whatever they are
   */
  public static JsonNode readOptions(ModelCall call) {
    Json options = call.providerOptions();
    return options.equals(Json.EMPTY_OBJECT)
        ? StrictJson.mapper().createObjectNode()
        : StrictJson.read(options.text());
  }

  /**
   * A member of provider options that the protocol's writer adds to.
   *
   * @param options the options
   * @param name the member's name
   * @return the object; a new one, already in its place, if there is none
   * @throws dev.warpwright.model.ProviderException if it is no object
   */
  public static ObjectNode object(ObjectNode options, String name) {
    if (!options.has(name)) {
      return options.putObject(name);
    }
    if (options.get(name) instanceof ObjectNode given) {
      return given;
    }
    throw refused("The provider option " + name + " must be a JSON object.");
  }

  /**
   * Whether tools are offered.
   *
   * @param call what is asked
   * @return true if the call names at least one tool
   * @throws ProviderException if it names none and requires one
   */
  public static boolean offersTools(ModelCall call) {
    if (!call.tools().isEmpty()) {
      return true;
    }
    if (isForced(call.toolChoice())) {
      throw refused("A tool cannot be required when the call offers none.");
    }
    return false;
  }

  /**
   * Whether the model must call a tool.
   *
   * @param choice the choice
   * @return true for REQUIRED and for a named tool
   */
  public static boolean isForced(ToolChoice choice) {
    return switch (choice) {
      case ToolChoice.Auto _, ToolChoice.None _ -> false;
      case ToolChoice.Required _, ToolChoice.Named _ -> true;
    };
  }

  /**
   * Refuses an answer with text behind a call: where a protocol has no place for it, moving it
   * would change its meaning.
   *
   * @param answer an assistant's message
   * @throws ProviderException if text follows a call
   */
  public static void requireTextBeforeCalls(Message answer) {
    boolean called = false;
    for (Part part : answer.parts()) {
      if (called && part instanceof Part.Text(String text) && !text.isEmpty()) {
        throw refused("Text after a tool call cannot be sent in this protocol.");
      }
      called |= part instanceof ToolCall;
    }
  }

  /**
   * What a failed call says.
   *
   * @param result a result that is an error
   * @return its text; the JSON text of an output that is none
   */
  public static String errorText(ToolResult result) {
    return result.output().value() instanceof String text ? text : result.output().text();
  }

  /**
   * How a writer refuses a call.
   *
   * @param message a fixed text that says what to change
   * @return the exception, of kind UNSUPPORTED: this target cannot take the call, another may
   */
  public static ProviderException refused(String message) {
    return ProviderException.builder(ProviderException.Kind.UNSUPPORTED, message).build();
  }
}
