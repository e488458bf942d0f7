/** The providers' wire protocols over the JDK's HTTP client, and the scripted model for tests. */
@org.jspecify.annotations.NullMarked
@SuppressWarnings({"requires-automatic", "module"}) // both optional; built before mcp
module dev.warpwright.adapters {
  requires static com.google.api.client;
  requires static com.google.auth;
  requires static com.google.auth.oauth2;
  requires static org.jspecify;
  requires transitive dev.warpwright.engine;
  requires transitive java.net.http;
  requires tools.jackson.databind;

  exports dev.warpwright.adapters.anthropic;
  exports dev.warpwright.adapters.bedrock;
  exports dev.warpwright.adapters.conformance;
  exports dev.warpwright.adapters.google;
  exports dev.warpwright.adapters.ollama;
  exports dev.warpwright.adapters.openai;
  exports dev.warpwright.adapters.scripted;
  exports dev.warpwright.adapters;
  exports dev.warpwright.adapters.http to
      dev.warpwright.mcp;
  exports dev.warpwright.adapters.wire to
      dev.warpwright.mcp;
}
