package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.ApprovalPolicy.Verdict;
import dev.warpwright.agent.World.Effect;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalRequested.Why;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.ApprovalMode;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The program decides on tool calls by itself. */
@Timeout(60)
final class ApprovalPolicyTest {
  private final World world = new World();
  private final FakeModel model =
      FakeModel.of(
          calls(call("c1", "refund", "o1"), call("c2", "note", "o1"), call("c3", "refund", "o2")),
          text("Done."));
  private final Program program = Program.on(RunStore.inMemory(), model);

  private Tool.Builder<World.Order> refund() {
    return world
        .tool("refund", EffectClass.ONCE)
        .requiresApproval()
        .approvalMode(ApprovalMode.POLICY);
  }

  private Agent.Builder agent(Tool.Builder<World.Order> refund) {
    return Agent.builder("agent", Program.ROUTE)
        .tools(refund.build(), world.tool("note", EffectClass.ONCE).build());
  }

  private AgentResult run(Agent agent) {
    return program.agents.run(AgentRequest.builder(agent, "Do it.").build());
  }

  private List<String> acted() {
    return world.effects().stream().map(Effect::tool).toList();
  }

  private static List<Object> outputs(AgentResult result) {
    return result.state().messages().stream()
        .flatMap(message -> message.toolResults().stream())
        .<Object>map(answer -> answer.output().value())
        .toList();
  }

