package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.Timeline.Call;
import dev.warpwright.run.Timeline.Entry;
import dev.warpwright.run.Timeline.Outcome;
import dev.warpwright.run.Timeline.Step;
import dev.warpwright.run.Timeline.Try;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a log shows of times and outcomes. */
@Tag("A137")
final class TimelineTest {
  private static final String SECRET = "PRIVATE";
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Writer WRITER = new Writer("owner", 1);
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final Target TARGET = Target.of("fake", "model");
  private static final Json PRIVATE = Json.parse("{\"order\":\"" + SECRET + "\"}");
  private static final Attempt SKIP =
      Attempt.skip(1, TARGET, Attempt.ReasonCode.CIRCUIT_OPEN, 0, "");

  private final List<LoggedEvent> log = new ArrayList<>();

  TimelineTest() {
    at(
        0,
        new RunStarted(
            "agent",
            "1",
            Map.of(),
            Optional.empty(),
            List.of(Message.user(SECRET)),
            10,
            List.of(TARGET),
            Map.of("note", SECRET)));
  }

  private void at(int second, RunEvent... events) {
    for (RunEvent event : events) {
      log.add(new LoggedEvent(RUN, log.size() + 1L, WRITER, NOON.plusSeconds(second), event));
    }
  }

  private static ModelResponded answer(int step, String... callIds) {
    List<Part> parts = new ArrayList<>(List.of(new Part.Text(SECRET)));
    for (String id : callIds) {
      parts.add(new ToolCall(id, "tool", PRIVATE));
    }
    return new ModelResponded(
        step,
        TARGET,
        new Message(Role.ASSISTANT, parts),
        new FinishReason(FinishReason.Kind.STOP, "stop"),
        Usage.reported(10, 5),
        List.of(SKIP));
  }

  private static ToolStarted began(int ordinal, String callId, EffectClass effect, int attempt) {
    return new ToolStarted(
        1, ordinal, callId, "tool", effect, PRIVATE, "key-" + callId + ordinal, attempt);
  }

  private static ToolFinished ended(int ordinal, String callId, boolean error, int millis) {
    return new ToolFinished(
        callId,
        "tool",
        Optional.of("key-" + callId + ordinal),
        true,
        PRIVATE,
        error,
        Duration.ofMillis(millis));
  }

  private static ToolFinished refused(String callId) {
    return new ToolFinished(callId, "tool", Optional.empty(), false, PRIVATE, true, Duration.ZERO);
  }

  private static ApprovalRequested asked(String callId) {
    return new ApprovalRequested(
        "approval-" + callId, "sha256:" + "0".repeat(64), 1, callId, "tool", "1", PRIVATE);
  }

  private static ApprovalDecided decided(String callId, boolean approve) {
    return new ApprovalDecided(
        "approval-" + callId, approve, Optional.of("ann"), Optional.of(SECRET));
  }

  private static RunSuspended suspended(RunSuspended.Reason reason, String awaited) {
    return new RunSuspended(reason, List.of(awaited), Optional.empty());
  }

  private static RunFailed failed(boolean resumable) {
    return new RunFailed(FailureKind.DEADLINE, SECRET, resumable, 1, List.of(SKIP));
  }

  private Timeline timeline() {
    return Timeline.of(log);
  }

  private static Step step(Timeline timeline, int index) {
    return timeline.entries().stream()
        .filter(Step.class::isInstance)
        .map(Step.class::cast)
        .toList()
        .get(index);
  }

  private static Optional<Instant> second(int second) {
    return Optional.of(NOON.plusSeconds(second));
  }

