package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.breaking;
import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.telling;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.StreamEvent;
import dev.warpwright.agent.AgentEvent.ApprovalRequest;
import dev.warpwright.agent.AgentEvent.ApprovalResolved;
import dev.warpwright.agent.AgentEvent.Failure;
import dev.warpwright.agent.AgentEvent.Output;
import dev.warpwright.agent.AgentEvent.RunFinish;
import dev.warpwright.agent.AgentEvent.RunStart;
import dev.warpwright.agent.AgentEvent.StepFinish;
import dev.warpwright.agent.AgentEvent.StepStart;
import dev.warpwright.agent.AgentEvent.ToolFinish;
import dev.warpwright.agent.AgentEvent.ToolStart;
import dev.warpwright.agent.World.Effect;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Route;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.model.StoreException;
import dev.warpwright.model.Usage;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs that somebody watches. */
@Timeout(60)
final class AgentStreamTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Duration MINUTE = Duration.ofMinutes(1);

  @RegisterExtension private final LeakCheck leaks = new LeakCheck();
  private final World world = new World();
  private final RunStore store = RunStore.inMemory();

  private Program watch(Program program) {
    leaks.watch(program.gateway);
    leaks.watch(program.time);
    return program;
  }

  private Program program(FakeModel.Answer... answers) {
    return watch(Program.on(store, FakeModel.of(answers)));
  }

  private Program program(FakeModel model, FakeModel spare) {
    return watch(Program.on(store, model, spare));
  }

  /** A program whose streams may be so many events ahead of their reader. */
  private Program ahead(int events, FakeModel model) {
    return watch(Program.having(store, model, builder -> builder.streamBufferEvents(events)));
  }

  private static Agent.Builder agent(Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools);
  }

  private static Agent twoTargets(Tool... tools) {
    return Agent.builder("agent", Route.of(Program.TARGET, Program.SPARE)).tools(tools).build();
  }

  private static AgentRequest request(Agent agent) {
    return request(agent, UnaryOperator.identity());
  }

  private static AgentRequest request(Agent agent, UnaryOperator<Invocation.Builder> options) {
    return AgentRequest.builder(agent, "Do it.")
        .runId("run-1")
        .idempotencyKey("key")
        .invocation(options.apply(Invocation.builder()).build())
        .build();
  }

  private Tool once(String name) {
    return world.tool(name, EffectClass.ONCE).build();
  }

  private static List<AgentEvent> read(AgentStream stream) {
    List<AgentEvent> events = new ArrayList<>();
    stream.forEach(events::add);
    return events;
  }

  /** What a reader sees until the stream throws. */
  private static List<AgentEvent> readUntilThrown(
      AgentStream stream, Class<? extends Throwable> type) {
    List<AgentEvent> events = new ArrayList<>();
    Throwable thrown = assertThrows(type, () -> stream.forEach(events::add));
    assertSame(
        thrown,
        events.stream()
            .filter(Failure.class::isInstance)
            .map(event -> ((Failure) event).cause())
            .findFirst()
            .orElseThrow());
    return events;
  }

  private static List<String> lines(List<AgentEvent> events) {
    return events.stream().map(AgentStreamTest::line).toList();
  }

  private static String line(AgentEvent event) {
    return switch (event) {
      case RunStart(String run, int step, int max) -> "start " + run + " " + step + "/" + max;
      case ApprovalResolved(var decision) -> "resolved " + decision.approve();
      case StepStart(int step) -> "step " + step;
      case AgentEvent.Compaction(int before, int from, int to) ->
          "compacted " + before + " " + from + "/" + to;
      case Output(StreamEvent.TextDelta(String piece)) -> "\"" + piece + "\"";
      case Output(StreamEvent.ToolCalled(var call)) -> "called " + call.id();
      case Output(StreamEvent.ToolReturned(var result)) -> "returned " + result.callId();
      case Output(StreamEvent.Finish(var reason, Usage usage, boolean last)) ->
          (last ? "all " : "end ") + reason.kind() + " " + usage.output().tokens();
      case Output(StreamEvent other) -> "output " + other;
      case ApprovalRequest(var asked) -> "asked for " + asked.callId();
      case ToolStart(int step, var call, int attempt) ->
          "begin " + call.id() + " in " + step + (attempt == 1 ? "" : " again");
      case ToolFinish end ->
          "done "
              + end.callId()
              + " in "
              + end.step()
              + (end.executed() ? "" : " refused")
              + (end.error() ? " error" : "");
      case StepFinish(int step) -> "stepped " + step;
      case Failure(RunFailedException failed) -> "failure " + failed.kind();
      case Failure(Throwable cause) -> "thrown " + cause.getClass().getSimpleName();
      case RunFinish finish -> "finish " + finish.status();
    };
  }

  @Test
  @Tag("A138")
  @Tag("R149")
  @Tag("C8")
  void one_step_is_shown_from_its_start_to_the_end_of_the_run() {
    Program program = program(text("It scatters."));
    try (AgentStream stream = program.agents.stream(request(agent().build()))) {
      List<AgentEvent> events = read(stream);

      assertEquals(
          List.of(
              "start run-1 0/10",
              "step 1",
              "\"It \"",
              "\"scatters.\"",
              "end STOP 5",
              "stepped 1",
              "all STOP 5",
              "finish COMPLETED"),
          lines(events));
      AgentResult result = stream.collect();
      assertEquals("It scatters.", result.text());
      RouteBound bound = only(program, RouteBound.class);
      assertEquals(Optional.of(bound.decision()), result.state().decision());
      assertSame(result.state(), assertInstanceOf(RunFinish.class, events.getLast()).state());
      assertTrue(result.driven());
    }
  }

  private static <E extends RunEvent> E only(Program program, Class<E> type) {
    List<E> found = program.events(RUN).stream().filter(type::isInstance).map(type::cast).toList();
    assertEquals(1, found.size(), found::toString);
    return found.getFirst();
  }

  @Test
  @Tag("A138")
  @Tag("C8")
  void a_tool_step_shows_the_call_the_run_of_the_tool_and_its_result() {
    Program program = program(saying("Refunding. ", call("c1", "refund", "o1")), text("Done."));
    try (AgentStream stream = program.agents.stream(request(agent(once("refund")).build()))) {
      assertEquals(
          List.of(
              "start run-1 0/10",
              "step 1",
              "\"Refunding. \"",
              "called c1",
              "end TOOL_CALLS 5",
              "begin c1 in 1",
              "done c1 in 1",
              "returned c1",
              "stepped 1",
              "step 2",
              "\"Done.\"",
              "end STOP 5",
              "stepped 2",
              "all STOP 10",
              "finish COMPLETED"),
          lines(read(stream)));
      assertEquals("Refunding. Done.", stream.collect().text());
    }
  }

  @Test
  @Tag("A138")
  void tools_that_overlap_all_begin_first_and_each_end_is_shown_as_it_comes() {
    CountDownLatch secondShown = new CountDownLatch(1);
    Tool slow =
        Tool.of(
            "slow",
            "",
            World.Order.class,
            EffectClass.PURE,
            (input, context) -> {
              secondShown.await();
              return "slow";
            });
    Program program =
        program(
            calls(call("c1", "slow", "o1"), call("c2", "refund", "o1"), call("c3", "no", "o1")),
            text("Done."));
    try (AgentStream stream = program.agents.stream(request(agent(slow, once("refund")).build()))) {
      List<AgentEvent> events = new ArrayList<>();
      for (AgentEvent event : stream) {
        events.add(event);
        if (line(event).equals("done c2 in 1")) {
          secondShown.countDown();
        }
      }

      assertEquals(
          List.of(
              "called c1",
              "called c2",
              "called c3",
              "end TOOL_CALLS 5",
              "done c3 in 1 refused error",
              "returned c3",
              "begin c1 in 1",
              "begin c2 in 1",
              "done c2 in 1",
              "returned c2",
              "done c1 in 1",
              "returned c1",
              "stepped 1",
              "step 2"),
          lines(events).subList(2, 16));
    }
  }

  @Test
  @Tag("A138")
  @Tag("A85")
  void an_approval_ends_the_stream_and_the_resumed_one_goes_on_in_the_same_step() {
    Tool refund = world.tool("refund", EffectClass.ONCE).requiresApproval().build();
    Program program =
        program(calls(call("c1", "refund", "o1"), call("c2", "refund", "o2")), text("Done."));
    Agent agent = agent(refund).build();
    AgentResult waiting;
    try (AgentStream stream = program.agents.stream(request(agent))) {
      assertEquals(
          List.of(
              "start run-1 0/10",
              "step 1",
              "called c1",
              "called c2",
              "end TOOL_CALLS 5",
              "asked for c1",
              "asked for c2",
              "finish WAITING_APPROVAL"),
          lines(read(stream)));
      waiting = stream.collect();
    }
    List<ApprovalDecision> decisions =
        List.of(
            ApprovalDecision.approve(waiting.pendingApprovals().getFirst().requestId()),
            ApprovalDecision.deny(waiting.pendingApprovals().getLast().requestId(), "too much"));
    try (AgentStream stream = program.agents.stream(agent, RUN)) {
      assertEquals(List.of("finish WAITING_APPROVAL"), lines(read(stream)));
    }
    try (AgentStream stream = program.agents.stream(agent, RUN, decisions.getFirst())) {
      assertEquals(List.of("resolved true", "finish WAITING_APPROVAL"), lines(read(stream)));
    }
    try (AgentStream stream = program.agents.stream(agent, RUN, decisions.getLast())) {
      assertEquals(
          List.of(
              "start run-1 1/10",
              "resolved false",
              "done c2 in 1 refused error",
              "returned c2",
              "begin c1 in 1",
              "done c1 in 1",
              "returned c1",
              "stepped 1",
              "step 2",
              "\"Done.\"",
              "end STOP 5",
              "stepped 2",
              "all STOP 10",
              "finish COMPLETED"),
          lines(read(stream)));
    }
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A91")
  void who_has_seen_the_end_of_a_stream_can_resume_the_run_at_once() {
    Tool refund = world.tool("refund", EffectClass.ONCE).requiresApproval().build();
    Program program = program(calls(call("c1", "refund", "o1")), text("Done."));
    Agent agent = agent(refund).build();
    try (AgentStream stream = program.agents.stream(request(agent))) {
      for (AgentEvent event : stream) {
        if (event instanceof RunFinish finish) {
          String id = finish.state().pendingApprovals().getFirst().requestId();
          AgentResult result = program.agents.resume(agent, RUN, ApprovalDecision.approve(id));
          assertEquals(RunStatus.COMPLETED, result.status());
        }
      }
    }
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A138")
  @Tag("A143")
  @Tag("A29")
  void a_failure_that_is_in_the_log_is_shown_and_returned_but_not_thrown() {
    Program program = program(calls(call("c1", "refund", "o1")), text("Never."));
    try (AgentStream stream =
        program.agents.stream(request(agent(once("refund")).maxSteps(1).build()))) {
      List<String> lines = lines(read(stream));

      assertEquals(List.of("stepped 1", "failure LIMIT", "finish FAILED"), last(3, lines));
      assertEquals("start run-1 0/1", lines.getFirst());
      AgentResult result = stream.collect();
      assertEquals(FailureKind.LIMIT, result.state().failure().orElseThrow().kind());
      assertEquals(only(program, RunFailed.class), result.state().failure().get());
      assertThrows(RunFailedException.class, result::orThrow);
    }
  }

  private static <T> List<T> last(int count, List<T> list) {
    return list.subList(list.size() - count, list.size());
  }

  @Test
  @Tag("A138")
  @Tag("A143")
  void a_run_that_has_ended_shows_nothing_but_that() {
    Program program = program(text("Done."));
    Agent agent = agent().build();
    AgentResult done = program.agents.run(request(agent));
    List<LoggedEvent> log = program.log(RUN);

    for (AgentStream ended :
        List.of(
            program.agents.stream(agent, RUN),
            program.agents.stream(request(agent)),
            program.agents.stream(agent, log))) {
      try (ended) {
        assertEquals(List.of("finish COMPLETED"), lines(read(ended)));
        assertEquals(done.text(), ended.collect().text());
        assertFalse(ended.collect().driven());
      }
    }
    assertEquals(log, program.log(RUN));
  }

  @Test
  @Tag("A143")
  void a_failure_of_an_earlier_invocation_is_not_shown_as_one_of_this() {
    Program program = program(FakeModel.ended(FinishReason.Kind.LENGTH, "I", call("c1", "x", "o")));
    Agent agent = agent().build();
    assertTrue(program.agents.run(request(agent)).state().isTerminal());

    try (AgentStream stream = program.agents.stream(agent, RUN)) {
      assertEquals(List.of("finish FAILED"), lines(read(stream)));
    }
  }

  @Test
  @Tag("A143")
  void a_run_that_is_cancelled_finishes_as_that_and_did_not_fail() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    Program program =
        program(
            call -> {
              asked.countDown();
              new CountDownLatch(1).await();
              throw new AssertionError("unreachable");
            });
    try (AgentStream stream = program.agents.stream(request(agent().build()))) {
      asked.await();
      var _ = Runs.in(store).cancel(RUN, "not needed");

      assertEquals(List.of("start run-1 0/10", "step 1", "finish CANCELLED"), lines(read(stream)));
      assertEquals("RunCancelled", program.types(RUN).getLast());
    }
  }

  @Test
  @Tag("C14")
  @Tag("R134")
  @Tag("R136")
  @Tag("A12")
  void a_stream_that_breaks_after_it_was_seen_fails_and_is_asked_again_when_it_is_resumed() {
    AtomicBoolean first = new AtomicBoolean(true);
    FakeModel model =
        FakeModel.of(
            telling(
                (call, events) ->
                    (first.getAndSet(false) ? breaking("It sca") : text("It scatters."))
                        .tell(call, events)));
    FakeModel spare = FakeModel.of(text("Never."));
    Program program = program(model, spare);
    Agent agent = twoTargets();
    try (AgentStream stream = program.agents.stream(request(agent))) {
      assertEquals(
          List.of(
              "start run-1 0/10", "step 1", "\"It sca\"", "failure STREAM_BROKEN", "finish FAILED"),
          lines(read(stream)));
      assertTrue(stream.collect().state().failure().orElseThrow().resumable());
    }
    assertEquals(List.of(), spare.asked());
    try (AgentStream stream = program.agents.stream(agent, RUN)) {
      assertEquals(
          List.of("start run-1 1/10", "step 1", "\"It \"", "\"scatters.\""),
          lines(read(stream)).subList(0, 4));
      assertEquals("It scatters.", stream.collect().text());
    }
    assertEquals(List.of(), spare.asked());
  }

  @Test
  @Tag("C48")
  @Tag("R387")
  @Tag("R134")
  void a_later_step_falls_back_until_its_own_first_event_and_no_tool_runs_again() {
    FakeModel model = FakeModel.of(saying("Refunding. ", call("c1", "refund", "o1")), status(503));
    FakeModel spare = FakeModel.of(text("Never."), text("Refunded."));
    Program program = program(model, spare);
    try (AgentStream stream = program.agents.stream(request(twoTargets(once("refund"))))) {
      List<String> lines = lines(read(stream));

      assertEquals(
          List.of("step 2", "\"Refunded.\"", "end STOP 5", "stepped 2"),
          lines.subList(lines.indexOf("step 2"), lines.indexOf("step 2") + 4));
      assertEquals("Refunding. Refunded.", stream.collect().text());
    }
    assertEquals(1, world.effects().size());
    assertEquals(List.of(1), spare.asked());
  }

  @Test
  @Tag("C48")
  @Tag("R387")
  void a_later_step_that_breaks_after_its_first_event_ends_the_run_without_a_fallback() {
    FakeModel model = FakeModel.of(calls(call("c1", "refund", "o1")), breaking("Ref"));
    FakeModel spare = FakeModel.of(text("Never."), text("Never."));
    Program program = program(model, spare);
    try (AgentStream stream = program.agents.stream(request(twoTargets(once("refund"))))) {
      assertEquals(
          List.of("step 2", "\"Ref\"", "failure STREAM_BROKEN", "finish FAILED"),
          last(4, lines(read(stream))));
    }
    assertEquals(1, world.effects().size());
    assertEquals(List.of(), spare.asked());
  }

  @Test
  @Tag("C31")
  @Tag("R125")
  void the_deadline_of_the_invocation_ends_a_stream() throws Exception {
    CountDownLatch told = new CountDownLatch(1);
    Program program =
        program(
            telling(
                (call, events) -> {
                  events.tell(new ModelEvent.Text("It "));
                  told.countDown();
                  new CountDownLatch(1).await();
                  throw new AssertionError("unreachable");
                }));
    try (AgentStream stream =
        program.agents.stream(
            request(agent().build(), options -> options.timeout(MINUTE.dividedBy(2))))) {
      told.await();
      program.time.awaitAlarmIn(MINUTE.dividedBy(2));
      program.time.advance(MINUTE.dividedBy(2));

      assertEquals(
          List.of("\"It \"", "failure DEADLINE", "finish FAILED"), last(3, lines(read(stream))));
    }
  }

  @Test
  @Tag("C24")
  @Tag("R153")
  @Tag("R121")
  void the_deadline_gives_the_place_back_although_the_provider_never_returns() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    AtomicBoolean first = new AtomicBoolean(true);
    FakeModel model =
        FakeModel.of(
            call -> {
              if (first.getAndSet(false)) {
                asked.countDown();
                awaitStubbornly(gate);
              }
              return text("The place is free.").give(call);
            });
    AdmissionController onePlace =
        AdmissionController.local(AdmissionPolicy.builder(1).build(), new ManualTime());
    Program program = watch(Program.having(store, model, builder -> builder.admission(onePlace)));
    Agent agent = agent().build();
    try (AgentStream stream =
        program.agents.stream(request(agent, options -> options.timeout(MINUTE)))) {
      asked.await();
      program.time.awaitAlarmIn(MINUTE);
      program.time.advance(MINUTE);
      program.time.awaitAlarmIn(Duration.ofMillis(100)); // the grace
      program.time.advance(Duration.ofMillis(100));

      assertEquals(List.of("failure DEADLINE", "finish FAILED"), last(2, lines(read(stream))));
    }
    try (AgentStream stream = program.agents.stream(agent, RUN)) {
      assertEquals("The place is free.", stream.collect().text());
    }
    gate.countDown();
  }

  /** Waits through interrupts, as a stubborn adapter does. */
  private static void awaitStubbornly(CountDownLatch gate) {
    while (true) {
      try {
        gate.await();
        return;
      } catch (InterruptedException e) {
        // ignored: that is the point
      }
    }
  }

  @Test
  void a_stream_ends_with_the_scope_in_which_it_was_made() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    Program program =
        program(
            call -> {
              asked.countDown();
              new CountDownLatch(1).await();
              throw new AssertionError("unreachable");
            });
    try (TaskScope scope =
        program.agents.tasks().open("page", "page", Deadline.after(program.time, MINUTE))) {
      try (AgentStream stream = program.agents.stream(request(agent().build()))) {
        asked.await();
        program.time.awaitAlarmIn(MINUTE);
        program.time.advance(MINUTE);

        assertEquals(List.of("failure DEADLINE", "finish FAILED"), last(2, lines(read(stream))));
      }
      assertTrue(scope.deadline().hasPassed());
    }
  }

  @Test
  @Tag("R15")
  void a_bad_request_is_refused_by_the_call_and_leaves_no_run() {
    Program program = program(text("Never."));
    Agent agent = agent().build();
    Cancellation cancelled = new Cancellation();
    cancelled.cancel("no more");
    assertThrows(
        OperationCancelledException.class,
        () -> program.agents.stream(request(agent, options -> options.cancellation(cancelled))));
    assertThrows(
        OperationCancelledException.class,
        () ->
            program.agents.stream(
                agent, RUN, List.of(), Invocation.builder().cancellation(cancelled).build()));
    Agent small = agent().maxStateBytes(1024).instructions("x".repeat(2048)).build();
    assertThrows(LimitExceededException.class, () -> program.agents.stream(request(small)));
    assertThrows(
        InvalidRequestException.class, () -> program.agents.stream(agent, List.<LoggedEvent>of()));
    program.gateway.close();
    assertThrows(InvalidRequestException.class, () -> program.agents.stream(request(agent)));
    assertThrows(InvalidRequestException.class, () -> program.agents.stream(agent, RUN));

    assertEquals(List.of(), program.gateway.diagnostics().liveTasks());
    assertEquals(List.of(), program.runs());
  }

  @Test
  @Tag("R15")
  void what_only_the_store_knows_is_thrown_by_the_stream() {
    Tool refund = world.tool("refund", EffectClass.ONCE).requiresApproval().build();
    Program program = program(calls(call("c1", "refund", "o1")));
    Agent agent = agent(refund).build();
    try (AgentStream unknown = program.agents.stream(agent, RUN)) {
      assertEquals(
          List.of("thrown InvalidRequestException"),
          lines(readUntilThrown(unknown, InvalidRequestException.class)));
      assertThrows(InvalidRequestException.class, unknown::collect);
    }
    var _ = program.agents.run(request(agent));
    try (AgentStream another = program.agents.stream(agent, RUN, ApprovalDecision.approve("?"))) {
      assertEquals(
          List.of("thrown InvalidRequestException"),
          lines(readUntilThrown(another, InvalidRequestException.class)));
    }
    AgentRequest other = AgentRequest.builder(agent, "Else.").idempotencyKey("key").build();
    try (AgentStream conflict = program.agents.stream(other)) {
      assertThrows(ConflictException.class, conflict::collect);
    }
  }

  @Test
  @Tag("A139")
  @Tag("R13")
  @Tag("R14")
  void a_stream_is_read_once_and_collect_reads_what_is_left() {
    Program program = program(saying("One two. ", call("c1", "refund", "o1")), text("Three."));
    try (AgentStream stream = program.agents.stream(request(agent(once("refund")).build()))) {
      Iterator<String> pieces = stream.text().iterator();
      assertEquals("One ", pieces.next());

      AgentResult result = stream.collect();
      assertEquals("One two. Three.", result.text());
      assertEquals(1, result.toolCalls());
      assertSame(result, stream.collect());
      assertFalse(pieces.hasNext());
      assertThrows(IllegalStateException.class, stream::iterator);
      assertThrows(IllegalStateException.class, () -> stream.text().iterator());
    }
  }

  @Test
  @Tag("R14")
  void collect_alone_works_and_text_shows_the_text_only() {
    Program program = program(saying("One two. ", call("c1", "refund", "o1")), text("Three."));
    Agent agent = agent(once("refund")).build();
    try (AgentStream stream =
        program.agents.stream(AgentRequest.builder(agent, "Do it.").build())) {
      assertEquals(RunStatus.COMPLETED, stream.collect().status());
      assertTrue(stream.collect().tasks().isPresent());
    }
    try (AgentStream stream =
        program.agents.stream(AgentRequest.builder(agent, "Do it.").build())) {
      List<String> pieces = new ArrayList<>();
      stream.text().forEach(pieces::add);
      assertEquals(List.of("One ", "two. ", "Three."), pieces);
    }
  }

  @Test
  @Tag("R151")
  @Tag("R17")
  @Tag("A29")
  void closing_ends_the_invocation_as_an_interrupt_does_and_the_run_can_be_resumed() {
    AtomicBoolean first = new AtomicBoolean(true);
    Program program =
        program(
            telling(
                (call, events) -> {
                  if (!first.getAndSet(false)) {
                    return text("It scatters.").tell(call, events);
                  }
                  events.tell(new ModelEvent.Text("It "));
                  new CountDownLatch(1).await();
                  throw new AssertionError("unreachable");
                }));
    Agent agent = agent().build();
    AgentStream stream = program.agents.stream(request(agent));
    Iterator<AgentEvent> events = stream.iterator();
    List<AgentEvent> seen = new ArrayList<>();
    while (!(seen.isEmpty() ? "" : line(seen.getLast())).equals("\"It \"")) {
      seen.add(events.next());
    }

    stream.close();

    var thrown =
        assertThrows(OperationCancelledException.class, () -> events.forEachRemaining(seen::add));
    assertEquals(Optional.of("run-1"), thrown.trace().runId());
    assertEquals(
        List.of("\"It \"", "thrown OperationCancelledException", "finish FAILED"),
        last(3, lines(seen)));
    assertThrows(OperationCancelledException.class, stream::collect);
    RunFailed failure = only(program, RunFailed.class);
    assertEquals(FailureKind.CANCELLED, failure.kind());
    assertTrue(failure.resumable());
    stream.close();
    try (AgentStream again = program.agents.stream(agent, RUN)) {
      assertEquals("It scatters.", again.collect().text());
    }
  }

  @Test
  @Tag("R151")
  void closing_a_stream_that_has_ended_does_nothing() {
    Program program = program(text("Done."));
    AgentStream stream = program.agents.stream(request(agent().build()));
    AgentResult result = stream.collect();
    List<LoggedEvent> log = program.log(RUN);

    stream.close();

    assertSame(result, stream.collect());
    assertEquals(log, program.log(RUN));
  }

  @Test
  @Tag("R17")
  @Tag("R116")
  void an_interrupt_of_the_reader_and_the_handle_cancel_the_invocation() throws Exception {
    CountDownLatch asked = new CountDownLatch(2);
    Program program =
        program(
            call -> {
              asked.countDown();
              new CountDownLatch(1).await();
              throw new AssertionError("unreachable");
            });
    Agent agent = agent().build();
    Cancellation handle = new Cancellation();
    AgentRequest handled =
        AgentRequest.builder(agent, "Do it.")
            .invocation(Invocation.builder().cancellation(handle).build())
            .build();
    AtomicBoolean leftInterrupted = new AtomicBoolean();
    Thread reader;
    try (AgentStream interrupted = program.agents.stream(request(agent));
        AgentStream cancelled = program.agents.stream(handled)) {
      reader =
          Thread.ofVirtual()
              .start(
                  () -> {
                    assertThrows(OperationCancelledException.class, interrupted::collect);
                    leftInterrupted.set(Thread.currentThread().isInterrupted());
                  });
      asked.await();
      reader.interrupt();
      reader.join();
      handle.cancel("no more");

      assertTrue(leftInterrupted.get());
      var thrown = assertThrows(OperationCancelledException.class, cancelled::collect);
      assertTrue(String.valueOf(thrown.getMessage()).contains("no more"));
    }
    assertEquals(FailureKind.CANCELLED, only(program, RunFailed.class).kind());
  }

  @Test
  @Tag("R151")
  @Tag("A55")
  void closing_while_a_tool_that_acts_once_is_at_work_never_repeats_it() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Tool refund =
        Tool.builder(
                "refund",
                "",
                World.Order.class,
                EffectClass.ONCE,
                (input, context) -> {
                  String done = world.act("refund", input, context);
                  begun.countDown();
                  new CountDownLatch(1).await();
                  return done;
                })
            .build();
    Program program = program(calls(call("c1", "refund", "o1")), text("Refunded."));
    Agent agent = agent(refund).build();
    AgentStream stream = program.agents.stream(request(agent));
    begun.await();

    stream.close();

    List<String> seen = lines(readUntilThrown(stream, OperationCancelledException.class));
    assertEquals(
        List.of(
            "begin c1 in 1", "thrown OperationCancelledException", "finish NEEDS_RECONCILIATION"),
        last(3, seen));
    try (AgentStream again = program.agents.stream(agent, RUN)) {
      assertEquals(List.of("finish NEEDS_RECONCILIATION"), lines(read(again)));
    }
    assertEquals(1, world.effects().size());
  }

  @Test
  @Tag("A36")
  @Tag("R155")
  void an_answer_is_kept_though_its_reader_was_too_slow_to_see_it() throws Exception {
    FakeModel model = FakeModel.of(calls(call("c1", "refund", "o1")), text("Refunded."));
    Program program = ahead(4, model); // two events are ahead, the call has no room
    Agent agent = agent(once("refund")).build();
    try (AgentStream stream =
        program.agents.stream(request(agent, options -> options.timeout(MINUTE)))) {
      awaitEvent(program, ModelResponded.class);
      program.time.awaitAlarmIn(MINUTE);
      program.time.advance(MINUTE);
      awaitEnd(program);

      assertEquals(
          List.of("start run-1 0/10", "step 1", "failure DEADLINE", "finish FAILED"),
          lines(read(stream)));
    }
    assertEquals(List.of(), world.effects());

    AgentResult result = program.agents.resume(agent, RUN);

    assertEquals("Refunded.", result.text());
    assertEquals(List.of(0, 1), model.asked());
    assertEquals(List.of("refund"), world.effects().stream().map(Effect::tool).toList());
  }

  @Test
  @Tag("A36")
  @Tag("R155")
  void a_final_answer_completes_the_run_though_its_reader_was_too_slow_to_see_the_end()
      throws Exception {
    Program program = ahead(6, FakeModel.of(text("Done.")));
    try (AgentStream stream =
        program.agents.stream(request(agent().build(), options -> options.timeout(MINUTE)))) {
      awaitEvent(program, RunCompleted.class);
      program.time.awaitAlarmIn(MINUTE);
      program.time.advance(MINUTE);
      awaitEnd(program);

      assertEquals(
          List.of("start run-1 0/10", "step 1", "\"Done.\"", "finish COMPLETED"),
          lines(read(stream)));
      assertEquals(RunStatus.COMPLETED, stream.collect().status());
    }
  }

  /** Waits until the driver has written such an event, while nobody reads what it shows. */
  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  private static void awaitEvent(Program program, Class<? extends RunEvent> type) {
    while (program.runs().isEmpty() || program.events(RUN).stream().noneMatch(type::isInstance)) {
      Thread.yield();
    }
  }

  /** Waits until the stream has ended, while nobody reads it. */
  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  private static void awaitEnd(Program program) {
    while (!program.gateway.diagnostics().liveTasks().isEmpty()) {
      Thread.yield();
    }
  }

  @Test
  @Tag("R155")
  void a_reader_that_is_slow_misses_nothing() {
    FakeModel model =
        FakeModel.of(
            saying("One two three four. ", call("c1", "refund", "o1"), call("c2", "refund", "o2")),
            saying("Five six. ", call("c3", "refund", "o3")),
            text("Seven."));
    Agent agent = agent(once("refund")).build();
    List<String> all;
    Program far = ahead(256, model.sequential());
    try (AgentStream stream =
        far.agents.stream(AgentRequest.builder(agent, "Do it.").runId("r").build())) {
      all = lines(read(stream));
    }
    Program near = ahead(2, model.sequential());
    try (AgentStream stream =
        near.agents.stream(AgentRequest.builder(agent, "Do it.").runId("s").build())) {
      assertEquals(all.subList(1, all.size()), lines(read(stream)).subList(1, all.size()));
    }
  }

  @Test
  @Tag("A143")
  void nothing_is_said_of_how_the_run_stands_if_its_store_failed() {
    RunStore broken =
        new WaitingStore(
            store,
            append -> {
              if (append.events().getLast() instanceof RunCompleted) {
                throw new StoreException("The disk is full.", null);
              }
            });
    Program program = watch(Program.on(broken, FakeModel.of(text("Done."))));
    try (AgentStream stream = program.agents.stream(request(agent().build()))) {
      assertEquals(
          List.of("start run-1 0/10", "step 1", "\"Done.\"", "thrown StoreException"),
          lines(readUntilThrown(stream, StoreException.class)));
    }
  }

  @Test
  @Tag("A107")
  @Tag("A138")
  void a_stream_of_a_run_that_another_caller_drives_shows_how_that_left_it() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch go = new CountDownLatch(1);
    WaitingStore waiting = new WaitingStore(store);
    Program program =
        watch(
            Program.on(
                waiting,
                FakeModel.of(
                    call -> {
                      asked.countDown();
                      go.await();
                      return text("Done.").give(call);
                    })));
    AgentRequest request = request(agent().build());
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> driver = pool.submit(() -> program.agents.run(request));
      asked.await();
      try (AgentStream attached = program.agents.stream(request)) {
        waiting.waiting.await();
        go.countDown();

        assertEquals(List.of("finish COMPLETED"), lines(read(attached)));
        assertFalse(attached.collect().driven());
      }
      assertTrue(driver.get().driven());
    }
  }

  @Test
  void no_event_shows_content() {
    Tool refund = world.tool("refund", EffectClass.ONCE).requiresApproval().build();
    Program program =
        program(saying("secret ", call("c1", "refund", "secret")), breaking("secret"));
    Agent agent = agent(refund).build();
    List<AgentEvent> events = new ArrayList<>();
    try (AgentStream stream = program.agents.stream(request(agent))) {
      stream.forEach(events::add);
    }
    String id = program.agents.resume(agent, RUN).pendingApprovals().getFirst().requestId();
    ApprovalDecision decision = ApprovalDecision.approve(id).by("ann");
    try (AgentStream stream = program.agents.stream(agent, RUN, decision)) {
      stream.forEach(events::add);
    }

    assertTrue(events.stream().anyMatch(Failure.class::isInstance));
    for (AgentEvent event : events) {
      assertFalse(event.toString().contains("secret"), event::toString);
    }
  }
}
