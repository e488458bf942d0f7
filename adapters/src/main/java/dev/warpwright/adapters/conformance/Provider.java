package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.google.Gemini;
import dev.warpwright.adapters.google.Vertex;
import dev.warpwright.adapters.ollama.Ollama;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.openai.Vendor;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A provider that can be checked by its name.
 *
 * @param id the name on the command line
 * @param models under which id the supplied file knows its models
 * @param model a cheap model of its own service
 * @param places the variables that say where its own service is, each with a value that stands in
 *     for it where a base URL says so instead; none if it has one place
 * @param credentials what proves the right to ask its own service, the first that is there; none if
 *     nothing is needed
 * @param builder begins an adapter; it is given the places
 */
record Provider(
    String id,
    String models,
    String model,
    Map<String, String> places,
    List<Credential> credentials,
    Function<Function<String, String>, AdapterBuilder<?>> builder) {
  private static final String AZURE_ENDPOINT = "AZURE_OPENAI_ENDPOINT";
  private static final String GOOGLE_PROJECT = "GOOGLE_CLOUD_PROJECT";
  private static final String GOOGLE_LOCATION = "GOOGLE_CLOUD_LOCATION";
  private static final String AWS_REGION = "AWS_REGION";
  private static final String BEDROCK_KEY = "AWS_BEARER_TOKEN_BEDROCK";
  private static final String BEDROCK_URL = "BEDROCK_BASE_URL";
  private static final String NOWHERE = "https://service.invalid";

  /** All of them: to add one, add a row. */
  static final List<Provider> ALL =
      List.of(
          of("openai", "gpt-4.1-nano", "OPENAI_API_KEY", OpenAi::builder),
          new Provider(
              "openai-responses",
              "openai",
              "gpt-4.1-nano",
              Map.of(),
              List.of(Credential.key("OPENAI_API_KEY")),
              _ -> OpenAi.builder().api(Api.RESPONSES)),
          new Provider(
              "azure",
              "azure",
              "gpt-4.1-nano",
              Map.of(AZURE_ENDPOINT, NOWHERE),
              List.of(Credential.key("AZURE_OPENAI_API_KEY")),
              place -> OpenAi.builder(Vendor.azure(url(place, AZURE_ENDPOINT)))),
          vendor(Vendor.DEEPSEEK, "deepseek-flash", "DEEPSEEK_API_KEY"),
          vendor(Vendor.QWEN, "qwen3.8-flash", "DASHSCOPE_API_KEY"),
          vendor(Vendor.KIMI, "kimi-k2.6", "MOONSHOT_API_KEY"),
          vendor(Vendor.XAI, "grok-4.20-0309-non-reasoning", "XAI_API_KEY"),
          vendor(Vendor.META, "muse-ember-1.0", "META_API_KEY"),
          vendor(Vendor.ZAI, "glm-5.3-flash", "ZAI_API_KEY"),
          vendor(Vendor.OPENROUTER, "anthropic/claude-haiku-5.5", "OPENROUTER_API_KEY"),
          of("anthropic", "claude-haiku-4-5", "ANTHROPIC_API_KEY", Anthropic::builder),
          of("gemini", "gemini-2.5-flash-lite", "GEMINI_API_KEY", Gemini::builder),
          new Provider(
              "vertex",
              "vertex",
              "gemini-2.5-flash-lite",
              Map.of(GOOGLE_PROJECT, "project", GOOGLE_LOCATION, "global"),
              List.of(Credential.key("VERTEX_ACCESS_TOKEN"), Credential.APPLICATION_DEFAULT),
              place -> Vertex.builder(place.apply(GOOGLE_PROJECT), place.apply(GOOGLE_LOCATION))),
          new Provider("ollama", "ollama", "llama3.2", Map.of(), List.of(), _ -> Ollama.builder()),
          new Provider(
              "bedrock",
              "bedrock",
              "global.amazon.nova-2-lite-v1:0",
              Map.of(AWS_REGION, "us-east-1"),
              List.of(Credential.key(BEDROCK_KEY), Credential.AWS),
              place -> Bedrock.builder(place.apply(AWS_REGION))),
          new Provider(
              "bedrock-openai",
              "bedrock",
              "openai.gpt-oss-20b-1:0",
              Map.of(BEDROCK_URL, NOWHERE),
              List.of(Credential.key(BEDROCK_KEY)),
              place -> OpenAi.builder(Vendor.bedrock(url(place, BEDROCK_URL)))));

  private static Provider of(
      String id, String model, String keyVariable, Supplier<AdapterBuilder<?>> builder) {
    return new Provider(
        id, id, model, Map.of(), List.of(Credential.key(keyVariable)), _ -> builder.get());
  }

  private static Provider vendor(Vendor vendor, String model, String keyVariable) {
    return of(vendor.id(), model, keyVariable, () -> OpenAi.builder(vendor));
  }

  private static URI url(Function<String, String> place, String variable) {
    String text = place.apply(variable);
    return Arguments.read(variable, "a URL", text, URI::create);
  }

  static Optional<Provider> find(String id) {
    return ALL.stream().filter(provider -> provider.id.equals(id)).findFirst();
  }

  /** The names, for messages. */
  static String ids() {
    return ALL.stream().map(Provider::id).collect(Collectors.joining(", "));
  }

  /**
   * Why nothing can be asked; empty if something can.
   *
   * @param own whether that is its own service, which has a place
   * @param credentials what may prove the right to; nothing if none is needed
   * @param variables what is set
   */
  Optional<String> blocked(boolean own, List<Credential> credentials, Variables variables) {
    Stream<String> where =
        places.keySet().stream().sorted().filter(name -> own && !variables.has(name));
    boolean proven = credentials.isEmpty() || first(credentials, variables).isPresent();
    String ways =
        credentials.stream()
            .map(one -> String.join(" with ", one.variables()))
            .collect(Collectors.joining(" or "));
    return Stream.concat(where, proven ? Stream.empty() : Stream.of(ways))
        .reduce((first, next) -> first + ", " + next)
        .map(names -> names + " is not set");
  }

  /** The first that is there. */
  static Optional<Credential> first(List<Credential> credentials, Variables variables) {
    return credentials.stream().filter(one -> one.isThere(variables)).findFirst();
  }

  /** Begins an adapter of its own service, without a credential. */
  AdapterBuilder<?> ownService(Variables variables) {
    return builder.apply(variables::require);
  }

  /** Begins an adapter of another server. */
  AdapterBuilder<?> at(URI baseUrl) {
    return builder.apply(name -> Objects.requireNonNull(places.get(name), name)).baseUrl(baseUrl);
  }
}
