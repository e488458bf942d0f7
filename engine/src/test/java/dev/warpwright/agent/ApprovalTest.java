package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Image;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Route;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs that wait for a person. */
@Timeout(60)
final class ApprovalTest {
  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final FakeModel model =
      FakeModel.of(
          calls(
              call("c1", "refund", "o1"),
              call("c2", "note", "o1"),
              call("c3", "refund", "o2"),
              call("c4", "nothing", "o1")),
          text("Done."));
  private final Program program = Program.on(store, model);
  private final Agent agent = agent("1", Program.ROUTE);

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  private Agent agent(String refundVersion, Route route, Tool... more) {
    List<Tool> tools = new ArrayList<>(List.of(more));
    tools.add(
        world.tool("refund", EffectClass.ONCE).requiresApproval().version(refundVersion).build());
    tools.add(world.tool("note", EffectClass.IDEMPOTENT).build());
    return Agent.builder("agent", route).tools(tools).build();
  }

  private AgentResult waiting() {
    AgentResult result = program.agents.run(AgentRequest.builder(agent, "Do it.").build());
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    return result;
  }

  private static ApprovalDecision[] approveAll(AgentResult result) {
    return result.pendingApprovals().stream()
        .map(request -> ApprovalDecision.approve(request.requestId()))
        .toArray(ApprovalDecision[]::new);
  }

  @Test
  @Tag("A39")
  @Tag("A80")
  @Tag("A91")
  void one_call_that_needs_approval_keeps_the_whole_batch_from_running_and_nobody_owns_the_run() {
    AgentResult result = waiting();

    assertEquals(List.of(), world.effects());
    assertEquals(
        List.of("c1", "c3"),
        result.pendingApprovals().stream().map(ApprovalRequested::callId).toList());
    RunSuspended suspended = result.state().suspension().orElseThrow();
    assertEquals(RunSuspended.Reason.APPROVAL, suspended.reason());
    assertEquals(2, suspended.awaited().size());
    RunFailedException unfinished = assertThrows(RunFailedException.class, result::orThrow);
    assertEquals(FailureKind.UNFINISHED, unfinished.kind());
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A80")
  void a_request_is_named_by_a_digest_of_all_that_is_to_be_approved() {
    AgentResult result = waiting();

    ApprovalRequested request = result.pendingApprovals().getFirst();
    String subject =
        Json.of(
                Map.of(
                    "runId",
                    result.run().runId(),
                    "step",
                    1,
                    "toolCallId",
                    "c1",
                    "toolName",
                    "refund",
                    "input",
                    Map.of("order", "o1"),
                    "toolVersion",
                    "1"))
            .canonical();
    assertEquals("approval_" + Digest.hex(subject), request.requestId());
    assertEquals("sha256:" + Digest.hex(subject), request.digest());
    assertEquals("1", request.toolVersion());
    assertEquals(1, request.step());
    assertEquals("{\"order\":\"o1\"}", request.arguments().text());
  }

  @Test
  @Tag("A81")
  @Tag("A91")
  void another_process_goes_on_when_all_is_decided() {
    AgentResult result = waiting();
    Program other = Program.on(store, FakeModel.of(call -> null, text("Done.")));

    AgentResult done = other.agents.resume(agent, result.run(), approveAll(result));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(3, world.effects().size());
    assertEquals(List.of(0), model.asked());
    List<ToolResult> results =
        done.state().messages().stream().flatMap(m -> m.toolResults().stream()).toList();
    assertEquals(
        List.of("c1", "c2", "c3", "c4"), results.stream().map(ToolResult::callId).toList());
    other.assertNothingIsLeft();
  }

  @Test
  @Tag("A85")
  void some_decisions_are_kept_and_the_run_waits_for_the_others() {
    AgentResult result = waiting();
    String first = result.pendingApprovals().get(0).requestId();
    String second = result.pendingApprovals().get(1).requestId();

    AgentResult still =
        program.agents.resume(agent, result.run(), ApprovalDecision.approve(first).by("ann"));
    assertEquals(RunStatus.WAITING_APPROVAL, still.status());
    assertEquals(
        List.of(second),
        still.pendingApprovals().stream().map(ApprovalRequested::requestId).toList());
    assertEquals(List.of(), world.effects());
    assertFalse(still.driven());

    AgentResult done =
        program.agents.resume(agent, result.run(), ApprovalDecision.deny(second, "too much"));
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(2, world.effects().size());
    assertEquals(
        List.of(Optional.of("ann"), Optional.empty()),
        done.state().approvals().stream()
            .map(approval -> approval.decision().orElseThrow().decidedBy())
            .toList());
  }

  @Test
  @Tag("A86")
  void a_denied_call_is_not_run_and_the_model_is_told_why() {
    AgentResult result = waiting();
    ApprovalDecision[] no =
        result.pendingApprovals().stream()
            .map(request -> ApprovalDecision.deny(request.requestId(), "too much"))
            .toArray(ApprovalDecision[]::new);

    AgentResult done = program.agents.resume(agent, result.run(), no);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of("note"), world.effects().stream().map(World.Effect::tool).toList());
    ToolResult denied =
        done.state().messages().stream()
            .flatMap(message -> message.toolResults().stream())
            .findFirst()
            .orElseThrow();
    assertTrue(denied.error());
    assertTrue(denied.output().text().contains("too much"), denied.output().text());
    assertEquals(1, done.state().toolErrors(), "only the unknown tool, not the denials");
  }

