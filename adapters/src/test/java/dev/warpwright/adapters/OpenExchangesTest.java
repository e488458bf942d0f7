package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An adapter says how many exchanges it has open. */
@Timeout(60)
final class OpenExchangesTest {
  private static final int CALLS = 20;

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private static final Script SILENT =
      Script.parse(
          """
          { "rules": [ { "when": {}, "answer": { "text": "Hello." } } ],
            "faults": [ { "stall": true } ] }
          """);

  @Test
  void a_call_is_an_open_exchange_until_it_has_come_back() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(SILENT);
        HttpAdapter openAi = OpenAi.builder().baseUrl(server.uri()).build();
        HttpAdapter responses = OpenAi.builder().api(Api.RESPONSES).baseUrl(server.uri()).build();
        HttpAdapter anthropic = Anthropic.builder().baseUrl(server.uri()).build();
        Gateway gateway =
            leaks.watch(
                Gateway.builder()
                    .adapter("openai", openAi)
                    .adapter("responses", responses)
                    .adapter("claude", anthropic)
                    .abandonGrace(Duration.ofSeconds(5)) // they all end, however slowly
                    .build())) {
      leaks.watch(Leftovers.count("of OpenAI", openAi::openExchanges));
      leaks.watch(Leftovers.count("of Responses", responses::openExchanges));
      leaks.watch(Leftovers.count("of Anthropic", anthropic::openExchanges));
      List<FutureTask<?>> calls = new ArrayList<>();
      List<Thread> callers = new ArrayList<>();
      for (int i = 0; i < CALLS; i++) {
        Target target = Target.of(i < 5 ? "claude" : i < 8 ? "responses" : "openai", "model");
        FutureTask<?> call =
            new FutureTask<>(
                () ->
                    assertThrows(
                        OperationCancelledException.class,
                        () ->
                            gateway.generate(
                                GenerateRequest.builder(Route.of(target), "Hello").build())));
        calls.add(call);
        callers.add(Thread.ofVirtual().start(call));
      }
      server.awaitRequest(CALLS, Duration.ofSeconds(10));

      assertEquals(5, anthropic.openExchanges());
      assertEquals(3, responses.openExchanges());
      assertEquals(CALLS - 8, openAi.openExchanges());

      callers.forEach(Thread::interrupt);
      for (FutureTask<?> call : calls) {
        call.get(60, TimeUnit.SECONDS);
      }
      assertEquals(0, anthropic.openExchanges());
      assertEquals(0, responses.openExchanges());
      assertEquals(0, openAi.openExchanges());
    }
  }
}
