package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.http.ConnectionSettings.Defaults;
import dev.warpwright.adapters.http.ErrorTable;
import dev.warpwright.adapters.http.HeaderValues;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.protocol.openai.ChatDialect;
import dev.warpwright.adapters.protocol.openai.PrivateReasoning;
import dev.warpwright.adapters.protocol.openai.Quirk;
import dev.warpwright.adapters.protocol.openai.ReasoningStyle;
import dev.warpwright.adapters.protocol.openai.ResponsesDialect;
import dev.warpwright.adapters.wire.UriCoding;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ToolHistory;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A service that speaks one or both of OpenAI's protocols, and how it differs. Immutable.
 *
 * {@snippet :
 * var deepSeek = OpenAi.builder(Vendor.DEEPSEEK).fromEnvironment().build();
 * var azure = OpenAi.builder(Vendor.azure(URI.create("https://me.openai.azure.com"))).build();
 * var own =
 *     Vendor.builder("acme", URI.create("https://llm.acme.example/v1"))
 *         .reasoning(ReasoningForm.THINKING, ReasoningField.REASONING_CONTENT)
 *         .build();
 * }
 *
 * <p>Source of the protocol facts: the API references of the vendors.
 */
public final class Vendor {
  private static final ModelCapabilities TEXT_AND_TOOLS = ModelCapabilities.TEXT_AND_TOOLS;
  private static final ModelCapabilities WITH_HISTORY = TEXT_AND_TOOLS.with(ToolHistory.JSON);
  private static final ModelCapabilities WITHOUT_CHOICE =
      ModelCapabilities.of(Capability.STREAMING, Capability.TOOLS, Capability.PARALLEL_TOOL_CALLS);

  /** OpenAI: Chat Completions, and Responses where a call or a model needs it. */
  public static final Vendor OPENAI =
      of("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI")
          .api(ApiRule.CHAT_FIRST)
          .capabilities(WITH_HISTORY)
          .build();

  /**
   * DeepSeek: Chat Completions. While a model thinks it takes no temperature and no tool choice;
   * what it thought is sent again with its tool calls.
   */
  public static final Vendor DEEPSEEK =
      of("deepseek", "DeepSeek", "https://api.deepseek.com", "DEEPSEEK")
          .errors(VendorErrors.named("DeepSeek", "x-ds-trace-id"))
          .chat(
              ChatDialect.OPENAI
                  .reasoning(ReasoningStyle.DEEPSEEK, PrivateReasoning.CONTENT)
                  .notWhileReasoning("temperature", "top_p", "tool_choice")
                  .with(
                      Quirk.EMPTY_TEXT_BESIDE_CALLS,
                      Quirk.ONE_NAME_FOR_LIMIT,
                      Quirk.SCHEMA_IN_MESSAGE,
                      Quirk.STRICT_TOOLS,
                      Quirk.THINKS_OVER_OWN_CALLS_ONLY))
          .capabilities(WITH_HISTORY)
          .build();

  /**
   * Qwen of DashScope: Responses, and Chat Completions for what Responses does not take there: a
   * limit of output tokens, a budget of reasoning, a form of answer, tools in streams.
   */
  public static final Vendor QWEN =
      of("qwen", "Qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE")
          .errors(VendorErrors.qwen())
          .api(ApiRule.QWEN)
          .chat(
              ChatDialect.OPENAI
                  .reasoning(ReasoningStyle.QWEN, PrivateReasoning.CONTENT)
                  .with(Quirk.ONE_NAME_FOR_LIMIT, Quirk.THINKS_OVER_OWN_CALLS_ONLY))
          .responses(
              ResponsesDialect.with(
                  Quirk.NAMED_TOOL_IS_ALLOWED_TOOLS,
                  Quirk.NO_LIMIT_IN_RESPONSES,
                  Quirk.NO_FORMAT_IN_RESPONSES,
                  Quirk.SWITCH_IN_RESPONSES,
                  Quirk.NEVER_ENCRYPTED,
                  Quirk.THINKS_OVER_OWN_CALLS_ONLY))
          .capabilities(WITH_HISTORY)
          .build();

  /** Kimi of Moonshot: Chat Completions. What a model thought is sent again. */
  public static final Vendor KIMI =
      of("kimi", "Kimi", "https://api.moonshot.ai/v1", "MOONSHOT")
          .errors(VendorErrors.kimi())
          .chat(
              ChatDialect.OPENAI
                  .reasoning(ReasoningStyle.KIMI, PrivateReasoning.CONTENT)
                  .mostOutput(1_048_576)
                  .with(Quirk.ONE_NAME_FOR_LIMIT, Quirk.NAMED_TOOL_UNLESS_REASONING))
          .build();

