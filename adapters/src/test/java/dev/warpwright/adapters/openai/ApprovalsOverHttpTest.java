package dev.warpwright.adapters.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.StreamEvent;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.AgentStream;
import dev.warpwright.agent.Agents;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.AgentCapabilities;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Completeness;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Route;
import dev.warpwright.model.SupportTier;
import dev.warpwright.model.Target;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Runs whose tools are at a server of the Model Context Protocol that OpenAI calls, from the wire
 * to the log and back. The service here holds to the protocol's rules: it asks before each call of
 * its tool, refuses a request for approval that nobody answers and an answer to nothing, and calls
 * the tool once for each approval.
 */
@Timeout(60)
final class ApprovalsOverHttpTest {
  private static final String OPTIONS =
      "{\"tools\":[{\"type\":\"mcp\",\"server_label\":\"docs\",\"server_url\":\"https://example.com\","
          + "\"require_approval\":\"always\"}]}";
  private static final Route ROUTE = Route.of(Target.of("openai", "m"));

  /** What the service does besides asking. */
  private volatile String local = ""; // a call of a local tool, beside its own

  private volatile boolean cut; // ends the connection in the middle of its first answer

  private final List<String> calledTools = new CopyOnWriteArrayList<>();
  private final List<String> refusals = new CopyOnWriteArrayList<>();
  private final List<String> notes = new CopyOnWriteArrayList<>(); // that the local tool took
  private final RunStore store = RunStore.inMemory();
  private RawServer server;
  private HttpAdapter adapter;
  private Gateway gateway;
  private Agents agents;

  /** The input of the local tool. */
  record Note(String text) {}

  @BeforeEach
  void open() throws IOException {
    server = new RawServer(this::serve);
    adapter = OpenAi.builder().baseUrl(server.uri()).build();
    gateway = Gateway.builder().adapter("openai", adapter).build();
    agents = Agents.on(gateway, store);
  }

  @AfterEach
  void close() throws IOException {
    assertEquals(List.of(), refusals);
    assertEquals(0, adapter.openExchanges());
    gateway.close();
    server.close();
  }

  private JsonNode body(int index) {
    String request = server.requests().get(index);
    return StrictJson.readDocument(
        request.substring(request.indexOf("\r\n\r\n") + 4).getBytes(StandardCharsets.UTF_8));
  }

  private void serve(RawServer.Connection connection) throws IOException {
    JsonNode asked = body(server.requests().size() - 1);
    ArrayNode output = StrictJson.mapper().createArrayNode();
    List<String> open = new ArrayList<>();
    int decided = 0;
    for (JsonNode item : asked.path("input")) {
      switch (item.path("type").asString("")) {
        case "mcp_approval_request" -> open.add(item.path("id").stringValue());
        case "mcp_approval_response" -> {
          if (!open.remove(item.path("approval_request_id").stringValue())) {
            refusals.add("an answer to nothing: " + item);
          }
          decided++;
        }
        default -> {}
      }
    }
    if (!open.isEmpty()) {
      refusals.add("requests without an answer: " + open);
    }
    if (!asked.path("tools").path(0).path("type").asString("").equals("mcp")) {
      refusals.add("no server: " + asked.path("tools"));
    }
    if (decided == 0) {
      output.addObject().put("type", "mcp_list_tools").put("id", "mcpl_1").putArray("tools");
      output.add(request("mcpr_1"));
      output.add(request("mcpr_2"));
      if (!local.isEmpty()) {
        output.add(StrictJson.readDocument(local.getBytes(StandardCharsets.UTF_8)));
      }
    } else {
      for (JsonNode item : asked.path("input")) {
        if (item.path("approve").asBoolean(false)) {
          String id = item.path("approval_request_id").stringValue();
          calledTools.add(id);
          output
              .addObject()
              .put("type", "mcp_call")
              .put("id", "mcp_" + id)
              .put("approval_request_id", id)
              .put("output", "found");
        }
      }
      ObjectNode message = output.addObject().put("type", "message");
      message
          .putArray("content")
          .addObject()
          .put("type", "output_text")
          .put("text", "Found " + calledTools.size() + ".");
    }
    ObjectNode response = StrictJson.mapper().createObjectNode().put("status", "completed");
    response.set("output", output);
    if (asked.path("stream").asBoolean(false)) {
      stream(connection, response);
    } else {
      connection.answer("200 OK", "application/json", StrictJson.write(response));
    }
  }

