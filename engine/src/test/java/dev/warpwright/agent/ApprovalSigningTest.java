package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever can write to the store, but does not have the key, approves nothing. */
@Timeout(60)
@Tag("A82")
final class ApprovalSigningTest {
  private static final ApprovalSigner SIGNER = signer((byte) 1);
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final FakeModel model = FakeModel.of(calls(call("c1", "refund", "o1")), text("Done."));
  private final Program program = Program.on(RunStore.inMemory(), model);
  private final Agents agents = signed(program.store, SIGNER);
  private final Agent agent =
      Agent.builder("agent", Program.ROUTE)
          .tools(
              world
                  .tool("refund", EffectClass.ONCE)
                  .requiresApproval()
                  .approvalExpiry(Duration.ofHours(1))
                  .build())
          .build();

  private static ApprovalSigner signer(byte fill) {
    byte[] key = new byte[32];
    Arrays.fill(key, fill);
    return ApprovalSigner.hmacSha256(key);
  }

  private Agents signed(RunStore store, ApprovalSigner signer) {
    return Agents.builder(program.gateway).store(store).approvalSigner(signer).build();
  }

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  private AgentResult waiting() {
    return agents.run(AgentRequest.builder(agent, "Do it.").runId("run-1").build());
  }

  private static ApprovalDecision approval(AgentResult result) {
    return ApprovalDecision.approve(result.pendingApprovals().getFirst().requestId());
  }

  @Test
  @Tag("C40")
  void requests_and_decisions_are_signed_and_a_signed_approval_lets_the_tool_run() {
    AgentResult result = waiting();
    assertEquals(List.of(), world.effects());

    AgentResult done = agents.resume(agent, RUN, approval(result).by("ann"));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(1, world.effects().size());
    String signature = result.pendingApprovals().getFirst().signature().orElseThrow();
    assertTrue(signature.matches("hmac-sha256:[0-9a-f]{64}"), signature);
    ApprovalDecided decided = done.state().approvals().getFirst().decision().orElseThrow();
    assertTrue(decided.signature().orElseThrow().matches("hmac-sha256:[0-9a-f]{64}"));
    assertEquals(Optional.of("ann"), decided.decidedBy());
  }

  /** The run's log with its requests and decisions changed by somebody without the key. */
  private static List<LoggedEvent> tampered(
      List<LoggedEvent> log,
      UnaryOperator<ApprovalRequested> request,
      UnaryOperator<ApprovalDecided> decision) {
    List<LoggedEvent> tampered = new ArrayList<>();
    for (LoggedEvent logged : log) {
      RunEvent event =
          switch (logged.event()) {
            case ApprovalRequested asked -> request.apply(asked);
            case ApprovalDecided decided -> decision.apply(decided);
            default -> logged.event();
          };
      tampered.add(
          new LoggedEvent(logged.run(), logged.sequence(), logged.writer(), logged.time(), event));
    }
    return tampered;
  }

  private static ApprovalRequested with(
      ApprovalRequested asked, Optional<Instant> expiresAt, Optional<String> signature) {
    return new ApprovalRequested(
        asked.requestId(),
        asked.digest(),
        asked.step(),
        asked.callId(),
        asked.tool(),
        asked.toolVersion(),
        asked.arguments(),
        expiresAt,
        signature,
        Optional.empty(),
        asked.why());
  }

  private void assertRefused(List<LoggedEvent> log, ApprovalDecision... decisions) {
    RunStore store = RunStore.inMemory();
    store.adopt(log, RunState.of(log).standing(), never());

    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> signed(store, SIGNER).resume(agent, RUN, decisions));

