package dev.warpwright.adapters.scripted;

import dev.warpwright.model.Image;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/**
 * A short name of a conversation: equal for equal conversations, different for all others. Ids are
 * made from it, so it covers everything that was said; an id that only counted turns would repeat
 * itself as soon as an agent shortens its history.
 */
final class Fingerprint {
  private static final int BYTES = 12;

  private Fingerprint() {}

  static String of(List<Message> messages) {
    MessageDigest digest = sha256();
    for (Message message : messages) {
      add(digest, message.role().name());
      for (Part part : message.parts()) {
        switch (part) {
          case Part.Text text -> add(digest, text.text());
          case Image image -> {} // the wire is read for words only
          case ToolCall call -> {
            add(digest, call.id());
            add(digest, call.name());
            add(digest, call.malformed().orElse(call.input().text()));
          }
          case ToolResult result -> {
            add(digest, result.callId());
            add(digest, result.error() ? "error" : "output");
            add(digest, result.output().text());
          }
          case ProviderState state -> {} // not every wire brings it back
        }
      }
    }
    return HexFormat.of().formatHex(digest.digest(), 0, BYTES);
  }

  /** Adds a text behind its length, so that no two sequences of texts run together. */
  private static void add(MessageDigest digest, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    for (int shift = 24; shift >= 0; shift -= 8) {
      digest.update((byte) (bytes.length >>> shift));
    }
    digest.update(bytes);
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256.", e);
    }
  }
}
