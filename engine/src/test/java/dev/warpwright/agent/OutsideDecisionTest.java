package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Effect;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Decisions of somebody who has the store and drives nothing. */
@Timeout(60)
final class OutsideDecisionTest {
  private static final Duration EXPIRY = Duration.ofDays(2);
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final FakeModel model =
      FakeModel.of(calls(call("c1", "refund", "o1"), call("c2", "reply", "o1")), text("Done."));
  private final Program program = Program.on(store, model);
  private final Runs runs = Runs.in(store, program.time);
  private final Agent agent =
      Agent.builder("agent", Program.ROUTE)
          .tools(
              world
                  .tool("refund", EffectClass.ONCE)
                  .requiresApproval()
                  .approvalExpiry(EXPIRY)
                  .build(),
              world.tool("reply", EffectClass.ONCE).requiresApproval().build())
          .maxStateBytes(64 * 1024)
          .build();

  private AgentResult waiting() {
    return waiting(program.agents);
  }

  private AgentResult waiting(Agents agents) {
    return agents.run(
        AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build());
  }

  private static String request(AgentResult result, int index) {
    return result.pendingApprovals().get(index).requestId();
  }

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A81")
  @Tag("A126")
  void a_run_that_was_decided_from_outside_goes_on_in_another_process_that_brings_no_decision() {
    AgentResult result = waiting();

    RunState decided =
        runs.decide(
            RUN,
            ApprovalDecision.approve(request(result, 0)).by("ann"),
            ApprovalDecision.deny(request(result, 1), "not now").by("ann"));

    assertEquals(List.of(), decided.pendingApprovals());
    assertEquals(decided.sequence(), runs.state(RUN).orElseThrow().sequence());
    assertEquals(List.of(), runs.waiting(RunScope.DEFAULT));
    assertEquals(List.of(), world.effects(), "whoever decides drives nothing");
    List<LoggedEvent> log = program.log(RUN);
    for (LoggedEvent logged : log.subList(log.size() - 2, log.size())) {
      assertInstanceOf(ApprovalDecided.class, logged.event());
      assertFalse(logged.writer().isOwner(), "no owner, no fence");
    }

    Program other = Program.on(store, FakeModel.of(call -> null, text("Done.")));
    AgentResult done = other.agents.resume(agent, RUN);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of("refund"), world.effects().stream().map(Effect::tool).toList());
    assertEquals(List.of(0), model.asked());
    other.assertNothingIsLeft();
  }

  @Test
  void a_second_caller_under_the_key_goes_on_with_a_run_that_was_decided_from_outside() {
    AgentResult result = waiting();
    var _ =
        runs.decide(
            RUN,
            ApprovalDecision.approve(request(result, 0)),
            ApprovalDecision.approve(request(result, 1)));

    assertEquals("Done.", waiting().text());
    assertEquals(2, world.effects().size());
  }

  @Test
  @Tag("A85")
  void some_decisions_are_kept_and_the_run_waits_for_the_others() {
    AgentResult result = waiting();

    RunState decided = runs.decide(RUN, ApprovalDecision.approve(request(result, 1)));

    assertEquals(RunStatus.WAITING_APPROVAL, decided.status());
    assertEquals(1, decided.pendingApprovals().size());
    assertEquals(RunStatus.WAITING_APPROVAL, program.agents.resume(agent, RUN).status());
    assertEquals(List.of(), world.effects());

    var _ = runs.decide(RUN, ApprovalDecision.approve(request(result, 0)));
    assertEquals("Done.", program.agents.resume(agent, RUN).text());
  }

  @Test
  @Tag("A81")
  void a_decision_on_an_unknown_request_or_run_is_refused_with_all_that_come_with_it() {
    AgentResult result = waiting();
    List<LoggedEvent> log = program.log(RUN);
    ApprovalDecision known = ApprovalDecision.approve(request(result, 0));

    for (ApprovalDecision wrong :
        List.of(
            ApprovalDecision.approve("approval_0"), ApprovalDecision.deny(known.requestId(), ""))) {
      assertThrows(InvalidRequestException.class, () -> runs.decide(RUN, known, wrong));
    }
    RunKey nobody = new RunKey(RunScope.DEFAULT, "nobody");
    assertThrows(InvalidRequestException.class, () -> runs.decide(nobody, known));
    RunKey elsewhere = new RunKey(RunScope.of("other"), "run-1");
    assertThrows(InvalidRequestException.class, () -> runs.decide(elsewhere, known));

    assertEquals(log, program.log(RUN));
  }

  @Test
  @Tag("A87")
  void what_is_decided_already_is_a_conflict_also_after_the_end_or_a_cancel() {
    AgentResult result = waiting();
    ApprovalDecision first = ApprovalDecision.approve(request(result, 0));
    ApprovalDecision second = ApprovalDecision.approve(request(result, 1));
    var _ = runs.decide(RUN, first);

    assertThrows(ConflictException.class, () -> runs.decide(RUN, first, second));
    assertEquals(1, runs.state(RUN).orElseThrow().pendingApprovals().size());
    assertEquals(RunStatus.CANCELLED, runs.cancel(RUN).status());
    assertThrows(ConflictException.class, () -> runs.decide(RUN, second));
    assertThrows(ConflictException.class, () -> runs.decide(RUN, first));
  }

  @Test
  @Tag("A88")
  void a_request_that_has_expired_is_recorded_as_denied_whatever_is_decided_by_then() {
    AgentResult result = waiting();
    program.time.advance(EXPIRY);

    RunState decided = runs.decide(RUN, ApprovalDecision.approve(request(result, 0)).by("ann"));

    assertEquals(
        Optional.of(
            new ApprovalDecided(
                request(result, 0), false, Optional.empty(), Optional.of("expired"))),
        decided.approvals().getFirst().decision());
    assertEquals(1, decided.pendingApprovals().size());
    var _ = runs.decide(RUN, ApprovalDecision.approve(request(result, 1)));
    assertEquals("Done.", program.agents.resume(agent, RUN).text());
    assertEquals(List.of("reply"), world.effects().stream().map(Effect::tool).toList());
  }

  @Test
  @Tag("A87")
  void of_many_who_decide_the_same_request_one_is_heard_and_the_others_are_refused()
      throws Exception {
    AgentResult result = waiting();
    int callers = 16;
    CountDownLatch start = new CountDownLatch(1);
    int heard = 0;
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<RunState>> answers = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        ApprovalDecision mine = ApprovalDecision.approve(request(result, 0)).by("caller " + i);
        Callable<RunState> caller =
            () -> {
              start.await();
              return runs.decide(RUN, mine);
            };
        answers.add(pool.submit(caller));
      }
      start.countDown();
      for (Future<RunState> answer : answers) {
        try {
          var _ = answer.get();
          heard++;
        } catch (ExecutionException e) {
          assertInstanceOf(ConflictException.class, e.getCause());
        }
      }
    }

    assertEquals(1, heard);
    assertEquals(1, program.events(RUN).stream().filter(ApprovalDecided.class::isInstance).count());
  }

  /** A store that lets somebody else write once, between what a caller reads and what it writes. */
  private RunStore meeting(Runnable other) {
    AtomicBoolean once = new AtomicBoolean();
    return new WaitingStore(
        store,
        append -> {
          if (once.compareAndSet(false, true)) {
            other.run();
          }
        });
  }

  @Test
  @Tag("A135")
  void a_decision_that_meets_another_control_event_is_written_on_top_of_it() {
    AgentResult result = waiting();
    RunStore busy =
        meeting(() -> runs.decide(RUN, ApprovalDecision.approve(request(result, 1)).by("bob")));

    RunState decided =
        Runs.in(busy, program.time)
            .decide(RUN, ApprovalDecision.approve(request(result, 0)).by("ann"));

    assertEquals(List.of(), decided.pendingApprovals());
    assertEquals("Done.", program.agents.resume(agent, RUN).text());
  }

  @Test
  @Tag("A126")
  void a_resume_that_brings_the_rest_while_somebody_decides_outside_goes_on() {
    AgentResult result = waiting();
    RunStore busy =
        meeting(() -> runs.decide(RUN, ApprovalDecision.approve(request(result, 1)).by("bob")));
    Agents agents = Agents.on(program.gateway, busy);

    AgentResult done = agents.resume(agent, RUN, ApprovalDecision.approve(request(result, 0)));

    assertEquals("Done.", done.text());
    assertEquals(2, world.effects().size());
  }

  @Test
  @Tag("A126")
  void a_decision_leaves_the_owner_of_a_run_as_it_is() {
    AgentResult result = waiting();
    Writer owner = store.acquire(RUN, Deadline.never()).orElseThrow();

    var _ = runs.decide(RUN, ApprovalDecision.approve(request(result, 0)));

    assertTrue(store.acquire(RUN, Deadline.never()).isEmpty(), "it is still owned");
    store.release(RUN, owner);
  }

  @Test
  @Tag("A135")
  void a_decision_that_comes_after_a_cancel_is_refused_and_the_cancel_stays() {
    AgentResult result = waiting();
    RunStore busy = meeting(() -> runs.cancel(RUN));

    assertThrows(
        ConflictException.class,
        () ->
            Runs.in(busy, program.time).decide(RUN, ApprovalDecision.approve(request(result, 0))));

    assertTrue(program.events(RUN).stream().anyMatch(CancelRequested.class::isInstance));
    assertEquals(RunStatus.CANCELLED, runs.state(RUN).orElseThrow().status());
  }

  @Test
  @Tag("A82")
  void where_requests_are_signed_only_a_holder_of_the_key_decides() {
    ApprovalSigner signer = signer((byte) 1);
    Agents agents = Agents.builder(program.gateway).store(store).approvalSigner(signer).build();
    AgentResult result = waiting(agents);
    List<LoggedEvent> log = program.log(RUN);
    ApprovalDecision[] decisions = {
      ApprovalDecision.approve(request(result, 0)), ApprovalDecision.approve(request(result, 1))
    };

    for (Runs without : List.of(runs, runs.signedBy(signer((byte) 2)))) {
      InvalidRequestException refused =
          assertThrows(InvalidRequestException.class, () -> without.decide(RUN, decisions));
      assertTrue(String.valueOf(refused.getMessage()).contains("sign"), refused.getMessage());
    }
    assertEquals(log, program.log(RUN));

    var _ = agents.runs().decide(RUN, decisions[0]);
    var _ = runs.signedBy(signer).decide(RUN, decisions[1]);
    assertEquals("Done.", agents.resume(agent, RUN).text());
    assertEquals(2, world.effects().size());
  }

  private static ApprovalSigner signer(byte fill) {
    byte[] key = new byte[32];
    Arrays.fill(key, fill);
    return ApprovalSigner.hmacSha256(key);
  }

  @Test
  void a_reason_that_does_not_fit_into_the_state_is_refused() {
    AgentResult result = waiting();
    List<LoggedEvent> log = program.log(RUN);

    assertThrows(
        LimitExceededException.class,
        () -> runs.decide(RUN, ApprovalDecision.deny(request(result, 0), "x".repeat(64 * 1024))));

    assertEquals(log, program.log(RUN));
  }
}
