package dev.warpwright.model;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A guardrail triggered. Nothing is tried again, here or elsewhere: an operation throws this, a run
 * fails for good.
 */
public final class GuardrailException extends WarpwrightException {
  private static final long serialVersionUID = 1L;

  /** What it looked at. */
  private final GuardrailStage stage;

  /** The guardrail. */
  private final String guardrailId;

  /** Why, in its own words. */
  private final @Nullable String reason;

  /** Its notes; a serialisable map. */
  private final HashMap<String, String> metadata;

  /**
   * Makes the exception.
   *
   * @param stage what the guardrail looked at
   * @param guardrailId the guardrail
   * @param reason why it triggered; not a part of the message, as it may quote what was looked at
   * @param metadata its notes
   * @param trace the operation so far
   */
  public GuardrailException(
      GuardrailStage stage,
      String guardrailId,
      Optional<String> reason,
      Map<String, String> metadata,
      OperationTrace trace) {
    super(
        FailureKind.GUARDRAIL,
        "Guardrail \"%s\" triggered at the stage %s.".formatted(guardrailId, stage),
        null,
        trace);
    this.stage = stage;
    this.guardrailId = guardrailId;
    this.reason = reason.orElse(null);
    this.metadata = new HashMap<>(metadata);
  }

  /**
   * What it looked at.
   *
   * @return the stage
   */
  public GuardrailStage stage() {
    return stage;
  }

  /**
   * The guardrail.
   *
   * @return its id
   */
  public String guardrailId() {
    return guardrailId;
  }

  /**
   * Why it triggered, in its own words.
   *
   * @return the reason, if it gave one
   */
  public Optional<String> reason() {
    return Optional.ofNullable(reason);
  }

  /**
   * The guardrail's notes.
   *
   * @return a copy
   */
  public Map<String, String> metadata() {
    return Map.copyOf(metadata);
  }

  /**
   * The same failure with what the operation had done by then.
   *
   * @param trace the operation so far
   * @return a copy
   */
  public GuardrailException at(OperationTrace trace) {
    return new GuardrailException(stage, guardrailId, reason(), metadata, trace);
  }
}
