package dev.warpwright.agent;

import dev.warpwright.model.Json;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Reconciler.Finding;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolContext;
import dev.warpwright.tool.ToolException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The world outside: what tools did to it, which outlives every process. Thread-safe. */
public final class World {
  /** The input of every tool here. */
  public record Order(String order) {}

  /** One effect that took place. */
  public record Effect(String tool, String order, String key) {}

  private final List<Effect> effects = new ArrayList<>();

  /** A tool that acts on the world. */
  public Tool.Builder<Order> tool(String name, EffectClass effect) {
    return Tool.builder(
        name, "Does it.", Order.class, effect, (input, context) -> act(name, input, context));
  }

  /** A tool that must act once, and can be asked whether it has. */
  public Tool.Builder<Order> reconciled(String name) {
    return tool(name, EffectClass.ONCE).reconciler((key, input) -> lookUp(key));
  }

  /** A tool that always fails and does nothing. */
  public static Tool failing(String name, EffectClass effect) {
    return Tool.of(
        name,
        "Fails.",
        Order.class,
        effect,
        (input, context) -> {
          throw new ToolException("There is no order " + input.order() + ".");
        });
  }

  private Finding lookUp(String key) {
    return find(key)
        .<Finding>map(
            effect -> new Finding.Executed(Json.of(output(effect.tool(), effect.order()))))
        .orElseGet(Finding.NotExecuted::new);
  }

  /** Acts, and says what it did. */
  public synchronized String act(String tool, Order input, ToolContext context) {
    effects.add(new Effect(tool, input.order(), context.idempotencyKey()));
    return output(tool, input.order());
  }

  public static String output(String tool, String order) {
    return tool + " of " + order + " done";
  }

  public synchronized List<Effect> effects() {
    return List.copyOf(effects);
  }

  public synchronized Optional<Effect> find(String key) {
    return effects.stream().filter(effect -> effect.key().equals(key)).findFirst();
  }
}
