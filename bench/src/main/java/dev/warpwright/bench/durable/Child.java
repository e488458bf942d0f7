package dev.warpwright.bench.durable;

import dev.warpwright.bench.load.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.function.Consumer;

/** Another process of a program, whose lines are read by a thread of their own. */
final class Child implements AutoCloseable {
  private final Process process;
  private final Thread reader;

  private Child(Process process, Thread reader) {
    this.process = process;
    this.reader = reader;
  }

  /**
   * Starts one with the same classes.
   *
   * @param main its class
   * @param heap the most that its heap may take, as {@code -Xmx} has it
   * @param lines is given each line that it prints
   * @param arguments what it is told
   */
  static Child start(Class<?> main, String heap, Consumer<String> lines, String... arguments)
      throws IOException {
    ProcessBuilder described = JavaProcess.of(main, arguments);
    described.command().add(1, "-Xmx" + heap);
    Process process = described.start();
    return new Child(process, Thread.ofVirtual().start(() -> read(process, lines)));
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
      throw new IllegalStateException("A process failed with status " + exit + ".");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
