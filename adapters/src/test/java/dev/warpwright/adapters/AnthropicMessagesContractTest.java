package dev.warpwright.adapters;

import dev.warpwright.adapters.anthropic.AnthropicMessages;
import java.net.URI;

/** The adapter of Messages keeps the contract of models. */
final class AnthropicMessagesContractTest extends HttpContract<AnthropicMessages> {
  AnthropicMessagesContractTest() {
    super(AnthropicMessages::openExchanges);
  }

  @Override
  AnthropicMessages adapter(URI baseUrl) {
    return AnthropicMessages.builder().baseUrl(baseUrl).build();
  }
}
