package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static dev.warpwright.agent.Family.agent;
import static dev.warpwright.agent.Family.ask;
import static dev.warpwright.agent.Family.children;
import static dev.warpwright.agent.Family.records;
import static dev.warpwright.agent.Family.state;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.CallState;
import dev.warpwright.run.DecisionNeeded;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.OutcomeUnknownException;
import dev.warpwright.tool.Tool;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs that wait for what their child runs wait for. */
@Timeout(60)
final class SubAgentWaitTest {
  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final Family family = new Family();
  private final Program program = family.program(store);
  private final Agent clerk =
      agent("clerk")
          .tools(
              world.tool("refund", EffectClass.ONCE).requiresApproval().build(),
              world.tool("note", EffectClass.IDEMPOTENT).build())
          .build();
  private final Agent research = agent("research").build();
  private final Agent desk =
      agent("desk")
          .tools(world.tool("note", EffectClass.IDEMPOTENT).build())
          .subAgents(research, clerk)
          .build();

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  /** A desk that asks research, then lets the clerk refund two orders, then takes a note. */
  private AgentResult waiting() {
    family.answers(
        "desk",
        calls(
            ask("c1", "research", "What?"),
            ask("c2", "clerk", "Refund."),
            call("c3", "note", "o1")),
        text("All done."));
    family.answers("research", text("A chair."));
    family.answers(
        "clerk",
        calls(call("k1", "refund", "o1"), call("k2", "refund", "o2"), call("k3", "note", "o3")),
        text("Refunded."));
    AgentResult result = run(program.agents);
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    return result;
  }

  private AgentResult run(Agents agents) {
    return agents.run(AgentRequest.builder(desk, "Do it.").build());
  }

  private static ApprovalDecision[] approveAll(AgentResult result) {
    return result.pendingApprovals().stream()
        .map(request -> ApprovalDecision.approve(request.requestId()).by("ann"))
        .toArray(ApprovalDecision[]::new);
  }

  private static List<ToolResult> results(AgentResult result) {
    return result.state().messages().stream()
        .map(Message::toolResults)
        .flatMap(List::stream)
        .toList();
  }

  /** Deletes what has ended, however lately. */
  private int deleteEnded() {
    return program.agents.runs().deleteExpired(Instant.MAX, Set.of(RunStatus.COMPLETED));
  }

  private long effects(String tool) {
    return world.effects().stream().filter(effect -> effect.tool().equals(tool)).count();
  }

  @Test
  @Tag("A95")
  @Tag("A79")
  void what_a_child_asks_is_asked_by_its_parent_under_an_id_of_its_own() {
    AgentResult result = waiting();

    RunKey child = children(store, result.run()).getLast();
    List<ApprovalRequested> asked = state(store, child).pendingApprovals();
    List<ApprovalRequested> promoted = result.pendingApprovals();
    assertEquals(2, promoted.size());
    for (int i = 0; i < 2; i++) {
      assertTrue(promoted.get(i).requestId().matches("subapproval_[0-9a-f]{64}"));
      assertEquals(ApprovalRequested.Kind.SUBAGENT, promoted.get(i).kind());
      assertEquals("c2", promoted.get(i).callId());
      assertEquals("refund", promoted.get(i).tool());
      assertEquals(asked.get(i).arguments(), promoted.get(i).arguments());
      assertEquals(
          Optional.of(new ApprovalRequested.OfChild(child.runId(), asked.get(i).requestId())),
          promoted.get(i).child());
    }
    assertEquals(
        promoted.stream().map(ApprovalRequested::requestId).sorted().toList(),
        result.state().suspension().orElseThrow().awaited());
    assertEquals(List.of(), world.effects());
    assertEquals(RunStatus.WAITING_APPROVAL, state(store, child).status());
    program.assertNothingIsLeft(); // nobody owns any of the runs
  }

