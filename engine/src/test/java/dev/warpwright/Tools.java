package dev.warpwright;

import dev.warpwright.model.Json;
import dev.warpwright.model.ToolCall;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolFunction;
import java.lang.invoke.MethodHandles;
import java.util.Map;
import java.util.function.Function;

/** Tools and calls of them. */
final class Tools {
  private Tools() {}

  /** What all tools of these tests take. */
  public record Input(String text) {}

  static Tool.Builder<Input> builder(
      String name, EffectClass effect, ToolFunction<? super Input> function) {
    return Tool.builder(name, "A tool.", Input.class, MethodHandles.lookup(), effect, function);
  }

  static Tool of(String name, Function<? super Input, Object> function) {
    return builder(name, EffectClass.ONCE, (input, context) -> function.apply(input)).build();
  }

  static Tool echo() {
    return of("echo", Input::text);
  }

  /** A call of {@code echo}. */
  static ToolCall call(String id) {
    return call(id, "echo");
  }

  static ToolCall call(String id, String tool) {
    return new ToolCall(id, tool, Json.of(Map.of("text", "text of " + id)));
  }
}
