package dev.warpwright.adapters;

import dev.warpwright.adapters.ollama.Ollama;
import java.net.URI;

/** The adapter of Ollama's chat keeps the contract of models. */
final class OllamaContractTest extends HttpContract {
  @Override
  HttpAdapter adapter(URI baseUrl) {
    return Ollama.builder().baseUrl(baseUrl).build();
  }
}
