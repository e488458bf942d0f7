package dev.warpwright.adapters;

import dev.warpwright.adapters.openai.OpenAi;
import java.net.URI;

/** The adapter of Chat Completions keeps the contract of models. */
final class ChatContractTest extends HttpContract {
  @Override
  HttpAdapter adapter(URI baseUrl) {
    return OpenAi.builder().baseUrl(baseUrl).build();
  }
}