  @Test
  @Tag("A81")
  void a_decision_on_a_request_that_the_run_does_not_have_is_refused_with_all_others() {
    AgentResult result = waiting();
    List<LoggedEvent> log = program.log(result.run());
    String known = result.pendingApprovals().getFirst().requestId();

    InvalidRequestException unknown =
        assertThrows(
            InvalidRequestException.class,
            () ->
                program.agents.resume(
                    agent,
                    result.run(),
                    ApprovalDecision.approve(known),
                    ApprovalDecision.approve("approval_0")));
    assertTrue(String.valueOf(unknown.getMessage()).contains("no approval request approval_0"));
    assertThrows(
        InvalidRequestException.class,
        () ->
            program.agents.resume(
                agent,
                result.run(),
                ApprovalDecision.approve(known),
                ApprovalDecision.deny(known, "no")));
    assertThrows(
        InvalidRequestException.class,
        () ->
            program.agents.resume(
                agent, new RunKey(RunScope.DEFAULT, "nobody"), ApprovalDecision.approve(known)));

    assertEquals(log, program.log(result.run()));
  }

  @Test
  @Tag("A87")
  void of_many_who_bring_the_same_decision_one_goes_on_and_the_others_are_refused()
      throws Exception {
    AgentResult result = waiting();
    ApprovalDecision[] decisions = approveAll(result);
    int callers = 16;
    CountDownLatch start = new CountDownLatch(1);
    int done = 0;
    int refused = 0;
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<AgentResult>> answers = new ArrayList<>();
      for (int i = 0; i < callers; i++) {
        Callable<AgentResult> caller =
            () -> {
              start.await();
              return program.agents.resume(agent, result.run(), decisions);
            };
        answers.add(pool.submit(caller));
      }
      start.countDown();
      for (Future<AgentResult> answer : answers) {
        try {
          assertEquals(RunStatus.COMPLETED, answer.get().status());
          done++;
        } catch (java.util.concurrent.ExecutionException e) {
          assertInstanceOf(ConflictException.class, e.getCause());
          refused++;
        }
      }
    }

