package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.http.Connection;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.StreamingModel;
import java.util.Objects;
import java.util.function.Function;

/**
 * What the adapters of OpenAI's two protocols have in common: a connection and what models can do.
 * It is package-private, so each adapter shows these methods as its own.
 */
abstract sealed class OpenAiAdapter implements ProviderAdapter permits OpenAiChat, OpenAiResponses {
  final Connection connection;
  private final Function<String, ModelCapabilities> capabilities;

  OpenAiAdapter(Connection connection, Function<String, ModelCapabilities> capabilities) {
    this.connection = connection;
    this.capabilities = capabilities;
  }

  @Override
  public abstract StreamingModel model(String modelId);

  /**
   * How many exchanges with the provider are open: begun, and their answer neither read to its end
   * nor given up. None of a call that has returned is.
   *
   * @return the number at this moment
   */
  public int openExchanges() {
    return connection.openExchanges();
  }

  /** Refuses new calls and aborts open ones; a client that the program supplied stays open. */
  @Override
  public void close() {
    connection.close();
  }

  /** Shows the base URL, no credential. */
  @Override
  public String toString() {
    return getClass().getSimpleName() + "[" + connection + "]";
  }

  /** A model of the adapter. */
  abstract class Model implements StreamingModel {
    final String modelId;

    Model(String modelId) {
      this.modelId = Objects.requireNonNull(modelId, "modelId");
    }

    @Override
    public ModelCapabilities capabilities() {
      return capabilities.apply(modelId);
    }

    @Override
    public String toString() {
      return OpenAiAdapter.this.getClass().getSimpleName()
          + "["
          + connection
          + ", "
          + modelId
          + "]";
    }
  }
}