  @Test
  @Tag("A95")
  @Tag("FR-E05")
  @Tag("A93")
  void deciding_on_the_parent_lets_the_same_child_go_on_and_no_sibling_runs_again() {
    AgentResult waiting = waiting();
    List<RunKey> before = children(store, waiting.run());
    assertEquals(0, deleteEnded(), "the sibling that has completed is needed");

    AgentResult result = program.agents.resume(desk, waiting.run(), approveAll(waiting));

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals("All done.", result.text());
    assertEquals(before, children(store, result.run()));
    assertEquals(3, program.runs().size());
    assertEquals(List.of(0), family.model("research").asked(), "not asked again");
    assertEquals(List.of(0, 1), family.model("clerk").asked());
    assertEquals(2, effects("refund"));
    assertEquals(2, effects("note"));
    List<ToolResult> results = results(result);
    assertEquals(List.of("c1", "c2", "c3"), results.stream().map(ToolResult::callId).toList());
    assertTrue(results.get(0).output().text().contains("A chair."), "the reply is seen");
    assertTrue(results.get(1).output().text().contains("Refunded."));
    assertEquals(
        List.of(Optional.of("ann"), Optional.of("ann")),
        state(store, before.getLast()).approvals().stream()
            .map(each -> each.decision().orElseThrow().decidedBy())
            .toList());
  }

  @Test
  @Tag("A95")
  @Tag("A86")
  @Tag("A85")
  void some_decisions_keep_all_waiting_and_a_denial_is_the_childs_to_hear() {
    AgentResult waiting = waiting();
    RunKey child = children(store, waiting.run()).getLast();
    List<LoggedEvent> asked = program.log(child);
    String first = waiting.pendingApprovals().getFirst().requestId();
    String second = waiting.pendingApprovals().getLast().requestId();

    AgentResult half =
        program.agents.resume(desk, waiting.run(), ApprovalDecision.deny(first, "too much"));

    assertEquals(RunStatus.WAITING_APPROVAL, half.status());
    assertEquals(asked, program.log(child));
    var _ =
        assertThrows(
            ConflictException.class,
            () -> program.agents.resume(desk, waiting.run(), ApprovalDecision.approve(first)));

    AgentResult result =
        program.agents.resume(desk, waiting.run(), ApprovalDecision.approve(second));

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(List.of("o2"), refunded());
    assertTrue(
        state(store, child).messages().stream()
            .flatMap(message -> message.toolResults().stream())
            .anyMatch(r -> r.output().text().contains("too much")));
    assertEquals(0, result.state().toolErrors());
  }

  private List<String> refunded() {
    return world.effects().stream()
        .filter(effect -> effect.tool().equals("refund"))
        .map(World.Effect::order)
        .toList();
  }

  @Test
  @Tag("A95")
  void what_a_grandchild_asks_comes_up_to_the_root_and_its_decision_goes_down() {
    Agent boss = agent("boss").subAgents(desk).build();
    family.answers("boss", calls(ask("b1", "desk", "Do it.")), text("Very good."));
    family.answers("desk", calls(ask("c1", "clerk", "Refund.")), text("All done."));
    family.answers("clerk", calls(call("k1", "refund", "o1")), text("Refunded."));
    AgentResult waiting = program.agents.run(AgentRequest.builder(boss, "Do it.").build());
    assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());

    AgentResult result = program.agents.resume(boss, waiting.run(), approveAll(waiting));

