package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Cancellation;
import dev.warpwright.tool.EffectClass;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A run that begins with tool calls of a conversation elsewhere. */
@Timeout(60)
final class ImportTest {
  private static final String SECRET = "what-a-tool-said";
  private static final ToolCall EARLIER = call("e1", "refund", "o0");
  private static final List<Message> HISTORY = history(new Part.Text("One moment."), EARLIER);

  private final World world = new World();
  private Optional<Program> program = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    program.ifPresent(Program::assertNothingIsLeft);
  }

  private static List<Message> history(Part... parts) {
    return List.of(
        Message.user("Refund o0."),
        new Message(Role.ASSISTANT, List.of(parts)),
        Message.tool(List.of(ToolResult.success(EARLIER, Json.of(SECRET)))),
        Message.user("And o1."));
  }

  private Program program(FakeModel model) {
    return program(RunStore.inMemory(), model, FakeModel.of());
  }

  private Program program(RunStore store, FakeModel model, FakeModel spare) {
    program = Optional.of(Program.on(store, model, spare));
    return program.get();
  }

  private Agent.Builder agent() {
    return Agent.builder("agent", Program.ROUTE)
        .instructions("Be brief.")
        .tools(world.tool("refund", EffectClass.ONCE).build());
  }

  /** One that asks before it acts. */
  private Agent asking(Route route) {
    return Agent.builder("agent", route)
        .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
        .build();
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, HISTORY).build();
  }

  @Test
  @Tag("R191")
  @Tag("R204")
  @Tag("R205")
  void it_is_a_fresh_run_that_says_what_it_is_and_repeats_no_earlier_call() {
    List<ToolResultFormat> formats = Collections.synchronizedList(new ArrayList<>());
    FakeModel model =
        FakeModel.of(
                text("never asked for: one answer is in the history"),
                asked -> {
                  formats.add(asked.toolResults());
                  return calls(call("c1", "refund", "o1")).give(asked);
                },
                asked -> {
                  formats.add(asked.toolResults());
                  return text("Refunded.").give(asked);
                })
            .taking(ToolHistory.JSON);
    Program program = program(model);

    AgentResult result = program.agents.run(request(agent().build()));

    assertEquals(RunStatus.COMPLETED, result.status());
    RunStarted started = (RunStarted) program.events(result.run()).getFirst();
    assertTrue(started.imported());
    assertEquals(Message.system("Be brief."), started.messages().getFirst());
    assertEquals(HISTORY, started.messages().subList(1, 5));
    assertEquals(List.of("o1"), world.effects().stream().map(World.Effect::order).toList());
    assertEquals(List.of(ToolResultFormat.ENVELOPE, ToolResultFormat.ENVELOPE), formats);
    assertEquals(List.of(1, 2), model.asked());
  }

  @Test
  @Tag("R205")
  void a_run_that_begins_without_tool_calls_is_no_import() {
    Program program = program(FakeModel.of(text("Hi.")));

    AgentResult result =
        program.agents.run(AgentRequest.builder(agent().build(), "Hello.").runId("r1").build());

    assertFalse(((RunStarted) program.events(result.run()).getFirst()).imported());
  }

  @Test
  @Tag("R204")
  void it_takes_messages_only() {
    Program program = program(FakeModel.of().taking(ToolHistory.NATIVE));
    Agent agent = agent().build();

    for (AgentRequest request :
        List.of(
            AgentRequest.builder(agent, HISTORY).runId("r1").build(),
            AgentRequest.builder(agent, HISTORY).idempotencyKey("k1").build())) {
      var refused = assertThrows(InvalidRequestException.class, () -> program.agents.run(request));

      assertEquals(FailureKind.INVALID_REQUEST, refused.kind());
      String what = request.runId().isPresent() ? "runId" : "idempotencyKey";
      assertTrue(String.valueOf(refused.getMessage()).contains(what), refused.getMessage());
    }
    assertEquals(List.of(), program.runs());
  }

  @Test
  @Tag("R192")
  @Tag("R205")
  void every_step_goes_to_a_target_that_declares_how_it_takes_them() {
    FakeModel plain = FakeModel.of();
    FakeModel able =
        FakeModel.of(text(""), calls(call("c1", "refund", "o1")), text("Refunded."))
            .taking(ToolHistory.NATIVE);
    Program program = program(RunStore.inMemory(), plain, able);
    Agent agent =
        Agent.builder("agent", Route.of(Program.TARGET, Program.SPARE))
            .tools(world.tool("refund", EffectClass.ONCE).build())
            .build();

    AgentResult result = program.agents.run(request(agent));

    assertEquals("Refunded.", result.text());
    assertEquals(List.of(), plain.asked());
    assertEquals(Attempt.ReasonCode.MODEL_CAPABILITIES, result.attempts().getFirst().reasonCode());
  }

  /** How the program comes by the run again. */
  enum Reload {
    FROM_THE_STORE,
    FROM_ITS_LOG
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R204")
  @Tag("R205")
  void a_reload_keeps_the_check(Reload reload) {
    FakeModel.Answer[] answers = {text(""), calls(call("c1", "refund", "o1")), text("Refunded.")};
    RunStore store = RunStore.inMemory();
    FakeModel able = FakeModel.of(answers).taking(ToolHistory.NATIVE);
    Agent agent = asking(Route.of(Program.TARGET, Program.SPARE));
    AgentResult waiting = Program.on(store, able).agents.run(request(agent));
    assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());
    ApprovalDecision yes =
        ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId());
    FakeModel plain = FakeModel.of(answers);
    FakeModel other = FakeModel.of(answers).taking(ToolHistory.JSON);

    AgentResult done;
    if (reload == Reload.FROM_THE_STORE) {
      done = program(store, plain, other).agents.resume(agent, waiting.run(), yes);
    } else {
      String carried = RunExport.write(waiting.log());
      done =
          program(RunStore.inMemory(), plain, other)
              .agents
              .resume(agent, RunExport.read(carried), yes);
    }

    assertEquals("Refunded.", done.text());
    assertEquals(List.of(), plain.asked());
    assertEquals(List.of(2), other.asked());
    assertEquals("The model does not declare toolHistory.", done.attempts().getFirst().message());
    assertEquals(2, done.attempts().getFirst().step());
  }

  @Test
  @Tag("R205")
  void a_reload_without_a_target_for_it_fails_and_can_be_resumed_with_one() {
    FakeModel.Answer[] answers = {text(""), calls(call("c1", "refund", "o1")), text("Refunded.")};
    RunStore store = RunStore.inMemory();
    Agent agent = asking(Program.ROUTE);
    AgentResult waiting =
        Program.on(store, FakeModel.of(answers).taking(ToolHistory.NATIVE))
            .agents
            .run(request(agent));

    AgentResult failed =
        program(store, FakeModel.of(answers), FakeModel.of())
            .agents
            .resume(
                agent,
                waiting.run(),
                ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));
    assertEquals(RunStatus.FAILED, failed.status());
    RunFailed why = (RunFailed) failed.log().getLast().event();
    assertEquals(FailureKind.NO_ELIGIBLE_TARGET, why.kind());

    AgentResult done =
        program(store, FakeModel.of(answers).taking(ToolHistory.JSON), FakeModel.of())
            .agents
            .resume(agent, waiting.run());
    assertEquals("Refunded.", done.text());
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("R202")
  @Tag("R205")
  void a_reload_keeps_interleaved_text_from_targets_that_would_move_it() {
    FakeModel.Answer[] answers = {text(""), calls(call("c1", "refund", "o1")), text("Refunded.")};
    RunStore store = RunStore.inMemory();
    Agent agent = asking(Route.of(Program.TARGET, Program.SPARE));
    AgentRequest request =
        AgentRequest.builder(agent, history(EARLIER, new Part.Text("That was o0."))).build();
    AgentResult waiting =
        Program.on(store, FakeModel.of(answers).taking(ToolHistory.NATIVE)).agents.run(request);
    FakeModel json = FakeModel.of(answers).taking(ToolHistory.JSON);

    AgentResult done =
        program(store, json, FakeModel.of(answers).taking(ToolHistory.NATIVE))
            .agents
            .resume(
                agent,
                waiting.run(),
                ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));

    assertEquals("Refunded.", done.text());
    assertEquals(List.of(), json.asked());
    assertTrue(done.attempts().getFirst().message().contains("interleaved"));
  }

  @Test
  @Tag("R207")
  void a_failure_is_written_without_a_word_of_the_provider() {
    FakeModel model =
        FakeModel.of(
                text(""),
                asked -> {
                  throw ProviderException.builder(
                          ProviderException.Kind.HTTP_STATUS, "No: " + SECRET)
                      .status(400)
                      .build();
                })
            .taking(ToolHistory.JSON);
    Program program = program(model);

    AgentResult result = program.agents.run(request(agent().build()));

    RunFailed failed = (RunFailed) program.events(result.run()).getLast();
    assertFalse(failed.message().contains(SECRET), failed.message());
    assertTrue(
        failed.message().contains("Provider failed while continuing tool history."),
        failed.message());
    assertEquals(
        List.of("Provider failed while continuing tool history."),
        failed.attempts().stream().map(Attempt::message).toList());
  }

  @Test
  @Tag("R207")
  void a_reason_to_cancel_is_not_written() {
    Cancellation cancellation = new Cancellation();
    FakeModel model =
        FakeModel.of(
                text(""),
                asked -> {
                  cancellation.cancel("because of " + SECRET);
                  return status(503).give(asked);
                })
            .taking(ToolHistory.JSON);
    Program program = program(model);
    AgentRequest request =
        AgentRequest.builder(agent().build(), HISTORY)
            .invocation(Invocation.builder().cancellation(cancellation).build())
            .build();

    var failure =
        assertThrows(OperationCancelledException.class, () -> program.agents.run(request));

    assertEquals("Request cancelled.", failure.getMessage());
    RunFailed failed = (RunFailed) program.events(program.runs().getFirst().run()).getLast();
    assertEquals("Request cancelled.", failed.message());
    assertFalse(failed.attempts().toString().contains(SECRET), failed.attempts().toString());
  }
}