  /** xAI: Responses; Chat Completions if the program sets it. */
  public static final Vendor XAI =
      of("xai", "xAI", "https://api.x.ai/v1", "XAI")
          .api(ApiRule.RESPONSES_FIRST)
          .chat(
              ChatDialect.OPENAI
                  .notWhileReasoning("presence_penalty", "frequency_penalty", "stop")
                  .with(Quirk.REASONING_BESIDE_OUTPUT))
          .responses(
              ResponsesDialect.with(Quirk.ALWAYS_ENCRYPTED)
                  .notWhileReasoning("presence_penalty", "frequency_penalty", "stop"))
          .build();

  /** Meta: Chat Completions, and Responses where a call needs it. The tool choice is AUTO only. */
  public static final Vendor META =
      of("meta", "Meta", "https://api.meta.ai/v1", "META")
          .api(ApiRule.CHAT_FIRST)
          .chat(ChatDialect.OPENAI.with(Quirk.AUTO_CHOICE_ONLY, Quirk.NO_EFFORT_NONE))
          .responses(
              ResponsesDialect.with(
                  Quirk.AUTO_CHOICE_ONLY, Quirk.NO_EFFORT_NONE, Quirk.NEVER_ENCRYPTED))
          .capabilities(WITHOUT_CHOICE)
          .build();

  /**
   * Z.ai: Chat Completions. The tool choice is AUTO only; what a model thought is sent again. For
   * its coding endpoint set {@code baseUrl}.
   */
  public static final Vendor ZAI =
      of("zai", "Z.ai", "https://api.z.ai/api/paas/v4", "ZAI")
          .errors(VendorErrors.zai())
          .chat(
              ChatDialect.OPENAI
                  .reasoning(ReasoningStyle.ZAI, PrivateReasoning.CONTENT)
                  .mostOutput(131_072)
                  .with(
                      Quirk.AUTO_CHOICE_ONLY,
                      Quirk.NO_STREAM_OPTIONS,
                      Quirk.ONE_NAME_FOR_LIMIT,
                      Quirk.SCHEMA_IN_MESSAGE,
                      Quirk.TOOL_STREAM))
          .capabilities(WITHOUT_CHOICE)
          .build();

  /**
   * OpenRouter: Chat Completions for models of many makers. What a model thought is sent again to
   * the same model. {@code provider} in the provider options says which upstream may be asked; its
   * own fallback is off unless {@code allow_fallbacks} turns it on there.
   */
  public static final Vendor OPENROUTER =
      of("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER")
          .chat(
              ChatDialect.OPENAI
                  .reasoning(ReasoningStyle.OBJECT, PrivateReasoning.DETAILS)
                  .with(Quirk.ONE_NAME_FOR_LIMIT, Quirk.UPSTREAM_FALLBACK))
          .build();

  private final String id;
  private final Defaults defaults;
  private final ErrorTable errors;
  private final ApiRule rule;
  private final ChatDialect chat;
  private final ResponsesDialect responses;
  private final ModelCapabilities capabilities;

  private Vendor(Builder builder) {
    this.id = builder.id;
    this.defaults =
        new Defaults(
            builder.name,
            builder.baseUrl,
            builder.keyVariable,
            builder.baseUrlVariable,
            builder.keyHeader,
            builder.keyHeader.equals(Builder.AUTHORIZATION) ? Defaults.BEARER : "",
            "");
    this.errors =
        builder.errors == null ? VendorErrors.named(builder.name, "x-request-id") : builder.errors;
    this.rule = builder.rule;
    this.chat = builder.chat;
    this.responses = builder.responses;
    this.capabilities = builder.capabilities;
  }

  /**
   * The vendors that are known by their id alone.
   *
   * @return them all, in the order of their ids
   */
  public static List<Vendor> supplied() {
    return List.of(DEEPSEEK, KIMI, META, OPENAI, OPENROUTER, QWEN, XAI, ZAI);
  }

  /**
   * Finds a vendor that is known by its id alone, for programs that read it from a configuration.
   *
   * @param id the id, such as {@code deepseek}
   * @return the vendor
   * @throws dev.warpwright.model.InvalidRequestException if there is none; the message lists them
   */
  public static Vendor named(String id) {
    for (Vendor vendor : supplied()) {
      if (vendor.id.equals(id)) {
        return vendor;
      }
    }
    throw Refusal.configuration(
        "A vendor must be one of %s, or be made with Vendor.builder(…), but is \"%s\"."
            .formatted(supplied().stream().map(Vendor::id).collect(Collectors.joining(", ")), id));
  }