    assertEquals("Very good.", result.text());
    assertEquals(List.of("o1"), refunded());
    assertEquals(3, program.runs().size());
    assertTrue(
        program.runs().stream().allMatch(run -> run.status() == RunStatus.COMPLETED),
        program.runs()::toString);
  }

  @Test
  @Tag("A95")
  void what_was_decided_in_the_child_counts_in_the_parent_too() {
    AgentResult waiting = waiting();
    RunKey child = children(store, waiting.run()).getLast();
    AgentResult same = program.agents.resume(desk, waiting.run());
    assertEquals(waiting.state().sequence(), same.state().sequence(), "nothing has moved");
    List<String> ids =
        state(store, child).pendingApprovals().stream().map(ApprovalRequested::requestId).toList();
    var _ =
        program.agents.resume(
            clerk,
            child,
            ApprovalDecision.approve(ids.get(0)),
            ApprovalDecision.deny(ids.get(1), "no").by("bob"));
    assertEquals(RunStatus.COMPLETED, state(store, child).status());

    AgentResult result = program.agents.resume(desk, waiting.run());

    assertEquals("All done.", result.text());
    assertEquals(List.of("o1"), refunded());
    assertEquals(
        List.of(true, false),
        result.state().approvals().stream()
            .map(each -> each.decision().orElseThrow().approve())
            .toList());
    assertEquals(
        Optional.of("bob"),
        result.state().approvals().getLast().decision().orElseThrow().decidedBy());
  }

  @Test
  @Tag("A95")
  void a_child_that_asks_again_has_its_parent_ask_again() {
    family.answers("desk", calls(ask("c1", "clerk", "Refund.")), text("All done."));
    family.answers(
        "clerk",
        calls(call("k1", "refund", "o1")),
        calls(call("k1", "refund", "o2")),
        text("Refunded."));
    AgentResult first = run(program.agents);

    AgentResult second = program.agents.resume(desk, first.run(), approveAll(first));

    assertEquals(RunStatus.WAITING_APPROVAL, second.status());
    assertEquals(1, second.pendingApprovals().size());
    assertFalse(first.pendingApprovals().equals(second.pendingApprovals()));
    AgentResult result = program.agents.resume(desk, first.run(), approveAll(second));
    assertEquals("All done.", result.text());
    assertEquals(List.of("o1", "o2"), refunded());
  }

  @Test
  @Tag("A95")
  @Tag("A88")
  void an_approval_that_expires_in_the_child_expires_in_the_parent() {
    Tool pay =
        world
            .tool("pay", EffectClass.ONCE)
            .requiresApproval()
            .approvalExpiry(Duration.ofHours(1))
            .build();
    Agent payer = agent("payer").tools(pay).build();
    Agent boss = agent("boss").subAgents(payer).build();
    family.answers("boss", calls(ask("c1", "payer", "Pay.")), text("Not paid."));
    family.answers("payer", calls(call("k1", "pay", "o1")), text("It expired."));
    AgentResult waiting = program.agents.run(AgentRequest.builder(boss, "Do it.").build());
    assertEquals(
        Optional.of(program.time.now().plus(Duration.ofHours(1))),
        waiting.pendingApprovals().getFirst().expiresAt());

    program.time.advance(Duration.ofHours(1));
    AgentResult result = program.agents.resume(boss, waiting.run(), approveAll(waiting));

    assertEquals("Not paid.", result.text());
    assertEquals(List.of(), world.effects());
    assertEquals(
        Optional.of("expired"),
        result.state().approvals().getFirst().decision().orElseThrow().reason());
  }

  @Test
  @Tag("A82")
  @Tag("A95")
  void promoted_requests_and_decisions_on_them_are_signed_and_checked() {
    Agents signing =
        Agents.builder(program.gateway)
            .store(store)
            .approvalSigner(
                ApprovalSigner.hmacSha256("k".repeat(32).getBytes(StandardCharsets.UTF_8)))
            .build();
    family.answers("desk", calls(ask("c1", "clerk", "Refund.")), text("All done."));
    family.answers("clerk", calls(call("k1", "refund", "o1")), text("Refunded."));
    AgentResult waiting = run(signing);
    assertTrue(waiting.pendingApprovals().getFirst().signature().isPresent());

    RunStore forged = RunStore.inMemory();
    copy(children(store, waiting.run()).getFirst(), forged, event -> event);
    copy(
        waiting.run(),
        forged,
        event -> event instanceof ApprovalRequested asked ? unsigned(asked) : event);
    Agents others =
        Agents.builder(program.gateway)
            .store(forged)
            .approvalSigner(
                ApprovalSigner.hmacSha256("k".repeat(32).getBytes(StandardCharsets.UTF_8)))
            .build();
    var refused =
        assertThrows(
            InvalidRequestException.class,
            () -> others.resume(desk, waiting.run(), approveAll(waiting)));
    assertTrue(String.valueOf(refused.getMessage()).contains("is missing"));
    assertEquals(List.of(), world.effects());

    AgentResult result = signing.resume(desk, waiting.run(), approveAll(waiting));
    assertEquals("All done.", result.text());
    ApprovalDecided decided =
        (ApprovalDecided)
            program.events(waiting.run()).stream()
                .filter(ApprovalDecided.class::isInstance)
                .findFirst()
                .orElseThrow();
    assertTrue(decided.signature().isPresent());
  }

  private static RunEvent unsigned(ApprovalRequested asked) {
    return new ApprovalRequested(
        asked.requestId(),
        asked.digest(),
        asked.step(),
        asked.callId(),
        asked.tool(),
        asked.toolVersion(),
        asked.arguments(),
        asked.expiresAt(),
        Optional.empty(),
        asked.child(),
        Optional.empty());
  }

  private void copy(RunKey run, RunStore to, UnaryOperator<RunEvent> change) {
    List<LoggedEvent> log =
        program.log(run).stream()
            .map(
                logged ->
                    new LoggedEvent(
                        logged.run(),
                        logged.sequence(),
                        logged.writer(),
                        logged.time(),
                        change.apply(logged.event())))
            .toList();
    to.adopt(log, RunState.of(log).standing(), Deadline.never());
  }

  @Test
  @Tag("A83")
  @Tag("A95")
  void a_decision_on_something_else_than_the_child_asks_lets_nothing_run() {
    AgentResult waiting = waiting();
    RunStore altered = RunStore.inMemory();
    for (RunKey child : children(store, waiting.run())) {
      copy(child, altered, event -> event);
    }
    copy(
        waiting.run(),
        altered,
        event -> event instanceof ApprovalRequested asked ? cheaper(asked) : event);
    Program other = family.program(altered);

    AgentResult result = other.agents.resume(desk, waiting.run(), approveAll(waiting));

    assertEquals(FailureKind.INVALID_REQUEST, result.state().failure().orElseThrow().kind());
    assertTrue(
        result.state().failure().orElseThrow().message().contains("no longer matches"),
        result.state().failure()::toString);
    assertEquals(List.of(), world.effects());
  }

  private static RunEvent cheaper(ApprovalRequested asked) {
    return new ApprovalRequested(
        asked.requestId(),
        asked.digest(),
        asked.step(),
        asked.callId(),
        asked.tool(),
        asked.toolVersion(),
        Json.parse("{\"order\":\"something cheap\"}"),
        asked.expiresAt(),
        asked.signature(),
        asked.child(),
        Optional.empty());
  }

  /** A desk whose clerk pays by a tool of which nobody knows whether it has acted. */
  private AgentResult doubtful(Agents agents, Agent boss) {
    family.answers(
        "boss", calls(ask("c1", "research", "What?"), ask("c2", "payer", "Pay.")), text("Paid."));
    family.answers("research", text("A chair."));
    family.answers("payer", calls(call("k1", "pay", "o1")), text("It is paid."));
    return agents.run(AgentRequest.builder(boss, "Do it.").build());
  }

  private Agent boss() {
    Tool pay =
        Tool.of(
            "pay",
            "Pays.",
            Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              var _ = world.act("pay", input, context);
              throw new OutcomeUnknownException(new IllegalStateException());
            });
    return agent("boss").subAgents(research, agent("payer").tools(pay).build()).build();
  }

  @Test
  @Tag("A96")
  void a_child_that_needs_a_verdict_suspends_its_parent_and_goes_on_when_it_has_one() {
    Agent boss = boss();

    AgentResult waiting = doubtful(program.agents, boss);

    RunKey child = children(store, waiting.run()).getLast();
    assertEquals(RunStatus.WAITING, waiting.status());
    assertEquals(List.of(child.runId()), waiting.state().suspension().orElseThrow().awaited());
    assertEquals(RunStatus.NEEDS_RECONCILIATION, state(store, child).status());
    var unfinished = assertThrows(RunFailedException.class, waiting::orThrow);
    assertEquals(FailureKind.UNFINISHED, unfinished.kind());
    assertEquals(
        List.of(child),
        program.agents.runs().inDoubt(RunScope.DEFAULT).stream().map(RunState::run).toList());
    program.assertNothingIsLeft();
    AgentResult same = program.agents.resume(boss, waiting.run());
    assertEquals(waiting.state().sequence(), same.state().sequence(), "nothing has moved");

    CallState call = state(store, child).inDoubt().getFirst();
    var _ =
        program
            .agents
            .runs()
            .reconcile(
                child,
                new ToolReconciled(
                    "k1",
                    call.started().orElseThrow().key(),
                    Verdict.SUCCEEDED,
                    Optional.of(Json.of("paid")),
                    "ann"));
    AgentResult result = program.agents.resume(boss, waiting.run());

    assertEquals("Paid.", result.text());
    assertEquals(1, world.effects().size());
    assertEquals(List.of(0), family.model("research").asked());
    assertEquals("It is paid.", records(program.events(result.run())).getLast().text());
  }

  @Test
  @Tag("A96")
  void a_grandchild_that_needs_a_verdict_suspends_all_above_it() {
    Agent head = agent("head").subAgents(boss()).build();
    family.answers("head", calls(ask("h1", "boss", "Do it.")), text("Good."));
    doubtfulAnswers();
    AgentResult waiting = program.agents.run(AgentRequest.builder(head, "Do it.").build());
    assertEquals(RunStatus.WAITING, waiting.status());
    RunKey boss = children(store, waiting.run()).getFirst();
    assertEquals(RunStatus.WAITING, state(store, boss).status());
    RunKey payer = children(store, boss).getLast();

    CallState call = state(store, payer).inDoubt().getFirst();
    var _ =
        program
            .agents
            .runs()
            .reconcile(
                payer,
                new ToolReconciled(
                    "k1",
                    call.started().orElseThrow().key(),
                    Verdict.FAILED,
                    Optional.of(Json.of("no money")),
                    "ann"));
    AgentResult result = program.agents.resume(head, waiting.run());

    assertEquals("Good.", result.text());
    assertEquals(1, world.effects().size());
  }

  private void doubtfulAnswers() {
    family.answers("boss", calls(ask("c2", "payer", "Pay.")), text("Paid."));
    family.answers("payer", calls(call("k1", "pay", "o1")), text("It is not paid."));
  }

  @Test
  @Tag("A153")
  @Tag("A95")
  @Tag("A96")
  void a_person_is_told_once_where_the_decision_is_to_be_made() {
    List<DecisionNeeded> told = new CopyOnWriteArrayList<>();
    Agents telling =
        Agents.builder(program.gateway).store(store).onDecisionNeeded(told::add).build();
    family.answers("desk", calls(ask("c1", "clerk", "Refund.")), text("All done."));
    family.answers("clerk", calls(call("k1", "refund", "o1")), text("Refunded."));

    AgentResult approval = run(telling);
    program.assertNothingIsLeft();
    AgentResult verdict = doubtful(telling, boss());
    program.assertNothingIsLeft();

    RunKey payer = children(store, verdict.run()).getLast();
    assertEquals(
        List.of(
            new DecisionNeeded(approval.run(), "desk", RunStatus.WAITING_APPROVAL, 1),
            new DecisionNeeded(payer, "payer", RunStatus.NEEDS_RECONCILIATION, 1)),
        new ArrayList<>(told));
  }

  @Test
  @Tag("A149")
  @Tag("A93")
  void a_log_that_is_handed_in_without_its_child_is_not_gone_on_with() {
    AgentResult waiting = waiting();
    Program other = family.program(RunStore.inMemory());

    var refused =
        assertThrows(
            ConflictException.class,
            () -> other.agents.resume(desk, waiting.log(), approveAll(waiting)));

    assertTrue(
        String.valueOf(refused.getMessage()).contains("which the store does not have"),
        refused::getMessage);
    assertEquals(List.of(), other.runs());
    assertEquals(List.of(), world.effects());
  }
}
