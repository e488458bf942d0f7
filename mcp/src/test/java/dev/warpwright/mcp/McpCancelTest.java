package dev.warpwright.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.GenerateRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.mcp.FakeServer.Wire;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Cancellation;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Calls that nobody waits for any more. */
final class McpCancelTest {
  private static final Duration LIMIT = Duration.ofSeconds(5);

  private static GenerateRequest.Builder request(List<Tool> tools) {
    return GenerateRequest.builder(Caller.ROUTE, "Do it.").tools(tools);
  }

  /** The server is told of the very request that it was sent, and why. */
  private static void assertAnnounced(FakeServer server, JsonNode call, String reason)
      throws InterruptedException {
    JsonNode notice = server.await("notifications/cancelled");
    assertEquals(call.path("id"), notice.path("params").path("requestId"));
    assertEquals(reason, notice.path("params").path("reason").stringValue());
    assertTrue(notice.path("id").isMissingNode(), "a notification has no id");
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A60")
  @Tag("FR-C09")
  void a_call_that_runs_into_the_timeout_of_its_tool_ends_and_is_announced(Wire wire)
      throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client =
            server
                .client()
                .effect(EffectClass.PURE, "act")
                .each((name, tool) -> tool.timeout(LIMIT))
                .connect();
        Caller caller = new Caller("act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      Future<AgentResult> run = threads.submit(() -> caller.run(client.tools()));

      JsonNode call = server.await("tools/call");
      caller.time.advance(LIMIT);

      AgentResult result = run.get(60, TimeUnit.SECONDS);
      assertEquals(RunStatus.COMPLETED, result.status());
      assertEquals("Tool timed out after PT5S.", Caller.output(result));
      assertAnnounced(server, call, "timed out");
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A60")
  @Tag("FR-C09")
  void a_call_that_runs_into_the_deadline_ends_and_is_announced(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().effect(EffectClass.PURE, "act").connect();
        Caller caller = new Caller("act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      GenerateRequest request = request(client.tools()).timeout(LIMIT).build();
      Future<?> operation = threads.submit(() -> caller.gateway.generate(request));

      JsonNode call = server.await("tools/call");
      caller.time.advance(LIMIT);

      var _ = assertInstanceOf(DeadlineExceededException.class, failure(operation));
      assertAnnounced(server, call, "timed out");
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A60")
  @Tag("FR-C09")
  void a_call_whose_caller_cancels_ends_and_is_announced(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().effect(EffectClass.PURE, "act").connect();
        Caller caller = new Caller("act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      Cancellation cancellation = new Cancellation();
      GenerateRequest request = request(client.tools()).cancellation(cancellation).build();
      Future<?> operation = threads.submit(() -> caller.gateway.generate(request));

      JsonNode call = server.await("tools/call");
      cancellation.cancel("changed my mind");

      var _ = assertInstanceOf(OperationCancelledException.class, failure(operation));
      assertAnnounced(server, call, "cancelled");
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A60")
  @Tag("FR-C09")
  void a_call_whose_callers_thread_is_interrupted_ends_and_is_announced(Wire wire)
      throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().effect(EffectClass.PURE, "act").connect();
        Caller caller = new Caller("act")) {
      server.on("tools/call", server.silence());
      List<Tool> tools = client.tools();
      CountDownLatch cancelled = new CountDownLatch(1);
      Thread thread =
          Thread.ofVirtual()
              .start(
                  () -> {
                    assertThrows(
                        OperationCancelledException.class,
                        () -> caller.gateway.generate(request(tools).build()));
                    cancelled.countDown();
                  });

      JsonNode call = server.await("tools/call");
      thread.interrupt();

      assertTrue(cancelled.await(60, TimeUnit.SECONDS));
      assertAnnounced(server, call, "cancelled");
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A60")
  @Tag("FR-C09")
  void a_call_of_a_run_that_is_cancelled_ends_and_is_announced(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().effect(EffectClass.PURE, "act").connect();
        Caller caller = new Caller("act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      Future<AgentResult> run = threads.submit(() -> caller.run(client.tools()));

      JsonNode call = server.await("tools/call");
      var _ = Runs.in(caller.store).cancel(new RunKey(RunScope.DEFAULT, Caller.RUN));

      assertEquals(RunStatus.CANCELLED, run.get(60, TimeUnit.SECONDS).status());
      assertAnnounced(server, call, "cancelled");
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A60")
  void the_outcome_of_a_call_that_may_not_be_repeated_is_unknown_after_its_timeout(Wire wire)
      throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().each((name, tool) -> tool.timeout(LIMIT)).connect();
        Caller caller = new Caller("act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      Future<AgentResult> run = threads.submit(() -> caller.run(client.tools()));

      JsonNode call = server.await("tools/call");
      caller.time.advance(LIMIT);

      assertEquals(RunStatus.NEEDS_RECONCILIATION, run.get(60, TimeUnit.SECONDS).status());
      assertAnnounced(server, call, "timed out");
      assertEquals(1, server.messages("tools/call").size());
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A60")
  void a_call_that_may_be_repeated_is_made_again_with_the_same_key(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client =
            server
                .client()
                .effect(EffectClass.IDEMPOTENT, "act")
                .each((name, tool) -> tool.timeout(LIMIT))
                .connect();
        Caller caller = new Caller("act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      Future<AgentResult> run = threads.submit(() -> caller.run(client.tools()));

      JsonNode first = server.await("tools/call");
      server.on("tools/call", FakeServer.text("done at last"));
      caller.time.advance(LIMIT);

      AgentResult result = run.get(60, TimeUnit.SECONDS);
      assertEquals("done at last", Caller.output(result));
      JsonNode second = server.await("tools/call");
      assertEquals(key(first), key(second));
      assertNotEquals(first.path("id"), second.path("id"), "a request's id is used once");
      assertAnnounced(server, first, "timed out");
    }
  }

  private static String key(JsonNode call) {
    return call.path("params").path("_meta").path(McpServer.IDEMPOTENCY_KEY).stringValue();
  }

  @ParameterizedTest
  @EnumSource
  @Tag("FR-C09")
  void the_caller_does_not_wait_for_a_server_that_does_not_take_the_notice(Wire wire)
      throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        McpServer client = server.client().effect(EffectClass.PURE, "act").connect();
        Caller caller = new Caller("act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      server.on("notifications/cancelled", server.silence());
      Cancellation cancellation = new Cancellation();
      GenerateRequest request = request(client.tools()).cancellation(cancellation).build();
      Future<?> operation = threads.submit(() -> caller.gateway.generate(request));

      JsonNode call = server.await("tools/call");
      cancellation.cancel();

      var _ = assertInstanceOf(OperationCancelledException.class, failure(operation));
      assertAnnounced(server, call, "cancelled");
      assertEquals(List.of(), caller.gateway.diagnostics().abandonedTasks());
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("FR-C09")
  void an_answered_call_is_not_announced(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        Caller caller = new Caller("act", "act")) {
      try (McpServer client = server.client().connect()) {
        assertEquals(RunStatus.COMPLETED, caller.run(client.tools()).status());
      }
      assertEquals(2, server.messages("tools/call").size());
      assertEquals(List.of(), server.messages("notifications/cancelled"));
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("FR-C09")
  void a_notice_is_sent_before_the_client_closes(Wire wire) throws Exception {
    try (FakeServer server = FakeServer.start(wire);
        Caller caller = new Caller("act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on("tools/call", server.silence());
      Cancellation cancellation = new Cancellation();
      JsonNode call;
      try (McpServer client = server.client().effect(EffectClass.PURE, "act").connect()) {
        GenerateRequest request = request(client.tools()).cancellation(cancellation).build();
        Future<?> operation = threads.submit(() -> caller.gateway.generate(request));
        call = server.await("tools/call");
        cancellation.cancel();
        var _ = failure(operation);
      }
      assertAnnounced(server, call, "cancelled");
    }
  }

  @ParameterizedTest
  @EnumSource
  @Tag("FR-C09")
  void a_late_answer_to_a_cancelled_call_reaches_nobody(Wire wire) throws Exception {
    CountDownLatch late = new CountDownLatch(1);
    try (FakeServer server = FakeServer.start(wire);
        McpServer client =
            server
                .client()
                .effect(EffectClass.PURE, "act")
                .each((name, tool) -> tool.timeout(LIMIT))
                .connect();
        Caller caller = new Caller("act", "act");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.on(
          "tools/call",
          (message, back) -> {
            late.await();
            FakeServer.text("too late").serve(message, back);
          });
      Future<AgentResult> run = threads.submit(() -> caller.run(client.tools()));

      JsonNode first = server.await("tools/call");
      server.on(
          "tools/call",
          (message, back) -> {
            late.countDown();
            FakeServer.text("in time").serve(message, back);
          });
      caller.time.advance(LIMIT);

      AgentResult result = run.get(60, TimeUnit.SECONDS);
      assertEquals(
          List.of("Tool timed out after PT5S.", "in time"),
          Caller.results(result).stream().map(one -> one.output().value()).toList());
      assertAnnounced(server, first, "timed out");
    }
  }

  private static Throwable failure(Future<?> operation) throws Exception {
    return assertThrows(ExecutionException.class, () -> operation.get(60, TimeUnit.SECONDS))
        .getCause();
  }
}
