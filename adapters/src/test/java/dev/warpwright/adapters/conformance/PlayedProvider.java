package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCapabilities;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The provider of the kit's script, or one with faults, and the adapters of one protocol. */
final class PlayedProvider implements AutoCloseable {
  static final String KEY = "kit-right-key-4711";
  static final String WRONG_KEY = "kit-wrong-key-0815";

  /** One provider for each protocol that there is. */
  static final List<String> PROTOCOLS =
      List.of("openai", "openai-responses", "anthropic", "gemini", "ollama", "bedrock");

  private static final ModelCapabilities EVERYTHING = ModelCapabilities.of(Capability.values());

  private final ScriptedServer server;
  private final HttpAdapter adapter;
  private final HttpAdapter wrong;

  PlayedProvider(Provider provider, Script script) {
    this.server = ScriptedServer.builder(script).requireKey(KEY).start();
    this.adapter = adapter(provider, server, KEY);
    this.wrong = adapter(provider, server, WRONG_KEY);
  }

  private static HttpAdapter adapter(Provider provider, ScriptedServer server, String key) {
    AdapterBuilder<?> builder = provider.at(server.uri());
    builder.apiKey(key);
    builder.capabilities(id -> EVERYTHING);
    return builder.build();
  }

  static Stream<Provider> protocols() {
    return PROTOCOLS.stream().map(id -> Provider.find(id).orElseThrow());
  }

  /** Whether a request of its protocol can say which tool is called. */
  static boolean choosesTools(Provider provider) {
    return !provider.id().equals("ollama");
  }

  /**
   * The kit's script with more in front.
   *
   * @param rules JSON objects, each with a comma behind it
   * @param faults the same
   */
  static Script script(String rules, String faults) throws IOException {
    try (InputStream in = Conformance.class.getResourceAsStream("provider.json")) {
      String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
      return Script.parse(
          text.replace("\"rules\": [", "\"rules\": [" + rules)
              .replace("\"faults\": [", "\"faults\": [" + faults));
    }
  }

  ScriptedServer server() {
    return server;
  }

  HttpAdapter adapter() {
    return adapter;
  }

  Conformance.Builder conformance() {
    return conformance(adapter);
  }

  Conformance.Builder conformance(HttpAdapter tested) {
    return Conformance.builder(tested, "kit-model").wrongKey(wrong, WRONG_KEY);
  }

  @Override
  public void close() {
    adapter.close();
    wrong.close();
    server.close();
  }
}