  @Test
  void a_step_ends_when_its_answer_is_there_and_every_call_has_a_result() {
    at(1, new StepStarted(1, 1));
    at(3, answer(1, "c1", "c2"), began(0, "c1", EffectClass.ONCE, 1));
    at(4, ended(0, "c1", false, 900));
    at(7, refused("c2"));
    at(8, new StepStarted(2, 3));
    at(9, answer(2), new RunCompleted(SECRET, 2, Usage.ABSENT));

    Timeline timeline = timeline();

    assertEquals(NOON, timeline.start());
    assertEquals(second(9), timeline.end());
    Step first = step(timeline, 0);
    assertEquals(second(1), Optional.of(first.start()));
    assertEquals(second(3), first.answered());
    assertEquals(second(7), first.end());
    assertEquals(Optional.of(Duration.ofSeconds(6)), first.duration());
    assertEquals(Optional.of(TARGET), first.target());
    assertEquals(Usage.reported(10, 5), first.usage());
    assertEquals(List.of(SKIP), first.attempts());
    Call ran = first.calls().get(0);
    assertEquals(Outcome.SUCCEEDED, ran.outcome());
    assertEquals(second(4), ran.end());
    assertEquals(Optional.of(new ToolResult("c1", "tool", PRIVATE, false)), ran.result());
    assertEquals(Optional.of(Duration.ofMillis(900)), ran.tries().getFirst().took());
    Call refused = first.calls().get(1);
    assertEquals(Outcome.NOT_EXECUTED, refused.outcome());
    assertEquals(List.of(), refused.tries());
    assertEquals(second(9), step(timeline, 1).end());
  }

  @Test
  void a_pure_tool_began_as_long_before_its_end_as_it_took_but_not_before_the_answer() {
    at(1, new StepStarted(1, 1));
    at(2, answer(1, "c1", "c2"));
    at(
        5,
        began(0, "c1", EffectClass.PURE, 1),
        ended(0, "c1", false, 2000),
        began(1, "c2", EffectClass.PURE, 1),
        ended(1, "c2", true, 60_000));

    List<Call> calls = step(timeline(), 0).calls();

    assertEquals(second(3), Optional.of(calls.get(0).tries().getFirst().start()));
    assertEquals(second(2), Optional.of(calls.get(1).tries().getFirst().start()));
    assertEquals(Outcome.FAILED, calls.get(1).outcome());
  }

  @Test
  void an_approval_lasts_from_its_request_to_its_decision_and_the_wait_to_the_resume() {
    at(1, new StepStarted(1, 1));
    at(2, answer(1, "c1"), asked("c1"), suspended(RunSuspended.Reason.APPROVAL, "approval-c1"));
    Timeline waiting = timeline();
    at(62, decided("c1", true));
    at(100, new RunResumed("approvals were decided"), began(0, "c1", EffectClass.ONCE, 1));
    at(101, ended(0, "c1", false, 1));

    Timeline.Approval open = step(waiting, 0).calls().getFirst().approval().orElseThrow();
    assertEquals(Optional.empty(), open.end());
    assertEquals(Outcome.NOT_BEGUN, step(waiting, 0).calls().getFirst().outcome());
    assertEquals(Optional.empty(), waiting.entries().getLast().end());
    assertEquals(Optional.empty(), waiting.end());

    Timeline after = timeline();
    Timeline.Approval made = step(after, 0).calls().getFirst().approval().orElseThrow();
    assertEquals(Optional.of(Duration.ofSeconds(60)), made.duration());
    assertEquals(Optional.of(decided("c1", true)), made.decision());
    assertEquals(Optional.of(Duration.ofSeconds(98)), after.entries().get(1).duration());
    Timeline.Resumption resumption = (Timeline.Resumption) after.entries().get(2);
    assertEquals(second(62), Optional.of(resumption.idleSince()));
    assertEquals(WRITER, resumption.driver());
  }

  @Test
  void a_try_without_an_outcome_stays_unknown_beside_the_next_one() {
    at(1, new StepStarted(1, 1));
    at(2, answer(1, "c1"), began(0, "c1", EffectClass.IDEMPOTENT, 1));
    at(60, new RunResumed("its driver is gone"), began(0, "c1", EffectClass.IDEMPOTENT, 2));
    at(61, ended(0, "c1", false, 500));

    List<Try> tries = step(timeline(), 0).calls().getFirst().tries();

    assertEquals(List.of(Outcome.UNKNOWN, Outcome.SUCCEEDED), outcomes(tries));
    assertEquals(Optional.empty(), tries.get(0).end());
    assertEquals(2, tries.get(1).attempt());
  }

  private static List<Outcome> outcomes(List<Try> tries) {
    return tries.stream().map(Try::outcome).toList();
  }

