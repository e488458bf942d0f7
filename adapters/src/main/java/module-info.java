/** The providers' wire protocols over the JDK's HTTP client, and the scripted model for tests. */
@org.jspecify.annotations.NullMarked
module dev.warpwright.adapters {
  requires static org.jspecify;
  requires transitive dev.warpwright.engine;
  requires transitive java.net.http;
  requires tools.jackson.databind;

  exports dev.warpwright.adapters;
  exports dev.warpwright.adapters.anthropic;
  exports dev.warpwright.adapters.bedrock;
  exports dev.warpwright.adapters.ollama;
  exports dev.warpwright.adapters.openai;
  exports dev.warpwright.adapters.scripted;
}
