package dev.warpwright.bench.http;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.bench.Controls;
import dev.warpwright.model.Message;
import dev.warpwright.model.Route;
import java.net.URI;
import java.util.List;

/** Warpwright's OpenAI adapter behind a gateway. */
final class WarpwrightClient implements ChatClient {
  private final HttpAdapter adapter;
  private final Gateway gateway;
  private final boolean controlled;

  private WarpwrightClient(HttpAdapter adapter, Gateway gateway, boolean controlled) {
    this.adapter = adapter;
    this.gateway = gateway;
    this.controlled = controlled;
  }

  /** With nothing switched on, or with all controls. */
  static WarpwrightClient open(URI base, boolean controlled) {
    HttpAdapter adapter = OpenAi.builder().apiKey(Clients.KEY).baseUrl(base).build();
    Gateway.Builder gateway =
        Gateway.builder()
            .adapter(Clients.TARGET.provider(), adapter)
            .timeout(Clients.PATIENCE)
            .attemptTimeout(Clients.PATIENCE)
            .streamIdleTimeout(Clients.PATIENCE);
    if (controlled) {
      new Controls().switchOn(gateway);
    }
    return new WarpwrightClient(adapter, gateway.build(), controlled);
  }

  private GenerateRequest request(String question) {
    GenerateRequest.Builder request =
        GenerateRequest.builder(
            Route.of(Clients.TARGET),
            List.of(Message.system(Dialogue.SYSTEM), Message.user(question)));
    return (controlled ? request.budgetScope(Controls.BUDGET_SCOPE) : request).build();
  }

  @Override
  public String ask(String question) {
    return gateway.generate(request(question)).text();
  }

  @Override
  public String stream(String question, Runnable atEach) {
    StringBuilder text = new StringBuilder();
    try (TextStream stream = gateway.streamText(request(question))) {
      for (String piece : stream.text()) {
        text.append(piece);
        atEach.run();
      }
    }
    return text.toString();
  }

  @Override
  public void close() {
    gateway.close();
    adapter.close();
  }
}
