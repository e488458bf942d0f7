package dev.warpwright.adapters.wire;

import dev.warpwright.model.Message;
import dev.warpwright.model.ToolCall;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Ids for tool calls that came without one.
 *
 * <p>An adapter sees neither run nor step. What stands for them is the conversation so far (how
 * many messages, which calls) and the answer itself, hashed: the same answer to the same
 * conversation has the same ids, and a later step of the same run has others, even if the model
 * says the same again. An id that the conversation already uses is never given.
 */
public final class CallIds {
  private static final int HASH_BYTES = 12;

  private final Set<String> used = new HashSet<>();
  private final String prefix;

  /**
   * Ids for one answer.
   *
   * @param conversation what was asked
   * @param answer the answer as it came
   */
  public CallIds(List<Message> conversation, byte[] answer) {
    MessageDigest hash = sha256();
    hash.update((byte) conversation.size());
    hash.update((byte) (conversation.size() >> 8));
    for (Message message : conversation) {
      for (ToolCall call : message.toolCalls()) {
        used.add(call.id());
        hash.update(call.id().getBytes(StandardCharsets.UTF_8));
        hash.update((byte) 0);
      }
    }
    hash.update(answer);
    this.prefix = "call_" + HexFormat.of().formatHex(hash.digest(), 0, HASH_BYTES) + "_";
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256.", e);
    }
  }

  /**
   * The id of a call that has none.
   *
   * @param ordinal the call's place in the answer, from 0
   * @return the id, at most 40 characters of {@code [A-Za-z0-9_]}
   */
  public String id(int ordinal) {
    String id = prefix + ordinal;
    while (!used.add(id)) {
      id += "x";
    }
    return id;
  }
}
