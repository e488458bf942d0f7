package dev.warpwright.adapters.scripted;

import dev.warpwright.model.Digest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import tools.jackson.databind.JsonNode;

/**
 * Signatures of thoughts on parts of a generateContent answer. A signature holds the thought and
 * follows from it and from the part, so that a server can tell, as the real one does, whether it
 * came back as it was and on its part.
 */
final class SignedParts {
  private static final int SEAL = 32;

  private SignedParts() {}

  static String signature(String thought, JsonNode part) {
    byte[] words = thought.getBytes(StandardCharsets.UTF_8);
    return seal(thought, part) + Base64.getEncoder().encodeToString(words);
  }

  /** Whether a part carries no signature, or one that is its own. */
  static boolean isGenuine(JsonNode part) {
    String signature = part.path("thoughtSignature").asString("");
    if (!part.has("thoughtSignature")) {
      return true;
    }
    if (signature.length() < SEAL) {
      return false;
    }
    try {
      byte[] words = Base64.getDecoder().decode(signature.substring(SEAL));
      return signature.equals(signature(new String(words, StandardCharsets.UTF_8), part));
    } catch (IllegalArgumentException _) {
      return false;
    }
  }

  private static String seal(String thought, JsonNode part) {
    JsonNode call = part.path("functionCall");
    String name =
        call.isObject()
            ? "call " + call.path("id").asString("") + " " + call.path("name").asString("")
            : "text " + part.path("text").asString("");
    return Digest.hex("signed by the script: " + thought + "\n" + name).substring(0, SEAL);
  }
}
