package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A run's state has a bound; what would pass it is not written, and the run fails for good. */
@Timeout(60)
@Tag("A7")
final class StateSizeTest {
  private static final int KIB = 1024;

  private final AtomicInteger runs = new AtomicInteger();

  private Program program(FakeModel.Answer... answers) {
    return Program.on(RunStore.inMemory(), FakeModel.of(answers));
  }

  private Program used = program();

  @AfterEach
  void nothingIsLeft() {
    used.assertNothingIsLeft();
  }

  private Agent agent(long maxStateBytes, EffectClass effect, int outputBytes) {
    Tool tool =
        Tool.of(
            "refund",
            "",
            Order.class,
            effect,
            (input, context) -> {
              runs.incrementAndGet();
              return "x".repeat(outputBytes);
            });
    return Agent.builder("agent", Program.ROUTE).maxStateBytes(maxStateBytes).tools(tool).build();
  }

  private void assertFailedForGood(AgentResult result, Agent agent) {
    assertEquals(RunStatus.FAILED, result.status());
    RunFailed failure = result.state().failure().orElseThrow();
    assertEquals(FailureKind.LIMIT, failure.kind());
    assertFalse(failure.resumable());
    assertTrue(failure.message().contains("maxStateBytes"), failure.message());
    assertTrue(result.state().bytes() <= agent.maxStateBytes());
    assertEquals(used.log(result.run()), result.log());
    assertFalse(used.agents.resume(agent, result.run()).driven(), "it is not taken up again");
    assertEquals(result.log(), used.log(result.run()));
  }

  @Test
  @Tag("A12")
  void an_answer_that_does_not_fit_is_not_written() {
    used = program(text("x".repeat(2 * KIB)));
    Agent agent = agent(2 * KIB, EffectClass.ONCE, 0);

    AgentResult result = used.agents.run(AgentRequest.builder(agent, "Do it.").build());

    assertFailedForGood(result, agent);
    assertEquals(List.of("RunStarted", "StepStarted", "RunFailed"), used.types(result.run()));
  }

  @ParameterizedTest
  @EnumSource(EffectClass.class)
  @Tag("A12")
  void an_output_that_does_not_fit_is_not_written_but_that_the_tool_has_acted_is(
      EffectClass effect) {
    used = program(calls(call("c1", "refund", "o1")), text("Never asked."));
    Agent agent = agent(2 * KIB, effect, 3 * KIB);

    AgentResult result = used.agents.run(AgentRequest.builder(agent, "Do it.").build());

    assertFailedForGood(result, agent);
    assertEquals(1, runs.get());
    assertEquals(List.of(), result.state().inDoubt(), "its outcome is known");
    ToolFinished finished =
        (ToolFinished)
            used.events(result.run()).stream()
                .filter(ToolFinished.class::isInstance)
                .findFirst()
                .orElseThrow();
    assertTrue(finished.executed());
    assertTrue(finished.error());
    assertTrue(finished.output().text().contains("too large"), finished.output().text());
  }

  @Test
  void exactly_the_bound_fits_and_one_byte_more_does_not() {
    // "Do it." has 6 bytes, an answer of umlauts two a character.
    for (int more : new int[] {0, 1}) {
      used = program(text("ä".repeat((2 * KIB - 6) / 2) + "x".repeat(more)));
      Agent agent = agent(2 * KIB, EffectClass.ONCE, 0);

      AgentResult result = used.agents.run(AgentRequest.builder(agent, "Do it.").build());

      assertEquals(more == 0 ? RunStatus.COMPLETED : RunStatus.FAILED, result.status());
      assertEquals(more == 0 ? 2 * KIB : 6, result.state().bytes());
    }
  }

  @Test
  void a_request_that_does_not_fit_makes_no_run() {
    used = program(text("Never asked."));
    Agent agent = agent(2 * KIB, EffectClass.ONCE, 0);

    LimitExceededException refused =
        assertThrows(
            LimitExceededException.class,
            () ->
                used.agents.run(
                    AgentRequest.builder(agent, "x".repeat(3 * KIB)).runId("run-1").build()));

    assertTrue(refused.getMessage().contains("2048"), refused.getMessage());
    assertTrue(refused.getMessage().contains("3072"), refused.getMessage());
    assertEquals(List.of(), used.log(new RunKey(RunScope.DEFAULT, "run-1")));
  }

  @Test
  void four_mebibytes_are_the_default_and_the_limit_of_a_run_is_in_its_log() {
    used = program(text("Hello."), text("Hello."));
    Agent usual = Agent.builder("agent", Program.ROUTE).build();
    assertEquals(4 * 1024 * 1024, usual.maxStateBytes());
    AgentResult byDefault = used.agents.run(AgentRequest.builder(usual, "Hi").build());
    assertEquals(RunState.DEFAULT_MAX_BYTES, byDefault.state().maxBytes());

    AgentResult small =
        used.agents.run(AgentRequest.builder(agent(2 * KIB, EffectClass.ONCE, 0), "Hi").build());
    assertEquals(2 * KIB, RunState.of(used.log(small.run())).maxBytes());
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1023, 1024L * 1024 * 1024 + 1})
  void a_limit_out_of_bounds_is_refused(long bytes) {
    InvalidRequestException refused =
        assertThrows(
            InvalidRequestException.class,
            () -> Agent.builder("agent", Program.ROUTE).maxStateBytes(bytes));

    assertTrue(refused.getMessage().contains("but is " + bytes), refused.getMessage());
  }
}
