package dev.warpwright.adapters.google;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.ContextForm;
import dev.warpwright.adapters.http.ErrorTable;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.protocol.anthropic.MessagesErrors;
import dev.warpwright.adapters.protocol.openai.OpenAiErrors;
import dev.warpwright.adapters.wire.ConnectedAdapter;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ToolHistory;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * Vertex AI of Google Cloud: Gemini, and the models of other publishers.
 *
 * <pre>{@code
 * var vertex = Vertex.builder("my-project", "europe-west4").build();
 * vertex.model("gemini-2.5-pro");
 * vertex.model("anthropic/claude-sonnet-4-5");
 * vertex.model("deepseek-ai/deepseek-v3.1-maas");
 * }</pre>
 *
 * <p>A model's id is {@code publisher/name}; without a publisher it is Google's. The publisher
 * decides the protocol: Gemini's own, Anthropic's Messages, and Chat Completions for {@code
 * mistralai}, {@code ai21}, {@code xai}, {@code meta}, {@code deepseek-ai}, {@code qwen}, {@code
 * zai-org}, {@code moonshotai}, {@code minimaxai}, {@code openai} and {@code google} (Gemma).
 *
 * <p>Without a token or a source of them, {@link GoogleTokens#applicationDefault()} is asked at
 * Google's own base URL; another one is called without a token then. A token is replaced a minute
 * before its end, and dropped when a call is refused with status 401, which itself is not made
 * again. That a token cannot be had is a failure of the target, of kind CONNECT or HTTP_STATUS.
 */
public final class Vertex {
  private Vertex() {}

  /**
   * Begins an adapter.
   *
   * @param project the id or number of the project that is billed
   * @param location a region such as {@code us-central1}, or {@code global}
   * @return a builder
   * @throws dev.warpwright.model.InvalidRequestException if one of them cannot be part of a URL
   */
  public static Builder builder(String project, String location) {
    return new Builder(new ConnectionSettings(defaults(project, location)));
  }

  private static ConnectionSettings.Defaults defaults(String project, String location) {
    require("project", project, "[a-z0-9][a-z0-9.:-]{0,99}");
    require("location", location, "[a-z0-9-]{1,40}");
    String region = location.equals("global") ? "" : location + "-";
    return ConnectionSettings.Defaults.bearer(
        "Vertex",
        URI.create(
            "https://%saiplatform.googleapis.com/v1/projects/%s/locations/%s"
                .formatted(region, project, location)),
        "VERTEX_ACCESS_TOKEN",
        "VERTEX_BASE_URL");
  }

  private static void require(String name, String value, String form) {
    if (!value.matches(form)) {
      throw Refusal.configuration(
          "A %s of Vertex must match %s, but has %d characters, others among them or none."
              .formatted(name, form, value.length()));
    }
  }

  /** The names and forms of all protocols that are spoken here. */
  private static ErrorTable errors() {
    ErrorTable own = GeminiErrors.table("Vertex");
    Map<String, Integer> names = new HashMap<>(OpenAiErrors.TABLE.statusByName());
    names.putAll(MessagesErrors.TABLE.statusByName());
    names.putAll(own.statusByName());
    List<ContextForm> forms = new ArrayList<>(own.contextForms());
    forms.addAll(MessagesErrors.TABLE.contextForms());
    forms.addAll(OpenAiErrors.TABLE.contextForms());
    return new ErrorTable(
        own.provider(),
        own.requestIdHeader(),
        names,
        OpenAiErrors.TABLE.contextNames(),
        forms,
        0,
        "",
        own.statusByReason());
  }

  /** Collects what an adapter needs; not thread-safe. */
  public static final class Builder extends AdapterBuilder<Builder> {

    private Builder(ConnectionSettings settings) {
      super(settings);
    }

    @Override
    protected Builder self() {
      return this;
    }

    @Override
    public HttpAdapter build() {
      if (settings.lacksCredential()) {
        tokens(GoogleTokens.applicationDefault());
      }
      Connection connection = settings.connect(Map.of(), errors());
      Function<String, ModelFacts> facts = facts("vertex", ModelCapabilities.TEXT_AND_TOOLS);
      Function<String, ModelFacts> anthropics =
          facts("vertex", ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.NATIVE));
      return new ConnectedAdapter(
          "Vertex",
          connection,
          id -> {
            String plain = Publisher.plain(id);
            boolean isAnthropic = plain.startsWith("anthropic/");
            return Publisher.model(connection, id, (isAnthropic ? anthropics : facts).apply(plain));
          });
    }
  }
}
