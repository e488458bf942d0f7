package dev.warpwright.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import dev.warpwright.tool.OutcomeUnknownException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A run of a flow is moved to another store, with its child runs. */
final class MovedRunTest {
  private final ManualTime time = new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), 1);
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final RunStore here = RunStore.inMemory(time);
  private final RunStore there = RunStore.inMemory(time);
  private final List<String> made = new ArrayList<>();

  private final Flow<String, String> child =
      Flow.of(
          "child",
          String.class,
          String.class,
          (ctx, in) -> ctx.step("s", String.class, step -> act(in)));
  private final Flow<String, String> flow =
      Flow.of(
          "parent",
          String.class,
          String.class,
          (ctx, in) ->
              ctx.child(child, in + "1")
                  + ctx.awaitSignal("word", String.class)
                  + ctx.child(child, in + "2"));

  private String act(String what) {
    made.add(what);
    return what;
  }

  private static String export(RunStore store, RunKey run) {
    return Runs.in(store).logs(run).stream().map(RunExport::write).collect(Collectors.joining());
  }

  private RunKey waiting() {
    return Flows.on(tasks, here)
        .run(FlowRequest.builder(flow, "x").idempotencyKey("key").build())
        .run();
  }

  @Test
  @Tag("F75")
  @Tag("F76")
  void export_import_and_export_give_the_same_bytes_and_the_run_goes_on_there() {
    RunKey run = waiting();
    String text = export(here, run);
    assertEquals(text, export(here, run));
    List<RunKey> moved = Runs.in(there, time).importRuns(text);
    assertEquals(List.of(run.runId(), childOf(run)), moved.stream().map(RunKey::runId).toList());
    assertEquals(text, export(there, run));
    assertEquals(Optional.of(run), Runs.in(there).find(run.scope(), "key"));

    Flows flows = Flows.on(tasks, there);
    flows.signal(run, "word", "-", "s1");
    assertEquals("x1-x2", flows.resume(flow, run).orThrow());
    assertEquals(List.of("x1", "x2"), made);
    String ended = export(there, run);
    assertEquals(3, Runs.in(there).logs(run).size());
    RunStore third = RunStore.inMemory(time);
    Runs.in(third).importRuns(ended);
    assertEquals(ended, export(third, run));
  }

  private String childOf(RunKey run) {
    return Runs.in(here).state(run).orElseThrow().children().getFirst().started().childRunId();
  }

  @Test
  @Tag("F76")
  void what_exists_or_breaks_a_rule_is_refused_and_nothing_is_taken_in() {
    RunKey run = waiting();
    String text = export(here, run);
    Runs runs = Runs.in(there);
    List<String> lines = text.lines().map(line -> line + "\n").toList();
    List<LoggedEvent> log = Runs.in(here).log(run);

    assertThrows(ConflictException.class, () -> Runs.in(here).importRuns(text));
    assertThrows(InvalidRequestException.class, () -> runs.importRuns(text + text));
    String gap = RunExport.write(List.of(log.get(0), log.get(2)));
    assertThrows(InvalidRequestException.class, () -> runs.importRuns(gap));
    assertThrows(
        InvalidRequestException.class,
        () -> runs.importRuns(String.join("", lines.subList(0, lines.size() - 1))));
    String unknown = text.replaceFirst("\"version\":1", "\"version\":99");
    assertThrows(InvalidRequestException.class, () -> runs.importRuns(unknown));
    assertTrue(there.load(run, 1, Deadline.never()).isEmpty());

    runs.importRuns(RunExport.write(Runs.in(here).logs(run).get(1))); // the child alone
    assertThrows(ConflictException.class, () -> runs.importRuns(text));
    assertTrue(there.load(run, 1, Deadline.never()).isEmpty());
    runs.delete(new RunKey(run.scope(), childOf(run)));

    Flows other = Flows.on(tasks, there);
    other.run(FlowRequest.builder(flow, "y").idempotencyKey("key").build());
    assertThrows(ConflictException.class, () -> runs.importRuns(text), "its key is taken");
    assertTrue(there.load(run, 1, Deadline.never()).isEmpty());
    assertTrue(
        there.load(new RunKey(run.scope(), childOf(run)), 1, Deadline.never()).isEmpty(),
        "the child was taken in first, and back");
  }

  @Test
  @Tag("F75")
  void a_masked_log_says_what_happened_and_not_what_was_said() {
    RunKey run = waiting();
    Flows.on(tasks, here).signal(run, "word", "secret word", "s1");
    assertEquals(RunStatus.COMPLETED, Flows.on(tasks, here).resume(flow, run).status());
    String masked =
        Runs.in(here).logs(run).stream().map(RunExport::writeMasked).collect(Collectors.joining());
    assertFalse(masked.contains("secret word"));
    assertFalse(masked.contains("x1"));
    assertFalse(masked.contains("\"idempotencyKey\":\"key\""));
    assertTrue(masked.contains("\"type\":\"SignalReceived\""));
  }

  @Test
  @Tag("F77")
  void a_run_with_children_is_deleted_with_them_or_not_at_all() {
    RunKey run = waiting();
    RunKey below = new RunKey(run.scope(), childOf(run));
    Runs runs = Runs.in(here, time);
    ConflictException refused = assertThrows(ConflictException.class, () -> runs.delete(run));
    assertTrue(refused.getMessage().contains("has child runs"), refused.getMessage());

    Writer owner = here.borrow(below, Deadline.never()).orElseThrow();
    assertThrows(ConflictException.class, () -> runs.deleteWithChildren(run));
    assertEquals(2, runs.logs(run).size());
    here.release(below, owner);

    RunKey fork = runs.fork(run, runs.log(run).size());
    assertTrue(runs.delete(fork), "the child is not its own");
    assertEquals(2, runs.deleteWithChildren(run));
    assertEquals(0, runs.deleteWithChildren(run));
    assertTrue(here.load(run, 1, Deadline.never()).isEmpty());
    assertTrue(here.load(below, 1, Deadline.never()).isEmpty());
    assertEquals(Optional.empty(), runs.find(run.scope(), "key"));
  }

  @Test
  @Tag("F77")
  void a_run_whose_child_waits_for_a_verdict_is_not_deleted() {
    Flow<String, String> doubtful =
        Flow.of(
            "doubtful",
            String.class,
            String.class,
            (ctx, in) -> ctx.step("pay", String.class, StepOptions.once(), step -> lost()));
    Flow<String, String> parent =
        Flow.of("p", String.class, String.class, (ctx, in) -> ctx.child(doubtful, in));
    RunKey run = Flows.on(tasks, here).run(parent, "x").run();
    assertEquals(RunStatus.WAITING, Runs.in(here).state(run).orElseThrow().status());
    ConflictException refused =
        assertThrows(ConflictException.class, () -> Runs.in(here).deleteWithChildren(run));
    assertTrue(refused.getMessage().contains("waits for a verdict"), refused.getMessage());
    assertEquals(2, Runs.in(here).logs(run).size());
  }

  private static String lost() throws OutcomeUnknownException {
    throw new OutcomeUnknownException(new IllegalStateException("The line went dead."));
  }

  @Test
  @Tag("F33")
  @Tag("F78")
  void a_flow_that_waits_for_long_does_not_lose_its_child_runs_by_their_age() {
    RunKey run = waiting();
    Runs runs = Runs.in(here, time);
    time.advance(Duration.ofDays(1));
    Set<RunStatus> ended = Set.of(RunStatus.COMPLETED, RunStatus.FAILED);

    assertThrows(
        InvalidRequestException.class,
        () -> runs.deleteExpired(time.now(), Set.of(RunStatus.WAITING)));
    assertEquals(0, runs.deleteExpired(time.now(), ended));
    Flows flows = Flows.on(tasks, here);
    flows.signal(run, "word", "-", "s1");
    assertEquals("x1-x2", flows.resume(flow, run).orThrow());
    assertEquals(List.of("x1", "x2"), made);
    time.advance(Duration.ofDays(1));
    assertEquals(3, runs.deleteExpired(time.now(), ended));
    assertTrue(runs.state(run).isEmpty());
  }

  @Test
  @Tag("F78")
  void a_flow_says_which_child_run_it_misses() {
    RunKey run = waiting();
    Runs runs = Runs.in(here, time);
    assertTrue(runs.delete(new RunKey(run.scope(), childOf(run))));
    Flows flows = Flows.on(tasks, here);
    flows.signal(run, "word", "-", "s1");
    List<LoggedEvent> log = runs.log(run);
    ConflictException missed = assertThrows(ConflictException.class, () -> flows.resume(flow, run));
    assertTrue(missed.getMessage().contains("was deleted"), missed.getMessage());
    assertEquals(
        log, runs.log(run).subList(0, log.size()), "and it can go on if that is brought back");
    assertFalse(runs.state(run).orElseThrow().isTerminal());
  }

  @Test
  @Tag("F35")
  @Tag("F76")
  void a_parent_whose_child_had_ended_goes_on_where_it_was_taken_in() {
    Flow<String, String> sleeps =
        Flow.of(
            "sleeps",
            String.class,
            String.class,
            (ctx, in) -> {
              ctx.sleep(Duration.ofHours(1));
              return in + "!";
            });
    Flow<String, String> parent =
        Flow.of("p", String.class, String.class, (ctx, in) -> ctx.child(sleeps, in));
    Flows flows = Flows.on(tasks, here);
    RunKey run = flows.run(parent, "x").run();
    time.advance(Duration.ofHours(1));
    var _ = flows.resume(sleeps, new RunKey(run.scope(), childOf(run)));
    assertEquals(RunStatus.WAITING, Runs.in(here).state(run).orElseThrow().status());

    Runs.in(there, time).importRuns(export(here, run));
    assertEquals(1, there.acquireDue(Set.of("flow:p"), 1, Deadline.never()).taken().size());
  }
}
