package dev.warpwright.model;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tool calls and results of the conversation that a request begins with, checked: any provider
 * that declares a {@link ToolHistory} can go on with them. Whether they came from another provider,
 * from a store or from the program makes no difference; none of them runs a tool.
 *
 * <p>The rules, for a conversation in which tools were called:
 *
 * <ul>
 *   <li>System messages stand before everything else.
 *   <li>Ids and names have 1 to 256 characters, none of them a space or control character. An id
 *       names one call of the conversation; its input is a JSON object.
 *   <li>A result names the id and the tool of a call before it. Every call has one result, before
 *       anybody but a tool speaks again, in any order and in one message or several in a row.
 *   <li>A success has any JSON as its output, a failure a JSON string: what went wrong.
 *   <li>Private state of a provider says which provider issued it.
 * </ul>
 *
 * <p>That a role has the parts that it may have is a rule of {@link Message}, and how deep JSON may
 * be one of {@link Json}. A conversation without tools has no more rules than these.
 *
 * @param hasTools whether tools were called in the conversation
 * @param interleaves whether a text stands behind a call in the same message, where some protocols
 *     have no place for it
 */
public record PortableHistory(boolean hasTools, boolean interleaves) {
  /** A conversation without tools. */
  public static final PortableHistory NONE = new PortableHistory(false, false);

  private static final int MAX_NAME = 256;

  /**
   * Checks a conversation. Pure.
   *
   * @param messages what a request begins with
   * @return what it asks of whoever goes on with it
   * @throws InvalidRequestException if it breaks a rule of this class: always with the same text,
   *     which shows nothing of the conversation
   */
  public static PortableHistory of(List<Message> messages) {
    if (!holdTools(messages)) {
      return NONE;
    }
    Walk walk = new Walk();
    messages.forEach(walk::take);
    walk.requireAllResolved();
    return new PortableHistory(true, walk.interleaves);
  }

  private static boolean holdTools(List<Message> messages) {
    for (Message message : messages) {
      if (message.role() == Role.TOOL || !message.toolCalls().isEmpty()) {
        return true;
      }
    }
    return false;
  }

  /** The failure of every broken rule. */
  static InvalidRequestException invalid() {
    return new InvalidRequestException(
        FailureKind.INVALID_HISTORY, "Invalid or unsupported message history.");
  }

  private static void require(boolean holds) {
    if (!holds) {
      throw invalid();
    }
  }

  /** Goes through a conversation in its order. */
  private static final class Walk {
    private final Set<String> ids = new HashSet<>();
    private final Map<String, String> unresolved = new HashMap<>(); // the tool's name by id
    private boolean begun;
    boolean interleaves;

    void take(Message message) {
      switch (message.role()) {
        case SYSTEM -> require(!begun);
        case USER -> requireAllResolved();
        case ASSISTANT -> {
          requireAllResolved();
          message.parts().forEach(this::answered);
        }
        case TOOL -> {
          require(!message.parts().isEmpty());
          message.toolResults().forEach(this::resolved);
        }
      }
      begun |= message.role() != Role.SYSTEM;
    }

    void requireAllResolved() {
      require(unresolved.isEmpty());
    }

    private void answered(Part part) {
      switch (part) {
        case ToolCall call -> {
          require(isName(call.id()) && isName(call.name()) && isReadOnce(call));
          require(ids.add(call.id()));
          unresolved.put(call.id(), call.name());
        }
        case Part.Text(String text) -> interleaves |= !text.isEmpty() && !unresolved.isEmpty();
        case ProviderState state -> require(state.provider().isPresent());
        case ToolResult _, Image _ -> throw new AssertionError("No part of an answer: " + part);
      }
    }

    private void resolved(ToolResult result) {
      require(result.toolName().equals(unresolved.remove(result.callId())));
      require(!result.error() || result.output().value() instanceof String);
    }

    /** An object; one that could not be read has its text instead, never both. */
    private static boolean isReadOnce(ToolCall call) {
      return call.malformed().isEmpty()
          ? call.input().isObject()
          : call.input().equals(Json.EMPTY_OBJECT);
    }

    private static boolean isName(String text) {
      return !text.isEmpty()
          && text.length() <= MAX_NAME
          && text.codePoints()
              .noneMatch(
                  c ->
                      Character.isWhitespace(c)
                          || Character.isSpaceChar(c)
                          || Character.isISOControl(c));
    }
  }
}
