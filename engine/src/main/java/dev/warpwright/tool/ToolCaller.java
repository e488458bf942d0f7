package dev.warpwright.tool;

import java.util.Map;

/**
 * On whose behalf tools run.
 *
 * @param operationId the run's id or, outside a run, the operation's
 * @param metadata what the program noted when it started the run; a model cannot change it
 */
public record ToolCaller(String operationId, Map<String, String> metadata) {
  /** Copies the map. */
  public ToolCaller {
    metadata = Map.copyOf(metadata);
  }

  /** Shows the id; metadata may be private. */
  @Override
  public String toString() {
    return "ToolCaller[" + operationId + "]";
  }
}
