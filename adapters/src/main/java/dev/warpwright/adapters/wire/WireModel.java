package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.StreamingModel;
import java.util.Optional;

/** What the models of all protocols have in common. Thread-safe. */
public abstract class WireModel implements StreamingModel {
  /** The way to the provider. */
  protected final Connection connection;

  /** The provider's id of the model. */
  protected final String modelId;

  /** What is known of the model. */
  protected final ModelFacts facts;

  /**
   * Makes a model; contacts nothing.
   *
   * @param connection the way to the provider
   * @param modelId the provider's id of the model
   * @param facts what is known of it
   */
  protected WireModel(Connection connection, String modelId, ModelFacts facts) {
    this.connection = connection;
    this.modelId = modelId;
    this.facts = facts;
  }

  /**
   * How calls fail.
   *
   * @return the mapping of failures
   */
  protected final Failures failures() {
    return connection.failures();
  }

  @Override
  public final ModelCapabilities capabilities() {
    return facts.capabilities();
  }

  /** Every protocol's counters are read so that the output includes the reasoning. */
  @Override
  public final Optional<ReasoningAccounting> reasoningAccounting() {
    return Optional.of(ReasoningAccounting.INCLUDED);
  }

  /** Shows the base URL and the model. */
  @Override
  public final String toString() {
    return getClass().getSimpleName() + "[" + connection + ", " + modelId + "]";
  }
}
