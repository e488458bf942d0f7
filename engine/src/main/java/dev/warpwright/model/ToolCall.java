package dev.warpwright.model;

import dev.warpwright.json.StrictJson;
import java.util.Optional;

/**
 * A model's request to run a tool.
 *
 * @param id the call's id, unique in its conversation
 * @param name the tool's name
 * @param input the input; the empty object if it could not be read
 * @param malformed the text that the model sent instead of a JSON object, if it could not be read
 */
public record ToolCall(String id, String name, Json input, Optional<String> malformed)
    implements Part {
  /** Cleans the texts of unpaired surrogates. */
  public ToolCall {
    id = StrictJson.cleanText(id);
    name = StrictJson.cleanText(name);
    malformed = malformed.map(StrictJson::cleanText);
  }

  /**
   * A call whose input was read.
   *
   * @param id the call's id
   * @param name the tool's name
   * @param input a JSON object
   */
  public ToolCall(String id, String name, Json input) {
    this(id, name, input, Optional.empty());
  }

  /**
   * A call whose input is no JSON object.
   *
   * @param id the call's id
   * @param name the tool's name
   * @param text what the model sent
   * @return the call
   */
  public static ToolCall malformed(String id, String name, String text) {
    return new ToolCall(id, name, Json.EMPTY_OBJECT, Optional.of(text));
  }

  /** Shows id and name, not the input. */
  @Override
  public String toString() {
    return "ToolCall[" + name + ", " + id + "]";
  }
}
