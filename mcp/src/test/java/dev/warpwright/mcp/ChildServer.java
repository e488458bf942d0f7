package dev.warpwright.mcp;

import dev.warpwright.json.StrictJson;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import tools.jackson.databind.JsonNode;

/** A tool server that is a process of its own; its first argument says how it behaves. */
final class ChildServer {
  private ChildServer() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    String behaviour = arguments[0];
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    if (behaviour.equals("noisy")) {
      for (int i = 0; i < 20_000; i++) {
        System.err.println("a line of a log that nobody reads " + i);
      }
    }
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      JsonNode message = StrictJson.read(line);
      if (message.has("id")) {
        out.println(answer(message));
      }
    }
    if (behaviour.equals("stubborn")) {
      new CountDownLatch(1).await(); // its input has ended, and it does not care
    }
  }

  private static String answer(JsonNode message) {
    String result =
        switch (message.path("method").stringValue()) {
          case "initialize" -> "{\"protocolVersion\": \"2025-06-18\", \"capabilities\": {}}";
          case "tools/list" -> FakeServer.TOOLS;
          default -> {
            String name = message.path("params").path("arguments").path("what").stringValue();
            if (name.equals("die")) {
              Runtime.getRuntime().halt(1);
            }
            yield "{\"structuredContent\": {\"pid\": %d, \"secret\": \"%s\", \"given\": \"%s\"}}"
                .formatted(
                    ProcessHandle.current().pid(),
                    System.getenv("WARPWRIGHT_TEST_SECRET"),
                    System.getenv("GIVEN"));
          }
        };
    return FakeServer.reply(message, "\"result\": " + result);
  }
}
