package dev.warpwright.adapters.scripted;

import dev.warpwright.model.ModelResponse;

/**
 * What a model says to a request.
 *
 * @param modelId the model
 * @param answer the script's answer
 * @param response the same as the response to this conversation
 * @param form the form that the client wants
 */
record Said(String modelId, ScriptedAnswer answer, ModelResponse response, ResponseForm form) {
  static Said of(ScriptedAnswer answer, ModelRequest request) {
    Conversation asked = request.conversation();
    return new Said(
        asked.modelId(), answer, answer.to(asked.modelId(), asked.messages()), request.form());
  }
}
