package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.StreamEvent;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Route;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolContext;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.List;

/**
 * Answers that are shown while they come: one with a tool in it, one whose first target fails
 * before anything was shown, and one that breaks in the middle.
 *
 * <p>The providers are scripted, so that the program prints the same on every machine.
 */
final class Streaming {
  private static final Target LARGE = Target.of("large", "model");
  private static final Target SMALL = Target.of("small", "model");

  private record City(String name) {}

  private final PrintStream out;

  private Streaming(PrintStream out) {
    this.out = out;
  }

  static void main() {
    run(System.out);
  }

  static void run(PrintStream out) {
    new Streaming(out).run();
  }

  private static ProviderException overloaded() {
    return ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "Overloaded.")
        .status(503)
        .build();
  }

  private static ProviderException reset() {
    return ProviderException.builder(ProviderException.Kind.READ, "The connection was reset.")
        .build();
  }

  private static Tool weather() {
    return Tool.builder(
            "weather",
            "The weather in a city.",
            City.class,
            MethodHandles.lookup(),
            EffectClass.PURE,
            Streaming::sunny)
        .build();
  }

  private static Object sunny(City city, ToolContext context) {
    return city.name() + " is sunny.";
  }

  private void run() {
    ScriptedModel large =
        ScriptedModel.builder()
            .next(ScriptedAnswer.tool("weather", Json.parse("{\"name\":\"Rome\"}")))
            .next(ScriptedAnswer.text("It is sunny in Rome."))
            .failNext(overloaded())
            .next(ScriptedAnswer.pieces("Once upon", " a ti").withFailureAfter(2, reset()))
            .build();
    ScriptedModel small = ScriptedModel.answering("Hello from the fallback.");
    try (Gateway gateway =
        Gateway.builder()
            .adapter("large", large)
            .adapter("small", small)
            .retry(new RetryPolicy(0, Duration.ZERO, 0))
            .defaultRoute(Route.of(LARGE, SMALL))
            .build()) {
      showEvents(gateway);
      showFallback(gateway);
      showBreak(gateway);
    }
  }

  /** Each event of an answer with a tool in it. */
  private void showEvents(Gateway gateway) {
    out.println("== events");
    GenerateRequest request =
        GenerateRequest.builder("How is the weather in Rome?").tools(weather()).maxSteps(2).build();
    try (TextStream stream = gateway.streamText(request)) {
      for (StreamEvent event : stream) {
        switch (event) {
          case StreamEvent.TextDelta(String text) -> out.println("text     \"" + text + '"');
          case StreamEvent.ToolCalled called ->
              out.println("call     " + called.call().name() + " " + called.call().input().text());
          case StreamEvent.ToolReturned returned ->
              out.println("result   " + returned.result().output().text());
          case StreamEvent.Finish finish ->
              out.println((finish.last() ? "end      " : "step     ") + finish.reason().kind());
          default -> {}
        }
      }
      out.println("collected: " + stream.collect().text());
    }
  }

  /** Text alone; the first target fails before it has shown anything, so nobody notices. */
  private void showFallback(Gateway gateway) {
    out.println("== a fallback that nobody sees");
    try (TextStream stream = gateway.streamText(GenerateRequest.builder("Hello?").build())) {
      for (String piece : stream.text()) {
        out.print(piece + "|");
      }
      GenerateResult result = stream.collect();
      out.println();
      out.println("by " + result.targetUsed() + " after " + codes(result.attempts()));
    }
  }

  /** A stream that breaks after something was shown is over: no other target goes on with it. */
  private void showBreak(Gateway gateway) {
    out.println("== a stream that breaks");
    try (TextStream stream = gateway.streamText(GenerateRequest.builder("A story.").build())) {
      out.println(stream.collect().text());
    } catch (StreamBrokenException broken) {
      out.println(broken.getMessage());
      out.println("so far: \"" + broken.partialText() + '"');
      out.println("attempts: " + codes(broken.trace().attempts()));
    }
  }

  private static List<String> codes(List<Attempt> attempts) {
    return attempts.stream().map(made -> made.target() + " " + made.reasonCode()).toList();
  }
}
