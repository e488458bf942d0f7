package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * Who thinks for the agent: the gateway to the providers and the route that the agent takes.
 *
 * @param gateway the gateway
 * @param route the primary and its fallbacks
 * @param servers the scripted servers that were started for it, if any
 */
record Providers(Gateway gateway, Route route, List<ScriptedServer> servers)
    implements AutoCloseable {
  private static final String PRIMARY = "primary";
  private static final String BACKUP = "backup";

  /** A server at a URL, with the key of the environment if there is one. */
  static Providers at(URI url, String model) {
    Gateway gateway =
        Gateway.builder()
            .adapter("openai", OpenAi.builder().fromEnvironment().baseUrl(url).build())
            .build();
    return new Providers(gateway, Route.of(Target.of("openai", model)), List.of());
  }

  /**
   * Two scripted servers in this process, called over HTTP like any other: the primary in OpenAI's
   * protocol, the backup in Anthropic's. They are quick to answer and quick to fail, so calls are
   * given up and made again sooner than real ones.
   */
  static Providers scripted(Script primary, Script backup, String model) {
    ScriptedServer first = ScriptedServer.start(primary);
    ScriptedServer second = ScriptedServer.start(backup);
    Gateway gateway =
        Gateway.builder()
            .adapter(PRIMARY, OpenAi.builder().baseUrl(first.uri()).build())
            .adapter(BACKUP, thinking(second.uri()))
            .attemptTimeout(Duration.ofSeconds(1))
            .retry(new RetryPolicy(1, Duration.ofMillis(100), 0.2))
            .build();
    Route route = Route.of(Target.of(PRIMARY, model), Target.of(BACKUP, model));
    return new Providers(gateway, route, List.of(first, second));
  }

  private static ProviderAdapter thinking(URI url) {
    return Anthropic.builder().baseUrl(url).thinkingBudget(1_024).build();
  }

  static Script primaryScript() {
    return shipped("primary.json");
  }

  static Script backupScript() {
    return shipped("backup.json");
  }

  private static Script shipped(String name) {
    try (InputStream in = Providers.class.getResourceAsStream(name)) {
      return Script.read(Objects.requireNonNull(in, name), name);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot close " + name + ".", e);
    }
  }

  @Override
  public void close() {
    gateway.close();
    servers.forEach(ScriptedServer::close);
  }
}