  private static ObjectNode request(String id) {
    return StrictJson.mapper()
        .createObjectNode()
        .put("type", "mcp_approval_request")
        .put("id", id)
        .put("name", "search")
        .put("server_label", "docs")
        .put("arguments", "{\"q\": \"ä\"}");
  }

  private void stream(RawServer.Connection connection, ObjectNode response) throws IOException {
    StringBuilder events = new StringBuilder();
    for (JsonNode item : response.path("output")) {
      events.append(event("response.output_item.done", "item", item));
    }
    if (!cut) {
      events.append(event("response.completed", "response", response));
    }
    connection.write(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + events);
    connection.cut();
  }

  private static String event(String type, String member, JsonNode value) {
    ObjectNode event = StrictJson.mapper().createObjectNode().put("type", type);
    event.set(member, value);
    return "data: " + StrictJson.write(event) + "\n\n";
  }

  private Agent agent() {
    return Agent.builder("agent", ROUTE)
        .providerOptions("openai", Json.parse(OPTIONS))
        .tools(
            Tool.builder(
                    "note",
                    "Notes.",
                    Note.class,
                    MethodHandles.lookup(),
                    EffectClass.ONCE,
                    (note, context) -> {
                      notes.add(note.text());
                      return "noted";
                    })
                .requiresApproval()
                .build())
        .build();
  }

  private AgentResult run(boolean streamed) {
    AgentRequest request = AgentRequest.builder(agent(), "Find it.").build();
    if (!streamed) {
      return agents.run(request);
    }
    try (AgentStream stream = agents.stream(request)) {
      return stream.collect();
    }
  }

  private AgentResult resume(AgentResult waiting, boolean streamed, ApprovalDecision... decisions) {
    if (!streamed) {
      return agents.resume(agent(), waiting.run(), decisions);
    }
    try (AgentStream stream = agents.stream(agent(), waiting.run(), decisions)) {
      return stream.collect();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Tag("A79")
  @Tag("A84")
  @Tag("A86")
  void a_run_waits_for_decisions_and_the_service_is_told_them_as_its_protocol_wants(
      boolean streamed) {
    AgentResult waiting = run(streamed);

    assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());
    List<ApprovalRequested> asked = waiting.pendingApprovals();
    assertEquals(
        List.of("mcpr_1", "mcpr_2"),
        asked.stream().map(request -> request.provider().orElseThrow().requestId()).toList());
    assertEquals("openai", asked.getFirst().provider().orElseThrow().id());
    assertEquals(Optional.of("docs"), asked.getFirst().provider().orElseThrow().server());
    assertEquals("search", asked.getFirst().tool());
    assertEquals("{\"q\":\"ä\"}", asked.getFirst().arguments().text());

    AgentResult still =
        resume(waiting, streamed, ApprovalDecision.deny(asked.get(0).requestId(), "too much"));
    assertEquals(RunStatus.WAITING_APPROVAL, still.status());
    assertEquals(1, server.requests().size());
    AgentResult done =
        resume(waiting, streamed, ApprovalDecision.approve(asked.get(1).requestId()).by("ann"));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals("Found 1.", done.text());
    assertEquals(List.of("mcpr_2"), calledTools);
    String input = StrictJson.write(body(1).path("input"));
    assertTrue(
        input.endsWith(
            StrictJson.write(request("mcpr_1"))
                + ",{\"type\":\"mcp_approval_response\",\"approval_request_id\":\"mcpr_1\","
                + "\"approve\":false,\"reason\":\"too much\"},"
                + StrictJson.write(request("mcpr_2"))
                + ",{\"type\":\"mcp_approval_response\",\"approval_request_id\":\"mcpr_2\","
                + "\"approve\":true}]"),
        input);
    assertFalse(server.requests().get(1).contains("ann"));
  }

  @Test
  @Tag("A84")
  void an_approval_of_a_local_tool_beside_it_is_not_told_to_the_service() {
    local =
        "{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"note\","
            + "\"arguments\":\"{\\\"text\\\":\\\"x\\\"}\"}";
    AgentResult waiting = run(false);
    assertEquals(3, waiting.pendingApprovals().size());
    ApprovalDecision[] decisions =
        waiting.pendingApprovals().stream()
            .map(request -> ApprovalDecision.approve(request.requestId()))
            .toArray(ApprovalDecision[]::new);

    AgentResult done = resume(waiting, false, decisions);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of("x"), notes);
    assertEquals(List.of("mcpr_1", "mcpr_2"), calledTools);
    assertFalse(server.requests().get(1).contains("approval_request_id\":\"c1"));
    assertFalse(server.requests().get(1).contains("\"approval_id"));
    for (ApprovalRequested request : waiting.pendingApprovals()) {
      assertFalse(server.requests().get(1).contains(request.requestId()));
      assertFalse(server.requests().get(1).contains(request.digest()));
    }
  }