  @Test
  @Tag("A42")
  @Tag("A43")
  void without_a_policy_a_call_that_requires_approval_is_denied_and_others_run() {
    AgentResult done = run(agent(refund()).build());

    assertEquals("Done.", done.text());
    assertEquals(List.of("note"), acted());
    assertEquals(
        List.of("The call was not approved.", "note of o1 done", "The call was not approved."),
        outputs(done));
    assertEquals(List.of(), done.state().approvals());
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A42")
  void a_policy_says_yes_or_no_to_every_call_that_does_not_go_to_a_person() {
    List<String> asked = new CopyOnWriteArrayList<>();
    ApprovalPolicy policy =
        ApprovalPolicy.of(
            call -> {
              asked.add(call.call().id() + " " + call.requiresApproval());
              return !call.requiresApproval() || call.call().input().text().contains("o2");
            });

    AgentResult done = run(agent(refund()).approvalPolicy(policy).build());

    assertEquals(List.of("c1 true", "c2 false", "c3 true"), asked);
    assertEquals(
        List.of("The call was not approved.", "note of o1 done", "refund of o2 done"),
        outputs(done));
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A42")
  @Tag("A43")
  void a_policy_denies_with_a_reason_that_the_model_is_told_also_calls_that_require_nothing() {
    ApprovalPolicy policy =
        call -> call.requiresApproval() ? Verdict.approve() : Verdict.deny("no notes today");

    AgentResult done = run(agent(refund()).approvalPolicy(policy).build());

    assertEquals("Done.", done.text());
    assertEquals(List.of("refund", "refund"), acted());
    assertEquals("The call was not approved: no notes today", outputs(done).get(1));
    ToolResult denied = done.state().messages().get(2).toolResults().get(1);
    assertTrue(denied.error());
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A42")
  @Tag("A39")
  void a_policy_may_ask_a_person_who_is_told_why_and_nothing_runs_before_the_decision() {
    ApprovalPolicy policy =
        call ->
            call.call().id().equals("c3")
                ? Verdict.ask("secret reason").with(Map.of("limit", "100"))
                : Verdict.approve();
    Agent agent = agent(refund()).approvalPolicy(policy).build();

    AgentResult waiting = run(agent);

    assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());
    assertEquals(List.of(), acted());
    ApprovalRequested request = waiting.pendingApprovals().getFirst();
    assertEquals(
        Optional.of(new Why(Optional.of("secret reason"), Map.of("limit", "100"))), request.why());
    assertEquals("c3", request.callId());
    assertFalse(request.toString().contains("secret"), request.toString());

    AgentResult done =
        program.agents.resume(
            agent, waiting.run(), ApprovalDecision.deny(request.requestId(), "no"));
    assertEquals(List.of("refund", "note"), acted());
    assertEquals("The call was not approved: no", outputs(done).get(2));
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A42")
  void what_a_person_decided_comes_before_the_policy() {
    List<String> asked = new CopyOnWriteArrayList<>();
    ApprovalPolicy policy =
        call -> {
          asked.add(call.call().id());
          return call.call().id().equals("c1") ? Verdict.ask("first") : Verdict.approve();
        };
    Agent agent = agent(refund()).approvalPolicy(policy).build();
    AgentResult waiting = run(agent);
    assertEquals(List.of("c1", "c2", "c3"), asked);

    var _ =
        program.agents.resume(
            agent,
            waiting.run(),
            ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()));

    assertEquals(List.of("c1", "c2", "c3", "c2", "c3"), asked);
    assertEquals(List.of("refund", "note", "refund"), acted());
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A42")
  void a_call_that_goes_to_a_person_by_itself_is_not_asked_of_the_policy() {
    List<String> asked = new CopyOnWriteArrayList<>();
    ApprovalPolicy policy =
        call -> {
          asked.add(call.call().id());
          return Verdict.approve();
        };

    AgentResult waiting =
        run(agent(refund().approvalMode(ApprovalMode.INTERRUPT)).approvalPolicy(policy).build());

    assertEquals(2, waiting.pendingApprovals().size());
    assertEquals(List.of("c2"), asked);
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A42")
  void a_verdict_that_says_both_is_an_error_and_nothing_runs() {
    assertThrows(
        InvalidRequestException.class, () -> new Verdict(true, true, Optional.empty(), Map.of()));
    ApprovalPolicy both = call -> new Verdict(true, true, Optional.empty(), Map.of());

    AgentResult failed = run(agent(refund()).approvalPolicy(both).build());

    assertEquals(FailureKind.INVALID_CONFIGURATION, failed.state().failure().orElseThrow().kind());
    assertEquals(List.of(), acted());
    program.assertNothingIsLeft();
  }

  @Test
  void a_policy_that_throws_fails_the_invocation_and_nothing_runs() {
    ApprovalPolicy broken =
        call -> {
          throw new IllegalStateException("secret");
        };
    Agent agent = agent(refund()).approvalPolicy(broken).build();

    assertThrows(IllegalStateException.class, () -> run(agent));

    assertEquals(List.of(), acted());
    assertEquals(
        "Done.",
        program
            .agents
            .resume(
                agent(refund()).approvalPolicy(ApprovalPolicy.of(call -> true)).build(),
                program.runs().getFirst().run())
            .text());
    assertEquals(3, acted().size());
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A82")
  void why_a_person_was_asked_is_signed_too() {
    ApprovalSigner signer = ApprovalSigner.hmacSha256(new byte[32]);
    Agents agents =
        Agents.builder(program.gateway).store(program.store).approvalSigner(signer).build();
    Agent agent =
        agent(refund())
            .approvalPolicy(
                call -> call.requiresApproval() ? Verdict.ask("much") : Verdict.approve())
            .build();
    AgentResult waiting = agents.run(AgentRequest.builder(agent, "Do it.").build());
    ApprovalDecision decision =
        ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId());
    List<LoggedEvent> tampered = new ArrayList<>();
    for (LoggedEvent logged : waiting.log()) {
      tampered.add(
          logged.event() instanceof ApprovalRequested asked
              ? new LoggedEvent(
                  logged.run(),
                  logged.sequence(),
                  logged.writer(),
                  logged.time(),
                  new ApprovalRequested(
                      asked.requestId(),
                      asked.digest(),
                      asked.step(),
                      asked.callId(),
                      asked.tool(),
                      asked.toolVersion(),
                      asked.arguments(),
                      asked.expiresAt(),
                      asked.signature(),
                      Optional.empty(),
                      Optional.of(new Why(Optional.of("little"), Map.of()))))
              : logged);
    }
    Agents elsewhere = Agents.builder(program.gateway).approvalSigner(signer).build();

    assertThrows(InvalidRequestException.class, () -> elsewhere.resume(agent, tampered, decision));
    assertEquals(
        RunStatus.WAITING_APPROVAL, agents.resume(agent, waiting.run(), decision).status());
    assertEquals(List.of(), acted());
    program.assertNothingIsLeft();
  }
}
