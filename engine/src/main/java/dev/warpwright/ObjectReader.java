package dev.warpwright;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.tool.JsonType;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Makes the object of the final answer of an operation, or says why there is none.
 *
 * @param <T> the type of the object
 */
final class ObjectReader<T> {
  private final BiFunction<Json, ObjectMode, Made<T>> maker;

  /** An object, and the JSON that it was made of. */
  record Found<T>(T object, Json json) {}

  /** An object, or what is wrong with the JSON. */
  private record Made<T>(Optional<T> object, List<String> violations) {
    static <T> Made<T> invalid(List<String> violations) {
      return new Made<>(Optional.empty(), violations);
    }
  }

  /**
   * Prepares the reading.
   *
   * @param mayBeNative whether an answer may be one of a provider that writes null for absent
   */
  <J> ObjectReader(JsonType<J> type, Function<? super J, ? extends T> mapper, boolean mayBeNative) {
    JsonType<J> strict = mayBeNative ? type.withNullForAbsent() : type;
    this.maker = (json, mode) -> make(mode == ObjectMode.NATIVE ? strict : type, mapper, json);
  }

  /**
   * Reads an answer; foreign code runs: constructors of records, or the mapper.
   *
   * @param answer the last answer of the operation
   * @param mode in which it was asked for
   * @param trace the operation, for the failure
   * @throws InvalidOutputException if the answer is not the object
   * @throws LimitExceededException if it still asks for tools
   */
  Found<T> read(ModelResponse answer, ObjectMode mode, OperationTrace trace) {
    if (!answer.message().approvals().isEmpty()) {
      throw new InvalidOutputException(
          FailureKind.OUTPUT_TRUNCATION,
          "The provider asks for an approval before it goes on; there is no object.",
          answer,
          trace);
    }
    if (!answer.message().toolCalls().isEmpty()) {
      throw new LimitExceededException(
          "The steps are used up (maxSteps), and the last answer asks for tools; there is no"
              + " object.",
          null,
          trace);
    }
    requireWhole(answer, trace);
    String text = answer.message().text();
    ObjectText.Found found =
        mode == ObjectMode.NATIVE ? ObjectText.exact(text) : ObjectText.tolerant(text);
    if (found.value().isEmpty()) {
      throw new InvalidOutputException(
          FailureKind.OUTPUT_PARSE,
          "The answer of %d characters holds no object. %s".formatted(text.length(), found.fault()),
          answer,
          trace);
    }
    Made<T> made = maker.apply(found.value().get(), mode);
    T object =
        made.object()
            .orElseThrow(
                () ->
                    new InvalidOutputException(
                        FailureKind.OUTPUT_SCHEMA,
                        "The answer does not match its schema: "
                            + String.join("; ", made.violations())
                            + ".",
                        made.violations(),
                        answer,
                        trace));
    return new Found<>(object, found.value().get());
  }

  /** Whether the answer is the object; one that is not would fail whoever got it from a cache. */
  boolean accepts(ModelResponse answer, ObjectMode mode) {
    try {
      read(answer, mode, OperationTrace.NONE);
      return true;
    } catch (WarpwrightException e) {
      return false;
    }
  }

  /** What was cut off or declined is not looked at: it may look like an object all the same. */
  private static void requireWhole(ModelResponse answer, OperationTrace trace) {
    FinishReason finish = answer.finishReason();
    switch (finish.kind()) {
      case LENGTH, PAUSED ->
          throw new InvalidOutputException(
              FailureKind.OUTPUT_TRUNCATION,
              "The answer ended with %s before the object was complete.".formatted(finish.kind()),
              answer,
              trace);
      case REFUSAL, CONTENT_FILTER ->
          throw new InvalidOutputException(
              FailureKind.OUTPUT_REFUSAL,
              "The answer ended with %s; it was not read.".formatted(finish.kind()),
              answer,
              trace);
      case STOP, TOOL_CALLS, ERROR, OTHER -> {}
    }
  }

  private static <J, T> Made<T> make(
      JsonType<J> type, Function<? super J, ? extends T> mapper, Json json) {
    J value;
    try {
      value = type.read(json);
    } catch (InvalidRequestException e) {
      return Made.invalid(type.violations(json));
    }
    try {
      Optional<T> object = Optional.ofNullable(mapper.apply(value));
      return new Made<>(object, object.isPresent() ? List.of() : List.of("$ is mapped to null"));
    } catch (RuntimeException e) { // its message may quote the value
      return Made.invalid(
          List.of("$ is refused by the mapper (" + e.getClass().getSimpleName() + ")"));
    }
  }
}
