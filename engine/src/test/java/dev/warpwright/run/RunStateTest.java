package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalTokenIssued;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.ChildFinished;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunEvent.GuardrailChecked;
import dev.warpwright.run.RunEvent.MemoryLoaded;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RouteBound;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What may follow what in a log, and what it adds up to. */
final class RunStateTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final Writer WRITER = new Writer("owner", 1);
  private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
  private static final Target TARGET = Target.of("fake", "model");
  private static final String DIGEST = "sha256:" + "0".repeat(64);
  private static final RunTimedOut TIMEOUT = new RunTimedOut(Duration.ofSeconds(9), 1, List.of());
  private static final Json INPUT = Json.parse("{\"order\":\"o1\"}");

  private static RunStarted started() {
    return new RunStarted(
        "agent",
        "1",
        Map.of(),
        Optional.empty(),
        List.of(Message.user("Do it.")),
        10,
        List.of(TARGET),
        Map.of());
  }

  private static ModelResponded answer(int step, String text, String... callIds) {
    List<Part> parts = new ArrayList<>();
    if (!text.isEmpty()) {
      parts.add(new Part.Text(text));
    }
    for (String id : callIds) {
      parts.add(new ToolCall(id, "tool", INPUT));
    }
    return new ModelResponded(
        step,
        TARGET,
        new Message(Role.ASSISTANT, parts),
        new FinishReason(FinishReason.Kind.STOP, "stop"),
        Usage.reported(10, 5),
        List.of());
  }

  private static ToolStarted began(int step, String callId, EffectClass effect, int attempt) {
    int ordinal = callId.equals("c2") ? 1 : 0;
    return new ToolStarted(step, ordinal, callId, "tool", effect, INPUT, "key-" + callId, attempt);
  }

  private static ToolStarted began(String callId, EffectClass effect) {
    return began(1, callId, effect, 1);
  }

  private static ToolFinished ended(String callId, boolean error) {
    return new ToolFinished(
        callId, "tool", Optional.of("key-" + callId), true, Json.of("x"), error, Duration.ZERO);
  }

  private static ToolFinished refused(String callId) {
    return new ToolFinished(
        callId, "tool", Optional.empty(), false, Json.of("No."), true, Duration.ZERO);
  }

  private static ToolReconciled verdict(String callId, Verdict verdict) {
    Optional<Json> output =
        verdict == Verdict.NOT_EXECUTED ? Optional.empty() : Optional.of(Json.of("y"));
    return new ToolReconciled(callId, "key-" + callId, verdict, output, "ann");
  }

  private static ApprovalRequested asked(String callId) {
    return new ApprovalRequested("approval-" + callId, DIGEST, 1, callId, "tool", "1", INPUT);
  }

  private static ApprovalDecided decided(String callId, boolean approve) {
    return new ApprovalDecided("approval-" + callId, approve, Optional.empty(), Optional.empty());
  }

  private static ChildStarted begun(String callId) {
    return new ChildStarted(callId, "child-" + callId, "research");
  }

  private static ChildFinished childEnded(String callId, RunStatus status) {
    return new ChildFinished(
        callId,
        "child-" + callId,
        status,
        "Found.",
        2,
        1,
        0,
        Usage.reported(7, 3),
        Optional.empty(),
        status == RunStatus.FAILED ? Optional.of(FailureKind.DEADLINE) : Optional.empty(),
        Duration.ZERO);
  }

  /** A request of the child of a call, as its parent asks it. */
  private static ApprovalRequested promoted(String callId, int number) {
    return promoted(1, callId, number);
  }

  private static ApprovalRequested promoted(int step, String callId, int number) {
    return new ApprovalRequested(
        "subapproval-" + callId + "-" + number,
        DIGEST,
        step,
        callId,
        "pay",
        "1",
        INPUT,
        Optional.empty(),
        Optional.empty(),
        Optional.of(new ApprovalRequested.OfChild("child-" + callId, "approval-" + number)),
        Optional.empty());
  }

  private static ApprovalDecided decidedPromoted(String callId, int number) {
    return new ApprovalDecided(
        "subapproval-" + callId + "-" + number, true, Optional.empty(), Optional.empty());
  }

  private static RunSuspended waitsForChild(String callId) {
    return new RunSuspended(
        RunSuspended.Reason.CHILD, List.of("child-" + callId), Optional.empty());
  }

  private static RunSuspended waitsForApproval() {
    return new RunSuspended(RunSuspended.Reason.APPROVAL, List.of("approval-c1"), Optional.empty());
  }

  private static RunSuspended waitsForVerdict(String... callIds) {
    return new RunSuspended(RunSuspended.Reason.RECONCILIATION, List.of(callIds), Optional.empty());
  }

  private static ContextCompacted compacted(int beforeStep, int from, int size) {
    return compacted(beforeStep, from, size - 1, size, size - (size - 1 - from) + 1);
  }

  private static ContextCompacted compacted(int beforeStep, int from, int to, int size, int left) {
    return new ContextCompacted(
        "record",
        beforeStep,
        List.of(ContextCompacted.Reason.MAX_MESSAGES),
        DIGEST,
        DIGEST,
        from,
        to,
        size,
        left,
        100,
        50,
        "They talked.",
        Usage.reported(7, 3),
        List.of());
  }

  private static RunSuspended wouldHaveTimedOut(String callId) {
    return new RunSuspended(
        RunSuspended.Reason.RECONCILIATION,
        List.of(callId),
        Optional.empty(),
        Optional.of(TIMEOUT));
  }

  private static RunFailed failed(boolean resumable) {
    return new RunFailed(FailureKind.LIMIT, "Too much.", resumable, 1, List.of());
  }

  private static RunCompleted completed() {
    return new RunCompleted("Done.", 1, Usage.ABSENT);
  }

  private static ApprovalTokenIssued token(String requestId) {
    return new ApprovalTokenIssued(requestId, DIGEST, DIGEST, Optional.empty(), Optional.empty());
  }

  private static GuardrailChecked triggered() {
    return new GuardrailChecked(
        GuardrailStage.TOOL_OUTPUT, "words", Optional.of("a word"), Map.of());
  }

  private static RouteBound bound(int step) {
    return new RouteBound(step, TARGET, decision());
  }

  private static RouteDecision decision() {
    return new RouteDecision(List.of(TARGET), RouteDecision.ReasonCode.ROUTING_ORDERED);
  }

  private static RunState state(RunEvent... events) {
    List<LoggedEvent> log = new ArrayList<>();
    log.add(new LoggedEvent(RUN, 1, WRITER, NOON, started()));
    for (RunEvent event : events) {
      log.add(new LoggedEvent(RUN, log.size() + 1L, WRITER, NOON.plusSeconds(log.size()), event));
    }
    return RunStates.foldStepwise(log);
  }

  private static boolean accepts(RunState state, RunEvent event) {
    return RunStates.accepts(
        state, new LoggedEvent(RUN, state.sequence() + 1, WRITER, state.updatedAt(), event));
  }

  private static void assertAccepts(RunState state, RunEvent event) {
    assertTrue(accepts(state, event), () -> event + " after " + state);
  }

  private static void assertRefuses(RunState state, RunEvent... events) {
    for (RunEvent event : events) {
      assertFalse(accepts(state, event), () -> event + " after " + state);
    }
  }

  /** One of everything, for states in which hardly anything may follow. */
  private static RunEvent[] anything() {
    return new RunEvent[] {
      started(),
      new MemoryLoaded(List.of()),
      new StepStarted(1, 1),
      new StepStarted(2, 1),
      bound(1),
      answer(1, "Hello."),
      triggered(),
      token("approval-c1"),
      asked("c1"),
      decided("c1", true),
      began("c1", EffectClass.PURE),
      ended("c1", false),
      refused("c1"),
      verdict("c1", Verdict.SUCCEEDED),
      waitsForApproval(),
      waitsForVerdict("c1"),
      waitsForChild("c1"),
      begun("c1"),
      childEnded("c1", RunStatus.COMPLETED),
      promoted("c1", 0),
      new RunResumed("test"),
      completed(),
      failed(true),
      failed(false),
      TIMEOUT
    };
  }

  @Test
  @Tag("A2")
  @Tag("A9")
  void a_log_adds_up_to_a_state_that_says_what_happened() {
    RunState state =
        state(
            new StepStarted(1, 1),
            bound(1),
            answer(1, "First. ", "c1", "c2"),
            began("c1", EffectClass.ONCE),
            ended("c1", true),
            refused("c2"),
            new StepStarted(2, 4),
            answer(2, "Last."),
            completed());

    assertEquals(RunStatus.COMPLETED, state.status());
    assertTrue(state.isTerminal());
    assertEquals("First. Last.", state.text());
    assertEquals(2, state.step());
    assertEquals(2, state.toolErrors());
    assertEquals(20, state.usage().input().tokens());
    assertEquals(Optional.of(TARGET), state.target());
    assertEquals(Optional.of(decision()), state.decision());
    assertEquals(FinishReason.Kind.STOP, state.finishReason().orElseThrow().kind());
    assertEquals(10, state.sequence());
    assertEquals(NOON, state.startedAt());
    assertEquals(NOON.plusSeconds(9), state.updatedAt());
    assertEquals(
        List.of(Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT),
        state.messages().stream().map(Message::role).toList());
    assertEquals(
        List.of("c1", "c2"),
        state.messages().get(2).toolResults().stream().map(r -> r.callId()).toList());
    assertEquals(List.of(), state.calls());
  }

  @Test
  @Tag("A6")
  void a_log_begins_with_its_start_and_has_no_other() {
    assertThrows(InvalidRequestException.class, () -> RunState.of(List.of()));
    assertThrows(
        InvalidRequestException.class,
        () -> RunState.of(List.of(new LoggedEvent(RUN, 1, WRITER, NOON, new StepStarted(1, 1)))));
    assertThrows(
        InvalidRequestException.class,
        () -> RunState.of(List.of(new LoggedEvent(RUN, 2, WRITER, NOON, started()))));
    assertRefuses(state(), started());
    assertRefuses(state(new StepStarted(1, 1)), started());
  }

  @Test
  @Tag("A6")
  void sequences_have_no_gaps_times_never_decrease_and_all_events_are_of_one_run() {
    RunState state = state(new StepStarted(1, 1));
    RunEvent next = answer(1, "Hello.");
    RunKey other = new RunKey(RunScope.of("other"), "run-1");
    Instant now = state.updatedAt();

    assertFalse(RunStates.accepts(state, new LoggedEvent(RUN, 2, WRITER, now, next)));
    assertFalse(RunStates.accepts(state, new LoggedEvent(RUN, 4, WRITER, now, next)));
    assertFalse(RunStates.accepts(state, new LoggedEvent(RUN, 3, WRITER, now.minusNanos(1), next)));
    assertFalse(RunStates.accepts(state, new LoggedEvent(other, 3, WRITER, now, next)));
    assertTrue(RunStates.accepts(state, new LoggedEvent(RUN, 3, WRITER, now, next)));
  }

  @Test
  @Tag("A6")
  @Tag("A32")
  void steps_count_from_1_without_gaps_and_only_an_unanswered_one_is_started_again() {
    RunState state = state();
    assertRefuses(state, new StepStarted(0, 1), new StepStarted(2, 1), answer(1, "x"), bound(1));
    assertAccepts(state, new StepStarted(1, 1));
    assertRefuses(state, new StepStarted(2, 1), answer(2, "x"), bound(2));
    assertAccepts(state, new RunResumed("crash"));
    assertAccepts(state, new StepStarted(1, 1));
    assertAccepts(state, answer(1, "x", "c1"));
    assertRefuses(state, new StepStarted(2, 1), answer(1, "again"), bound(1));
    assertAccepts(state, refused("c1"));
    assertRefuses(state, new StepStarted(1, 1), new StepStarted(3, 1));
    assertAccepts(state, new StepStarted(2, 1));
    assertEquals(2, state.step());
  }

  @Test
  @Tag("A6")
  void an_executed_call_ends_after_its_start_under_its_key_and_once() {
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1", "c2"));
    assertRefuses(state, ended("c1", false), verdict("c1", Verdict.SUCCEEDED), ended("c3", false));
    assertAccepts(state, began("c1", EffectClass.ONCE));
    assertRefuses(state, ended("c2", false), refused("c1"));
    assertRefuses(
        state,
        new ToolFinished(
            "c1", "tool", Optional.of("other"), true, Json.of("x"), false, Duration.ZERO),
        new ToolReconciled("c1", "other", Verdict.SUCCEEDED, Optional.empty(), "ann"));
    for (String evidence : List.of("", "sha256:0", "md5:" + "0".repeat(64))) {
      assertRefuses(
          state,
          new ToolReconciled(
              "c1", "key-c1", Verdict.SUCCEEDED, Optional.empty(), "ann", Optional.of(evidence)));
    }
    assertAccepts(state, ended("c1", false));
    assertRefuses(
        state,
        ended("c1", false),
        verdict("c1", Verdict.FAILED),
        began(1, "c1", EffectClass.ONCE, 2));
  }

  @Test
  @Tag("A6")
  @Tag("A55")
  void attempts_count_from_1_under_one_key_and_a_once_tool_in_doubt_is_not_started_again() {
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1", "c2"));
    assertRefuses(
        state,
        began(1, "c1", EffectClass.ONCE, 2),
        began(1, "c1", EffectClass.ONCE, 0),
        began(2, "c1", EffectClass.ONCE, 1),
        began("c3", EffectClass.ONCE),
        new ToolStarted(1, 1, "c1", "tool", EffectClass.ONCE, INPUT, "key-c1", 1),
        new ToolStarted(1, 0, "c1", "other", EffectClass.ONCE, INPUT, "key-c1", 1));
    assertAccepts(state, began("c1", EffectClass.ONCE));
    assertAccepts(state, began("c2", EffectClass.IDEMPOTENT));
    assertRefuses(state, began(1, "c1", EffectClass.ONCE, 2));
    assertRefuses(state, began(1, "c2", EffectClass.IDEMPOTENT, 3));
    assertRefuses(
        state, new ToolStarted(1, 1, "c2", "tool", EffectClass.IDEMPOTENT, INPUT, "another", 2));
    assertAccepts(state, began(1, "c2", EffectClass.IDEMPOTENT, 2));
    assertAccepts(state, verdict("c1", Verdict.NOT_EXECUTED));
    assertRefuses(state, verdict("c1", Verdict.NOT_EXECUTED), ended("c1", false));
    assertAccepts(state, began(1, "c1", EffectClass.ONCE, 2));
    assertTrue(state.calls().getFirst().isInDoubt());
  }

  @Test
  @Tag("A55")
  @Tag("A56")
  void a_run_neither_completes_nor_fails_while_it_needs_a_verdict() {
    RunState state =
        state(
            new StepStarted(1, 1),
            answer(1, "", "c1", "c2"),
            began("c1", EffectClass.ONCE),
            began("c2", EffectClass.IDEMPOTENT));
    assertRefuses(state, completed(), failed(true), failed(false), new StepStarted(2, 3));
    assertAccepts(state, waitsForVerdict("c1", "c2"));
    assertEquals(RunStatus.NEEDS_RECONCILIATION, state.status());
    assertRefuses(state, completed(), failed(true), waitsForVerdict("c1"), refused("c2"));
    assertRefuses(state, began(1, "c2", EffectClass.IDEMPOTENT, 2));
    assertAccepts(state, verdict("c1", Verdict.SUCCEEDED));
    assertEquals(RunStatus.NEEDS_RECONCILIATION, state.status());
    assertAccepts(state, new RunResumed("decided"));
    // It was suspended over the repeatable call too: then that one is not repeated either.
    assertRefuses(state, failed(true), began(1, "c2", EffectClass.IDEMPOTENT, 2));
    assertAccepts(state, verdict("c2", Verdict.FAILED));
    assertEquals(1, state.toolErrors());
    assertAccepts(state, failed(true));
  }

  @Test
  @Tag("A56")
  void an_end_that_met_a_doubt_takes_place_after_the_last_verdict_and_only_then() {
    RunSuspended failing =
        new RunSuspended(
            RunSuspended.Reason.RECONCILIATION, List.of("c1", "c2"), Optional.of(failed(false)));
    for (RunSuspended suspended : List.of(wouldHaveTimedOut("c1"), failing)) {
      RunEvent end = suspended.intendedTimeout().isPresent() ? TIMEOUT : failed(false);
      RunEvent other = suspended.intendedTimeout().isPresent() ? failed(false) : TIMEOUT;
      RunState state =
          state(
              new StepStarted(1, 1),
              answer(1, "", "c1", "c2"),
              began("c1", EffectClass.ONCE),
              began("c2", EffectClass.ONCE));
      assertRefuses(state, end);
      assertAccepts(state, suspended);
      assertRefuses(state, end, other);
      assertAccepts(state, verdict("c1", Verdict.SUCCEEDED));
      assertRefuses(state, end, other);
      assertAccepts(state, new RunResumed("a reconciler is asked"));
      assertEquals(Optional.of(end), state.intendedEnd(), "it outlives the driver");
      assertAccepts(state, waitsForVerdict("c2"));
      assertAccepts(state, verdict("c2", Verdict.NOT_EXECUTED));
      assertRefuses(state, other);
      assertAccepts(state, end);
      assertTrue(state.isTerminal());
      assertEquals(Optional.empty(), state.intendedEnd());
    }
  }

  @Test
  @Tag("A56")
  void a_cancel_takes_the_place_of_the_end_that_waits_for_a_verdict() {
    RunState state =
        state(
            new StepStarted(1, 1),
            answer(1, "", "c1"),
            began("c1", EffectClass.ONCE),
            wouldHaveTimedOut("c1"));
    assertAccepts(state, new CancelRequested(Optional.empty()));
    assertAccepts(state, waitsForVerdict("c1"));
    assertAccepts(state, verdict("c1", Verdict.SUCCEEDED));
    assertRefuses(state, TIMEOUT);
    assertAccepts(state, new RunCancelled(1, List.of()));
  }

  @Test
  @Tag("A56")
  void an_end_that_met_a_doubt_after_a_cancel_was_asked_for_does_not_take_its_place() {
    RunState state =
        state(
            new StepStarted(1, 1),
            answer(1, "", "c1"),
            began("c1", EffectClass.ONCE),
            new CancelRequested(Optional.empty()),
            wouldHaveTimedOut("c1"));
    assertEquals(Optional.empty(), state.intendedEnd());
    assertAccepts(state, verdict("c1", Verdict.SUCCEEDED));
    assertRefuses(state, TIMEOUT);
    assertAccepts(state, new RunCancelled(1, List.of()));
  }

  @Test
  @Tag("A69")
  @Tag("A72")
  void a_compaction_puts_one_message_in_the_place_of_several_before_a_step() {
    RunState state =
        state(
            new StepStarted(1, 1),
            answer(1, "Well.", "c1"),
            refused("c1"),
            new StepStarted(2, 3),
            answer(2, "Hm.", "c2"));
    long bytes = state.bytes();
    assertRefuses(state, compacted(3, 0, 4)); // a call is open
    assertAccepts(state, refused("c2"));
    assertEquals(5, state.messages().size());
    assertRefuses(
        state,
        compacted(2, 0, 3, 5, 3), // another step
        compacted(3, 1, 3, 5, 4), // no system message stands before
        compacted(3, 0, 1, 5, 5), // nothing becomes less
        compacted(3, 0, 5, 5, 1), // the last message would go
        compacted(3, 0, 2, 5, 4), // a result without its call
        compacted(3, 0, 4, 5, 2), // again
        compacted(3, 0, 3, 6, 4),
        compacted(3, 0, 3, 5, 4));

    assertAccepts(state, compacted(3, 0, 3, 5, 3));

    assertEquals(
        List.of(Role.ASSISTANT, Role.ASSISTANT, Role.TOOL),
        state.messages().stream().map(Message::role).toList());
    assertEquals(
        "[Compacted prior conversation]\nThey talked.", state.messages().getFirst().text());
    assertTrue(state.bytes() < bytes, "the state is smaller");
    assertEquals(27, state.usage().input().tokens(), "two answers and the summary");
    assertEquals(1, state.compactions().size());
    assertEquals("Well.Hm.", state.text(), "what was answered stays answered");
    assertAccepts(state, new StepStarted(3, 3));
    assertAccepts(state, new RunResumed("a crash"));
    assertRefuses(state, compacted(4, 0, 2, 3, 2));
  }

  @Test
  void a_call_counts_once_however_often_its_tool_is_run() {
    RunState state =
        state(
            new StepStarted(1, 1),
            answer(1, "", "c1", "c2"),
            began("c1", EffectClass.IDEMPOTENT),
            began(1, "c1", EffectClass.IDEMPOTENT, 2),
            refused("c2"));
    assertEquals(1, state.used(true).toolCalls());
  }

  @Test
  @Tag("A55")
  void a_late_outcome_resolves_the_doubt_of_a_waiting_run() {
    RunState state =
        state(
            new StepStarted(1, 1),
            answer(1, "", "c1"),
            began("c1", EffectClass.ONCE),
            waitsForVerdict("c1"));
    assertAccepts(state, ended("c1", false));
    assertEquals(List.of(), state.inDoubt());
  }

  @Test
  @Tag("A6")
  void a_run_completes_only_with_an_answer_that_leaves_no_call_open() {
    assertRefuses(state(), completed());
    assertRefuses(state(new StepStarted(1, 1)), completed());
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1"));
    assertRefuses(state, completed());
    assertAccepts(state, refused("c1"));
    assertRefuses(state, completed());
    assertAccepts(state, new StepStarted(2, 3));
    assertAccepts(state, answer(2, "Done."));
    assertAccepts(state, completed());
  }

  @Test
  @Tag("A89")
  void a_token_is_issued_for_a_pending_request_and_the_last_one_counts() {
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1"));
    assertRefuses(state, token("approval-c1"));
    assertAccepts(state, asked("c1"));
    assertRefuses(
        state,
        new ApprovalTokenIssued("approval-c1", "0", DIGEST, Optional.empty(), Optional.empty()),
        new ApprovalTokenIssued("approval-c1", DIGEST, "0", Optional.empty(), Optional.empty()),
        token("approval-c2"));
    assertAccepts(state, token("approval-c1"));
    ApprovalTokenIssued last =
        new ApprovalTokenIssued("approval-c1", DIGEST, DIGEST, Optional.of(NOON), Optional.empty());
    assertAccepts(state, last);
    assertEquals(Optional.of(last), state.approvalToken("approval-c1"));
    assertAccepts(state, decided("c1", true));
    assertRefuses(state, token("approval-c1"));
  }

  @Test
  @Tag("A48")
  void after_a_guardrail_has_triggered_no_step_starts_and_the_run_does_not_complete() {
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1"));
    assertEquals(Optional.empty(), state.guardrail());
    assertAccepts(state, began("c1", EffectClass.PURE));
    assertAccepts(state, ended("c1", true));
    assertAccepts(state, triggered());
    assertRefuses(state, new StepStarted(2, 3), completed());
    assertEquals(Optional.of(triggered()), state.guardrail());
    assertAccepts(state, failed(true));
    assertAccepts(state, new RunResumed("again"));
    assertRefuses(state, new StepStarted(2, 3));
    assertAccepts(state, failed(false));

    RunState answered = state(new StepStarted(1, 1), answer(1, "Done."));
    assertTrue(answered.hasFinalAnswer());
    assertAccepts(answered, triggered());
    assertRefuses(answered, completed());
    assertAccepts(answered, failed(false));
  }

  @Test
  @Tag("A11")
  void nothing_follows_the_end() {
    assertRefuses(state(new StepStarted(1, 1), answer(1, "Done."), completed()), anything());
    assertRefuses(state(new StepStarted(1, 1), failed(false)), anything());
    assertRefuses(state(new StepStarted(1, 1), TIMEOUT), anything());
  }

  @Test
  @Tag("A12")
  void a_failure_that_can_be_resumed_is_followed_by_a_resume_alone() {
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1"), failed(true));
    assertFalse(state.isTerminal());
    for (RunEvent event : anything()) {
      if (!(event instanceof RunResumed)) {
        assertRefuses(state, event);
      }
    }
    assertAccepts(state, new RunResumed("again"));
    assertEquals(RunStatus.RUNNING, state.status());
    assertEquals(Optional.empty(), state.failure());
    assertAccepts(state, began("c1", EffectClass.PURE));
  }

  @Test
  @Tag("A80")
  @Tag("A85")
  void approvals_are_asked_for_once_decided_once_and_nothing_runs_before() {
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1", "c2"));
    assertRefuses(state, waitsForApproval(), decided("c1", true), asked("c3"));
    assertRefuses(state, new ApprovalRequested("a", "sha256:0", 1, "c1", "tool", "1", INPUT));
    assertAccepts(state, asked("c1"));
    assertRefuses(state, asked("c1"), began("c1", EffectClass.ONCE));
    assertRefuses(state, new ApprovalRequested("approval-c1", DIGEST, 1, "c2", "tool", "1", INPUT));
    assertAccepts(state, asked("c2"));
    assertAccepts(state, waitsForApproval());
    assertEquals(RunStatus.WAITING_APPROVAL, state.status());
    assertRefuses(state, completed(), failed(true), new StepStarted(2, 1), refused("c1"));
    assertAccepts(state, decided("c1", false));
    assertRefuses(state, decided("c1", true));
    assertEquals(List.of(asked("c2")), state.pendingApprovals());
    assertAccepts(state, decided("c2", true));
    assertRefuses(state, began("c2", EffectClass.ONCE));
    assertAccepts(state, new RunResumed("decided"));
    assertRefuses(state, began("c1", EffectClass.ONCE));
    assertAccepts(state, began("c2", EffectClass.ONCE));
    assertAccepts(state, refused("c1"));
    assertEquals(0, state.toolErrors(), "a denial is no tool error");
    assertEquals(
        List.of(
            new RunState.Approval(asked("c1"), Optional.of(decided("c1", false))),
            new RunState.Approval(asked("c2"), Optional.of(decided("c2", true)))),
        state.approvals());
  }

  @Test
  @Tag("A94")
  void a_child_begins_once_for_an_open_call_and_its_end_is_the_result_of_the_call() {
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1", "c2"));
    assertRefuses(
        state,
        begun("c3"),
        childEnded("c1", RunStatus.COMPLETED),
        promoted("c1", 0),
        waitsForChild("c1"));
    assertAccepts(state, begun("c1"));
    assertRefuses(
        state,
        begun("c1"),
        began("c1", EffectClass.PURE),
        refused("c1"),
        asked("c1"),
        ended("c1", false),
        childEnded("c2", RunStatus.COMPLETED),
        new ChildFinished(
            "c1",
            "another",
            RunStatus.COMPLETED,
            "",
            1,
            0,
            0,
            Usage.ABSENT,
            Optional.empty(),
            Optional.empty(),
            Duration.ZERO));
    assertAccepts(state, childEnded("c1", RunStatus.COMPLETED));
    assertRefuses(state, childEnded("c1", RunStatus.COMPLETED), begun("c1"));
    assertAccepts(state, began("c2", EffectClass.PURE));
    assertRefuses(state, begun("c2"));
    assertAccepts(state, ended("c2", false));

    ToolResult result = state.messages().getLast().toolResults().getFirst();
    assertFalse(result.error());
    assertEquals(
        "{\"status\":\"COMPLETED\",\"text\":\"Found.\",\"steps\":2,\"toolCalls\":1,\"toolErrors\":0,"
            + "\"usage\":{\"inputTokens\":7,\"outputTokens\":3}}",
        result.output().text());
    assertEquals(Usage.reported(10, 5), state.usage());
    assertEquals(Usage.reported(17, 8), state.totalUsage());
    assertEquals(
        List.of(
            new RunState.Child(begun("c1"), Optional.of(childEnded("c1", RunStatus.COMPLETED)))),
        state.children());
  }

  @Test
  @Tag("A97")
  void a_child_that_failed_gives_an_error_that_names_the_kind_alone() {
    RunState state =
        state(
            new StepStarted(1, 1),
            answer(1, "", "c1"),
            begun("c1"),
            childEnded("c1", RunStatus.FAILED));

    ToolResult result = state.messages().getLast().toolResults().getFirst();
    assertTrue(result.error());
    assertEquals(1, state.toolErrors());
    assertEquals(
        "{\"status\":\"FAILED\",\"text\":\"Found.\",\"steps\":2,\"toolCalls\":1,\"toolErrors\":0,"
            + "\"usage\":{\"inputTokens\":7,\"outputTokens\":3},"
            + "\"error\":{\"kind\":\"DEADLINE\",\"message\":\"The sub-agent failed.\"}}",
        result.output().value());
  }

  private static ModelResponded asking(int step, String... requestIds) {
    List<Part> parts = new ArrayList<>();
    for (String id : requestIds) {
      parts.add(
          ProviderState.of("protocol", "model", Json.EMPTY_OBJECT)
              .issuedBy("fake")
              .asking(ProviderApproval.of(id, Optional.empty(), "search", INPUT)));
    }
    return new ModelResponded(
        step,
        Target.of("fake", "model"),
        new Message(Role.ASSISTANT, parts),
        new FinishReason(FinishReason.Kind.PAUSED, ""),
        Usage.ABSENT,
        List.of());
  }

  private static ApprovalRequested ofProvider(int step, String provider, String id) {
    return new ApprovalRequested(
        "providerapproval-" + step + id,
        DIGEST,
        step,
        id,
        "search",
        "1",
        INPUT,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.of(new ApprovalRequested.OfProvider(provider, Optional.empty(), id)));
  }

  private static ApprovalDecided decidedOfProvider(int step, String id, boolean approve) {
    return new ApprovalDecided(
        "providerapproval-" + step + id, approve, Optional.empty(), Optional.of("why"));
  }

  @Test
  @Tag("A79")
  @Tag("A84")
  @Tag("A85")
  void what_a_provider_asks_is_decided_once_before_the_next_step_which_tells_it() {
    RunState state = state(new StepStarted(1, 1), asking(1, "r1", "r2"));
    assertFalse(state.hasFinalAnswer());
    assertRefuses(
        state,
        completed(),
        new StepStarted(2, 2),
        waitsForApproval(),
        decidedOfProvider(1, "r1", true),
        ofProvider(1, "other", "r1"),
        ofProvider(1, "fake", "r3"),
        ofProvider(2, "fake", "r1"));
    assertAccepts(state, ofProvider(1, "fake", "r1"));
    assertRefuses(state, ofProvider(1, "fake", "r1"));
    assertEquals(ApprovalRequested.Kind.PROVIDER, state.pendingApprovals().getFirst().kind());
    assertAccepts(state, ofProvider(1, "fake", "r2"));
    assertAccepts(state, waitsForApproval());
    assertAccepts(state, decidedOfProvider(1, "r2", false));
    assertRefuses(state, decidedOfProvider(1, "r2", true));
    assertEquals(List.of(ofProvider(1, "fake", "r1")), state.pendingApprovals());
    assertAccepts(state, decidedOfProvider(1, "r1", true));
    assertEquals(List.of(), state.openApprovals());
    assertEquals(
        List.of(
            Optional.of(ProviderApproval.Answer.approve()),
            Optional.of(ProviderApproval.Answer.deny("why"))),
        state.messages().getLast().approvals().stream()
            .map(asked -> asked.approval().orElseThrow().answer())
            .toList());
    assertTrue(state.hasUnsentAnswer());
    assertAccepts(state, new RunResumed("decided"));
    assertRefuses(state, completed());
    assertAccepts(state, new StepStarted(2, 2));
    assertAccepts(state, answer(2, "Done."));
    assertFalse(state.hasUnsentAnswer());
    assertAccepts(state, completed());
  }

  /** How a step ended that told a provider an approval, and whether it may have been told. */
  static List<Arguments> endsOfATellingStep() {
    Attempt cutOff = cutOff(Attempt.ReasonCode.REQUEST_ABORTED);
    Attempt late = cutOff(Attempt.ReasonCode.DEADLINE_EXCEEDED);
    Attempt refused = cutOff(Attempt.ReasonCode.PROVIDER_ERROR);
    return List.of(
        Arguments.of(Optional.empty(), true), // the process died
        Arguments.of(Optional.of(failed(FailureKind.CANCELLED, cutOff)), true),
        Arguments.of(Optional.of(failed(FailureKind.DEADLINE, late)), true),
        Arguments.of(Optional.of(failed(FailureKind.DEADLINE)), false),
        Arguments.of(Optional.of(failed(FailureKind.INTERNAL)), true),
        Arguments.of(Optional.of(failed(FailureKind.TARGETS_EXHAUSTED, refused)), false),
        Arguments.of(Optional.of(failed(FailureKind.BUDGET_DENIED)), false));
  }

  private static Attempt cutOff(Attempt.ReasonCode code) {
    return new Attempt(
        2,
        Target.of("fake", "model"),
        code,
        0,
        0,
        Duration.ZERO,
        Optional.empty(),
        "",
        Optional.empty(),
        0,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        false);
  }

  private static RunFailed failed(FailureKind kind, Attempt... attempts) {
    return new RunFailed(kind, "It failed.", true, 2, List.of(attempts));
  }

  @ParameterizedTest
  @MethodSource("endsOfATellingStep")
  @Tag("A84")
  void an_approval_that_may_have_been_told_is_in_doubt_until_the_run_has_failed_for_it(
      Optional<RunFailed> end, boolean inDoubt) {
    RunState state =
        state(
            new StepStarted(1, 1),
            asking(1, "r1"),
            ofProvider(1, "fake", "r1"),
            waitsForApproval(),
            decidedOfProvider(1, "r1", true),
            new RunResumed("decided"),
            new StepStarted(2, 2));
    assertFalse(state.mayHaveSentApproval());
    end.ifPresent(failure -> assertAccepts(state, failure));
    assertAccepts(state, new RunResumed("again"));
    assertEquals(inDoubt, state.mayHaveSentApproval());

    assertAccepts(state, failed(FailureKind.LIMIT));
    assertAccepts(state, new RunResumed("once more"));
    assertEquals(inDoubt, state.mayHaveSentApproval(), "another failure does not settle it");
    assertAccepts(state, failed(FailureKind.UNKNOWN_OUTCOME));
    assertAccepts(state, new RunResumed("it was told"));
    assertFalse(state.mayHaveSentApproval());
  }

  @Test
  @Tag("A79")
  @Tag("A95")
  @Tag("A96")
  void a_run_waits_for_what_its_child_waits_for() {
    RunState state = state(new StepStarted(1, 1), answer(1, "", "c1"), begun("c1"));
    assertAccepts(state, promoted("c1", 0));
    assertAccepts(state, promoted("c1", 1));
    assertRefuses(state, promoted("c1", 1), promoted("c2", 2), promoted(2, "c1", 2));
    assertEquals(ApprovalRequested.Kind.SUBAGENT, promoted("c1", 0).kind());
    assertEquals(ApprovalRequested.Kind.LOCAL_TOOL, asked("c1").kind());
    assertAccepts(state, waitsForApproval());
    assertEquals(RunStatus.WAITING_APPROVAL, state.status());
    assertRefuses(state, childEnded("c1", RunStatus.COMPLETED), decidedPromoted("c1", 2));
    assertAccepts(state, decidedPromoted("c1", 0));
    assertRefuses(state, decidedPromoted("c1", 0));
    assertEquals(List.of(promoted("c1", 1)), state.pendingApprovals());
    assertAccepts(state, new RunResumed("the child has moved on"));
    assertAccepts(state, waitsForChild("c1"));
    assertEquals(RunStatus.WAITING, state.status());
    assertFalse(state.isTerminal());
    assertAccepts(state, new RunResumed("again"));
    assertAccepts(state, childEnded("c1", RunStatus.CANCELLED));
    assertEquals(List.of(), state.pendingApprovals(), "nobody waits for that decision any more");
    assertRefuses(state, decidedPromoted("c1", 1));
  }

  @ParameterizedTest
  @EnumSource(Verdict.class)
  void a_verdict_gives_a_call_its_result_unless_it_did_not_run(Verdict verdict) {
    RunState state =
        state(new StepStarted(1, 1), answer(1, "", "c1"), began("c1", EffectClass.ONCE));

    assertAccepts(state, verdict("c1", verdict));

    boolean open = verdict == Verdict.NOT_EXECUTED;
    assertEquals(open ? 1 : 0, state.calls().size());
    if (!open) {
      var result = state.messages().getLast().toolResults().getFirst();
      assertEquals(verdict == Verdict.FAILED, result.error());
      assertEquals("tool", result.toolName());
    }
  }

  /**
   * Random events after random events: a refused one changes nothing, and what was accepted keeps
   * the rules by an account that knows nothing of the fold.
   */
  @Test
  @Tag("A6")
  @Tag("A11")
  @Tag("A55")
  @Tag("A56")
  void of_random_events_only_those_that_keep_the_rules_are_accepted() {
    long seed = Long.getLong("seed", System.nanoTime());
    Random random = new Random(seed);
    int longest = 0;
    for (int run = 0; run < 200; run++) {
      List<LoggedEvent> log = new ArrayList<>();
      log.add(new LoggedEvent(RUN, 1, WRITER, NOON, started()));
      RunState state = RunState.of(log);
      Account account = new Account();
      for (int i = 0; i < 150; i++) {
        LoggedEvent next =
            new LoggedEvent(
                RUN,
                state.sequence() + 1,
                WRITER,
                state.updatedAt().plusNanos(random.nextInt(2)),
                random(random, state));
        String what = "seed " + seed + ": " + next.event() + " after " + log.size() + " events";
        try {
          if (RunStates.accepts(state, next)) {
            log.add(next);
            account.keep(next.event(), what);
          }
        } catch (AssertionError e) {
          throw new AssertionError(what, e);
        }
      }
      longest = Math.max(longest, log.size());
      TimelineTest.assertTellsAllOf(log, "seed " + seed + ", run " + run);
      assertEquals(
          RunStates.view(state), RunStates.view(RunState.of(log)), "seed " + seed + ", run " + run);
      int known = 1 + random.nextInt(log.size());
      assertEquals(
          RunStates.view(state),
          RunStates.view(RunStates.foldOntoCopy(log, known)),
          "seed " + seed + ", run " + run + ", known " + known);
    }
    assertTrue(longest > 20, "the generator does get somewhere: " + longest);
  }

  private static RunEvent random(Random random, RunState state) {
    int step = Math.max(1, state.nextStep() + random.nextInt(4) / 3 - random.nextInt(4) / 3);
    String call = "c" + (1 + random.nextInt(2));
    EffectClass effect = any(random, List.of(EffectClass.values()));
    return switch (random.nextInt(20)) {
      case 16 -> begun(call);
      case 17 -> childEnded(call, any(random, List.of(RunStatus.COMPLETED, RunStatus.FAILED)));
      case 18 -> promoted(state.step(), call, random.nextInt(2));
      case 19 ->
          random.nextBoolean()
              ? waitsForChild(call)
              : new ApprovalDecided(
                  "subapproval-" + call + "-" + random.nextInt(2),
                  true,
                  Optional.empty(),
                  Optional.empty());
      case 0, 1 -> new StepStarted(step, 1);
      case 2 -> bound(step);
      case 3, 4 ->
          switch (random.nextInt(4)) {
            case 0 -> answer(step, "Done.");
            case 1 -> answer(step, "", "c1");
            default -> answer(step, "x", "c1", "c2");
          };
      case 5 ->
          new ApprovalRequested(
              "approval-" + call + "-" + state.step(),
              random.nextInt(8) == 0 ? "sha256:0" : DIGEST,
              state.step(),
              call,
              "tool",
              "1",
              INPUT);
      case 6, 7 ->
          new ApprovalDecided(
              "approval-" + call + "-" + state.step(),
              random.nextBoolean(),
              Optional.empty(),
              Optional.empty());
      case 8, 9 -> began(state.step(), call, effect, 1 + random.nextInt(2));
      case 10 -> ended(call, random.nextBoolean());
      case 11 -> refused(call);
      case 12 -> verdict(call, any(random, List.of(Verdict.values())));
      case 13 ->
          switch (random.nextInt(4)) {
            case 0, 1 -> waitsForApproval();
            case 2 -> waitsForVerdict(call);
            default -> wouldHaveTimedOut(call);
          };
      case 14 -> new RunResumed("test");
      default ->
          switch (random.nextInt(16)) {
            case 0 -> completed();
            case 1 -> failed(false);
            case 2 -> started();
            case 3 -> new CancelRequested(Optional.empty());
            case 4, 5 -> new RunCancelled(step, List.of());
            case 8, 9 -> new MemoryLoaded(List.of(Message.user("m")));
            case 6 -> triggered();
            case 7 -> TIMEOUT;
            case 10, 11 -> token("approval-" + call + "-" + state.step());
            case 12, 13 -> compacted(step, random.nextInt(2), state.messages().size());
            default -> failed(true);
          };
    };
  }

  private static <T> T any(Random random, List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  /** The rules again, kept by plain counting over the accepted events. */
  private static final class Account {
    private int step;
    private int answered;
    private boolean ended;
    private boolean waiting;
    private boolean cancelling;
    private boolean remembers;
    private boolean triggered;
    private @Nullable RunEvent intended; // end, once there is a verdict
    private final Map<String, String> calls = new HashMap<>(); // id to state
    private final Map<String, EffectClass> effects = new HashMap<>();
    private final Map<String, String> promoted = new HashMap<>(); // pending requests, to the call
    private final Set<String> everPromoted = new HashSet<>();

    void keep(RunEvent event, String what) {
      assertFalse(ended, what);
      switch (event) {
        case RunStarted e -> throw new AssertionError(what);
        case MemoryLoaded e -> {
          assertFalse(waiting || cancelling || remembers, what);
          assertEquals(0, step, what);
          remembers = true;
        }
        case StepStarted e -> {
          assertFalse(waiting || cancelling || triggered, what);
          assertTrue(e.step() == answered + 1 && calls.isEmpty(), what);
          step = e.step();
        }
        case RouteBound e -> assertTrue(e.step() == step && answered == step - 1, what);
        case ModelResponded e -> {
          assertTrue(e.step() == step && answered == step - 1 && !waiting, what);
          answered = step;
          e.message().toolCalls().forEach(call -> calls.put(call.id(), "open"));
        }
        case GuardrailChecked e -> triggered = true;
        case ApprovalRequested e when e.child().isPresent() -> {
          assertFalse(waiting || cancelling, what);
          assertEquals("child", calls.get(e.callId()), what);
          assertTrue(everPromoted.add(e.requestId()), what);
          promoted.put(e.requestId(), e.callId());
        }
        case ApprovalDecided e when e.requestId().startsWith("sub") ->
            assertEquals("child", calls.get(promoted.remove(e.requestId())), what);
        case ChildStarted e -> {
          assertFalse(waiting || cancelling, what);
          String before = String.valueOf(calls.put(e.callId(), "child"));
          assertTrue(List.of("open", "open approved").contains(before), what + ": " + before);
        }
        case ChildFinished e -> {
          assertFalse(waiting, what);
          move(e.callId(), "child", "ended", what);
          result(e.callId());
        }
        case ApprovalTokenIssued e ->
            assertEquals("asked", calls.get(e.requestId().substring(9, 11)), what);
        case ApprovalRequested e -> {
          assertFalse(cancelling, what);
          move(e.callId(), "open", "asked", what);
        }
        case ApprovalDecided e ->
            move(
                e.requestId().substring(9, 11),
                "asked",
                e.approve() ? "open approved" : "denied",
                what);
        case ToolStarted e -> {
          assertFalse(waiting || cancelling, what);
          String before = String.valueOf(calls.get(e.callId()));
          boolean repeats = before.equals("begun") && effects.get(e.callId()) != EffectClass.ONCE;
          assertTrue(before.startsWith("open") || repeats, what + ": " + before);
          assertEquals(before.startsWith("open not") || repeats, e.attempt() > 1, what);
          calls.put(e.callId(), "begun");
          effects.put(e.callId(), e.effect());
        }
        case ToolFinished e when e.executed() -> {
          assertTrue(String.valueOf(calls.get(e.callId())).startsWith("begun"), what);
          result(e.callId());
        }
        case ToolFinished e -> {
          assertFalse(waiting || cancelling, what);
          assertFalse(String.valueOf(calls.get(e.callId())).startsWith("begun"), what);
          assertTrue(calls.containsKey(e.callId()), what);
          assertFalse("child".equals(calls.get(e.callId())), what);
          result(e.callId());
        }
        case ToolReconciled e -> {
          assertTrue(String.valueOf(calls.get(e.callId())).startsWith("begun"), what);
          if (e.verdict() == Verdict.NOT_EXECUTED) {
            calls.put(e.callId(), "open not executed");
          } else {
            result(e.callId());
          }
        }
        case RunSuspended e -> {
          assertFalse(waiting, what);
          waiting = true;
          boolean verdict = e.reason() == RunSuspended.Reason.RECONCILIATION;
          assertFalse(!verdict && cancelling, what);
          String open =
              switch (e.reason()) {
                case APPROVAL -> "asked";
                case RECONCILIATION -> "begun";
                case CHILD -> "child";
                case SIGNAL, TIMER -> throw new AssertionError(what);
              };
          boolean approval = e.reason() == RunSuspended.Reason.APPROVAL;
          assertTrue(
              calls.values().stream().anyMatch(call -> call.startsWith(open))
                  || (approval && !promoted.isEmpty()),
              what);
          if (verdict) {
            calls.computeIfPresent(
                e.awaited().getFirst(),
                (id, call) -> call.equals("begun") ? "begun, suspended over" : call);
          }
          if (verdict && !cancelling) {
            intended = e.intendedTimeout().<RunEvent>map(end -> end).orElse(intended);
            intended =
                e.intendedEnd()
                    .filter(end -> !end.resumable() && e.intendedTimeout().isEmpty())
                    .<RunEvent>map(end -> end)
                    .orElse(intended);
          }
        }
        case FlowEvent e -> throw new AssertionError(what);
        case RunResumed e -> waiting = false;
        case CancelRequested e -> {
          assertFalse(cancelling, what);
          cancelling = true;
          waiting = false;
          intended = null;
        }
        case ContextCompacted e -> {
          assertFalse(waiting || cancelling, what);
          assertTrue(calls.isEmpty() && e.beforeStep() == answered + 1, what);
        }
        case RunTimedOut e -> {
          assertFalse(waiting && !e.equals(intended), what);
          assertFalse(cancelling, what);
          assertNoneNeedsVerdict(what);
          ended = true;
        }
        case RunCancelled e -> {
          assertTrue(cancelling, what);
          assertNoneNeedsVerdict(what);
          ended = true;
        }
        case RunCompleted e -> {
          assertTrue(step > 0 && answered == step && calls.isEmpty() && !waiting, what);
          assertFalse(cancelling || triggered, what);
          ended = true;
        }
        case RunFailed e -> {
          assertFalse(cancelling || (waiting && !e.equals(intended)), what);
          assertNoneNeedsVerdict(what);
          ended = !e.resumable();
          waiting = true;
        }
      }
    }

    private void assertNoneNeedsVerdict(String what) {
      calls.forEach(
          (id, call) ->
              assertFalse(
                  call.equals("begun, suspended over")
                      || (call.equals("begun") && effects.get(id) == EffectClass.ONCE),
                  what));
    }

    private void move(String id, String from, String to, String what) {
      assertEquals(from, calls.get(id), what);
      calls.put(id, to);
    }

    private void result(String id) {
      calls.put(id, "answered");
      promoted.values().removeIf(id::equals);
      if (calls.values().stream().allMatch("answered"::equals)) {
        calls.clear();
        effects.clear();
      }
    }
  }
}
