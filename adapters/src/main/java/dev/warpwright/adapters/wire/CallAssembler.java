package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.http.Failures;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolCall;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.StringNode;

/**
 * Puts the tool calls of one streamed answer together. They are calls only when the answer is
 * complete: {@link #calls()}. Not thread-safe.
 *
 * <p>To which call a fragment belongs, its id says, else its index, else there must be but one
 * call. Servers differ in how they use the two, so:
 *
 * <ul>
 *   <li>A fragment with another id than the call at its index, or without an id and for another
 *       tool, begins another call. Arguments of two calls are never joined.
 *   <li>An id, an index or a name may come later than the call's beginning, or each time again; an
 *       empty one says nothing.
 *   <li>An id at two indices, or for two tools, breaks the protocol, as does a fragment that could
 *       belong to several calls.
 * </ul>
 *
 * <p>Calls stand in the order of their indices, those at one index and those without in that of
 * their coming.
 */
public final class CallAssembler {
  private static final int NO_INDEX = -1;

  private final Failures failures;
  private final HttpHeaders headers;
  private final ModelCall asked;
  private final String argumentsMember;
  private final List<Open> calls = new ArrayList<>();
  private @Nullable StreamEvent checked; // the last event with arguments that are no text
  private boolean checkedRepeats;

  /**
   * Begins an answer.
   *
   * @param failures how it fails
   * @param headers the response's headers
   * @param asked what was asked
   * @param argumentsMember what the protocol calls the arguments of a call
   */
  public CallAssembler(
      Failures failures, HttpHeaders headers, ModelCall asked, String argumentsMember) {
    this.failures = failures;
    this.headers = headers;
    this.asked = asked;
    this.argumentsMember = argumentsMember;
  }

  /**
   * Takes a fragment. Each of its parts may be missing, null or empty.
   *
   * @param givenIndex the call's index, 0 to 127
   * @param givenId the call's id
   * @param givenName the tool's name, whole
   * @param arguments the next piece of the text of its arguments; or the object itself, which
   *     counts if no text comes
   * @param event where it stands
   * @throws ProviderException of kind PROTOCOL if it belongs to no call, or crosses a bound
   */
  public void fragment(
      JsonNode givenIndex,
      JsonNode givenId,
      JsonNode givenName,
      JsonNode arguments,
      StreamEvent event) {
    int index = index(givenIndex);
    String id = CallReader.text(givenId);
    String name = CallReader.text(givenName);
    String piece = arguments.isContainer() ? "" : CallReader.arguments(arguments);
    if (id == null && name == null && piece.isEmpty() && arguments.isEmpty()) {
      return;
    }
    Open call = find(index, id, name);
    if (call == null) {
      call = open(index);
    } else if (call.index == NO_INDEX && index != NO_INDEX) {
      calls.remove(call);
      call.index = index;
      place(call);
    }
    call.id = id == null ? call.id : id;
    call.name = name == null ? call.name : name;
    if (arguments.isContainer()) {
      call.whole = arguments;
      call.repeatsKeys |= repeatsKeys(event);
    }
    if (call.arguments.length() + piece.length() > ToolArguments.MAX_BYTES) {
      throw broken(ToolArguments.TOO_LONG);
    }
    call.arguments.append(piece);
  }

  /** Looked at once for all fragments of an event: its text is as long as they are many. */
  private boolean repeatsKeys(StreamEvent event) {
    if (!event.equals(checked)) {
      checked = event;
      checkedRepeats = RepeatedKeys.below(utf8(event.data()), argumentsMember);
    }
    return checkedRepeats;
  }

  private int index(JsonNode given) {
    if (given.isNull() || given.isMissingNode()) {
      return NO_INDEX;
    }
    if (!given.isIntegralNumber()
        || !given.canConvertToInt()
        || given.intValue() < 0
        || given.intValue() >= CallReader.MAX_CALLS) {
      throw broken(
          "has a tool call whose index is not between 0 and " + (CallReader.MAX_CALLS - 1) + ".");
    }
    return given.intValue();
  }

  /** The call that a fragment goes on with, null if it begins one. */
  private @Nullable Open find(int index, @Nullable String id, @Nullable String name) {
    if (id != null) {
      for (Open call : calls) {
        if (id.equals(call.id)) {
          requireSame(call, index, name);
          return call;
        }
      }
    }
    Open call = index == NO_INDEX ? only(id, name) : at(index, name);
    return call != null && call.goesOn(id, name) ? call : null;
  }

  private void requireSame(Open call, int index, @Nullable String name) {
    if (index != NO_INDEX && call.index != NO_INDEX && index != call.index) {
      throw broken("has the same id of a tool call at two indices.");
    }
    if (name != null && call.name != null && !name.equals(call.name)) {
      throw broken("has two tool calls with the same id.");
    }
  }

  /** The call for a fragment without an index and with no known id. */
  private @Nullable Open only(@Nullable String id, @Nullable String name) {
    if (calls.size() == 1) {
      return calls.getFirst();
    }
    if (id == null && name == null) {
      throw broken("has a fragment of a tool call that says neither by index nor by id of which.");
    }
    return null;
  }

  /** The latest call at an index; or the only call, if nobody has said its index yet. */
  private @Nullable Open at(int index, @Nullable String name) {
    for (Open call : calls.reversed()) {
      if (call.index == index) {
        return call;
      }
    }
    boolean unplaced = calls.size() == 1 && calls.getFirst().index == NO_INDEX;
    return unplaced && name == null ? calls.getFirst() : null;
  }

  private Open open(int index) {
    if (calls.size() == CallReader.MAX_CALLS) {
      throw broken(CallReader.TOO_MANY);
    }
    Open call = new Open(index);
    place(call);
    return call;
  }

  private void place(Open call) {
    int place = calls.size();
    while (place > 0 && call.index != NO_INDEX && calls.get(place - 1).index > call.index) {
      place--;
    }
    calls.add(place, call);
  }

  /**
   * The calls, once the answer is complete.
   *
   * @return the calls in order, malformed where the arguments are no object
   * @throws ProviderException of kind PROTOCOL if one has no name, or arguments beyond the bound
   */
  public List<ToolCall> calls() {
    CallReader reader =
        new CallReader(
            failures,
            asked,
            headers,
            this::content,
            arguments -> calls.stream().anyMatch(call -> call.repeatsKeys));
    return calls.stream().map(call -> reader.next(call.id, call.name, call.input())).toList();
  }

  /** The same answer to the same conversation has the same ids, however the network cut it. */
  private byte[] content() {
    StringBuilder content = new StringBuilder();
    for (Open call : calls) {
      content.append(call.name).append(' ').append(CallReader.arguments(call.input())).append('\n');
    }
    return utf8(content.toString());
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private ProviderException broken(String what) {
    return failures.protocol(what, headers);
  }

  /** A call that has begun. */
  private static final class Open {
    final StringBuilder arguments = new StringBuilder();
    int index;
    @Nullable String id;
    @Nullable String name;
    JsonNode whole = MissingNode.getInstance();
    boolean repeatsKeys;

    Open(int index) {
      this.index = index;
    }

    /** Whether a fragment with an id that no call has can be about this call. */
    boolean goesOn(@Nullable String otherId, @Nullable String otherName) {
      boolean hasId = otherId != null && id != null;
      boolean hasName =
          otherName != null && name != null && (otherId != null || !otherName.equals(name));
      return !hasId && !hasName;
    }

    JsonNode input() {
      return arguments.toString().isBlank() ? whole : StringNode.valueOf(arguments.toString());
    }
  }
}
