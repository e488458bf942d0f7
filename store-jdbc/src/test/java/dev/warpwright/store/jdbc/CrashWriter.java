package dev.warpwright.store.jdbc;

import dev.warpwright.model.Json;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.CommitHook.Boundary;
import dev.warpwright.task.Deadline;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The child of a crash test: appends to many runs and prints a line for each append that the store
 * has acknowledged, until it is killed, or halts itself at a boundary of a commit.
 *
 * <p>Arguments: the URL, and {@code hold} (opens and waits), {@code run} (until it is killed), or
 * the name of a boundary and the number of the commit in which to halt there.
 */
final class CrashWriter {
  static final int RUNS = 16;

  private CrashWriter() {}

  public static void main(String[] arguments) throws Exception {
    JdbcRunStore.Builder builder = Databases.builder(arguments[0]);
    if (arguments.length > 2) {
      builder.commitHook(haltAt(Boundary.valueOf(arguments[1]), Integer.parseInt(arguments[2])));
    }
    JdbcRunStore store = builder.open();
    print("open");
    if (arguments[1].equals("hold")) {
      Thread.currentThread().join();
    }
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int n = 0; n < RUNS; n++) {
        RunKey run = run(n);
        threads.execute(() -> write(store, run));
      }
    }
  }

  static RunKey run(int number) {
    return new RunKey(RunScope.DEFAULT, "r" + number);
  }

  private static CommitHook haltAt(Boundary boundary, int commit) {
    AtomicInteger begun = new AtomicInteger();
    return at -> {
      int number = at == Boundary.BEFORE_STATEMENT ? begun.incrementAndGet() : begun.get();
      if (at == boundary && number == commit) {
        Runtime.getRuntime().halt(137);
      }
    };
  }

  private static void write(JdbcRunStore store, RunKey run) {
    Writer owner = Appends.create(store, run);
    long sequence = store.load(run, 1, Deadline.never()).size();
    print(run.runId() + " " + sequence);
    while (true) {
      Appends.two(store, run, sequence, owner);
      sequence += 2;
      print(run.runId() + " " + sequence);
    }
  }

  /** An event whose content tells its sequence. */
  static RunEvent event(long sequence) {
    return new RunEvent.ToolFinished(
        "call-" + sequence,
        "tool",
        Optional.empty(),
        true,
        Json.of("x".repeat((int) (sequence % 7) * 100)),
        false,
        Duration.ZERO);
  }

  private static void print(String line) {
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    synchronized (CrashWriter.class) {
      System.out.write(bytes, 0, bytes.length);
      System.out.flush();
    }
  }
}
