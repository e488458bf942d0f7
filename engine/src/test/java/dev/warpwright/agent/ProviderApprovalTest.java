package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.flow.Replay;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Part;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderApproval.Answer;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.ApprovalTokens;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Timeline;
import dev.warpwright.task.Cancellation;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs whose provider asks before a tool that it runs itself may act. */
@Timeout(60)
final class ProviderApprovalTest {
  private static final String DATA = "{\"items\":[{\"id\":\"r1\",\"s3cr3t\":1.0}]}";

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final List<List<Answer>> sent = new CopyOnWriteArrayList<>(); // with each model call
  private Program program = program(asks("r1"), text("Done."));

  @AfterEach
  void nothingIsLeft() {
    program.assertNothingIsLeft();
  }

  private Program program(FakeModel.Answer... answers) {
    return Program.on(store, FakeModel.of(noting(answers)));
  }

  private List<FakeModel.Answer> noting(FakeModel.Answer... answers) {
    List<FakeModel.Answer> noting = new ArrayList<>();
    for (FakeModel.Answer answer : answers) {
      noting.add(
          question -> {
            sent.add(given(question.messages()));
            return answer.give(question);
          });
    }
    return noting;
  }

  /** The answers to approvals that a conversation holds. */
  private static List<Answer> given(List<Message> messages) {
    return messages.stream()
        .flatMap(message -> message.approvals().stream())
        .flatMap(state -> state.approval().orElseThrow().answer().stream())
        .toList();
  }

  private static ProviderState asking(String requestId) {
    return ProviderState.of("protocol", "model", Json.parse(DATA))
        .asking(
            ProviderApproval.of(
                requestId, Optional.of("docs"), "search", Json.parse("{\"q\":\"ä\",\"at\":1.50}")));
  }

