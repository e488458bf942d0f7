package dev.warpwright.bench.durable;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Another process of this program, whose lines are read by a thread of their own. */
final class Child implements AutoCloseable {
  private final Process process;
  private final Thread reader;

  private Child(Process process, Thread reader) {
    this.process = process;
    this.reader = reader;
  }

  /**
   * Starts one with the same classes, whose heap is bounded.
   *
   * @param main its class
   * @param heap as {@code -Xmx} takes it
   * @param lines is given each line that it prints
   * @param arguments what it is told
   */
  static Child start(Class<?> main, String heap, Consumer<String> lines, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx" + heap);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    Thread reader = Thread.ofVirtual().start(() -> read(process, lines));
    return new Child(process, reader);
  }

  private static void read(Process process, Consumer<String> lines) {
    try (BufferedReader out = process.inputReader()) {
      out.lines().forEach(lines);
    } catch (IOException | UncheckedIOException e) {
      // It was killed.
    }
  }

  /** Kills it as a machine that fails would. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
    reader.join();
  }

  /** Waits until it ends, which it must do well. */
  void await() throws InterruptedException {
    int exit = process.waitFor();
    reader.join();
    if (exit != 0) {
      throw new IllegalStateException("A process that was started failed: " + exit);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
