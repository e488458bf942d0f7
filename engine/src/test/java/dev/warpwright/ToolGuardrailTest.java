package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.GuardrailException;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Guardrail;
import dev.warpwright.tool.Tool;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Guardrails of tools in an operation that has no run. */
final class ToolGuardrailTest {
  private static final Guardrail OBJECTING =
      Guardrail.of(
          "no", view -> Guardrail.Verdict.trigger("secret").with(Map.of("note", "secret")));

  @RegisterExtension final Spine spine = new Spine();

  private final AtomicInteger runs = new AtomicInteger();

  private GuardrailException stopped(Tool tool) {
    spine.a.asksFor(Tools.call("1", "pay")).says("unreachable");
    Gateway gateway = spine.gateway();
    GenerateRequest request = ask(A).tools(tool).maxSteps(3).build();

    GuardrailException stopped =
        assertThrows(GuardrailException.class, () -> gateway.generate(request));

    assertEquals(FailureKind.GUARDRAIL, stopped.kind());
    assertFalse(stopped.retryable());
    assertEquals(1, stopped.trace().attempts().size(), "nothing is tried again");
    assertEquals("no", stopped.guardrailId());
    assertEquals(Optional.of("secret"), stopped.reason());
    assertEquals(Map.of("note", "secret"), stopped.metadata());
    assertFalse(stopped.toString().contains("secret"), stopped::toString);
    return stopped;
  }

  private Tool.Builder<?> pay() {
    return Tools.builder("pay", EffectClass.ONCE, (input, context) -> runs.incrementAndGet());
  }

  @Test
  @Tag("A48")
  @Tag("R95")
  void anInputGuardrailEndsTheOperationBeforeTheToolRuns() {
    GuardrailException stopped = stopped(pay().inputGuardrails(OBJECTING).build());

    assertEquals(GuardrailStage.TOOL_INPUT, stopped.stage());
    assertEquals(0, runs.get());
  }

  @Test
  @Tag("A48")
  @Tag("R95")
  void anOutputGuardrailEndsTheOperationAndTheModelIsNotTold() {
    GuardrailException stopped = stopped(pay().outputGuardrails(OBJECTING).build());

    assertEquals(GuardrailStage.TOOL_OUTPUT, stopped.stage());
    assertEquals(1, runs.get());
    assertTrue(String.valueOf(stopped.getMessage()).contains("TOOL_OUTPUT"));
  }
}
