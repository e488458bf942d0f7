package dev.warpwright.store.jdbc;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program in a JVM of its own, on this JVM's JDK and class path. */
final class ChildJvm implements AutoCloseable {
  private final Process process;
  private final BufferedReader out;

  private ChildJvm(Process process) {
    this.process = process;
    this.out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static ChildJvm start(Class<?> main, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx256m", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return new ChildJvm(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** The next line that the child printed; null when it has died. A line that was cut is none. */
  String readLine() {
    try {
      StringBuilder line = new StringBuilder();
      for (int c = out.read(); c >= 0; c = out.read()) {
        if (c == '\n') {
          return line.toString();
        }
        line.append((char) c);
      }
      return null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills it at once, as kill -9 does. What it had printed can still be read. */
  void kill() {
    process.toHandle().destroyForcibly(); // Process itself would close the pipe
  }

  /** Stops it where it is, and nothing in it goes on. */
  void freeze() throws IOException {
    signal("STOP");
  }

  /** Lets it go on. */
  void thaw() throws IOException {
    signal("CONT");
  }

  private void signal(String name) throws IOException {
    new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start()
        .onExit()
        .join();
  }

  @Override
  public void close() throws IOException {
    kill();
    process.onExit().join();
    out.close();
  }
}
