package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A run goes on from a log that is handed in. */
@Timeout(60)
@Tag("A149")
final class HandedInLogTest {
  private final World world = new World();
  private final Agent agent =
      Agent.builder("agent", Program.ROUTE)
          .tools(world.tool("refund", EffectClass.ONCE).requiresApproval().build())
          .build();

  private static FakeModel model() {
    return FakeModel.of(calls(call("c1", "refund", "o1")), text("Refunded."));
  }

  /** A process without a store that is configured. */
  private static Agents withoutStore(Program process) {
    return Agents.builder(process.gateway).build();
  }

  private AgentResult waiting() {
    Program first = Program.on(RunStore.inMemory(), model());
    AgentResult result =
        withoutStore(first)
            .run(AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build());
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    first.assertNothingIsLeft();
    return result;
  }

  private static ApprovalDecision approval(AgentResult result) {
    return ApprovalDecision.approve(result.pendingApprovals().getFirst().requestId());
  }

  @Test
  @Tag("C50")
  void a_waiting_run_without_a_store_is_resumed_from_the_log_in_its_result_in_another_process() {
    AgentResult result = waiting();
    String carried = RunExport.write(result.log());
    Program other = Program.on(RunStore.inMemory(), model());

    AgentResult done = withoutStore(other).resume(agent, RunExport.read(carried), approval(result));

    assertEquals("Refunded.", done.text());
    assertEquals(1, world.effects().size());
    assertEquals(result.log(), done.log().subList(0, result.log().size()));
    assertTrue(done.log().size() > result.log().size());
    other.assertNothingIsLeft();
  }

  @Test
  void the_log_of_every_result_is_the_log_of_the_run() {
    Program program = Program.on(RunStore.inMemory(), model());
    AgentResult result =
        program.agents.run(AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build());
    assertEquals(program.log(result.run()), result.log());
    assertEquals(result.log(), program.agents.resume(agent, result.run()).log());

    AgentResult done = program.agents.resume(agent, result.run(), approval(result));
    assertEquals(program.log(result.run()), done.log());
    assertEquals(done.log(), program.agents.resume(agent, result.run()).log());
    assertEquals(
        done.log(),
        program
            .agents
            .run(AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build())
            .log());
  }

  @Test
  void the_log_is_taken_into_the_store_and_the_key_with_it() {
    AgentResult result = waiting();
    Program other = Program.on(RunStore.inMemory(), model());

    AgentResult still = other.agents.resume(agent, result.log());

    assertEquals(RunStatus.WAITING_APPROVAL, still.status());
    assertEquals(result.log(), other.log(result.run()));
    AgentRequest again = AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
    assertEquals(result.run(), other.agents.run(again).run());
    // The store has it now, and both are equal.
    assertEquals("Refunded.", other.agents.resume(agent, result.log(), approval(result)).text());
    assertEquals(1, world.effects().size());
    other.assertNothingIsLeft();
  }

  @Test
  @Tag("C50")
  @Tag("A6")
  void a_log_with_a_missing_event_is_refused_before_any_call() {
    AgentResult result = waiting();
    FakeModel model = model();
    Program other = Program.on(RunStore.inMemory(), model);

    for (int missing = 0; missing < result.log().size() - 1; missing++) {
      List<LoggedEvent> torn = new ArrayList<>(result.log());
      torn.remove(missing);
      assertThrows(
          InvalidRequestException.class, () -> other.agents.resume(agent, torn, approval(result)));
    }
    assertThrows(InvalidRequestException.class, () -> other.agents.resume(agent, List.of()));
    assertThrows(
        InvalidRequestException.class,
        () -> other.agents.resume(agent, result.log(), ApprovalDecision.approve("nobody asked")));

    assertEquals(List.of(), other.runs(), "nothing was stored");
    assertEquals(List.of(), model.asked());
    assertEquals(List.of(), world.effects());
  }

  private static LoggedEvent with(LoggedEvent logged, Writer writer) {
    return new LoggedEvent(logged.run(), logged.sequence(), writer, logged.time(), logged.event());
  }

