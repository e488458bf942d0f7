package dev.warpwright.adapters;

import dev.warpwright.adapters.google.Gemini;
import java.net.URI;

/** The adapter of Gemini keeps the contract of models. */
final class GeminiContractTest extends HttpContract {
  @Override
  HttpAdapter adapter(URI baseUrl) {
    return Gemini.builder().baseUrl(baseUrl).build();
  }
}
