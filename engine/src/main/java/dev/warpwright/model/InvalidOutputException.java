package dev.warpwright.model;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A model's answer cannot be used: it is no JSON, does not match its schema, was refused, or was
 * cut off. The four are distinct kinds: {@link FailureKind#OUTPUT_PARSE}, {@link
 * FailureKind#OUTPUT_SCHEMA}, {@link FailureKind#OUTPUT_REFUSAL}, {@link
 * FailureKind#OUTPUT_TRUNCATION}.
 */
public final class InvalidOutputException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /** Where and how the output breaks its schema; a serialisable list. */
  private final ArrayList<String> violations;

  /** The answer; absent after deserialisation. */
  private final transient @Nullable ModelResponse answer;

  /**
   * Makes the exception.
   *
   * @param kind one of the four output kinds
   * @param message names the violated rule and paths, without content
   * @param answer the answer that cannot be used
   * @param trace the operation so far
   */
  public InvalidOutputException(
      FailureKind kind, String message, @Nullable ModelResponse answer, OperationTrace trace) {
    this(kind, message, List.of(), answer, trace);
  }

  /**
   * Makes the exception for an output that breaks its schema.
   *
   * @param kind one of the four output kinds
   * @param message names the violated rule and paths, without content
   * @param violations where and how it breaks its schema, without content
   * @param answer the answer that cannot be used
   * @param trace the operation so far
   */
  public InvalidOutputException(
      FailureKind kind,
      String message,
      List<String> violations,
      @Nullable ModelResponse answer,
      OperationTrace trace) {
    super(kind, message, null, trace);
    this.violations = new ArrayList<>(violations);
    this.answer = answer;
  }

  /**
   * The answer that cannot be used, as far as it came: its text, the calls that were not run, its
   * usage.
   *
   * @return the answer; empty if there is none, or after deserialisation
   */
  public Optional<ModelResponse> answer() {
    return Optional.ofNullable(answer);
  }

  /**
   * Where and how the output breaks its schema, such as {@code $.stops[2].days is required}; it
   * holds nothing of the output, and can be shown to the model when it is asked again.
   *
   * @return the violations; empty unless the kind is OUTPUT_SCHEMA
   */
  public List<String> violations() {
    return Collections.unmodifiableList(violations);
  }
}
