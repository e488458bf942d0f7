package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
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

  /**
   * Asks for a whole answer; see {@link #generate}.
   *
   * @param call what is asked, which the model takes
   * @return the answer
   * @throws InterruptedException if the thread was interrupted
   */
  protected abstract ModelResponse whole(ModelCall call) throws InterruptedException;

  /**
   * Asks for an answer while it comes; see {@link #stream}.
   *
   * @param call what is asked, which the model takes
   * @param events is told what comes
   * @return the answer
   * @throws InterruptedException if the thread was interrupted, or {@code events} threw it
   */
  protected abstract ModelResponse pieces(ModelCall call, Events events)
      throws InterruptedException;

  /** A model that answers in streams only is streamed, and nobody is told. */
  @Override
  public final ModelResponse generate(ModelCall call) throws InterruptedException {
    FamilyRules.check(call, facts);
    return facts.has(ModelTrait.STREAMS_ONLY) ? pieces(call, event -> {}) : whole(call);
  }

  @Override
  public final ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
    FamilyRules.check(call, facts);
    return pieces(call, events);
  }

  @Override
  public final boolean honoursInterrupts() {
    return connection.honoursInterrupts();
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
