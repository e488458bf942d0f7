package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.World.Order;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.RunStatus;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Guardrail;
import dev.warpwright.tool.OutcomeUnknownException;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolException;
import dev.warpwright.tool.ToolExecution;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the model sees of a tool that throws. */
@Timeout(60)
@Tag("A47")
final class ReplacedErrorTest {
  private final AtomicInteger asked = new AtomicInteger();

  private static Tool.Builder<Order> throwing(EffectClass effect, Exception failure) {
    return Tool.builder(
        "pay",
        "",
        Order.class,
        effect,
        (input, context) -> {
          throw failure;
        });
  }

  private static AgentResult run(Tool tool, ToolExecution execution) {
    Program program = Program.with(calls(call("c1", "pay", "o1")), text("Done."));
    Agent agent =
        Agent.builder("agent", Program.ROUTE).tools(tool).toolExecution(execution).build();
    AgentResult result = program.agents.run(AgentRequest.builder(agent, "Do it.").build());
    program.assertNothingIsLeft();
    return result;
  }

  private static ToolResult result(Tool tool) {
    return run(tool, ToolExecution.DEFAULT).state().messages().get(2).toolResults().getFirst();
  }

  @Test
  void a_replacement_is_the_output_of_an_error_result_made_of_input_and_failure() {
    ToolResult shown =
        result(
            throwing(EffectClass.ONCE, new IllegalStateException("secret"))
                .onError(
                    (input, failure) ->
                        Optional.of(
                            Map.of(
                                "order",
                                input.order(),
                                "what",
                                failure.getClass().getSimpleName())))
                .build());

    assertTrue(shown.error());
    assertEquals(Map.of("order", "o1", "what", "IllegalStateException"), shown.output().value());
  }

  @Test
  void a_replacement_comes_before_the_text_that_the_tool_meant_for_the_model() {
    ToolResult shown =
        result(
            throwing(EffectClass.PURE, new ToolException("No such order."))
                .onError((input, failure) -> Optional.of("Try later."))
                .build());

    assertTrue(shown.error());
    assertEquals("Try later.", shown.output().value());
  }

  @Test
  void without_a_replacement_it_stays_at_the_failure_also_if_that_fails_itself() {
    Tool.Builder<Order> meant = throwing(EffectClass.PURE, new ToolException("No such order."));
    assertEquals(
        "No such order.",
        result(meant.onError((input, failure) -> Optional.empty()).build()).output().value());
    Tool.Builder<Order> broken = throwing(EffectClass.PURE, new IllegalStateException("secret"));
    assertEquals(
        "Tool failed.",
        result(
                broken
                    .onError(
                        (input, failure) -> {
                          throw new IllegalStateException("secret too");
                        })
                    .build())
            .output()
            .value());
  }

  @Test
  void a_call_whose_outcome_is_unknown_is_not_replaced() {
    AgentResult result =
        run(
            throwing(EffectClass.ONCE, new OutcomeUnknownException(new IllegalStateException()))
                .onError(
                    (input, failure) -> {
                      asked.incrementAndGet();
                      return Optional.of("Paid.");
                    })
                .build(),
            ToolExecution.DEFAULT);

    assertEquals(RunStatus.NEEDS_RECONCILIATION, result.status());
    assertEquals(0, asked.get());
  }

  @Test
  @Tag("A48")
  void a_guardrail_looks_at_a_replacement_and_is_never_replaced_itself() {
    Guardrail noPayments =
        Guardrail.of(
            "payments",
            view ->
                view.text().contains("Paid")
                    ? Guardrail.Verdict.trigger("paid")
                    : Guardrail.Verdict.PASS);
    Tool replacing =
        throwing(EffectClass.ONCE, new IllegalStateException())
            .outputGuardrails(noPayments)
            .onError((input, failure) -> Optional.of("Paid."))
            .build();
    Tool objecting =
        Tool.builder("pay", "", Order.class, EffectClass.ONCE, (input, context) -> "Paid.")
            .outputGuardrails(noPayments)
            .onError(
                (input, failure) -> {
                  asked.incrementAndGet();
                  return Optional.of("Nothing happened.");
                })
            .build();

    for (Tool tool : List.of(replacing, objecting)) {
      AgentResult result = run(tool, ToolExecution.DEFAULT);
      assertEquals(FailureKind.GUARDRAIL, result.state().failure().orElseThrow().kind());
    }
    assertEquals(0, asked.get());
  }

  @Test
  void a_replaced_failure_still_ends_a_run_that_stops_on_errors() {
    AgentResult result =
        run(
            throwing(EffectClass.ONCE, new IllegalStateException())
                .onError((input, failure) -> Optional.of("Try later."))
                .build(),
            ToolExecution.DEFAULT.stoppingOnError());

    assertEquals(FailureKind.TOOL_FAILED, result.state().failure().orElseThrow().kind());
    assertEquals(1, result.state().toolErrors());
  }
}