    assertTrue(refused.getMessage().contains("signature"), refused.getMessage());
    assertEquals(log, store.load(RUN, 1, never()), "nothing is applied");
    RunStore empty = RunStore.inMemory();
    assertThrows(
        InvalidRequestException.class, () -> signed(empty, SIGNER).resume(agent, log, decisions));
    assertEquals(List.of(), empty.load(RUN, 1, never()), "nor is it taken in");
    assertEquals(List.of(), world.effects());
    assertEquals(List.of(0), model.asked());
  }

  private static Deadline never() {
    return Deadline.never();
  }

  @Test
  @Tag("C40")
  void a_request_whose_signature_is_missing_or_another_one_is_refused_before_anything_else() {
    AgentResult result = waiting();
    Optional<String> forged = Optional.of("hmac-sha256:" + "0".repeat(64));

    for (UnaryOperator<ApprovalRequested> change :
        List.<UnaryOperator<ApprovalRequested>>of(
            asked -> with(asked, asked.expiresAt(), Optional.empty()),
            asked -> with(asked, asked.expiresAt(), forged),
            asked -> with(asked, asked.expiresAt(), Optional.of("")),
            asked -> with(asked, Optional.empty(), asked.signature()),
            asked ->
                with(
                    asked,
                    asked.expiresAt().map(end -> end.plusSeconds(3600)),
                    asked.signature()))) {
      List<LoggedEvent> log = tampered(result.log(), change, UnaryOperator.identity());
      assertRefused(log, approval(result));
      assertRefused(
          log, ApprovalDecision.deny(result.pendingApprovals().getFirst().requestId(), "no"));
    }
  }

  @Test
  void a_run_of_before_there_was_a_signer_or_of_another_key_is_refused() {
    AgentResult unsigned =
        program.agents.run(AgentRequest.builder(agent, "Do it.").runId("run-1").build());

    assertRefused(unsigned.log(), approval(unsigned));
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> {
              Program other = Program.on(RunStore.inMemory(), model);
              Agents first =
                  Agents.builder(other.gateway)
                      .store(other.store)
                      .approvalSigner(signer((byte) 2))
                      .build();
              var _ = first.run(AgentRequest.builder(agent, "Do it.").runId("run-1").build());
              var _ = signed(other.store, SIGNER).resume(agent, RUN, approval(unsigned));
            });
    assertTrue(refused.getMessage().contains("signature"), refused.getMessage());
    assertEquals(List.of(), world.effects());
  }

  /** The log of a process that writes the decision and dies before the tool's intent. */
  private List<LoggedEvent> decidedAndLeft(ApprovalDecision decision) {
    MortalStore mortal = MortalStore.dyingAt(3, false, program.store);
    assertThrows(
        MortalStore.Crash.class, () -> signed(mortal, SIGNER).resume(agent, RUN, decision));
    mortal.bury();
    return program.log(RUN);
  }

  @Test
  @Tag("C40")
  void a_decision_that_was_changed_in_the_store_is_refused_before_its_tool_runs() {
    AgentResult asked = waiting();
    String id = asked.pendingApprovals().getFirst().requestId();
    List<LoggedEvent> log = decidedAndLeft(ApprovalDecision.deny(id, "too much"));

    for (UnaryOperator<ApprovalDecided> change :
        List.<UnaryOperator<ApprovalDecided>>of(
            no -> new ApprovalDecided(id, true, no.decidedBy(), no.reason(), no.signature()),
            no -> new ApprovalDecided(id, true, no.decidedBy(), no.reason()),
            no -> new ApprovalDecided(id, false, no.decidedBy(), Optional.empty(), no.signature()),
            no ->
                new ApprovalDecided(
                    id,
                    true,
                    no.decidedBy(),
                    no.reason(),
                    asked.pendingApprovals().getFirst().signature()))) {
      assertRefused(tampered(log, UnaryOperator.identity(), change));
    }
  }

  @Test
  void a_decision_of_a_process_that_died_is_verified_and_carried_out_by_the_next() {
    List<LoggedEvent> log = decidedAndLeft(approval(waiting()));
    assertTrue(log.stream().anyMatch(logged -> logged.event() instanceof ApprovalDecided));

    assertEquals(RunStatus.COMPLETED, agents.resume(agent, RUN).status());
    assertEquals(1, world.effects().size());
  }

  @Test
  void a_signature_is_verified_again_right_before_the_tool_runs() {
    AgentResult result = waiting();
    AtomicInteger verified = new AtomicInteger();
    // Accepts what it is shown when the decision is made, and nothing from then on.
    ApprovalSigner revoked =
        new ApprovalSigner() {
          @Override
          public String sign(byte[] content) {
            return SIGNER.sign(content);
          }

          @Override
          public boolean verify(byte[] content, String signature) {
            return verified.getAndIncrement() == 0 && SIGNER.verify(content, signature);
          }
        };

    AgentResult refused = signed(program.store, revoked).resume(agent, RUN, approval(result));

    assertEquals(2, verified.get());
    assertEquals(RunStatus.FAILED, refused.status());
    assertEquals(FailureKind.INVALID_REQUEST, refused.state().failure().orElseThrow().kind());
    assertEquals(List.of(), world.effects());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 31, 1025})
  void a_key_out_of_bounds_is_refused(int length) {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class, () -> ApprovalSigner.hmacSha256(new byte[length]));

    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    assertTrue(refused.getMessage().contains("but has " + length), refused.getMessage());
  }

  @Test
  void the_hmac_is_the_one_of_rfc_4231() {
    // Test case 6: a key of 131 bytes 0xaa.
    byte[] key = new byte[131];
    Arrays.fill(key, (byte) 0xaa);
    ApprovalSigner signer = ApprovalSigner.hmacSha256(key);
    byte[] content =
        "Test Using Larger Than Block-Size Key - Hash Key First"
            .getBytes(StandardCharsets.US_ASCII);
    String expected =
        "hmac-sha256:60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54";

    assertEquals(expected, signer.sign(content));
    assertTrue(signer.verify(content, expected));
    assertFalse(signer.verify(content, expected.toUpperCase(Locale.ROOT)));
    assertFalse(signer.verify("other".getBytes(StandardCharsets.US_ASCII), expected));
    Arrays.fill(key, (byte) 0);
    assertTrue(signer.verify(content, expected), "the key was copied");
  }
}
