package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.openai.Vendor;
import dev.warpwright.adapters.scripted.RecordedExchange;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.Capability;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolContext;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The same program at three vendors: what differs between them is in the configuration, which names
 * the vendor, a model and a base URL. Prints what each of them was asked.
 *
 * <p>The vendors are scripted servers in this process, called over HTTP, so that the program prints
 * the same on every machine. Without {@code url} it would call the vendors themselves, with the
 * keys of the environment.
 */
final class Compatible {
  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
              { "when": { "turn": 0 }, "answer": {
                  "tools": [ { "name": "find_order", "input": { "id": "A-7" } } ] } },
              { "when": { "turn": 1 }, "answer": { "text": "A-7 is on its way." } } ] }
          """);

  private record OrderId(String id) {}

  private final Properties configuration;
  private final PrintStream out;

  private Compatible(Properties configuration, PrintStream out) {
    this.configuration = configuration;
    this.out = out;
  }

  static void main() {
    run(System.out);
  }

  static void run(PrintStream out) {
    try (ScriptedServer deepSeek = ScriptedServer.start(SCRIPT);
        ScriptedServer openRouter = ScriptedServer.start(SCRIPT);
        ScriptedServer qwen = ScriptedServer.start(SCRIPT)) {
      Map<String, ScriptedServer> servers =
          new TreeMap<>(Map.of("deepseek", deepSeek, "openrouter", openRouter, "qwen", qwen));
      Properties configuration =
          read(
              """
              deepseek.url = %s
              deepseek.model = deepseek-chat
              openrouter.url = %s
              openrouter.model = vendor/model
              qwen.url = %s
              qwen.model = qwen-plus
              """
                  .formatted(deepSeek.uri(), openRouter.uri(), qwen.uri()));
      Compatible program = new Compatible(configuration, out);
      servers.forEach(program::ask);
    }
  }

  private static Properties read(String text) {
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(text));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties;
  }

  /** The program: it knows no vendor. */
  private GenerateResult ask(String vendor, String modelId, HttpAdapter adapter) {
    try (Gateway gateway = Gateway.builder().adapter(vendor, adapter).build()) {
      return gateway.generate(
          GenerateRequest.builder(Route.of(Target.of(vendor, modelId)), "Where is A-7?")
              .reasoning(Reasoning.effort(Reasoning.Effort.HIGH))
              .tools(findOrder())
              .maxSteps(2)
              .build());
    }
  }

  private static Tool findOrder() {
    return Tool.builder(
            "find_order",
            "Finds an order.",
            OrderId.class,
            MethodHandles.lookup(),
            EffectClass.PURE,
            Compatible::find)
        .build();
  }

  private static Object find(OrderId order, ToolContext context) {
    return Map.of("id", order.id(), "status", "on its way");
  }

  private HttpAdapter adapter(String vendor) {
    OpenAi.Builder adapter =
        OpenAi.builder(Vendor.named(vendor))
            .fromEnvironment()
            .capabilities(model -> ModelCapabilities.TEXT_AND_TOOLS.with(Capability.REASONING));
    String url = configuration.getProperty(vendor + ".url");
    return (url == null ? adapter : adapter.baseUrl(URI.create(url))).build();
  }

  private void ask(String vendor, ScriptedServer server) {
    String modelId = configuration.getProperty(vendor + ".model");
    GenerateResult result = ask(vendor, modelId, adapter(vendor));

    out.println("== " + result.targetUsed() + ": " + result.text());
    for (RecordedExchange exchange : server.exchanges()) {
      out.println(exchange.target() + " " + told(exchange));
    }
    out.println();
  }

  /** What a request says besides the conversation and the tools. */
  private static String told(RecordedExchange exchange) {
    if (!(Json.parse(exchange.body()).value() instanceof Map<?, ?> body)) {
      throw new IllegalStateException("A request's body is a JSON object.");
    }
    Map<String, Object> rest = new TreeMap<>();
    body.forEach((member, value) -> rest.put((String) member, value));
    rest.keySet().removeAll(List.of("messages", "input", "tools"));
    return Json.of(rest).text();
  }
}
