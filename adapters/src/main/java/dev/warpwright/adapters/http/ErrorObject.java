package dev.warpwright.adapters.http;

import dev.warpwright.json.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a provider's error object says, read leniently: no protocol's error form is required.
 *
 * @param code the structured code as text, if there is one
 * @param type the structured type, or a status that is a name
 * @param embeddedStatus a numeric code or status in 400…599
 * @param message the words; for people, and for a protocol's closed table of context forms
 * @param details the object itself, for what else stands in it
 */
public record ErrorObject(
    @Nullable String code,
    @Nullable String type,
    OptionalInt embeddedStatus,
    @Nullable String message,
    Optional<JsonNode> details) {
  /** Nothing is known. */
  public static final ErrorObject NONE =
      new ErrorObject(null, null, OptionalInt.empty(), null, Optional.empty());

  private static final int LONGEST_NAME = 200;

  /**
   * Finds the {@code error} member of a body: <code>{"error": {…}}</code>, <code>{"error": "…"}
   * </code>, or an array that holds such an object. Null, false, empty and blank ones are no error:
   * protocols send them beside a good answer.
   *
   * @param body the body
   * @return the error, if there is one
   */
  public static Optional<ErrorObject> in(JsonNode body) {
    JsonNode root = body.isArray() && !body.isEmpty() ? body.get(0) : body;
    JsonNode error = root.path("error");
    if (error.isArray() && !error.isEmpty()) {
      error = error.get(0);
    }
    if (error.isObject()) {
      return error.isEmpty() ? Optional.empty() : Optional.of(read(error));
    }
    if (!error.isString() || error.stringValue().isBlank()) {
      return Optional.empty();
    }
    // The text is a text even if it looks like a code: only structured members decide.
    ErrorObject beside = read(root);
    String text = error.stringValue();
    String message = beside.message == null ? text : text + ": " + beside.message;
    return Optional.of(
        new ErrorObject(beside.code, beside.type, beside.embeddedStatus, message, beside.details));
  }

  /**
   * Reads a body that itself is the error object, as some compatible servers send it: <code>
   * {"code", "message" | "msg" | "detail"}</code>, <code>{"object": "error", …}</code>.
   *
   * @param body the body
   * @return the error, if the body has a code, a status, a type "error" or a message
   */
  public static Optional<ErrorObject> itself(JsonNode body) {
    JsonNode root = body.isArray() && !body.isEmpty() ? body.get(0) : body;
    if (!root.isObject()) {
      return Optional.empty();
    }
    ErrorObject error = read(root);
    return error.message == null && error.code == null ? Optional.empty() : Optional.of(error);
  }

  /**
   * Reads a body without what the protocol promises, if it is an error object with words.
   *
   * @param body the body
   * @return the error, if there is one
   */
  public static Optional<ErrorObject> bare(JsonNode body) {
    return itself(body).filter(error -> error.message != null);
  }

  /**
   * Reads what is known to report an error, whatever its form.
   *
   * @param body JSON or plain text
   * @return what it says, {@link #NONE} if that is nothing
   */
  public static ErrorObject of(byte[] body) {
    try {
      JsonNode json = StrictJson.readDocument(body);
      return in(json).or(() -> itself(json)).orElse(NONE);
    } catch (RuntimeException _) { // no JSON that is accepted
      String text = new String(body, StandardCharsets.UTF_8).strip();
      return text.isEmpty()
          ? NONE
          : new ErrorObject(null, null, OptionalInt.empty(), text, Optional.empty());
    }
  }

  private static ErrorObject read(JsonNode object) {
    OptionalInt embedded = status(object.path("code"));
    if (embedded.isEmpty()) {
      embedded = status(object.path("status"));
    }
    String type = name(object.path("type"));
    return new ErrorObject(
        name(object.path("code")),
        type == null ? statusName(object.path("status")) : type,
        embedded,
        message(object),
        Optional.of(object));
  }

  /** The reasons in its details, where Google's services put them; as google.rpc.ErrorInfo says. */
  List<String> reasons() {
    List<String> reasons = new ArrayList<>();
    for (JsonNode detail :
        details.map(object -> object.path("details")).stream()
            .flatMap(JsonNode::valueStream)
            .toList()) {
      String reason = name(detail.path("reason"));
      if (reason != null) {
        reasons.add(reason);
      }
    }
    return reasons;
  }

  /** The same with a type. */
  ErrorObject withType(String named) {
    return new ErrorObject(code, named, embeddedStatus, message, details);
  }

  private static @Nullable String message(JsonNode object) {
    for (String member : new String[] {"message", "msg", "detail", "Message"}) {
      JsonNode text = object.path(member);
      if (text.isString() && !text.stringValue().isBlank()) {
        return text.stringValue();
      }
    }
    return null;
  }

  /** A status that is a name, such as Google's, works as a type. */
  private static @Nullable String statusName(JsonNode status) {
    return status.isString() && status(status).isEmpty() ? name(status) : null;
  }

  private static @Nullable String name(JsonNode value) {
    if (!value.isString() && !value.isIntegralNumber()) {
      return null;
    }
    String text = value.asString();
    return text.isBlank() || text.length() > LONGEST_NAME ? null : text;
  }

  private static OptionalInt status(JsonNode value) {
    String text = name(value);
    return text != null && text.matches("[45]\\d\\d")
        ? OptionalInt.of(Integer.parseInt(text))
        : OptionalInt.empty();
  }

  /** Shows code and type; the message may hold content. */
  @Override
  public String toString() {
    return "ErrorObject[code=" + code + ", type=" + type + "]";
  }
}
