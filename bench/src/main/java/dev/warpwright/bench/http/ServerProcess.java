package dev.warpwright.bench.http;

import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.bench.load.JavaProcess;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/**
 * The scripted server in a process of its own, so that its time, its garbage and its open files are
 * not the client's. It ends with the process that started it.
 */
final class ServerProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader answers;
  private final BufferedWriter questions;
  private final URI uri;

  private ServerProcess(Process process) throws IOException {
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
    this.questions = process.outputWriter(StandardCharsets.UTF_8);
    this.uri = URI.create(line());
  }

  static ServerProcess start() throws IOException {
    return new ServerProcess(JavaProcess.of(Served.class).start());
  }

  private String line() throws IOException {
    String line = answers.readLine();
    if (line == null) {
      throw new EOFException("The server's process has ended.");
    }
    return line;
  }

  /** The base URL. */
  URI uri() {
    return uri;
  }

  /** How many requests have arrived. */
  long requests() throws IOException {
    questions.write("requests\n");
    questions.flush();
    return Long.parseLong(line());
  }

  @Override
  public void close() {
    process.destroy();
  }

  /** The program of that process: says its address, then at each line how many requests came. */
  static final class Served {
    private Served() {}

    public static void main(String[] arguments) throws IOException {
      Script script = Script.parse(Dialogue.SCRIPT);
      ScriptedServer server = ScriptedServer.builder(script).recordLast(0).start();
      System.out.println(server.uri());
      try (BufferedReader lines =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
        while (lines.readLine() != null) {
          System.out.println(server.requests());
        }
      }
      System.exit(0); // whatever is still held
    }
  }
}
