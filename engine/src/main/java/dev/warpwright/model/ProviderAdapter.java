package dev.warpwright.model;

/**
 * Makes the models of one provider. A lambda from model id to {@link LanguageModel} is enough.
 *
 * <p>Implementations are thread-safe.
 */
@FunctionalInterface
public interface ProviderAdapter extends AutoCloseable {
  /**
   * Yields a model; contacts nothing and does not block, as it is asked on the caller's own thread,
   * once per operation and target.
   *
   * @param modelId the provider's model id
   * @return the model
   */
  LanguageModel model(String modelId);

  /** Gives back what the adapter owns; does nothing by default. Never blocks on open exchanges. */
  @Override
  default void close() {}
}