  /**
   * Azure OpenAI, its current API: models are named in the body, as at OpenAI.
   *
   * @param endpoint the resource's endpoint, such as {@code https://me.openai.azure.com}, with or
   *     without the path of the API
   * @return the vendor
   */
  public static Vendor azure(URI endpoint) {
    return azureAt(endpoint, "/openai/v1").api(ApiRule.CHAT_FIRST).build();
  }

  /**
   * Azure OpenAI, an API of a version: Chat Completions of deployments. The model's id is the
   * deployment's name.
   *
   * @param endpoint the resource's endpoint, such as {@code https://me.openai.azure.com}, with or
   *     without the path of the API
   * @param apiVersion the version, such as {@code 2024-10-21}
   * @return the vendor
   * @throws dev.warpwright.model.InvalidRequestException if the version is no version
   */
  public static Vendor azure(URI endpoint, String apiVersion) {
    if (!apiVersion.matches("[A-Za-z0-9.-]{1,40}")) {
      throw Refusal.configuration(
          "apiVersion must have 1 to 40 letters, digits, dots and hyphens, but has "
              + apiVersion.length()
              + " characters, others among them or none.");
    }
    return azureAt(endpoint, "/openai")
        .chat(
            ChatDialect.OPENAI
                .at(
                    (deployment, streamed) ->
                        "/deployments/"
                            + UriCoding.segment(deployment)
                            + "/chat/completions?api-version="
                            + apiVersion)
                .with(Quirk.MODEL_IN_PATH))
        .build();
  }

  private static Builder azureAt(URI endpoint, String path) {
    String resource = endpoint.toString().replaceFirst("(/openai(/v1)?)?/*$", "");
    return of("azure", "Azure OpenAI", resource + path, "AZURE_OPENAI")
        .errors(VendorErrors.named("Azure OpenAI", "apim-request-id"))
        .keyHeader("api-key")
        .capabilities(WITH_HISTORY);
  }

  /**
   * The runtime of Amazon Bedrock that is compatible with OpenAI: Chat Completions, and Responses
   * where a call or a model needs it.
   *
   * @param baseUrl its base URL, which names the region
   * @return the vendor
   */
  public static Vendor bedrock(URI baseUrl) {
    return of("bedrock", "Bedrock", baseUrl.toString(), "BEDROCK")
        .keyVariable("AWS_BEARER_TOKEN_BEDROCK")
        .errors(VendorErrors.named("Bedrock", "x-amzn-requestid"))
        .api(ApiRule.CHAT_FIRST)
        .build();
  }

  /**
   * Begins a vendor of the program's own, or a compatible server.
   *
   * @param id the vendor's id in the catalog: 1 to 64 lower-case letters, digits and hyphens
   * @param baseUrl its base URL, to which the protocol's path is added
   * @return a builder
   * @throws dev.warpwright.model.InvalidRequestException if the id breaks its rule
   */
  public static Builder builder(String id, URI baseUrl) {
    if (!id.matches("[a-z0-9-]{1,64}")) {
      throw Refusal.configuration(
          "A vendor's id must have 1 to 64 lower-case letters, digits and hyphens, but has "
              + id.length()
              + " characters, others among them or none.");
    }
    return new Builder(id, baseUrl);
  }

  private static Builder of(String id, String name, String baseUrl, String variables) {
    return new Builder(id, URI.create(baseUrl))
        .name(name)
        .keyVariable(variables + "_API_KEY")
        .baseUrlVariable(variables + "_BASE_URL");
  }

  /**
   * The vendor's id in the catalog.
   *
   * @return the id, such as {@code deepseek}
   */
  public String id() {
    return id;
  }

  /**
   * The protocols that it speaks.
   *
   * @return one or two
   */
  public Set<Api> apis() {
    return rule.apis();
  }

  Defaults defaults() {
    return defaults;
  }

  ErrorTable errors() {
    return errors;
  }

  ApiRule rule() {
    return rule;
  }

  ChatDialect chat() {
    return chat;
  }

  ResponsesDialect responses() {
    return responses;
  }

  /** What a model can do of which nothing is known. */
  ModelCapabilities capabilities() {
    return capabilities;
  }

  /**
   * The facts of a model as far as the vendor's protocols can use them: they mark no errors of
   * tools, and a model that always thinks takes no tool calls of an earlier conversation where it
   * would have to think over them.
   */
  ModelFacts fitting(ModelFacts facts) {
    boolean thinksOverThem =
        chat.has(Quirk.THINKS_OVER_OWN_CALLS_ONLY) && facts.has(ModelTrait.REASONS_ALWAYS);
    boolean cannotGoOn = thinksOverThem || facts.capabilities().toolHistory() == ToolHistory.NATIVE;
    return cannotGoOn ? facts.with(facts.capabilities().with(ToolHistory.NONE)) : facts;
  }

