package dev.warpwright.examples;

import java.time.Duration;
import java.util.Locale;

/**
 * Tells how far a job is: a bar on a terminal, else a line from time to time. Confined to the job's
 * thread.
 */
final class Progress implements AutoCloseable {
  private static final int WIDTH = 14;
  private static final String CLEAR_REST_OF_LINE = "\u001b[K";

  private final Console console;
  private final boolean wanted;
  private final boolean bar;
  private final long intervalNanos;
  private final long startNanos = System.nanoTime();
  private long shownNanos = startNanos;
  private String line = "";
  private boolean lineIsShown = true;

  private Progress(Console console, boolean wanted, boolean bar) {
    this.console = console;
    this.wanted = wanted;
    this.bar = bar;
    this.intervalNanos = (bar ? Duration.ofMillis(100) : Duration.ofSeconds(2)).toNanos();
  }

  @SuppressWarnings("SystemConsoleNull") // it is null again since JDK 25 where there is no terminal
  static Progress on(Console console, boolean wanted) {
    java.io.Console terminal = System.console();
    return new Progress(console, wanted, terminal != null && terminal.isTerminal());
  }

  /** Takes note of how far the job is, and shows it if it is time. */
  void tell(int done, int total, String counts) {
    long now = System.nanoTime();
    line = line(done, total, counts, Math.max(1, now - startNanos));
    lineIsShown = false;
    if (now - shownNanos >= intervalNanos) {
      shownNanos = now;
      show();
    }
  }

  private String line(int done, int total, String counts, long elapsedNanos) {
    int filled = total == 0 ? WIDTH : (int) ((long) WIDTH * done / total);
    String drawn = bar ? "[" + "#".repeat(filled) + ".".repeat(WIDTH - filled) + "] " : "";
    double rate = done / (elapsedNanos / 1e9);
    return String.format(Locale.ROOT, "%s%d/%d %s, %.1f/s", drawn, done, total, counts, rate);
  }

  private void show() {
    if (!wanted || lineIsShown) {
      return;
    }
    lineIsShown = true;
    if (bar) {
      console.err().print("\r" + line + CLEAR_REST_OF_LINE);
    } else {
      console.err().println(line);
    }
    console.err().flush();
  }

  /** Shows the last state. */
  @Override
  public void close() {
    show();
    if (wanted && bar && !line.isEmpty()) {
      console.err().println();
      console.err().flush();
    }
  }
}
