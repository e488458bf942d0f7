package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.StoreException;
import dev.warpwright.run.Append;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A store that fails once, or refuses, while the process lives on. */
@Timeout(60)
final class StoreFailureTest {
  private World world = new World();
  private final FakeModel model =
      FakeModel.of(
          calls(call("c1", "look", "o1"), call("c2", "note", "o1"), call("c3", "refund", "o1")),
          text("Done."));

  private AgentRequest request() {
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(
                world.tool("look", EffectClass.PURE).build(),
                world.tool("note", EffectClass.IDEMPOTENT).build(),
                world.reconciled("refund").build())
            .build();
    return AgentRequest.builder(agent, "Do it.").idempotencyKey("key").build();
  }

  /** A store whose n-th append fails, before or after it took place. */
  private static RunStore failingOnce(RunStore store, int at, boolean afterIt) {
    AtomicInteger appends = new AtomicInteger();
    return new WaitingStore(store) {
      @Override
      public void append(Append append, Deadline deadline) {
        boolean fails = appends.incrementAndGet() == at;
        if (fails && !afterIt) {
          throw new StoreException("The fate of the append is open.", null);
        }
        super.append(append, deadline);
        if (fails) {
          throw new StoreException("The fate of the append is open.", null);
        }
      }
    };
  }

  @Test
  @Tag("A12")
  @Tag("A55")
  void an_append_of_unknown_fate_ends_the_invocation_and_the_next_one_goes_on() {
    for (int at = 1; at <= 6; at++) {
      for (boolean afterIt : new boolean[] {false, true}) {
        String what = "append " + at + (afterIt ? " took place" : " did not take place");
        world = new World();
        AgentRequest request = request();
        Program program = Program.on(failingOnce(RunStore.inMemory(), at, afterIt), model);

        assertThrows(StoreException.class, () -> program.agents.run(request), what);
        program.assertNothingIsLeft();
        AgentResult result = program.agents.run(request);

        assertEquals("Done.", result.text(), what);
        assertEquals(
            1,
            world.effects().stream().filter(effect -> effect.tool().equals("refund")).count(),
            what);
        program.assertNothingIsLeft();
      }
    }
  }

  @Test
  @Tag("A54")
  void a_refused_intent_begins_no_effect() {
    RunStore refusing =
        new WaitingStore(
            RunStore.inMemory(),
            append -> {
              if (append.events().size() > 1) {
                throw new ConflictException(
                    "Somebody else owns the run.", null, OperationTrace.NONE);
              }
            });
    Program program = Program.on(refusing, model);

    assertThrows(ConflictException.class, () -> program.agents.run(request()));

    assertEquals(0, world.effects().size());
    program.assertNothingIsLeft();
  }

  @Test
  void a_failure_that_cannot_be_written_down_is_kept_beside_the_failure_of_the_store() {
    RunStore broken =
        new WaitingStore(
            RunStore.inMemory(),
            append -> {
              if (append.events().getLast() instanceof RunFailed) {
                throw new StoreException("The disk is full.", null);
              }
            });
    Program program = Program.on(broken, FakeModel.of(status(503)));

    StoreException thrown = assertThrows(StoreException.class, () -> program.agents.run(request()));

    assertEquals(1, thrown.getSuppressed().length);
    assertInstanceOf(AttemptsExhaustedException.class, thrown.getSuppressed()[0]);
    program.assertNothingIsLeft();
  }

  @Test
  void a_run_that_cannot_be_handed_back_does_not_hide_what_happened() {
    RunStore store =
        new WaitingStore(
            RunStore.inMemory(),
            append -> {
              throw new StoreException("The disk is full.", null);
            }) {
          @Override
          public void release(RunKey run, Writer owner) {
            throw new IllegalStateException("The store is closed.");
          }
        };
    Program program = Program.on(store, model);

    StoreException thrown = assertThrows(StoreException.class, () -> program.agents.run(request()));

    assertEquals(
        Optional.of("The store is closed."),
        Optional.ofNullable(thrown.getSuppressed()[0].getMessage()));
    assertTrue(program.gateway.diagnostics().liveTasks().isEmpty());
  }
}
