package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests for approval that nobody decides in time. */
@Timeout(60)
@Tag("A88")
final class ApprovalExpiryTest {
  private static final Duration EXPIRY = Duration.ofHours(1);

  private final World world = new World();
  private final Program program =
      Program.on(
          RunStore.inMemory(),
          FakeModel.of(
              calls(call("c1", "refund", "o1"), call("c2", "reply", "o1")), text("Done.")));
  private final Agent agent =
      Agent.builder("agent", Program.ROUTE)
          .tools(
              world
                  .tool("refund", EffectClass.ONCE)
                  .requiresApproval()
                  .approvalExpiry(EXPIRY)
                  .build(),
              world.tool("reply", EffectClass.ONCE).requiresApproval().build())
          .build();

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  private AgentResult waiting() {
    return program.agents.run(AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build());
  }

  private static String request(AgentResult result, int index) {
    return result.pendingApprovals().get(index).requestId();
  }

  @Test
  void a_request_says_when_it_expires() {
    AgentResult result = waiting();

    assertEquals(
        List.of(Optional.of(program.time.now().plus(EXPIRY)), Optional.empty()),
        result.pendingApprovals().stream().map(request -> request.expiresAt()).toList());
  }

  @Test
  void at_its_expiry_it_is_denied_with_a_fixed_reason_when_the_run_is_resumed() {
    AgentResult result = waiting();
    program.time.advance(EXPIRY);

    AgentResult still = program.agents.resume(agent, result.run());

    assertEquals(RunStatus.WAITING_APPROVAL, still.status(), "the other one does not expire");
    assertEquals(
        new ApprovalDecided(request(result, 0), false, Optional.empty(), Optional.of("expired")),
        program.events(result.run()).getLast());

    AgentResult done =
        program.agents.resume(agent, result.run(), ApprovalDecision.approve(request(result, 1)));
    assertEquals("Done.", done.text());
    assertEquals(List.of("reply"), world.effects().stream().map(World.Effect::tool).toList());
    ToolResult denied =
        done.state().messages().stream()
            .flatMap(message -> message.toolResults().stream())
            .findFirst()
            .orElseThrow();
    assertTrue(denied.error());
    assertEquals("The call was not approved: expired", denied.output().value());
  }

  @Test
  void one_nanosecond_before_its_expiry_it_is_still_open() {
    AgentResult result = waiting();
    program.time.advance(EXPIRY.minusNanos(1));
    List<LoggedEvent> log = program.log(result.run());

    assertEquals(2, program.agents.resume(agent, result.run()).pendingApprovals().size());
    assertEquals(log, program.log(result.run()));

    AgentResult done =
        program.agents.resume(
            agent,
            result.run(),
            ApprovalDecision.approve(request(result, 0)),
            ApprovalDecision.approve(request(result, 1)));
    assertEquals(2, world.effects().size());
    assertEquals("Done.", done.text());
  }

  @Test
  void an_approval_that_comes_too_late_counts_as_denied() {
    AgentResult result = waiting();
    program.time.advance(EXPIRY);

    AgentResult done =
        program.agents.resume(
            agent,
            result.run(),
            ApprovalDecision.approve(request(result, 0)).by("ann"),
            ApprovalDecision.approve(request(result, 1)).by("ann"));

    assertEquals(List.of("reply"), world.effects().stream().map(World.Effect::tool).toList());
    assertEquals(
        List.of(Optional.of("expired"), Optional.empty()),
        done.state().approvals().stream()
            .map(approval -> approval.decision().orElseThrow().reason())
            .toList());
    assertThrows(
        ConflictException.class,
        () ->
            program.agents.resume(
                agent, result.run(), ApprovalDecision.approve(request(result, 0))));
  }

  @Test
  void a_second_caller_under_the_key_drives_a_run_on_whose_only_request_has_expired() {
    Program other =
        Program.on(
            RunStore.inMemory(),
            FakeModel.of(calls(call("c1", "refund", "o1")), text("Not refunded.")));
    AgentRequest request = AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
    assertEquals(RunStatus.WAITING_APPROVAL, other.agents.run(request).status());
    other.time.advance(EXPIRY.plusDays(1));

    AgentResult done = other.agents.run(request);

    assertEquals("Not refunded.", done.text());
    assertTrue(done.driven());
    assertEquals(List.of(), world.effects());
    other.assertNothingIsLeft();
  }

  @Test
  void an_expiry_must_be_more_than_zero() {
    Tool.Builder<World.Order> tool = world.tool("refund", EffectClass.ONCE);

    for (Duration wrong : List.of(Duration.ZERO, Duration.ofNanos(-1))) {
      InvalidRequestException refused =
          assertThrows(InvalidRequestException.class, () -> tool.approvalExpiry(wrong));
      assertTrue(refused.getMessage().contains(wrong.toString()), refused.getMessage());
    }
  }
}
