package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.wire.ConnectedAdapter;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * OpenAI, and every vendor and server that speaks one of its two protocols.
 *
 * <pre>{@code
 * var openAi = OpenAi.builder().apiKey(key).build();
 * var deepSeek = OpenAi.builder(Vendor.DEEPSEEK).fromEnvironment().build();
 * var local = OpenAi.builder().baseUrl(URI.create("http://localhost:8000/v1")).build();
 * }</pre>
 *
 * <p>In Chat Completions, reasoning that a server shows ({@code reasoning_content} or {@code
 * reasoning}) is told while it comes. It is no part of the answer, unless the vendor wants it back:
 * then it is kept as {@link dev.warpwright.model.ProviderState} and sent again as it came.
 *
 * <p>In Responses nothing is stored at the provider: every call carries the whole conversation,
 * with {@code store} false. What a model reasons comes back encrypted, if the call asks for
 * reasoning or the model is declared to have {@link dev.warpwright.model.Capability#REASONING}. It
 * is kept in the answer as {@link dev.warpwright.model.ProviderState}, in its place and byte for
 * byte, and replayed to the same model only, together with the text or call that followed it. The
 * last event of a stream repeats the whole answer.
 *
 * <p>Tools that the vendor runs itself are asked for with the provider options of a request: their
 * {@code tools} stand before those of the call. What became of such tools is private state in
 * Responses, and not shown in Chat Completions. A failure behind which one may have acted has the
 * kind TOOL_CALL and is never repeated: one with such a call in its answer, or, where no answer
 * shows it, one of a request that offered such a tool. Searching and drawing count as without
 * effects.
 */
public final class OpenAi {
  private OpenAi() {}

  /**
   * Begins an adapter for OpenAI itself, or a server that speaks as it does.
   *
   * @return a builder
   */
  public static Builder builder() {
    return builder(Vendor.OPENAI);
  }

  /**
   * Begins an adapter for a vendor that speaks one of OpenAI's protocols.
   *
   * @param vendor the vendor
   * @return a builder
   */
  public static Builder builder(Vendor vendor) {
    return new Builder(vendor, new ConnectionSettings(vendor.defaults()));
  }

  /** Collects what an adapter needs; not thread-safe. */
  public static final class Builder extends AdapterBuilder<Builder> {
    private final Vendor vendor;
    private @Nullable Api api;

    private Builder(Vendor vendor, ConnectionSettings settings) {
      super(settings);
      this.vendor = vendor;
    }

    @Override
    protected Builder self() {
      return this;
    }

    /**
     * Sets the protocol for all calls, one that the vendor speaks. By default each call goes to the
     * one that it needs, as the vendor's constant says it. A call that this protocol cannot take is
     * refused before anything is sent.
     *
     * @param api the protocol
     * @return this builder
     */
    public Builder api(Api api) {
      this.api = Objects.requireNonNull(api, "api");
      return this;
    }

    @Override
    public HttpAdapter build() {
      if (api != null && !vendor.apis().contains(api)) {
        throw Refusal.configuration(
            "api must be one of %s for %s, but is %s."
                .formatted(vendor.apis(), vendor.defaults().provider(), api));
      }
      Connection connection = settings.connect(Map.of(), vendor.errors());
      Function<String, ModelFacts> facts =
          facts(vendor.id(), vendor.capabilities()).andThen(vendor::fitting);
      Api forced = api;
      return new ConnectedAdapter(
          "OpenAi",
          connection,
          id -> new VendorModel(connection, id, facts.apply(id), vendor, forced));
    }
  }
}
