package dev.warpwright.run;

import java.util.Optional;

/**
 * What a run is bound to beside its agent and its targets: it is resumed under the same only.
 *
 * @param harness the program around the agent, if it names itself
 * @param environment the fingerprint of the environment in which tools act, if there is one
 */
public record RunBinding(Optional<Harness> harness, Optional<String> environment) {
  /** Bound to nothing. */
  public static final RunBinding NONE = new RunBinding(Optional.empty(), Optional.empty());
}
