package dev.warpwright.tool;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.util.Map;
import java.util.Optional;

/**
 * On whose behalf tools run.
 *
 * @param operationId the run's id or, outside a run, the operation's
 * @param agentId the agent of the run; empty outside a run
 * @param metadata what the program noted when it started the run; a model cannot change it
 * @param context what the program gave to this invocation for its tools; never stored
 */
public record ToolCaller(
    String operationId,
    Optional<String> agentId,
    Map<String, String> metadata,
    Optional<Object> context) {
  /** Copies the map. */
  public ToolCaller {
    metadata = Map.copyOf(metadata);
  }

  /**
   * A caller outside a run.
   *
   * @param operationId the operation's id
   * @param metadata the program's notes
   */
  public ToolCaller(String operationId, Map<String, String> metadata) {
    this(operationId, Optional.empty(), metadata, Optional.empty());
  }

  /**
   * The program's context.
   *
   * @param <C> its type
   * @param type the type that the agent declares, or one above it
   * @return the context of this invocation
   * @throws InvalidRequestException if there is none, or it is of another type
   */
  public <C> C context(Class<C> type) {
    return context
        .filter(type::isInstance)
        .map(type::cast)
        .orElseThrow(
            () ->
                new InvalidRequestException(
                    FailureKind.INVALID_CONFIGURATION,
                    "There is no context of the type %s here: an agent declares it and each"
                            .formatted(type.getName())
                        + " invocation gives it."));
  }

  /** Shows the id; metadata and context may be private. */
  @Override
  public String toString() {
    return "ToolCaller[" + operationId + "]";
  }
}
