package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Digest;
import dev.warpwright.model.ProviderState;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A script's thinking as an item of reasoning. Its encrypted content holds the words and names the
 * item that follows, so that a server can tell, as the real one does, whether the item came back as
 * it was and with its follower. It is opaque, not secret.
 */
final class SignedReasoning {
  private static final int SEAL = 32;

  private SignedReasoning() {}

  /**
   * Writes the item for a thought in the form in which scripts have it.
   *
   * @param shown whether its summary, which is the whole thought, can be read
   */
  static ObjectNode item(ProviderState thinking, JsonNode follower, boolean shown) {
    String words = StrictJson.read(thinking.data().text()).path("thinking").asString("");
    String sealed =
        seal(words + "\n" + name(follower))
            + "."
            + Base64.getUrlEncoder().encodeToString(words.getBytes(StandardCharsets.UTF_8));
    ObjectNode item = StrictJson.mapper().createObjectNode();
    item.put("id", "rs_" + seal(words)).put("type", "reasoning");
    ArrayNode summary = item.putArray("summary");
    if (shown) {
      summary.addObject().put("type", "summary_text").put("text", words);
    }
    return item.put("encrypted_content", sealed);
  }

  /** Whether an item is one of ours, unchanged, and stands before the item it stood before. */
  static boolean isGenuine(JsonNode item, JsonNode follower) {
    String sealed = item.path("encrypted_content").asString("");
    if (sealed.length() <= SEAL) {
      return false;
    }
    String words;
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(sealed.substring(SEAL + 1));
      words = new String(bytes, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException _) {
      return false;
    }
    return sealed.startsWith(seal(words + "\n" + name(follower)) + ".")
        && item.path("id").asString("").equals("rs_" + seal(words));
  }

  private static String name(JsonNode follower) {
    return follower.path("type").asString("message").equals("function_call")
        ? "call " + follower.path("call_id").asString("")
        : follower.path("role").asString("no message");
  }

  private static String seal(String text) {
    return Digest.hex("sealed by the script: " + text).substring(0, SEAL);
  }
}
