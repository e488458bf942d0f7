package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What a program gives to the tools of one invocation, and nobody keeps. */
@Timeout(60)
final class ProgramContextTest {
  private record User(String name, boolean mayPay) {}

  private static final User ANN = new User("ann-secret", true);

  private final FakeModel model =
      FakeModel.of(calls(call("c1", "pay", "o1"), call("c2", "greet", "o1")), text("Done."));
  private final Program program = Program.on(RunStore.inMemory(), model);
  private final Tool greet =
      Tool.of(
          "greet",
          "",
          Order.class,
          EffectClass.PURE,
          (input, context) -> "hello " + context.context(User.class).name().length());
  private final Tool pay =
      Tool.builder("pay", "", Order.class, EffectClass.ONCE, (input, context) -> "paid")
          .enabledIf((input, caller) -> caller.context(User.class).mayPay())
          .requiresApproval()
          .build();
  private final Agent agent =
      Agent.builder("agent", Program.ROUTE).context(User.class).tools(pay, greet).build();

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  private static Invocation with(Object context) {
    return Invocation.builder().context(context).build();
  }

  private AgentRequest request(Invocation invocation) {
    return AgentRequest.builder(agent, "Do it.").invocation(invocation).build();
  }

  private static List<ToolResult> results(AgentResult result) {
    return result.state().messages().stream().flatMap(m -> m.toolResults().stream()).toList();
  }

  private static void assertRefused(Executable call) {
    InvalidRequestException refused = assertThrows(InvalidRequestException.class, call);
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.startsWith("Invalid agent context"), message);
    assertFalse(message.contains("secret"), message);
  }

  @Test
  @Tag("A16")
  @Tag("C33")
  void a_context_of_another_type_or_none_is_refused_before_anything_is_stored_or_asked() {
    for (Invocation wrong : List.of(Invocation.DEFAULT, with("ann-secret"), with(List.of(ANN)))) {
      assertRefused(() -> program.agents.run(request(wrong)));
      assertRefused(() -> program.agents.stream(request(wrong)).close());
    }

    assertEquals(List.of(), program.runs());
    assertEquals(List.of(), model.asked());
  }

  @Test
  @Tag("A16")
  void a_context_for_an_agent_that_declares_none_is_refused() {
    Agent plain = Agent.builder("plain", Program.ROUTE).build();
    AgentRequest request = AgentRequest.builder(plain, "Hello.").invocation(with(ANN)).build();

    assertRefused(() -> program.agents.run(request));
    assertEquals(List.of(), program.runs());
  }

  @Test
  @Tag("A67")
  @Tag("C33")
  @Tag("C40")
  void a_resume_gives_the_context_again_and_it_is_never_in_the_log() {
    AgentResult waiting = program.agents.run(request(with(ANN)));
    assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());
    List<LoggedEvent> log = program.log(waiting.run());
    List<ApprovalDecision> decisions =
        List.of(ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));

    for (Invocation wrong : List.of(Invocation.DEFAULT, with("ann-secret"))) {
      assertRefused(() -> program.agents.resume(agent, waiting.run(), decisions, wrong));
      assertRefused(() -> program.agents.resume(agent, log, decisions, wrong));
      assertRefused(() -> program.agents.stream(agent, waiting.run(), decisions, wrong).close());
      assertRefused(() -> program.agents.stream(agent, log, decisions, wrong).close());
    }
    assertEquals(log, program.log(waiting.run()));

    AgentResult done = program.agents.resume(agent, waiting.run(), decisions, with(ANN));

    assertEquals(
        List.of("paid", "hello 10"), results(done).stream().map(r -> r.output().value()).toList());
    assertFalse(RunExport.write(done.log()).contains("secret"));
  }

  @Test
  @Tag("A39")
  @Tag("A45")
  void whether_a_tool_is_enabled_depends_on_the_context_at_the_preflight_and_at_the_execution() {
    AgentResult refused = program.agents.run(request(with(new User("bob", false))));
    assertEquals("Done.", refused.text());
    assertTrue(results(refused).getFirst().error());

    AgentResult waiting = program.agents.run(request(with(ANN)));
    AgentResult done =
        program.agents.resume(
            agent,
            waiting.run(),
            List.of(ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId())),
            with(new User("bob", false)));
    assertEquals(
        "Tool \"pay\" may not be used for this input now.",
        results(done).getFirst().output().value());
  }

  @Test
  @Tag("A16")
  void a_tool_is_told_whose_run_it_serves_and_the_context_may_be_read_as_a_type_above_its_own() {
    Program other = Program.with(calls(call("c1", "tell", "o1")), text("Done."));
    Tool tell =
        Tool.of(
            "tell",
            "",
            Order.class,
            EffectClass.PURE,
            (input, context) ->
                Map.of(
                    "agent",
                    context.caller().agentId().orElseThrow(),
                    "same",
                    context.context(Record.class) == ANN));
    Agent telling = Agent.builder("telling", Program.ROUTE).context(User.class).tools(tell).build();

    AgentResult done =
        other.agents.run(AgentRequest.builder(telling, "Do it.").invocation(with(ANN)).build());

    assertEquals(
        Map.of("agent", "telling", "same", true), results(done).getFirst().output().value());
    other.assertNothingIsLeft();
  }

  @Test
  void a_context_is_in_no_text() {
    assertFalse(with(ANN).toString().contains("secret"));
    assertThrows(
        InvalidRequestException.class,
        () -> Agent.builder("agent", Program.ROUTE).context(int.class));
  }
}