  private static FakeModel.Answer asks(String... requestIds) {
    Part[] parts = new Part[requestIds.length];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = asking(requestIds[i]);
    }
    return answer(FinishReason.Kind.PAUSED, parts);
  }

  private static FakeModel.Answer answer(FinishReason.Kind finish, Part... parts) {
    return question ->
        new ModelResponse(
            new Message(Role.ASSISTANT, List.of(parts)),
            new FinishReason(finish, "completed"),
            Usage.reported(10, 5),
            Optional.empty());
  }

  private Agent.Builder builder() {
    return Agent.builder("agent", Program.ROUTE)
        .tools(
            world.tool("refund", EffectClass.ONCE).requiresApproval().build(),
            world.tool("note", EffectClass.IDEMPOTENT).build());
  }

  private AgentResult waiting(Agent agent) {
    AgentResult result =
        program.agents.run(AgentRequest.builder(agent, "Do it.").runId("run-1").build());
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    return result;
  }

  private static ApprovalDecision[] approveAll(AgentResult result) {
    return result.pendingApprovals().stream()
        .map(request -> ApprovalDecision.approve(request.requestId()))
        .toArray(ApprovalDecision[]::new);
  }

  @Test
  @Tag("A79")
  @Tag("A84")
  @Tag("A91")
  void what_the_provider_asks_suspends_the_run_and_says_who_asks_for_what() {
    program = program(asks("r1", "r2"), text("Done."));

    AgentResult result = waiting(builder().build());

    List<ApprovalRequested> pending = result.pendingApprovals();
    assertEquals(2, pending.size());
    for (int i = 0; i < 2; i++) {
      ApprovalRequested request = pending.get(i);
      String id = "r" + (i + 1);
      assertEquals(ApprovalRequested.Kind.PROVIDER, request.kind());
      assertTrue(request.requestId().matches("providerapproval_[0-9a-f]{64}"));
      assertEquals(
          Optional.of(new ApprovalRequested.OfProvider("fake", Optional.of("docs"), id)),
          request.provider());
      assertEquals("search", request.tool());
      assertEquals("{\"at\":1.50,\"q\":\"ä\"}", request.arguments().text());
    }
    RunSuspended suspended = result.state().suspension().orElseThrow();
    assertEquals(RunSuspended.Reason.APPROVAL, suspended.reason());
    assertEquals(
        pending.stream().map(ApprovalRequested::requestId).sorted().toList(), suspended.awaited());
    assertFalse(result.state().hasFinalAnswer());
    program.assertNothingIsLeft(); // nobody owns it
  }

  @Test
  @Tag("A79")
  @Tag("A84")
  void another_process_tells_the_provider_what_was_decided_and_goes_on() {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    Program other = program(asks("r1"), text("Done."));

    AgentResult done = other.agents.resume(agent, result.run(), approveAll(result));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals("Done.", done.text());
    assertEquals(List.of(List.of(), List.of(Answer.approve())), sent);
    List<RunState.Approval> approvals = done.state().approvals();
    assertEquals(1, approvals.size());
    assertTrue(approvals.getFirst().decision().orElseThrow().approve());
    other.assertNothingIsLeft();
  }

  @Test
  @Tag("A86")
  void a_denial_is_told_to_the_provider_with_its_reason_and_the_run_goes_on() {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    String id = result.pendingApprovals().getFirst().requestId();

    AgentResult done =
        program.agents.resume(agent, result.run(), ApprovalDecision.deny(id, "too much"));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(Answer.deny("too much")), sent.getLast());
    assertEquals(0, done.state().toolErrors());
  }

  @Test
  @Tag("A84")
  void the_reason_of_an_approval_and_who_decided_stay_in_the_log() {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    String id = result.pendingApprovals().getFirst().requestId();

    var _ =
        program.agents.resume(
            agent,
            result.run(),
            new ApprovalDecision(id, true, Optional.of("ann"), Optional.of("a good customer")));

    assertEquals(List.of(Answer.approve()), sent.getLast());
    assertTrue(
        program
            .events(result.run())
            .contains(
                new ApprovalDecided(id, true, Optional.of("ann"), Optional.of("a good customer"))));
  }

  @Test
  @Tag("A85")
  void some_decisions_are_kept_and_the_provider_is_asked_when_all_are_made() {
    program = program(asks("r1", "r2"), text("Done."));
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    String first = result.pendingApprovals().get(0).requestId();
    String second = result.pendingApprovals().get(1).requestId();

    AgentResult still =
        program.agents.resume(agent, result.run(), ApprovalDecision.approve(second));
    assertEquals(RunStatus.WAITING_APPROVAL, still.status());
    assertEquals(
        List.of(first),
        still.pendingApprovals().stream().map(ApprovalRequested::requestId).toList());
    assertEquals(1, sent.size(), "the model was not asked again");

    AgentResult done =
        program.agents.resume(agent, result.run(), ApprovalDecision.deny(first, "no"));
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(Answer.deny("no"), Answer.approve()), sent.getLast());
  }

  @Test
  @Tag("A39")
  @Tag("A79")
  @Tag("A84")
  void local_calls_and_their_approvals_wait_together_with_it_and_are_not_told_to_the_provider() {
    List<Message> second = new CopyOnWriteArrayList<>();
    program =
        program(
            answer(
                FinishReason.Kind.TOOL_CALLS,
                call("c1", "note", "o1"),
                asking("r1"),
                call("c2", "refund", "o2")),
            question -> {
              second.addAll(question.messages());
              return text("Done.").give(question);
            });
    Agent agent = builder().build();

    AgentResult result = waiting(agent);
    assertEquals(
        List.of(ApprovalRequested.Kind.LOCAL_TOOL, ApprovalRequested.Kind.PROVIDER),
        result.pendingApprovals().stream().map(ApprovalRequested::kind).toList());
    ApprovalDecision[] all = approveAll(result);
    AgentResult still = program.agents.resume(agent, result.run(), all[0]);
    assertEquals(RunStatus.WAITING_APPROVAL, still.status());
    assertEquals(List.of(), world.effects(), "the provider's request keeps the batch from running");

    AgentResult done = program.agents.resume(agent, result.run(), all[1]);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(2, world.effects().size());
    assertEquals(List.of(Answer.approve()), given(second));
    assertEquals(
        List.of("c1", "c2"),
        second.getLast().toolResults().stream().map(ToolResult::callId).toList());
    assertFalse(second.toString().contains("approval_"));
  }

  @Test
  @Tag("A85")
  void calls_that_are_refused_at_once_do_not_hide_what_the_provider_asks() {
    program =
        program(
            answer(FinishReason.Kind.TOOL_CALLS, call("c1", "nothing", "o1"), asking("r1")),
            text("Done."));
    Agent agent = builder().build();

    AgentResult result = waiting(agent);
    assertEquals(List.of(), result.state().calls(), "the only call has its result");
    AgentResult done = program.agents.resume(agent, result.run(), approveAll(result));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(Answer.approve()), sent.getLast());
    assertEquals(Role.TOOL, done.state().messages().get(2).role());
  }

  @Test
  @Tag("A81")
  void a_decision_under_the_id_of_another_kind_or_provider_is_refused_with_all_others() {
    program = program(asks("r1", "r2"), text("Done."));
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    List<LoggedEvent> log = program.log(result.run());
    String known = result.pendingApprovals().getFirst().requestId();

    for (String other :
        List.of("r1", known.replace("provider", ""), known.replace("provider", "sub"))) {
      assertThrows(
          InvalidRequestException.class,
          () ->
              program.agents.resume(
                  agent,
                  result.run(),
                  ApprovalDecision.approve(known),
                  ApprovalDecision.approve(other)));
    }
    assertEquals(log, program.log(result.run()));

    Program spare = Program.on(RunStore.inMemory(), FakeModel.of(), FakeModel.of(asks("r1")));
    Agent elsewhere = Agent.builder("agent", Route.of(Program.SPARE)).build();
    AgentResult same =
        spare.agents.run(AgentRequest.builder(elsewhere, "Do it.").runId("run-1").build());
    assertThrows(
        InvalidRequestException.class,
        () -> program.agents.resume(agent, result.run(), approveAll(same)),
        "the same id and run, but of another provider");
    spare.assertNothingIsLeft();
  }

  @Test
  @Tag("A88")
  void a_request_that_has_expired_is_denied_whatever_is_decided_by_then() {
    Agent agent = builder().providerApprovalExpiry(Duration.ofHours(1)).build();
    AgentResult result = waiting(agent);
    assertEquals(
        Optional.of(program.time.now().plus(Duration.ofHours(1))),
        result.pendingApprovals().getFirst().expiresAt());
    program.time.advance(Duration.ofHours(1));

    AgentResult done = program.agents.resume(agent, result.run(), approveAll(result));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(Answer.deny("expired")), sent.getLast());
  }

  @Test
  @Tag("A88")
  void an_expiry_of_nothing_is_refused() {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class, () -> builder().providerApprovalExpiry(Duration.ZERO));
    assertTrue(
        String.valueOf(refused.getMessage())
            .contains("providerApprovalExpiry must be more than 0, but is PT0S."));
  }

  private Agents signing(byte fill) {
    byte[] key = new byte[32];
    key[0] = fill;
    return Agents.builder(program.gateway)
        .store(store)
        .approvalSigner(ApprovalSigner.hmacSha256(key))
        .build();
  }

  private static List<LoggedEvent> changed(List<LoggedEvent> log, UnaryOperator<RunEvent> change) {
    return log.stream()
        .map(
            logged ->
                new LoggedEvent(
                    logged.run(),
                    logged.sequence(),
                    logged.writer(),
                    logged.time(),
                    change.apply(logged.event())))
        .toList();
  }

  @Test
  @Tag("A82")
  @Tag("A83")
  void whoever_can_write_to_the_store_without_the_key_approves_nothing() {
    Agent agent = builder().build();
    AgentResult result = signing((byte) 1).run(AgentRequest.builder(agent, "Do it.").build());
    ApprovalRequested request = result.pendingApprovals().getFirst();
    assertTrue(request.signature().isPresent());
    RunState denied =
        signing((byte) 1)
            .runs()
            .decide(result.run(), ApprovalDecision.deny(request.requestId(), "no"));
    List<LoggedEvent> log = program.log(denied.run());
    List<UnaryOperator<RunEvent>> tamperings =
        List.of(
            event ->
                event instanceof ApprovalDecided made
                    ? new ApprovalDecided(
                        made.requestId(),
                        true,
                        made.decidedBy(),
                        Optional.empty(),
                        made.signature())
                    : event,
            event ->
                event instanceof ModelResponded answer
                    ? with(answer, Json.parse("{\"items\":[{\"id\":\"r1\",\"arguments\":\"*\"}]}"))
                    : event);
    for (UnaryOperator<RunEvent> tampering : tamperings) {
      RunStore elsewhere = RunStore.inMemory();
      Program other = Program.on(elsewhere, FakeModel.of(asks("r1"), text("Done.")));
      Agents agents =
          Agents.builder(other.gateway)
              .store(elsewhere)
              .approvalSigner(ApprovalSigner.hmacSha256(key((byte) 1)))
              .build();
      assertThrows(
          InvalidRequestException.class, () -> agents.resume(agent, changed(log, tampering)));
      other.assertNothingIsLeft();
    }
    assertThrows(
        InvalidRequestException.class, () -> signing((byte) 2).resume(agent, result.run()));
    assertEquals(1, sent.size(), "the provider was told nothing");

    assertEquals(RunStatus.COMPLETED, signing((byte) 1).resume(agent, result.run()).status());
    assertEquals(List.of(Answer.deny("no")), sent.getLast());
  }

  private static byte[] key(byte fill) {
    byte[] key = new byte[32];
    key[0] = fill;
    return key;
  }

  private static ModelResponded with(ModelResponded answer, Json data) {
    List<Part> parts =
        answer.message().parts().stream()
            .map(
                part ->
                    part instanceof ProviderState state
                        ? (Part)
                            new ProviderState(
                                state.provider(),
                                state.protocol(),
                                state.modelId(),
                                data,
                                state.approval())
                        : part)
            .toList();
    return new ModelResponded(
        answer.step(),
        answer.target(),
        new Message(Role.ASSISTANT, parts),
        answer.finishReason(),
        answer.usage(),
        answer.attempts());
  }

  @Test
  @Tag("A83")
  void an_answer_that_was_made_up_in_the_log_is_refused() {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    List<LoggedEvent> log =
        changed(
                program.log(result.run()),
                event -> event instanceof ModelResponded answer ? answered(answer) : event)
            .subList(0, 4);

    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> RunState.of(log));

    assertTrue(String.valueOf(refused.getMessage()).contains("is decided later"));
  }

  private static ModelResponded answered(ModelResponded answer) {
    Message message =
        Conversation.of(List.of(answer.message()))
            .answered("fake", "r1", Answer.approve())
            .getFirst();
    return new ModelResponded(
        answer.step(),
        answer.target(),
        message,
        answer.finishReason(),
        answer.usage(),
        answer.attempts());
  }

  @Test
  @Tag("A89")
  void a_token_decides_on_it_once() {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    ApprovalTokens tokens = ApprovalTokens.in(store, program.time);
    String token = tokens.issue(result.run(), result.pendingApprovals().getFirst().requestId());

    RunState decided = tokens.consume(token, ApprovalDecision::approve);

    assertEquals(List.of(), decided.pendingApprovals());
    assertThrows(
        ConflictException.class, () -> tokens.consume(token, id -> ApprovalDecision.deny(id, "")));
    assertEquals(RunStatus.COMPLETED, program.agents.resume(agent, result.run()).status());
    assertEquals(List.of(Answer.approve()), sent.getLast());
  }

  @Test
  @Tag("A87")
  void of_many_who_bring_the_same_decision_one_tells_the_provider() throws Exception {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    ApprovalDecision[] decisions = approveAll(result);
    int callers = 16;
    CountDownLatch start = new CountDownLatch(1);
    int done = 0;
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
        } catch (ExecutionException e) {
          assertInstanceOf(ConflictException.class, e.getCause());
        }
      }
    }
    assertEquals(1, done);
    assertEquals(List.of(List.of(), List.of(Answer.approve())), sent);
  }

  @Test
  @Tag("A55")
  @Tag("A84")
  void a_crash_loses_no_decision_and_repeats_no_approval_that_may_have_been_sent() {
    boolean died = true;
    for (int write = 1; died; write++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        died = crash(write, afterIt);
      }
    }
  }

  /** Whether the process died at that write of a resume. */
  private boolean crash(int write, boolean afterIt) {
    String what = (afterIt ? "after" : "before") + " write " + write;
    RunStore survivor = RunStore.inMemory();
    List<List<Answer>> seen = new CopyOnWriteArrayList<>();
    FakeModel.Answer end =
        question -> {
          seen.add(given(question.messages()));
          return text("Done.").give(question);
        };
    Agent agent = builder().build();
    Program first = Program.on(survivor, FakeModel.of(asks("r1"), end));
    AgentResult result = first.agents.run(AgentRequest.builder(agent, "Do it.").build());
    ApprovalDecision[] decisions = approveAll(result);
    MortalStore mortal = MortalStore.dyingAt(write, afterIt, survivor);
    boolean died = false;
    try {
      var _ =
          Program.on(mortal, FakeModel.of(asks("r1"), end))
              .agents
              .resume(agent, result.run(), decisions);
    } catch (MortalStore.Crash e) {
      died = true;
    }
    mortal.bury();
    boolean decided =
        first.log(result.run()).stream().anyMatch(e -> e.event() instanceof ApprovalDecided);
    boolean begun =
        first.events(result.run()).contains(new StepStarted(2, 2))
            && first.types(result.run()).stream().filter("ModelResponded"::equals).count() == 1;

    Program second = Program.on(survivor, FakeModel.of(asks("r1"), end));
    AgentResult next =
        decided
            ? second.agents.resume(agent, result.run())
            : second.agents.resume(agent, result.run(), decisions);

    if (begun) {
      assertEquals(RunStatus.FAILED, next.status(), what);
      assertEquals(FailureKind.UNKNOWN_OUTCOME, next.state().failure().orElseThrow().kind());
      assertTrue(next.state().failure().orElseThrow().resumable());
      assertTrue(seen.size() <= 1, () -> what + ": " + seen);
      next = second.agents.resume(agent, result.run()); // whoever knows better says so
    } else {
      assertEquals(1, seen.size(), what);
    }
    assertEquals(RunStatus.COMPLETED, next.status(), what);
    assertEquals(List.of(Answer.approve()), seen.getLast(), what);
    assertEquals(Optional.empty(), Replay.ofRun(first.log(result.run())).against(agent), what);
    second.assertNothingIsLeft();
    return died;
  }

  @Test
  @Tag("A84")
  void a_denial_may_be_told_again_after_a_crash() {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    String id = result.pendingApprovals().getFirst().requestId();
    MortalStore mortal = MortalStore.dyingAt(3, true, store); // it acquires, decides, begins
    assertThrows(
        MortalStore.Crash.class,
        () ->
            Program.on(mortal, FakeModel.of(noting(asks("r1"), text("Done."))))
                .agents
                .resume(agent, result.run(), ApprovalDecision.deny(id, "no")));
    mortal.bury();
    assertEquals("StepStarted", program.types(result.run()).getLast());

    assertEquals(RunStatus.COMPLETED, program.agents.resume(agent, result.run()).status());
    assertEquals(List.of(Answer.deny("no")), sent.getLast());
  }

  @Test
  @Tag("A84")
  void an_approval_whose_call_was_cut_off_is_not_told_again_before_somebody_has_been_told() {
    Cancellation handle = new Cancellation();
    program =
        program(
            asks("r1"),
            question -> {
              if (sent.size() == 2) {
                handle.cancel("enough");
                new CountDownLatch(1).await(); // until it is interrupted
              }
              return text("Done.").give(question);
            });
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    assertThrows(
        OperationCancelledException.class,
        () ->
            program.agents.resume(
                agent,
                result.run(),
                List.of(approveAll(result)),
                Invocation.builder().cancellation(handle).build()));
    assertEquals(2, sent.size());

    AgentResult told = program.agents.resume(agent, result.run());

    assertEquals(RunStatus.FAILED, told.status());
    assertEquals(FailureKind.UNKNOWN_OUTCOME, told.state().failure().orElseThrow().kind());
    assertEquals(2, sent.size(), "the provider was told once");
    assertEquals(RunStatus.COMPLETED, program.agents.resume(agent, result.run()).status());
    assertEquals(3, sent.size());
  }

  @Test
  @Tag("R70")
  @Tag("A84")
  void only_the_target_that_asked_is_told_and_no_other_goes_on_in_its_place() {
    FakeModel spare = FakeModel.of(text("Mine."), text("Mine."));
    Agent agent = Agent.builder("agent", Route.of(Program.TARGET, Program.SPARE)).build();
    program = Program.on(store, FakeModel.of(noting(asks("r1"), status(429))), spare);
    AgentResult result = waiting(agent);

    AgentResult failed = program.agents.resume(agent, result.run(), approveAll(result));

    assertEquals(RunStatus.FAILED, failed.status());
    assertEquals(FailureKind.TARGETS_EXHAUSTED, failed.state().failure().orElseThrow().kind());
    assertTrue(failed.state().failure().orElseThrow().resumable());
    assertEquals(List.of(), spare.asked());
    Attempt skip =
        failed.attempts().stream().filter(made -> !made.dispatched()).findFirst().orElseThrow();
    assertEquals(Program.SPARE, skip.target());
    assertEquals(Attempt.ReasonCode.OPERATION_SKIP, skip.reasonCode());

    program = Program.on(store, FakeModel.of(noting(asks("r1"), text("Done."))), spare);
    AgentResult done = program.agents.resume(agent, result.run());
    assertEquals(RunStatus.COMPLETED, done.status(), "it was refused, so it may be told again");
    assertEquals(List.of(Answer.approve()), sent.getLast());
    assertEquals(List.of(), spare.asked());
  }

  @Test
  @Tag("A90")
  @Tag("R209")
  @Tag("R69")
  void when_it_has_been_told_another_provider_may_go_on_and_sees_nothing_of_it() {
    List<Message> seen = new CopyOnWriteArrayList<>();
    FakeModel.Answer look =
        question -> {
          seen.addAll(question.messages());
          return text("Done.").give(question);
        };
    FakeModel.Answer never =
        question -> {
          throw new AssertionError("not asked");
        };
    Agent agent =
        Agent.builder("agent", Route.of(Program.TARGET, Program.SPARE))
            .tools(world.tool("note", EffectClass.PURE).build())
            .build();
    program =
        Program.on(
            store,
            FakeModel.of(asks("r1"), FakeModel.calls(call("c1", "note", "o1")), status(429)),
            FakeModel.of(never, never, look));
    AgentResult result = waiting(agent);

    AgentResult done = program.agents.resume(agent, result.run(), approveAll(result));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(
        List.of(),
        seen.stream()
            .flatMap(message -> message.parts().stream())
            .filter(ProviderState.class::isInstance)
            .toList());
    for (String mine : List.of("r1", "search", "docs", "s3cr3t", "approval")) {
      assertFalse(contents(seen).contains(mine), mine);
    }
    List<Message> whole = done.state().messages();
    assertEquals(List.of(Answer.approve()), given(whole), "the log keeps it");
    assertEquals(new PortableHistory(true, false), PortableHistory.of(seen));
    assertEquals(PortableHistory.of(whole), PortableHistory.of(seen), "it is no part of that");
  }

  private static String contents(List<Message> messages) {
    StringBuilder all = new StringBuilder();
    messages.forEach(message -> all.append(message.parts().toString()).append(message.text()));
    return all.toString();
  }

  @ParameterizedTest
  @EnumSource(
      value = FinishReason.Kind.class,
      names = {"LENGTH", "CONTENT_FILTER", "REFUSAL", "OTHER"})
  @Tag("A79")
  void what_a_cut_off_answer_asks_is_put_to_nobody(FinishReason.Kind finish) {
    program = program(answer(finish, asking("r1")));

    AgentResult result = program.agents.run(AgentRequest.builder(builder().build(), "Do.").build());

    assertEquals(RunStatus.FAILED, result.status());
    assertFalse(result.state().failure().orElseThrow().resumable());
    assertEquals(List.of(), result.pendingApprovals());
    assertEquals(
        Optional.empty(), Replay.ofRun(program.log(result.run())).against(builder().build()));
  }

  @Test
  @Tag("A81")
  void two_requests_of_one_answer_with_the_same_id_are_a_failure_of_the_target() {
    program = program(asks("r1", "r1"));

    AgentResult result = program.agents.run(AgentRequest.builder(builder().build(), "Do.").build());

    assertEquals(RunStatus.FAILED, result.status());
    assertEquals(FailureKind.TARGETS_EXHAUSTED, result.state().failure().orElseThrow().kind());
    assertTrue(
        result.state().failure().orElseThrow().message().contains("have the same id"),
        result.state().failure().orElseThrow().message());
  }

  @Test
  @Tag("A81")
  void more_requests_than_the_bound_are_a_failure_of_the_target() {
    String[] ids = new String[129];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = "r" + i;
    }
    program = program(asks(ids));

    AgentResult result = program.agents.run(AgentRequest.builder(builder().build(), "Do.").build());

    assertEquals(RunStatus.FAILED, result.status());
    assertTrue(result.state().failure().orElseThrow().message().contains("bound of 128"));
  }

  @Test
  @Tag("A80")
  @Tag("A81")
  void an_id_that_the_provider_gives_again_is_another_request() {
    program = program(asks("r1"), asks("r1"), text("Done."));
    Agent agent = builder().build();
    AgentResult first = waiting(agent);

    AgentResult second = program.agents.resume(agent, first.run(), approveAll(first));

    assertEquals(RunStatus.WAITING_APPROVAL, second.status());
    assertEquals(1, second.pendingApprovals().size());
    assertThrows(
        ConflictException.class,
        () -> program.agents.resume(agent, first.run(), approveAll(first)),
        "what was decided before counts for nothing new");
    ApprovalDecision no =
        ApprovalDecision.deny(second.pendingApprovals().getFirst().requestId(), "no");
    AgentResult done = program.agents.resume(agent, first.run(), no);
    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(Answer.approve(), Answer.deny("no")), sent.getLast());
  }

  @Test
  @Tag("A138")
  @Tag("A79")
  void a_stream_shows_the_request_and_the_step_goes_on_when_it_is_resumed() {
    Agent agent = builder().build();
    AgentResult waiting;
    List<String> shown = new ArrayList<>();
    try (AgentStream stream = program.agents.stream(AgentRequest.builder(agent, "Do.").build())) {
      stream.forEach(event -> shown.add(event.getClass().getSimpleName()));
      waiting = stream.collect();
    }
    assertEquals(
        List.of("RunStart", "StepStart", "Output", "Output", "ApprovalRequest", "RunFinish"),
        shown);
    shown.clear();
    try (AgentStream stream = program.agents.stream(agent, waiting.run(), approveAll(waiting))) {
      stream.forEach(event -> shown.add(event.getClass().getSimpleName()));
    }
    assertEquals(
        List.of(
            "RunStart",
            "ApprovalResolved",
            "StepFinish",
            "StepStart",
            "Output",
            "Output",
            "StepFinish",
            "Output",
            "RunFinish"),
        shown);
  }

  @Test
  @Tag("A95")
  @Tag("A79")
  void what_the_provider_of_a_child_asks_is_asked_by_the_parent() {
    Family family =
        new Family()
            .answers("desk", FakeModel.calls(Family.ask("c1", "clerk", "Do it.")), text("Done."))
            .model("clerk", FakeModel.of(noting(clerk(asks("r1")), text("Did."))));
    Program program = family.program(store);
    Agent desk = Family.agent("desk").subAgents(Family.agent("clerk").build()).build();
    AgentResult result = program.agents.run(AgentRequest.builder(desk, "Do it.").build());

    ApprovalRequested asked = result.pendingApprovals().getFirst();
    assertEquals(ApprovalRequested.Kind.SUBAGENT, asked.kind());
    assertEquals(Optional.of("docs"), asked.provider().orElseThrow().server());
    AgentResult done = program.agents.resume(desk, result.run(), approveAll(result));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(Answer.approve()), sent.getLast());
    program.assertNothingIsLeft();
  }

  /** The model of that agent has its id. */
  private static FakeModel.Answer clerk(FakeModel.Answer asks) {
    return question -> {
      ModelResponse response = asks.give(question);
      ProviderState state = response.message().approvals().getFirst();
      ProviderState own =
          ProviderState.of(state.protocol(), "clerk", state.data())
              .asking(state.approval().orElseThrow());
      return new ModelResponse(
          new Message(Role.ASSISTANT, List.of(own)),
          response.finishReason(),
          response.usage(),
          Optional.empty());
    };
  }

  @Test
  @Tag("F70")
  @Tag("A150")
  void it_replays_shows_in_the_timeline_and_is_not_forked_before_it_was_told() {
    Agent agent = builder().providerApprovalExpiry(Duration.ofDays(1)).build();
    AgentResult result = waiting(agent);
    Runs runs = Runs.in(store, program.time);
    RunState decided =
        runs.decide(
            result.run(),
            ApprovalDecision.approve(result.pendingApprovals().getFirst().requestId()));
    assertEquals(List.of(), decided.openApprovals());

    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class, () -> runs.fork(result.run(), decided.sequence()));
    assertTrue(String.valueOf(refused.getMessage()).contains("was to be sent"));
    var _ = program.agents.resume(agent, result.run());
    List<LoggedEvent> log = program.log(result.run());
    for (int events = 1; events <= log.size(); events++) {
      assertEquals(
          Optional.empty(), Replay.ofRun(log.subList(0, events)).against(agent), "to " + events);
      String shown = Timeline.of(log.subList(0, events)).toString();
      assertFalse(shown.contains("ä"), shown);
    }
  }

  @Test
  @Tag("A10")
  void a_run_that_is_cancelled_waits_for_nobody() {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);

    var _ = Runs.in(store, program.time).cancel(result.run(), "no longer needed");
    AgentResult cancelled = program.agents.resume(agent, result.run());

    assertEquals(RunStatus.CANCELLED, cancelled.status());
    assertEquals(List.of(), cancelled.pendingApprovals());
    assertEquals(1, sent.size());
  }

  @Test
  @Tag("A149")
  @Tag("C50")
  void a_log_that_is_handed_in_is_gone_on_with() {
    Agent agent = builder().build();
    AgentResult result = waiting(agent);
    Program other =
        Program.on(RunStore.inMemory(), FakeModel.of(noting(asks("r1"), text("Done."))));

    AgentResult done = other.agents.resume(agent, result.log(), approveAll(result));

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(Answer.approve()), sent.getLast());
    other.assertNothingIsLeft();
  }

  @Test
  @Tag("A106")
  void a_request_that_brings_another_decision_under_the_same_key_is_another_request() {
    program = program(asks("r1"), text("Done."));
    Agent agent = Agent.builder("agent", Program.ROUTE).build();
    Conversation asked =
        Conversation.of(
            List.of(
                Message.user("Do it."),
                new Message(Role.ASSISTANT, List.of(asking("r1").issuedBy("fake")))));
    AgentRequest yes = request(agent, asked.answered("fake", "r1", Answer.approve()));

    AgentResult done = program.agents.run(yes);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(List.of(List.of(Answer.approve())), sent);
    assertEquals(done.run(), program.agents.run(yes).run());
    AgentRequest no = request(agent, asked.answered("fake", "r1", Answer.deny("no")));
    assertThrows(ConflictException.class, () -> program.agents.run(no));
  }

  private static AgentRequest request(Agent agent, List<Message> messages) {
    return AgentRequest.builder(agent, messages).idempotencyKey("key").build();
  }

  @Test
  void nothing_of_what_is_asked_is_shown_by_a_to_string() {
    ProviderApproval asked =
        ProviderApproval.of("r1", Optional.empty(), "search", Json.of(Map.of("q", "s3cr3t")));
    String shown =
        asked.answered(Answer.deny("s3cr3t")).toString()
            + asking("r1").asking(asked)
            + Answer.deny("s3cr3t");
    assertFalse(shown.contains("s3cr3t"), shown);
    assertTrue(shown.contains("search"), shown);
  }
}
