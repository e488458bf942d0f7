package dev.warpwright.adapters.protocol.openai;

/** Where a model is spoken to in Chat Completions. Pure. */
@FunctionalInterface
public interface ChatPath {
  /** The protocol's own path, the same for all models. */
  ChatPath COMMON = (modelId, streamed) -> "/chat/completions";

  /**
   * The path.
   *
   * @param modelId the provider's id of the model
   * @param streamed whether the answer is wanted while it comes
   * @return what is added to the base URL; begins with a slash
   */
  String of(String modelId, boolean streamed);
}
