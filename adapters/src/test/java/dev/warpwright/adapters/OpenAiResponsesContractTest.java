package dev.warpwright.adapters;

import dev.warpwright.adapters.openai.OpenAiResponses;
import java.net.URI;

/** The adapter of Responses keeps the contract of models. */
final class OpenAiResponsesContractTest extends HttpContract<OpenAiResponses> {
  OpenAiResponsesContractTest() {
    super(OpenAiResponses::openExchanges);
  }

  @Override
  OpenAiResponses adapter(URI baseUrl) {
    return OpenAiResponses.builder().baseUrl(baseUrl).build();
  }
}