  /** Shows the id. */
  @Override
  public String toString() {
    return "Vendor[" + id + "]";
  }

  /** Collects how a vendor differs; not thread-safe. */
  public static final class Builder {
    private static final String AUTHORIZATION = "Authorization";

    private final String id;
    private final URI baseUrl;
    private String name;
    private String keyVariable;
    private String baseUrlVariable;
    private String keyHeader = AUTHORIZATION;
    private @Nullable ErrorTable errors;
    private ApiRule rule = ApiRule.CHAT_ONLY;
    private ChatDialect chat = ChatDialect.OPENAI;
    private ResponsesDialect responses = ResponsesDialect.OPENAI;
    private ModelCapabilities capabilities = TEXT_AND_TOOLS;

    private Builder(String id, URI baseUrl) {
      this.id = id;
      this.baseUrl = Objects.requireNonNull(baseUrl, "baseUrl");
      this.name = id;
      String prefix = id.toUpperCase(Locale.ROOT).replace('-', '_');
      this.keyVariable = prefix + "_API_KEY";
      this.baseUrlVariable = prefix + "_BASE_URL";
    }

    /**
     * Sets the name in messages; the id by default.
     *
     * @param name the name
     * @return this builder
     */
    public Builder name(String name) {
      this.name = Objects.requireNonNull(name, "name");
      return this;
    }

    /**
     * Sets the variable of the environment that holds the key; by default the id in capitals with
     * {@code _API_KEY} behind it.
     *
     * @param variable the variable's name
     * @return this builder
     */
    public Builder keyVariable(String variable) {
      this.keyVariable = Objects.requireNonNull(variable, "variable");
      return this;
    }

    /**
     * Sets the variable of the environment that holds a base URL; by default the id in capitals
     * with {@code _BASE_URL} behind it.
     *
     * @param variable the variable's name
     * @return this builder
     */
    public Builder baseUrlVariable(String variable) {
      this.baseUrlVariable = Objects.requireNonNull(variable, "variable");
      return this;
    }

    /**
     * Sets the header that carries the key as it is; by default {@code Authorization} carries it as
     * a bearer token.
     *
     * @param header 1 to 100 letters, digits and hyphens
     * @return this builder
     */
    public Builder keyHeader(String header) {
      this.keyHeader = header.equals(AUTHORIZATION) ? header : HeaderValues.requireName(header);
      return this;
    }

    /**
     * Sets the protocols that it speaks; {@link Api#CHAT} by default. Of both the first is used,
     * and Responses for tools that the vendor runs itself.
     *
     * @param first the one that is used where nothing else is said
     * @param more the other, if it speaks both
     * @return this builder
     */
    public Builder apis(Api first, Api... more) {
      boolean both = !Set.of(first).containsAll(Set.of(more));
      return api(
          switch (first) {
            case CHAT -> both ? ApiRule.CHAT_FIRST : ApiRule.CHAT_ONLY;
            case RESPONSES -> both ? ApiRule.RESPONSES_FIRST : ApiRule.RESPONSES_ONLY;
          });
    }

    /**
     * Sets how models are asked in Chat Completions to reason; {@link
     * ReasoningForm#REASONING_EFFORT} by default, and nothing is sent again.
     *
     * @param form how they are asked
     * @param field which reasoning has to be sent again
     * @return this builder
     */
    public Builder reasoning(ReasoningForm form, ReasoningField field) {
      return chat(chat.reasoning(form.style(), field.state()));
    }

    /**
     * Sets what a model can do of which nothing is known; text and tools by default.
     *
     * @param capabilities the capabilities
     * @return this builder
     */
    public Builder capabilities(ModelCapabilities capabilities) {
      this.capabilities = Objects.requireNonNull(capabilities, "capabilities");
      return this;
    }

    private Builder api(ApiRule rule) {
      this.rule = rule;
      return this;
    }

    private Builder chat(ChatDialect dialect) {
      this.chat = dialect;
      return this;
    }

    private Builder responses(ResponsesDialect dialect) {
      this.responses = dialect;
      return this;
    }

    private Builder errors(ErrorTable table) {
      this.errors = table;
      return this;
    }

    /**
     * Makes the vendor.
     *
     * @return the vendor
     */
    public Vendor build() {
      return new Vendor(this);
    }
  }
}