    assertEquals(1, done);
    assertEquals(callers - 1, refused);
    assertEquals(3, world.effects().size());
    assertEquals(List.of(0, 1), model.asked());
  }

  @Test
  @Tag("A87")
  void a_decision_that_was_made_before_is_a_conflict_also_after_the_end() {
    AgentResult result = waiting();
    ApprovalDecision[] decisions = approveAll(result);
    var _ = program.agents.resume(agent, result.run(), decisions);
    List<LoggedEvent> log = program.log(result.run());

    assertThrows(
        ConflictException.class, () -> program.agents.resume(agent, result.run(), decisions));

    assertEquals(log, program.log(result.run()));
  }

  @Test
  @Tag("A83")
  void a_tool_that_is_another_one_by_now_is_not_run_on_the_old_approval() {
    AgentResult result = waiting();
    List<LoggedEvent> log = program.log(result.run());
    Agent renamed =
        Agent.builder("agent", Program.ROUTE)
            .tools(
                world.tool("repay", EffectClass.ONCE).requiresApproval().build(),
                world.tool("note", EffectClass.IDEMPOTENT).build())
            .build();

    for (Agent other : List.of(agent("2", Program.ROUTE), renamed)) {
      InvalidRequestException refused =
          assertThrows(
              InvalidRequestException.class,
              () -> program.agents.resume(other, result.run(), approveAll(result)));
      assertTrue(String.valueOf(refused.getMessage()).contains("no longer matches"));
    }
    assertEquals(log, program.log(result.run()));
    assertEquals(List.of(), world.effects());
  }

  @Test
  @Tag("A83")
  void an_approval_does_not_outlive_a_crash_for_a_tool_that_is_another_one_by_then() {
    AgentResult result = waiting();
    // It acquires the run, writes the decisions, and dies before the intents.
    MortalStore mortal = MortalStore.dyingAt(3, false, store);
    Program dying = Program.on(mortal, model);
    assertThrows(
        MortalStore.Crash.class,
        () -> dying.agents.resume(agent, result.run(), approveAll(result)));
    mortal.bury();
    assertEquals(RunStatus.RUNNING, RunState.of(program.log(result.run())).status());

    assertThrows(
        InvalidRequestException.class,
        () -> program.agents.resume(agent("2", Program.ROUTE), result.run()));
    assertEquals(List.of(), world.effects());

    assertEquals(RunStatus.COMPLETED, program.agents.resume(agent, result.run()).status());
    assertEquals(3, world.effects().size());
  }

  @Test
  void another_agent_or_other_targets_cannot_go_on_with_a_run() {
    AgentResult result = waiting();
    List<LoggedEvent> log = program.log(result.run());
    Agent stranger = Agent.builder("stranger", Program.ROUTE).tools(agent.tools().tools()).build();
    Agent elsewhere = agent("1", Route.of(Program.SPARE));

    for (Agent other : List.of(stranger, elsewhere)) {
      ConflictException conflict =
          assertThrows(
              ConflictException.class,
              () -> program.agents.resume(other, result.run(), approveAll(result)));
      assertTrue(
          String.valueOf(conflict.getMessage()).contains(other == stranger ? "stranger" : "spare"),
          conflict.getMessage());
    }
    assertEquals(log, program.log(result.run()));
  }

  @Test
  @Tag("A91")
  void a_resume_without_decisions_and_a_second_caller_find_it_waiting_and_write_nothing() {
    AgentRequest request = AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
    AgentResult result = program.agents.run(request);
    List<LoggedEvent> log = program.log(result.run());

    assertEquals(RunStatus.WAITING_APPROVAL, program.agents.resume(agent, result.run()).status());
    AgentResult attached = program.agents.run(request);

    assertEquals(RunStatus.WAITING_APPROVAL, attached.status());
    assertFalse(attached.driven());
    assertEquals(log, program.log(result.run()));
    assertEquals(List.of(0), model.asked());
  }

  @Test
  void inputs_with_exact_numbers_and_other_alphabets_are_approved_as_they_are() {
    Json input = Json.parse("{\"order\":\"Größe é 😀\"}");
    FakeModel exact = FakeModel.of(calls(new ToolCall("c1", "refund", input)), text("Done."));
    Program other = Program.on(store, exact);

    AgentResult result = other.agents.run(AgentRequest.builder(agent, "Do it.").build());
    AgentResult done = other.agents.resume(agent, result.run(), approveAll(result));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals("Größe é 😀", world.effects().getFirst().order());
    other.assertNothingIsLeft();
  }

  @Test
  @Tag("A84")
  @Tag("C40")
  void what_a_person_decided_never_appears_in_what_the_provider_is_sent() {
    List<String> sent = new CopyOnWriteArrayList<>();
    FakeModel.Answer asks =
        question -> {
          sent.addAll(contents(question));
          return calls(call("c1", "refund", "o1"), call("c3", "refund", "o2")).give(question);
        };
    FakeModel.Answer done =
        question -> {
          sent.addAll(contents(question));
          return text("Done.").give(question);
        };
    Program other = Program.on(store, FakeModel.of(asks, done));
    Agents signing =
        Agents.builder(other.gateway)
            .store(store)
            .approvalSigner(ApprovalSigner.hmacSha256(new byte[32]))
            .build();
    AgentResult result = signing.run(AgentRequest.builder(agent, "Do it.").build());
    List<ApprovalRequested> requests = result.pendingApprovals();

    AgentResult end =
        signing.resume(
            agent,
            result.run(),
            ApprovalDecision.approve(requests.get(0).requestId()).by("ann"),
            ApprovalDecision.deny(requests.get(1).requestId(), "too much").by("ann"));

    assertEquals("Done.", end.text());
    assertTrue(sent.contains("refund of o1 done"), sent::toString);
    for (RunState.Approval approval : end.state().approvals()) {
      for (String secret :
          List.of(
              approval.request().requestId(),
              approval.request().digest(),
              approval.request().signature().orElseThrow(),
              approval.decision().orElseThrow().signature().orElseThrow(),
              "ann")) {
        assertTrue(sent.stream().noneMatch(text -> text.contains(secret)), sent::toString);
      }
    }
    other.assertNothingIsLeft();
  }

  /** All texts of the messages and tools of a model call. */
  private static List<String> contents(ModelCall question) {
    List<String> contents = new ArrayList<>();
    for (Message message : question.messages()) {
      for (Part part : message.parts()) {
        switch (part) {
          case Part.Text(String text) -> contents.add(text);
          case Image image -> contents.add(image.url());
          case ToolCall call ->
              contents.addAll(List.of(call.id(), call.name(), call.input().text()));
          case ToolResult result -> contents.add(String.valueOf(result.output().value()));
          case ProviderState state -> contents.add(state.data().text());
        }
      }
    }
    question
        .tools()
        .forEach(tool -> contents.addAll(List.of(tool.name(), tool.inputSchema().text())));
    return contents;
  }

  @Test
  void the_log_says_who_decided_what() {
    AgentResult result = waiting();
    String first = result.pendingApprovals().getFirst().requestId();

    var _ =
        program.agents.resume(
            agent, result.run(), ApprovalDecision.deny(first, "too much").by("ann"));

    assertEquals(
        new ApprovalDecided(first, false, Optional.of("ann"), Optional.of("too much")),
        program.events(result.run()).getLast());
  }
}
