package dev.warpwright.adapters.protocol.openai;

import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.CallReader;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderException;
import java.net.http.HttpHeaders;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The items by which Responses asks for an approval of a call to a server of the Model Context
 * Protocol, and is answered. Pure. Source: OpenAI's API reference, {@code mcp_approval_request} and
 * {@code mcp_approval_response}.
 */
final class ApprovalItems {
  /** The type of an item that asks. */
  static final String REQUEST = "mcp_approval_request";

  private static final String RESPONSE = "mcp_approval_response";

  private ApprovalItems() {}

  /**
   * Reads what an item asks. Without an id it could not be answered, without a tool or with more
   * arguments than the bound nobody could decide on it, so that such an answer is refused.
   *
   * @param item the item
   * @param failures how it fails
   * @param headers the response's headers
   * @throws ProviderException of kind PROTOCOL if it lacks something or breaks a bound
   */
  static ProviderApproval read(JsonNode item, Failures failures, HttpHeaders headers) {
    @Nullable String id = CallReader.text(item.path("id"));
    @Nullable String tool = CallReader.text(item.path("name"));
    if (id == null || tool == null) {
      String lacks = id == null ? "id" : "tool";
      throw failures.protocol("has a request for approval without " + lacks + ".", headers);
    }
    String arguments = CallReader.arguments(item.path("arguments"));
    if (arguments.length() > ProviderApproval.MAX_ARGUMENT_BYTES) {
      throw failures.protocol(tooLong(), headers);
    }
    Optional<String> server = Optional.ofNullable(CallReader.text(item.path("server_label")));
    try {
      return ProviderApproval.of(id, server, tool, arguments(arguments));
    } catch (InvalidRequestException e) {
      throw failures.protocol(
          "has a request for approval that breaks a bound: " + e.getMessage(), headers);
    }
  }

  private static String tooLong() {
    return "has a request for approval whose arguments are longer than the bound of "
        + ProviderApproval.MAX_ARGUMENT_BYTES
        + " bytes.";
  }

  /** What cannot be read as JSON, such as an object with a key twice, is shown as it is. */
  private static Json arguments(String text) {
    if (text.isBlank()) {
      return Json.EMPTY_OBJECT;
    }
    try {
      return Json.parse(text);
    } catch (InvalidRequestException | NumberFormatException _) { // an exponent beyond all bounds
      return Json.of(StrictJson.cleanText(text));
    }
  }

  /**
   * The items of a piece that ends with a request, as they are replayed.
   *
   * @param kept the items as they came
   * @param asked what the last one asks
   * @return them with the answer behind them; without an answer those before the request, but no
   *     reasoning that led to it alone
   */
  static List<JsonNode> answered(ArrayNode kept, ProviderApproval asked) {
    List<JsonNode> items = new ArrayList<>(kept.values());
    if (asked.answer().isPresent()) {
      items.add(response(asked.requestId(), asked.answer().get()));
      return items;
    }
    items.removeLast();
    while (!items.isEmpty() && PrivateItems.isReasoning(items.getLast())) {
      items.removeLast();
    }
    return items;
  }

  private static ObjectNode response(String requestId, ProviderApproval.Answer answer) {
    ObjectNode item =
        StrictJson.mapper()
            .createObjectNode()
            .put("type", RESPONSE)
            .put("approval_request_id", requestId)
            .put("approve", answer.approved());
    answer.reason().ifPresent(why -> item.put("reason", StrictJson.cleanText(why)));
    return item;
  }
}