  @Test
  @Tag("A79")
  @Tag("R97")
  void a_stream_that_is_cut_at_a_request_asks_nobody_and_is_not_repeated() {
    cut = true;

    AgentResult result = run(true);

    assertEquals(RunStatus.FAILED, result.status());
    assertEquals(FailureKind.PROVIDER_TOOL, result.state().failure().orElseThrow().kind());
    assertEquals(List.of(), result.pendingApprovals());
    assertEquals(1, server.requests().size());
  }

  private static GenerateRequest.Builder generate(List<Message> messages) {
    return GenerateRequest.builder(ROUTE, messages).providerOptions("openai", Json.parse(OPTIONS));
  }

  @Test
  @Tag("A79")
  void outside_a_run_the_result_says_what_is_asked_and_the_program_answers() {
    GenerateResult result = gateway.generate(generate(List.of(Message.user("Find it."))).build());

    assertEquals(FinishReason.Kind.PAUSED, result.finishReason().kind());
    assertEquals(Completeness.TRUNCATED, result.completeness());
    assertEquals(2, result.pendingApprovals().size());
    Conversation conversation = Conversation.of(result.messages());
    for (ProviderState asking : result.pendingApprovals()) {
      conversation =
          conversation.answered(
              asking.provider().orElseThrow(),
              asking.approval().orElseThrow().requestId(),
              ProviderApproval.Answer.approve());
    }
    GenerateResult done = gateway.generate(generate(conversation).build());

    assertEquals("Found 2.", done.text());
    assertEquals(List.of(), done.pendingApprovals());
    assertEquals(FinishReason.Kind.STOP, done.finishReason().kind());
  }

  @Test
  @Tag("A79")
  void outside_a_run_a_stream_shows_what_is_asked() {
    List<StreamEvent> events = new ArrayList<>();
    try (TextStream stream =
        gateway.streamText(generate(List.of(Message.user("Find it."))).build())) {
      stream.forEach(events::add);
    }

    assertEquals(
        List.of("mcpr_1", "mcpr_2"),
        events.stream()
            .filter(StreamEvent.ProviderData.class::isInstance)
            .map(event -> ((StreamEvent.ProviderData) event).state().approval())
            .map(approval -> approval.orElseThrow().requestId())
            .toList());
    assertEquals(FinishReason.Kind.PAUSED, ((StreamEvent.Finish) events.getLast()).reason().kind());
  }

  @Test
  @Tag("A79")
  void what_is_not_answered_is_not_sent_as_a_request() {
    GenerateResult result = gateway.generate(generate(List.of(Message.user("Find it."))).build());
    List<Message> more = new ArrayList<>(result.messages());
    more.add(Message.user("Never mind."));

    var _ = gateway.generate(generate(more).build());

    assertFalse(server.requests().get(1).contains("mcp_approval_request"));
    assertTrue(server.requests().get(1).contains("mcp_list_tools"));
  }

  @Test
  @Tag("R81")
  @Tag("R83")
  void a_target_whose_provider_is_not_said_to_ask_is_skipped_where_that_is_needed() {
    AgentCapabilities asks =
        AgentCapabilities.of(
            SupportTier.NONE, AgentCapabilities.APPROVAL_REQUESTS, AgentCapabilities.REMOTE_MCP);
    try (HttpAdapter plain = OpenAi.builder(Vendor.XAI).baseUrl(server.uri()).build();
        HttpAdapter asking =
            OpenAi.builder()
                .baseUrl(server.uri())
                .capabilities(id -> ModelCapabilities.TEXT_AND_TOOLS.with(asks))
                .build();
        Gateway both = Gateway.builder().adapter("xai", plain).adapter("openai", asking).build()) {
      GenerateResult result =
          both.generate(
              GenerateRequest.builder(
                      Route.of(Target.of("xai", "m"), Target.of("openai", "m")), "Find it.")
                  .providerOptions("openai", Json.parse(OPTIONS))
                  .requiredAgentCapabilities(asks)
                  .build());

      assertEquals("openai", result.providerUsed());
      assertEquals(
          Attempt.ReasonCode.AGENT_CAPABILITIES, result.attempts().getFirst().reasonCode());
      assertEquals(2, result.pendingApprovals().size());
    }
  }
}
