package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Message;
import dev.warpwright.model.Target;
import dev.warpwright.run.Append;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A store of any kind, and runs in it. */
@Timeout(60)
public abstract class RunStoreFixture {
  /** The time of the first event of each run. */
  protected static final Instant NOON = Instant.parse("2026-01-01T12:00:00.123456789Z");

  protected static final RunScope SCOPE = RunScope.of("tenant");

  protected RunStore store;

  /** Makes an empty store; the contract closes it. */
  protected abstract RunStore open();

  @BeforeEach
  void openStore() {
    store = open();
  }

  @AfterEach
  void closeStore() {
    store.close();
  }

  /** A deadline that only a broken store reaches. */
  protected static Deadline soon() {
    return Deadline.after(TimeSource.system(), Duration.ofSeconds(30));
  }

  /** The deadline that has passed. */
  protected static Deadline passed() {
    return Deadline.after(TimeSource.system(), Duration.ZERO);
  }

  /** A run's first event. */
  protected static RunEvent.RunStarted started(String agent, Optional<String> key) {
    return new RunEvent.RunStarted(
        agent,
        "1",
        Map.of("prompt", "sha256:1"),
        key,
        List.of(Message.user("Hello.")),
        10,
        List.of(Target.of("scripted", "model")),
        Map.of("note", "x"));
  }

  /** An event that can be told from others. */
  protected static RunEvent step(int number) {
    return new RunEvent.StepStarted(number, 1);
  }

  /** A run of the contract's own scope. */
  protected static RunKey run(String id) {
    return new RunKey(SCOPE, id);
  }

  /** Creates a run without a key and returns its owner. */
  protected static Writer create(RunStore store, RunKey run) {
    return create(store, run, Optional.empty());
  }

  protected static Writer create(RunStore store, RunKey run, Optional<String> key) {
    Claim claim = store.create(new NewRun(run, NOON, started("agent", key)), soon());
    return assertInstanceOf(Claim.Won.class, claim).owner();
  }

  /** An append of one step to a running run. */
  protected static Append append(RunKey run, long expected, Writer writer) {
    return append(run, expected, writer, List.of(step((int) expected + 1)));
  }

  protected static Append append(RunKey run, long expected, Writer writer, List<RunEvent> events) {
    return new Append(
        run, expected, writer, NOON.plusNanos(expected), events, Standing.of(RunStatus.RUNNING));
  }

  protected final List<RunEvent> events(RunKey run) {
    return store.load(run, 1, soon()).stream().map(LoggedEvent::event).toList();
  }

  /** A run of {@link #create} as a list shows it. */
  protected static RunSummary summary(
      RunKey run, Optional<String> key, Standing standing, long sequence, Instant updated) {
    return new RunSummary(
        run, "agent", key, standing, sequence, NOON, updated, 0, Optional.empty());
  }

  protected static void awaitParked(Thread thread) {
    while (thread.isAlive()
        && thread.getState() != Thread.State.WAITING
        && thread.getState() != Thread.State.TIMED_WAITING) {
      Thread.onSpinWait();
    }
  }

  protected static boolean succeeds(Runnable action) {
    try {
      action.run();
      return true;
    } catch (ConflictException e) {
      return false;
    }
  }

  /** Runs all at once, each on a virtual thread; returns their results in order. */
  protected static <T> List<T> together(List<Callable<T>> actions) throws Exception {
    CountDownLatch ready = new CountDownLatch(actions.size());
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<T>> futures = new ArrayList<>();
      for (Callable<T> action : actions) {
        futures.add(
            threads.submit(
                () -> {
                  ready.countDown();
                  ready.await();
                  return action.call();
                }));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    }
  }
}
