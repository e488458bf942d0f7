package dev.warpwright.adapters.scripted;

import dev.warpwright.model.Digest;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderState;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Blocks of thinking in Anthropic's form. The signature follows from the words, so that a server
 * can tell, as the real one does, whether a block came back as it was.
 */
final class SignedThinking {
  private static final String PROTOCOL = "anthropic-messages";

  private SignedThinking() {}

  static ProviderState of(String modelId, String words) {
    Map<String, Object> block = new LinkedHashMap<>();
    block.put("type", "thinking");
    block.put("thinking", words);
    block.put("signature", signature(words));
    return ProviderState.of(PROTOCOL, modelId, Json.of(block));
  }

  static boolean isGenuine(JsonNode block) {
    return block
        .path("signature")
        .asString("")
        .equals(signature(block.path("thinking").asString("")));
  }

  private static String signature(String words) {
    byte[] hash = HexFormat.of().parseHex(Digest.hex("signed by the script: " + words));
    return Base64.getEncoder().encodeToString(hash);
  }
}
