package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.ApprovalTokens;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalTokenIssued;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Somebody who holds a token, and nothing else, decides once. */
@Timeout(60)
@Tag("A89")
@Tag("C44")
final class ApprovalTokenTest {
  private static final Duration EXPIRY = Duration.ofDays(2);
  private static final RunKey RUN =
      new RunKey(new RunScope("acmé", Optional.of("ann"), Optional.empty()), "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Program program =
      Program.on(
          store,
          FakeModel.of(
              calls(call("c1", "refund", "o1"), call("c2", "reply", "o1")), text("Done.")));
  private final ApprovalTokens tokens = ApprovalTokens.in(store, program.time);
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

  private List<String> waiting() {
    return waiting(program.agents);
  }

  /** The ids of its requests. */
  private List<String> waiting(Agents agents) {
    AgentResult result =
        agents.run(AgentRequest.builder(agent, "Do it.").scope(RUN.scope()).runId("run-1").build());
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    return result.pendingApprovals().stream().map(ApprovalRequested::requestId).toList();
  }

  private static String refusal(RuntimeException refused, String token) {
    String message = String.valueOf(refused.getMessage());
    assertFalse(message.contains(secret(token)), message);
    return message;
  }

  private static String secret(String token) {
    return token.substring(token.indexOf('.') + 1);
  }

  private void assertRefused(ApprovalTokens by, String token, String why) {
    List<LoggedEvent> log = program.log(RUN);
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class, () -> by.consume(token, ApprovalDecision::approve));
    assertTrue(refusal(refused, token).contains(why), refused.getMessage());
    assertEquals(log, program.log(RUN));
  }

  @Test
  void a_token_decides_its_request_once_and_the_run_goes_on_with_the_next_resume() {
    List<String> requests = waiting();
    String first = tokens.issue(RUN, requests.get(0));
    String second = tokens.issue(RUN, requests.get(1), Duration.ofHours(1));
    assertNotEquals(first, second);

    RunState decided = tokens.consume(first, id -> ApprovalDecision.approve(id).by("ann"));

    assertEquals(1, decided.pendingApprovals().size());
    assertEquals(
        new ApprovalDecided(requests.get(0), true, Optional.of("ann"), Optional.empty()),
        program.events(RUN).getLast());
    ConflictException used =
        assertThrows(
            ConflictException.class, () -> tokens.consume(first, ApprovalDecision::approve));
    assertTrue(
        refusal(used, first).contains("no longer pending or was already consumed"),
        used.getMessage());

    var _ = tokens.consume(second, id -> ApprovalDecision.deny(id, "no"));
    assertEquals("Done.", program.agents.resume(agent, RUN).text());
    assertEquals(List.of("refund"), world.effects().stream().map(Effect::tool).toList());
  }

  @Test
  void the_log_has_the_hash_of_a_token_only_and_no_text_shows_it() {
    List<String> requests = waiting();

    String token = tokens.issue(RUN, requests.getFirst());

    assertEquals(32, Base64.getUrlDecoder().decode(secret(token)).length, "256 bits");
    assertTrue(token.matches("[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+"), "fits into a link");
    String log = RunExport.write(program.log(RUN));
    assertFalse(log.contains(secret(token)));
    assertFalse(program.events(RUN).toString().contains(secret(token)));
    ApprovalTokenIssued issued =
        assertInstanceOf(ApprovalTokenIssued.class, program.events(RUN).getLast());
    assertTrue(issued.tokenHash().matches("sha256:[0-9a-f]{64}"));
    assertFalse(program.log(RUN).getLast().writer().isOwner());
  }

