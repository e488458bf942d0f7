package dev.warpwright.adapters;

import dev.warpwright.adapters.bedrock.Bedrock;
import java.net.URI;

/** The adapter of Converse keeps the contract of models. */
final class BedrockContractTest extends HttpContract {
  @Override
  HttpAdapter adapter(URI baseUrl) {
    return Bedrock.builder("us-east-1").baseUrl(baseUrl).build();
  }
}
