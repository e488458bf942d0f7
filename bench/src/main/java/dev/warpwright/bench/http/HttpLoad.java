package dev.warpwright.bench.http;

import dev.warpwright.bench.http.HttpOptions.What;
import dev.warpwright.bench.load.Environment;
import dev.warpwright.bench.load.JavaProcess;
import dev.warpwright.bench.load.Rounds;
import dev.warpwright.bench.report.Question;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a call of Chat Completions over real HTTP costs the process that makes it, whoever makes it:
 * rate, latency, processor time and garbage by the number of callers, and the memory that a call or
 * a stream holds while it is in flight.
 *
 * <p>The baseline is the JDK's client with the same JSON work written by hand. The server is {@link
 * dev.warpwright.adapters.scripted.ScriptedServer} in another process on the same machine, so the
 * rate is that of both together; processor time and garbage are the client's alone.
 */
@Question(
    place = 14,
    value = "What does a call over real HTTP cost the process that makes it?",
    by = "client",
    baseline = "jdk")
public final class HttpLoad {
  private HttpLoad() {}

  /**
   * Measures and prints.
   *
   * @param arguments see the usage, which a wrong option prints
   * @throws Exception if a measurement failed
   */
  public static void main(String[] arguments) throws Exception {
    HttpOptions options;
    try {
      options = HttpOptions.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.println(HttpOptions.USAGE);
      System.exit(2);
      return;
    }
    List<HttpFigures> rounds = new ArrayList<>();
    while (rounds.size() < options.rounds()) {
      rounds.add(round(options));
    }
    for (HttpFigures figures : rounds) {
      System.out.println();
      System.out.print(figures.tables());
    }
    if (options.json().isPresent()) {
      Map<String, String> environment = Environment.here();
      environment.put("seconds", String.valueOf(options.seconds()));
      environment.put("warmup", String.valueOf(options.warmup()));
      Rounds.write(
          options.json().get(),
          HttpLoad.class,
          environment,
          rounds.stream().map(HttpFigures::toMaps).toList());
    }
  }

  private static HttpFigures round(HttpOptions options) throws IOException, InterruptedException {
    HttpFigures figures = new HttpFigures();
    for (What what : options.what()) {
      for (Clients client : options.clients()) {
        figures.addAll(measured(options.arguments(client, what)));
      }
    }
    return figures;
  }

  /** What a fresh process found, so that nobody runs what was compiled for another. */
  private static List<HttpFigure> measured(String... arguments)
      throws IOException, InterruptedException {
    Process process = JavaProcess.of(Measurement.class, arguments).start();
    try {
      String found =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      int status = process.waitFor();
      if (status != 0) {
        throw new IllegalStateException(
            String.join(" ", arguments) + " failed with status " + status + ".");
      }
      System.out.println(String.join(" ", arguments) + " is done.");
      return HttpFigure.parse(found);
    } finally {
      process.destroy();
    }
  }
}