  @Test
  void a_text_that_is_no_token_of_the_run_is_refused() {
    List<String> requests = waiting();
    String token = tokens.issue(RUN, requests.getFirst());
    String parts = token.substring(0, token.indexOf('.'));
    String json = new String(Base64.getUrlDecoder().decode(parts), StandardCharsets.UTF_8);

    List<String> wrong = new ArrayList<>(List.of("", ".", "x", "a.b", parts, "." + secret(token)));
    wrong.add(parts + "." + "A".repeat(43));
    wrong.add(token + "A");
    wrong.add(token.substring(0, token.length() - 1));
    for (String other :
        List.of(
            json.replace(requests.getFirst(), requests.get(1)),
            json.replace("run-1", "run-2"),
            json.replace("acmé", "other"),
            json.replace("acmé", " "),
            json.replace("\"ann\"", "null"),
            "{}",
            "[1,2,3,4,5]",
            "[".repeat(5000))) {
      byte[] bytes = other.getBytes(StandardCharsets.UTF_8);
      wrong.add(Base64.getUrlEncoder().encodeToString(bytes) + "." + secret(token));
    }
    for (String text : wrong) {
      assertRefusedText(text);
    }
    assertEquals(1, tokens.consume(token, ApprovalDecision::approve).pendingApprovals().size());
  }

