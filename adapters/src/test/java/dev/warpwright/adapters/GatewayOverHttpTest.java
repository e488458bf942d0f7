package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.ClientClose;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A gateway, a real adapter and a real socket: when an operation ends, the provider sees it. */
@Timeout(60)
final class GatewayOverHttpTest {
  private static final Duration TIMEOUT = Duration.ofMillis(300);
  private static final Duration GRACE = Duration.ofMillis(100);
  private static final Duration SEEN_WITHIN = Duration.ofMillis(100);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int ROUNDS = 30;

  /** From the second request on the provider accepts and goes silent; the first warms up. */
  private static final String SILENT_BEFORE_HEADERS = "\"from\": 2, \"stall\": true";

  private static final String SLOW_BEFORE_HEADERS = "\"from\": 2, \"slowHeaders\": \"PT30S\"";

  private static ScriptedServer server(String fault) {
    return ScriptedServer.start(
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "text": "Hello." } } ],
              "faults": [ { %s } ] }
            """
                .formatted(fault)));
  }

  /** A gateway that has made a call already, so that a cold start is not measured. */
  private static Gateway gateway(ScriptedServer server) {
    Gateway gateway =
        Gateway.builder()
            .adapter("openai", OpenAi.builder().baseUrl(server.uri()).build())
            .abandonGrace(GRACE)
            .build();
    assertEquals("Hello.", gateway.generate(request(PATIENCE)).text());
    return gateway;
  }

  private static GenerateRequest request(Duration timeout) {
    return GenerateRequest.builder(Route.of(Target.of("openai", "silent")), "Hello")
        .timeout(timeout)
        .build();
  }

  /** What one round measured; the machine may be busy, so the quickest of several rounds counts. */
  private record Measured(Duration returned, Duration seen) {
    boolean isWithinBounds() {
      return returned.compareTo(GRACE) <= 0 && seen.compareTo(SEEN_WITHIN) <= 0;
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {SILENT_BEFORE_HEADERS, SLOW_BEFORE_HEADERS})
  @Tag("R118")
  @Tag("R121")
  @Tag("R125")
  @Tag("R126")
  @Tag("FR-C01")
  void at_the_deadline_the_caller_has_its_answer_and_the_provider_sees_the_close(String fault)
      throws Exception {
    Measured measured = new Measured(Duration.ZERO, Duration.ZERO);
    try (ScriptedServer server = server(fault);
        Gateway gateway = gateway(server)) {
      for (int round = 1; round <= ROUNDS; round++) {
        long before = server.requests();
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        DeadlineExceededException end =
            assertThrows(DeadlineExceededException.class, () -> gateway.generate(request(TIMEOUT)));
        long returned = System.nanoTime();
        if (end.trace().attempts().isEmpty()) {
          continue; // so busy that the time was over before the call
        }
        server.awaitOpenConnections(0, PATIENCE);
        if (server.requests() == before) {
          continue; // or before the request had arrived
        }
        ClientClose close = server.awaitClose(before + 1, PATIENCE);

        assertEquals(1, end.trace().attempts().size());
        assertEquals(
            Attempt.ReasonCode.DEADLINE_EXCEEDED, end.trace().attempts().getFirst().reasonCode());
        assertEquals(ClientClose.Phase.WAITING, close.phase());
        measured = new Measured(Duration.ofNanos(returned - deadline), close.after(deadline));
        if (measured.isWithinBounds()) {
          assertEquals(0, gateway.diagnostics().liveTasks().size());
          return;
        }
      }
    }
    assertTrue(measured.isWithinBounds(), () -> "in none of " + ROUNDS + " rounds");
  }

  @Test
  @Tag("R17")
  @Tag("R118")
  @Tag("FR-C01")
  void an_interrupt_of_the_caller_reaches_the_provider() throws Exception {
    Duration seen = Duration.ZERO;
    try (ScriptedServer server = server(SILENT_BEFORE_HEADERS);
        Gateway gateway = gateway(server)) {
      for (int round = 1; round <= ROUNDS; round++) {
        FutureTask<Boolean> call =
            new FutureTask<>(
                () -> {
                  assertThrows(
                      OperationCancelledException.class, () -> gateway.generate(request(PATIENCE)));
                  return Thread.currentThread().isInterrupted();
                });
        Thread caller = Thread.ofPlatform().start(call);
        server.awaitRequest(round + 1, PATIENCE);
        long cancelled = System.nanoTime();
        caller.interrupt();

        assertTrue(call.get(60, TimeUnit.SECONDS), "the interrupt flag is set again");
        seen = server.awaitClose(round + 1, PATIENCE).after(cancelled);
        if (seen.compareTo(SEEN_WITHIN) <= 0) {
          return;
        }
      }
    }
    assertTrue(seen.compareTo(SEEN_WITHIN) <= 0, "seen after " + seen);
  }
}