  @Test
  @Tag("C50")
  void a_log_that_differs_from_the_stored_one_is_a_conflict_before_any_call() {
    FakeModel model = model();
    Program program = Program.on(RunStore.inMemory(), model);
    AgentResult result = program.agents.run(AgentRequest.builder(agent, "Do it.").build());
    List<LoggedEvent> log = result.log();
    RunKey run = result.run();
    LoggedEvent first = log.getFirst();
    LoggedEvent last = log.getLast();
    RunStarted started = (RunStarted) first.event();
    LoggedEvent otherStart =
        new LoggedEvent(
            run,
            1,
            first.writer(),
            first.time(),
            new RunStarted(
                started.agentId(),
                "2",
                started.fingerprint(),
                started.idempotencyKey(),
                started.messages(),
                started.maxSteps(),
                started.targets(),
                started.metadata()));
    LoggedEvent oneMore =
        new LoggedEvent(
            run, last.sequence() + 1, last.writer(), last.time(), new RunResumed("by hand"));
    LoggedEvent later =
        new LoggedEvent(
            run, last.sequence(), last.writer(), last.time().plusNanos(1), last.event());

    List<List<LoggedEvent>> others =
        List.of(
            Stream.concat(Stream.of(otherStart), log.stream().skip(1)).toList(),
            Stream.concat(log.stream(), Stream.of(oneMore)).toList(),
            log.subList(0, log.size() - 1),
            Stream.concat(log.stream().limit(log.size() - 1), Stream.of(later)).toList(),
            Stream.concat(
                    log.stream().limit(log.size() - 1),
                    Stream.of(with(last, new Writer("stranger", 9))))
                .toList());
    for (List<LoggedEvent> other : others) {
      assertThrows(
          ConflictException.class,
          () -> program.agents.resume(agent, other, ApprovalDecision.approve("any")));
    }

    assertEquals(log, program.log(run));
    assertEquals(List.of(0), model.asked());
    assertEquals(List.of(), world.effects());
    assertInstanceOf(RunSuspended.class, last.event());
  }

  @Test
  void an_old_log_of_a_run_that_went_on_is_a_conflict() {
    AgentResult result = waiting();
    Program other = Program.on(RunStore.inMemory(), model());
    var _ = other.agents.resume(agent, result.log(), approval(result));

    assertThrows(
        ConflictException.class, () -> other.agents.resume(agent, result.log(), approval(result)));
    assertThrows(ConflictException.class, () -> other.agents.resume(agent, result.log()));
    assertEquals(1, world.effects().size());
  }

  @Test
  void another_agent_does_not_take_a_log_in() {
    AgentResult result = waiting();
    Program other = Program.on(RunStore.inMemory(), model());
    Agent stranger = Agent.builder("stranger", Program.ROUTE).tools(agent.tools().tools()).build();

    assertThrows(
        ConflictException.class,
        () -> other.agents.resume(stranger, result.log(), approval(result)));
    assertEquals(List.of(), other.runs());
  }

  @Test
  @Tag("A87")
  void of_many_who_hand_in_the_same_log_and_decision_one_goes_on() throws Exception {
    for (int round = 0; round < 20; round++) {
      World ownWorld = new World();
      Agent own =
          Agent.builder("agent", Program.ROUTE)
              .tools(ownWorld.tool("refund", EffectClass.ONCE).requiresApproval().build())
              .build();
      AgentResult result = waiting();
      Program other = Program.on(RunStore.inMemory(), model());
      CountDownLatch start = new CountDownLatch(1);
      int done = 0;
      try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
        List<Future<AgentResult>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          Callable<AgentResult> caller =
              () -> {
                start.await();
                return other.agents.resume(own, result.log(), approval(result));
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
      assertEquals(1, ownWorld.effects().size());
    }
  }

  @Test
  @Tag("A4")
  void what_a_newer_version_wrote_into_the_log_is_still_there_after_the_resume() {
    AgentResult result = waiting();
    String newer =
        RunExport.write(result.log())
            .replaceFirst(",\"events\":\\d+,\"digest\":\"[^\"]+\"", "")
            .replaceFirst("\"agentVersion\"", "\"future\":{\"a\":1.50},\"agentVersion\"");
    Program other = Program.on(RunStore.inMemory(), model());

    AgentResult done = other.agents.resume(agent, RunExport.read(newer), approval(result));

    assertEquals("Refunded.", done.text());
    List<LoggedEvent> stored = other.store.load(result.run(), 1, Deadline.never());
    assertTrue(RunExport.write(stored).contains("\"future\":{\"a\":1.50}"));
    assertTrue(RunExport.write(done.log()).contains("\"future\":{\"a\":1.50}"));
    assertEquals(Json.of("refund of o1 done").text(), lastOutput(done));
  }

  private static String lastOutput(AgentResult result) {
    return result.state().messages().stream()
        .flatMap(message -> message.toolResults().stream())
        .toList()
        .getLast()
        .output()
        .text();
  }
}