  private void assertRefusedText(String text) {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> tokens.consume(text, ApprovalDecision::approve),
            text);
    assertTrue(String.valueOf(refused.getMessage()).contains("is not valid"), text);
  }

  @Test
  void a_token_expires_at_its_time_and_with_its_request() {
    List<String> requests = waiting();
    String hour = tokens.issue(RUN, requests.get(1), Duration.ofHours(1));
    program.time.advance(Duration.ofHours(1).minusNanos(1));
    String lasting = tokens.issue(RUN, requests.get(0), EXPIRY.multipliedBy(2));
    program.time.advance(Duration.ofNanos(1));
    assertRefused(tokens, hour, "has expired");
    assertEquals(2, RunState.of(program.log(RUN)).pendingApprovals().size(), "it still waits");

    program.time.advance(EXPIRY.minusHours(1));
    assertRefused(tokens, lasting, "has expired");
    assertThrows(InvalidRequestException.class, () -> tokens.issue(RUN, requests.get(0)));
  }

  @Test
  void another_token_for_a_request_takes_the_one_before_out_of_use() {
    List<String> requests = waiting();
    String old = tokens.issue(RUN, requests.get(0));
    String now = tokens.issue(RUN, requests.get(0));

    assertRefused(tokens, old, "is not valid");
    assertEquals(1, tokens.consume(now, ApprovalDecision::approve).pendingApprovals().size());
  }

  @Test
  void a_token_is_issued_for_a_request_that_waits_only() {
    List<String> requests = waiting();
    assertThrows(InvalidRequestException.class, () -> tokens.issue(RUN, "approval_0"));
    assertThrows(
        InvalidRequestException.class,
        () -> tokens.issue(new RunKey(RunScope.DEFAULT, "run-1"), requests.get(0)));
    for (Duration wrong : List.of(Duration.ZERO, Duration.ofNanos(-1))) {
      assertThrows(InvalidRequestException.class, () -> tokens.issue(RUN, requests.get(0), wrong));
    }
    var _ = tokens.consume(tokens.issue(RUN, requests.get(0)), ApprovalDecision::approve);
    assertThrows(ConflictException.class, () -> tokens.issue(RUN, requests.get(0)));
  }

  @Test
  void a_decision_on_another_request_than_that_of_the_token_is_refused() {
    List<String> requests = waiting();
    String token = tokens.issue(RUN, requests.get(0));

    assertThrows(
        InvalidRequestException.class,
        () -> tokens.consume(token, id -> ApprovalDecision.approve(requests.get(1))));
    assertEquals(2, RunState.of(program.log(RUN)).pendingApprovals().size());
  }

  /** A store with the run's log, changed by somebody who can write to it. */
  private RunStore tampered(UnaryOperator<RunEvent> change) {
    List<LoggedEvent> log = new ArrayList<>();
    for (LoggedEvent logged : program.log(RUN)) {
      log.add(
          new LoggedEvent(
              logged.run(),
              logged.sequence(),
              logged.writer(),
              logged.time(),
              change.apply(logged.event())));
    }
    RunStore other = RunStore.inMemory();
    other.adopt(log, RunState.of(log).standing(), Deadline.never());
    return other;
  }

  @Test
  void a_token_does_not_fit_a_request_that_was_changed_behind_it() {
    List<String> requests = waiting();
    String token = tokens.issue(RUN, requests.get(0));
    RunStore other =
        tampered(
            event ->
                event instanceof ApprovalRequested asked && asked.callId().equals("c1")
                    ? new ApprovalRequested(
                        asked.requestId(),
                        asked.digest(),
                        asked.step(),
                        asked.callId(),
                        asked.tool(),
                        asked.toolVersion(),
                        Json.parse("{\"order\":\"o9\"}"))
                    : event);

    assertRefused(ApprovalTokens.in(other, program.time), token, "was issued for another request");
  }

  @Test
  void the_fingerprint_of_a_token_cannot_be_exchanged_without_the_token() {
    List<String> requests = waiting();
    String token = tokens.issue(RUN, requests.get(0));
    RunStore other =
        tampered(
            event ->
                event instanceof ApprovalTokenIssued issued
                    ? new ApprovalTokenIssued(
                        issued.requestId(),
                        "sha256:" + "0".repeat(64),
                        issued.tokenHash(),
                        issued.expiresAt(),
                        issued.signature())
                    : event);

    assertRefused(ApprovalTokens.in(other, program.time), token, "is not valid");
  }

  @Test
  @Tag("A82")
  void where_approvals_are_signed_whoever_can_write_to_the_store_makes_no_token() {
    ApprovalSigner signer = signer((byte) 1);
    Agents agents = Agents.builder(program.gateway).store(store).approvalSigner(signer).build();
    List<String> requests = waiting(agents);
    ApprovalTokens signed = tokens.signedBy(signer);
    assertThrows(InvalidRequestException.class, () -> tokens.issue(RUN, requests.get(0)));
    assertThrows(
        InvalidRequestException.class,
        () -> tokens.signedBy(signer((byte) 2)).issue(RUN, requests.get(0)));
    String token = signed.issue(RUN, requests.get(0));
    for (Optional<String> forged :
        List.of(Optional.<String>empty(), Optional.of("hmac-sha256:" + "0".repeat(64)))) {
      RunStore other =
          tampered(
              event ->
                  event instanceof ApprovalTokenIssued issued
                      ? new ApprovalTokenIssued(
                          issued.requestId(),
                          issued.fingerprint(),
                          issued.tokenHash(),
                          issued.expiresAt(),
                          forged)
                      : event);
      assertRefused(
          ApprovalTokens.in(other, program.time).signedBy(signer), token, "is not signed");
    }
    RunStore longer =
        tampered(
            event ->
                event instanceof ApprovalTokenIssued issued
                    ? new ApprovalTokenIssued(
                        issued.requestId(),
                        issued.fingerprint(),
                        issued.tokenHash(),
                        Optional.empty(),
                        issued.signature())
                    : event);
    assertRefused(ApprovalTokens.in(longer, program.time).signedBy(signer), token, "is not signed");

    var _ = signed.consume(token, ApprovalDecision::approve);
    var _ = signed.consume(signed.issue(RUN, requests.get(1)), ApprovalDecision::approve);
    assertEquals("Done.", agents.resume(agent, RUN).text());
  }

  private static ApprovalSigner signer(byte fill) {
    byte[] key = new byte[32];
    Arrays.fill(key, fill);
    return ApprovalSigner.hmacSha256(key);
  }

  @Test
  void of_many_who_use_a_token_at_the_same_time_one_is_heard() throws Exception {
    List<String> requests = waiting();
    String token = tokens.issue(RUN, requests.get(0));
    int callers = 16;
    CountDownLatch start = new CountDownLatch(1);
    int heard = 0;
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<RunState>> answers = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        String name = "caller " + i;
        Callable<RunState> caller =
            () -> {
              start.await();
              return tokens.consume(token, id -> ApprovalDecision.approve(id).by(name));
            };
        answers.add(pool.submit(caller));
      }
      start.countDown();
      for (Future<RunState> answer : answers) {
        try {
          var _ = answer.get();
          heard++;
        } catch (ExecutionException e) {
          ConflictException used = assertInstanceOf(ConflictException.class, e.getCause());
          assertTrue(
              String.valueOf(used.getMessage())
                  .contains("no longer pending or was already consumed"));
        }
      }
    }

    assertEquals(1, heard);
    assertEquals(1, program.events(RUN).stream().filter(ApprovalDecided.class::isInstance).count());
  }
}
