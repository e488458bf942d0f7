package dev.warpwright.model;

import java.util.Objects;
import java.util.Optional;

/** What the provider itself is asked to hold the final text of an answer to. */
public sealed interface OutputFormat {

  /**
   * JSON that matches a schema.
   *
   * <p>The schema is strict: each object of it lists all its members as required and allows no
   * others, and a member that may be absent may be null instead. What a provider cannot check in it
   * an adapter may turn into words; the answer is checked against all of it once more.
   *
   * @param name what the object is, for the provider; matches {@code [A-Za-z0-9_-]{1,64}}
   * @param description what a model is told of it besides
   * @param schema a JSON Schema of an object
   */
  record JsonSchema(String name, Optional<String> description, Json schema)
      implements OutputFormat {
    /** Checks that nothing is null. */
    public JsonSchema {
      Objects.requireNonNull(name, "name");
      Objects.requireNonNull(description, "description");
      Objects.requireNonNull(schema, "schema");
    }

    /** Shows the name only. */
    @Override
    public String toString() {
      return "JsonSchema[" + name + "]";
    }
  }

  /** A JSON object of any kind; a message says which. A protocol without this mode ignores it. */
  record JsonObject() implements OutputFormat {}
}
