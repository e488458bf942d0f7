package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.ObjectRequest;
import dev.warpwright.ObjectResult;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Optional;

/**
 * An object instead of a text: a Java record in, a checked record out. Shows both modes, and an
 * answer that does not match.
 *
 * <p>The providers are scripted, so that the program prints the same on every machine.
 */
final class TypedObject {
  /** What is asked for; its schema is made of the record. */
  record Trip(String destination, int days, List<Stop> stops, Optional<String> note) {}

  /** A part of it. */
  record Stop(String city, int nights) {}

  private static final Target NATIVE = Target.of("native", "model");
  private static final Target PROMPTED = Target.of("prompted", "model");

  private TypedObject() {}

  static void main() {
    run(System.out);
  }

  static void run(PrintStream out) {
    String trip =
        """
        {"destination":"Italy","days":5,"stops":[{"city":"Rome","nights":3},{"city":"Bari","nights":1}],"note":null}\
        """;
    ScriptedModel strict =
        ScriptedModel.builder()
            .capabilities(ModelCapabilities.of(Capability.STRUCTURED_OUTPUT))
            .next(ScriptedAnswer.text(trip))
            .build();
    ScriptedModel chatty =
        ScriptedModel.builder()
            .capabilities(ModelCapabilities.of(Capability.JSON_MODE))
            .next(
                ScriptedAnswer.text(
                    "Sure:\n```json\n" + trip.replace(",\"note\":null", "") + "\n```"))
            .next(ScriptedAnswer.text(trip.replace("\"days\":5", "\"days\":\"five\"")))
            .build();
    try (Gateway gateway =
        Gateway.builder().adapter("native", strict).adapter("prompted", chatty).build()) {
      print(out, gateway.generateObject(request(NATIVE)));
      print(out, gateway.generateObject(request(PROMPTED)));
      try {
        print(out, gateway.generateObject(request(PROMPTED)));
      } catch (InvalidOutputException e) {
        out.println(e.kind() + " " + e.violations());
      }
    }
  }

  private static ObjectRequest<Trip> request(Target target) {
    return ObjectRequest.of(
        Trip.class,
        MethodHandles.lookup(),
        GenerateRequest.builder(Route.of(target), "Five days in Italy.").build());
  }

  private static void print(PrintStream out, ObjectResult<Trip> result) {
    out.println(result.objectMode() + " " + result.object());
  }
}
