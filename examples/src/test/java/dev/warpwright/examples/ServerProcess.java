package dev.warpwright.examples;

import dev.warpwright.adapters.scripted.ExchangeOutcome;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;

/**
 * A process with a model server that repeats what it is told, after {@link ManyAtOnce#LATENCY}, or,
 * in a stream, word by word with a {@link ManyStreams#PAUSE} between two. It prints its base URL
 * and, when its input ends, what it has seen.
 */
final class ServerProcess {
  private ServerProcess() {}

  public static void main(String[] args) throws Exception {
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": { "user": "(?<words>.+)" },
                           "answer": { "text": "${words}", "latency": "%s",
                                       "stream": { "words": 1, "pause": "%s" } } } ] }
            """
                .formatted(ManyAtOnce.LATENCY, ManyStreams.PAUSE));
    try (ScriptedServer server = ScriptedServer.builder(script).recordLast(0).start()) {
      System.out.println(server.uri());
      while (System.in.read() >= 0) {
        // until the test closes it
      }
      System.out.printf(
          "requests: %d, answered: %d%n",
          server.requests(), server.count(ExchangeOutcome.ANSWERED));
    }
  }
}
