package dev.warpwright.adapters.anthropic;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.HeaderValues;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.protocol.anthropic.MessagesErrors;
import dev.warpwright.adapters.protocol.anthropic.MessagesModel;
import dev.warpwright.adapters.protocol.anthropic.MessagesService;
import dev.warpwright.adapters.protocol.anthropic.Thinking;
import dev.warpwright.adapters.wire.ConnectedAdapter;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ToolHistory;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Anthropic's Messages protocol: Claude, and servers that speak as it does.
 *
 * <pre>{@code
 * var claude = Anthropic.builder().apiKey(key).build();
 * var thinker = Anthropic.builder().fromEnvironment().adaptiveThinking().build();
 * }</pre>
 *
 * <p>The protocol demands a limit of output tokens on every call: 1 024 are sent if the call sets
 * none, the thinking budget and 1 024 with {@link Builder#thinkingBudget}, and 16 384 with {@link
 * Builder#adaptiveThinking}.
 *
 * <p>What the model thinks is told while it comes. It is kept in the answer as {@link
 * dev.warpwright.model.ProviderState}, in its place and byte for byte, and replayed to the same
 * model only; a block without a signature is never sent. A turn that another provider began goes on
 * without a thinking budget.
 *
 * <p>{@code ANTHROPIC_BASE_URL} holds the URL as Anthropic's own programs expect it, without {@code
 * /v1}: that is added unless it is there.
 */
public final class Anthropic {
  private static final ConnectionSettings.Defaults DEFAULTS =
      new ConnectionSettings.Defaults(
          "Anthropic",
          URI.create("https://api.anthropic.com/v1"),
          "ANTHROPIC_API_KEY",
          "ANTHROPIC_BASE_URL",
          "x-api-key",
          "",
          "/v1");

  private static final ModelCapabilities TEXT_AND_TOOLS =
      ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.NATIVE);

  private Anthropic() {}

  /**
   * Begins an adapter.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects what an adapter needs; not thread-safe. */
  public static final class Builder extends AdapterBuilder<Builder> {
    private final Set<String> betas = new LinkedHashSet<>();
    private String version = "2023-06-01";
    private Thinking thinking = new Thinking.Unset();

    private Builder() {
      super(new ConnectionSettings(DEFAULTS));
    }

    @Override
    protected Builder self() {
      return this;
    }

    /**
     * Sets the header {@code anthropic-version}; {@code 2023-06-01} by default.
     *
     * @param version the version
     * @return this builder
     */
    public Builder version(String version) {
      this.version = HeaderValues.requireToken("version", version);
      return this;
    }

    /**
     * Adds features to the header {@code anthropic-beta}.
     *
     * @param features their names; each is sent once, in the order in which they were added
     * @return this builder
     */
    public Builder beta(String... features) {
      for (String feature : features) {
        betas.add(HeaderValues.requireToken("beta", feature));
      }
      return this;
    }

    /**
     * Lets the model think first, within a budget, on every call that asks for no reasoning of its
     * own. Calls then set neither a temperature nor a tool that must be called, and their {@code
     * maxTokens}, if set, is more than the budget: others are refused before anything is sent.
     * Newer models take {@link #adaptiveThinking()} instead.
     *
     * @param tokens 1 024 or more; the provider treats it as a target
     * @return this builder
     */
    public Builder thinkingBudget(int tokens) {
      if (tokens < Thinking.MIN_BUDGET || tokens > Integer.MAX_VALUE / 2) {
        throw Refusal.configuration(
            "thinkingBudget must be between %d and %d tokens, but is %d."
                .formatted(Thinking.MIN_BUDGET, Integer.MAX_VALUE / 2, tokens));
      }
      this.thinking = new Thinking.Budget(tokens);
      return this;
    }

    /**
     * Lets the model decide on every call that asks for no reasoning of its own whether and how
     * much it thinks; takes the place of {@link #thinkingBudget}.
     *
     * @return this builder
     */
    public Builder adaptiveThinking() {
      this.thinking = new Thinking.Adaptive(Optional.empty());
      return this;
    }

    @Override
    public HttpAdapter build() {
      Map<String, String> headers = new LinkedHashMap<>();
      headers.put("anthropic-version", version);
      if (!betas.isEmpty()) {
        headers.put("anthropic-beta", String.join(",", betas));
      }
      Connection connection = settings.connect(headers, MessagesErrors.TABLE);
      Function<String, ModelFacts> facts = facts("anthropic", TEXT_AND_TOOLS);
      Thinking byDefault = thinking;
      return new ConnectedAdapter(
          "Anthropic",
          connection,
          id ->
              new MessagesModel(
                  MessagesService.ANTHROPIC, connection, id, facts.apply(id), byDefault));
    }
  }
}