  @Test
  void a_verdict_ends_a_doubt_and_is_told_from_an_outcome() {
    at(1, new StepStarted(1, 1));
    at(
        2,
        answer(1, "c1"),
        began(0, "c1", EffectClass.ONCE, 1),
        suspended(RunSuspended.Reason.RECONCILIATION, "c1"));
    at(
        30,
        new ToolReconciled("c1", "key-c10", Verdict.NOT_EXECUTED, Optional.empty(), "reconciler"));
    at(31, new RunResumed("decided"), began(0, "c1", EffectClass.ONCE, 2));
    at(32, suspended(RunSuspended.Reason.RECONCILIATION, "c1"));
    at(40, new ToolReconciled("c1", "key-c10", Verdict.FAILED, Optional.of(PRIVATE), "ann"));

    Call call = step(timeline(), 0).calls().getFirst();

    assertEquals(List.of(Outcome.NOT_EXECUTED, Outcome.FAILED), outcomes(call.tries()));
    assertEquals(Optional.of("reconciler"), call.tries().get(0).decidedBy());
    assertEquals(Optional.of("ann"), call.tries().get(1).decidedBy());
    assertEquals(Optional.empty(), call.tries().get(1).took());
    assertEquals(second(40), call.end());
    assertEquals(second(40), step(timeline(), 0).end());
  }

  @Test
  void a_step_whose_driver_died_has_no_end_and_is_there_again() {
    at(1, new StepStarted(1, 1));
    at(60, new RunResumed("its driver is gone"));
    at(61, new StepStarted(1, 1));
    at(62, answer(1));

    assertEquals(Optional.empty(), step(timeline(), 0).end());
    assertEquals(Usage.ABSENT, step(timeline(), 0).usage());
    assertEquals(1, step(timeline(), 1).number());
    assertEquals(second(62), step(timeline(), 1).end());
  }

  @Test
  void a_failure_ends_the_open_step_with_its_attempts_and_lasts_until_the_resume() {
    at(1, new StepStarted(1, 1));
    at(5, failed(true));
    Timeline failed = timeline();
    at(65, new RunResumed("resumed after a failure"));
    at(66, failed(false));

    assertEquals(List.of(SKIP), step(failed, 0).attempts());
    assertEquals(second(5), step(failed, 0).end());
    assertEquals(Optional.empty(), failed.end());
    List<Entry> entries = timeline().entries();
    assertEquals(Optional.of(Duration.ofMinutes(1)), entries.get(1).duration());
    assertEquals(Optional.empty(), entries.getLast().end());
    assertEquals(second(66), timeline().end());
    assertEquals(second(5), step(timeline(), 0).end(), "the second failure is not of that try");
  }

  @Test
  void a_cancel_lasts_until_the_run_is_cancelled_and_ends_all_that_is_open() {
    at(1, new StepStarted(1, 1));
    at(2, answer(1, "c1"), asked("c1"), suspended(RunSuspended.Reason.APPROVAL, "approval-c1"));
    at(8, new CancelRequested(Optional.of(SECRET)));
    at(9, new RunCancelled(1, List.of()));

    List<Entry> entries = timeline().entries();

    assertEquals(second(8), entries.get(1).end());
    assertEquals(second(9), entries.get(2).end());
    assertEquals(second(9), step(timeline(), 0).end());
    assertEquals(second(9), step(timeline(), 0).calls().getFirst().end());
    assertEquals(RunStatus.CANCELLED, timeline().status());
  }

  @Test
  void calls_with_the_same_id_are_told_apart() {
    at(1, new StepStarted(1, 1));
    at(
        2,
        answer(1, "c1", "c1"),
        began(0, "c1", EffectClass.ONCE, 1),
        began(1, "c1", EffectClass.ONCE, 1));
    at(3, ended(1, "c1", true, 1));
    at(4, ended(0, "c1", false, 1));

    List<Call> calls = step(timeline(), 0).calls();

    assertEquals(
        List.of(Outcome.SUCCEEDED, Outcome.FAILED), calls.stream().map(Call::outcome).toList());
  }

