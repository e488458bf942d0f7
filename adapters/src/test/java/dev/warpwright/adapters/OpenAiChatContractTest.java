package dev.warpwright.adapters;

import dev.warpwright.adapters.openai.OpenAiChat;
import java.net.URI;

/** The adapter of Chat Completions keeps the contract of models. */
final class OpenAiChatContractTest extends HttpContract<OpenAiChat> {
  OpenAiChatContractTest() {
    super(OpenAiChat::openExchanges);
  }

  @Override
  OpenAiChat adapter(URI baseUrl) {
    return OpenAiChat.builder().baseUrl(baseUrl).build();
  }
}
