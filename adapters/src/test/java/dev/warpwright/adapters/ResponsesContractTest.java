package dev.warpwright.adapters;

import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import java.net.URI;

/** The adapter of Responses keeps the contract of models. */
final class ResponsesContractTest extends HttpContract {
  @Override
  HttpAdapter adapter(URI baseUrl) {
    return OpenAi.builder().api(Api.RESPONSES).baseUrl(baseUrl).build();
  }
}