  @Test
  @Tag("A142")
  void its_text_has_a_line_for_each_entry_and_shows_nothing_that_anybody_said() {
    at(1, new StepStarted(1, 1));
    at(2, answer(1, "c1"), asked("c1"), suspended(RunSuspended.Reason.APPROVAL, "approval-c1"));
    at(62, decided("c1", true), new RunResumed("approvals were decided"));
    at(62, began(0, "c1", EffectClass.ONCE, 1));
    at(63, ended(0, "c1", true, 500), failed(true), new CancelRequested(Optional.of(SECRET)));

    String text = timeline().toString();

    assertFalse(text.contains(SECRET), text);
    assertEquals(
        """
        run run-1: CANCEL_REQUESTED, started 2026-01-01T12:00:00Z
          +1.000 s (62.000 s) step 1: fake/model, STOP, 10 + 5 tokens, 0 attempts
            +2.000 s (61.000 s) call of tool: FAILED
              +2.000 s (60.000 s) approval: approved
              +62.000 s (1.000 s) try 1, ONCE: FAILED
          +2.000 s (60.000 s) suspended: APPROVAL of 1
          +62.000 s (0.000 s) resumed by owner, epoch 1: approvals were decided
          +63.000 s (0.000 s) failed: DEADLINE, resumable
          +63.000 s (no end) cancel\
        """,
        text);
  }

  @Test
  void a_log_that_breaks_a_rule_has_no_timeline() {
    at(1, answer(1));

    assertThrows(InvalidRequestException.class, this::timeline);
    assertThrows(InvalidRequestException.class, () -> Timeline.of(List.of()));
  }

  @Test
  void the_operator_reads_it_off_the_store() {
    RunStore store = RunStore.inMemory();
    at(1, new StepStarted(1, 1));
    store.adopt(log, Standing.of(RunStatus.RUNNING), Deadline.never());

    assertEquals(timeline(), Runs.in(store).timeline(RUN));
    assertThrows(
        InvalidRequestException.class,
        () -> Runs.in(store).timeline(new RunKey(RunScope.DEFAULT, "none")));
  }

  /** What holds for the timeline of every log. */
  static void assertTellsAllOf(List<LoggedEvent> log, String what) {
    Timeline timeline = Timeline.of(log);
    List<RunEvent> events = log.stream().map(LoggedEvent::event).toList();
    List<Entry> steps = timeline.entries().stream().filter(Step.class::isInstance).toList();
    List<Call> calls = steps.stream().flatMap(each -> ((Step) each).calls().stream()).toList();
    assertEquals(count(events, StepStarted.class), steps.size(), what);
    assertEquals(
        count(events, ToolStarted.class),
        calls.stream().mapToLong(call -> call.tries().size()).sum(),
        what);
    assertEquals(
        events.stream()
            .filter(event -> event instanceof ApprovalDecided made && !isOfChild(made))
            .count(),
        calls.stream()
            .filter(call -> call.approval().flatMap(Timeline.Approval::decision).isPresent())
            .count(),
        what);
    RunState state = RunState.of(log);
    assertEquals(
        state.approvals().stream().filter(asked -> asked.request().child().isEmpty()).count(),
        calls.stream().filter(call -> call.approval().isPresent()).count(),
        what);
    assertEquals(
        state.inDoubt().size(),
        state.status() == RunStatus.CANCELLED || state.status() == RunStatus.TIMED_OUT
            ? 0
            : calls.stream()
                .filter(call -> call.outcome() == Outcome.UNKNOWN && call.result().isEmpty())
                .count(),
        what);
    assertEquals(
        state.calls().stream().filter(CallState::awaitsChild).count(),
        state.isTerminal()
            ? 0
            : calls.stream().filter(call -> call.outcome() == Outcome.UNDER_WAY).count(),
        what);
    timeline.entries().forEach(entry -> assertInOrder(entry, what));
  }

  private static boolean isOfChild(ApprovalDecided decision) {
    return decision.requestId().startsWith("subapproval");
  }

  private static long count(List<RunEvent> events, Class<? extends RunEvent> type) {
    return events.stream().filter(type::isInstance).count();
  }

  private static void assertInOrder(Entry entry, String what) {
    assertFalse(entry.end().filter(end -> end.isBefore(entry.start())).isPresent(), what);
    for (Entry part : entry.parts()) {
      assertFalse(part.start().isBefore(entry.start()), what);
      assertTrue(
          entry.end().isEmpty()
              || part.end().map(end -> !end.isAfter(entry.end().get())).orElse(true),
          what);
      assertInOrder(part, what);
    }
  }
}
