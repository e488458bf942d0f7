package dev.warpwright.adapters;

import dev.warpwright.adapters.anthropic.Anthropic;
import java.net.URI;

/** The adapter of Messages keeps the contract of models. */
final class MessagesContractTest extends HttpContract {
  @Override
  HttpAdapter adapter(URI baseUrl) {
    return Anthropic.builder().baseUrl(baseUrl).build();
  }
}
