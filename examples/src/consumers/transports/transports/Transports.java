package transports;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.openai.Vendor;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Generates and streams over each transport, at one scripted server. */
public final class Transports {
  private Transports() {}

  private static Map<String, HttpAdapter> adapters(URI url) {
    Map<String, HttpAdapter> adapters = new LinkedHashMap<>();
    adapters.put("anthropic", Anthropic.builder().baseUrl(url).build());
    adapters.put("openai-chat", OpenAi.builder().api(Api.CHAT).baseUrl(url).build());
    adapters.put("openai-responses", OpenAi.builder().api(Api.RESPONSES).baseUrl(url).build());
    adapters.put("deepseek-chat", OpenAi.builder(Vendor.DEEPSEEK).baseUrl(url).build());
    adapters.put("qwen-chat", OpenAi.builder(Vendor.QWEN).api(Api.CHAT).baseUrl(url).build());
    adapters.put("qwen-responses", OpenAi.builder(Vendor.QWEN).baseUrl(url).build());
    return adapters;
  }

  public static void main(String[] args) {
    Script script =
        Script.parse("{\"rules\":[{\"when\":{},\"answer\":{\"text\":\"Good morning.\"}}]}");
    Set<String> answers = new TreeSet<>();
    long calls;
    Set<String> paths = new TreeSet<>();
    try (ScriptedServer server = ScriptedServer.start(script)) {
      Gateway.Builder builder = Gateway.builder();
      Map<String, HttpAdapter> adapters = adapters(server.uri());
      adapters.forEach(builder::adapter);
      try (Gateway gateway = builder.build()) {
        for (String name : adapters.keySet()) {
          GenerateRequest hello =
              GenerateRequest.builder(Route.of(Target.of(name, "model")), "Hello.").build();
          answers.add(gateway.generate(hello).text());
          try (TextStream stream = gateway.streamText(hello)) {
            answers.add(stream.collect().text());
          }
        }
      }
      server.exchanges().forEach(exchange -> paths.add(exchange.target()));
      calls = server.requests();
    }
    System.out.printf("%s over %s in %d calls%n", answers, paths, calls);
  }
}
