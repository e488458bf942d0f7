package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.ObjectRequest;
import dev.warpwright.ObjectStream;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.model.Capability;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.util.List;

/**
 * An object that is shown while it comes: partial values first, the checked record at the end.
 *
 * <p>The provider is scripted, so that the program prints the same on every machine.
 */
final class StreamedObject {
  /** What is asked for. */
  record Recipe(String name, List<String> steps, int minutes) {}

  private static final Target TARGET = Target.of("scripted", "model");

  private StreamedObject() {}

  static void main() {
    run(System.out);
  }

  static void run(PrintStream out) {
    ScriptedModel model =
        ScriptedModel.builder()
            .capabilities(ModelCapabilities.of(Capability.STREAMING, Capability.STRUCTURED_OUTPUT))
            .otherwise(
                ScriptedAnswer.pieces(
                    "{\"name\":\"Pan",
                    "cakes\",\"steps\":[\"Mix\",",
                    "\"Fry",
                    "\"],\"minutes\":2",
                    "0}"))
            .build();
    ObjectRequest<Recipe> request =
        ObjectRequest.of(
            Recipe.class,
            MethodHandles.lookup(),
            GenerateRequest.builder(Route.of(TARGET), "A recipe.").build());
    try (Gateway gateway = Gateway.builder().adapter("scripted", model).build();
        ObjectStream<Recipe> stream = gateway.streamObject(request)) {
      for (Json partial : stream.partials()) {
        out.println(partial.text());
      }
      out.println(stream.collect().object());
    }
  }
}
