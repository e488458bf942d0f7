package dev.warpwright.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;

/** A program with a gateway and agents, on manual time. */
public final class Program {
  public static final Target TARGET = Target.of("fake", "model");
  public static final Target SPARE = Target.of("spare", "model");
  public static final Route ROUTE = Route.of(TARGET);

  private static final AtomicLong SEEDS = new AtomicLong();

  /** Its own seed, so that two programs do not make the same run ids. */
  public final ManualTime time =
      new ManualTime(Instant.parse("2026-01-01T12:00:00Z"), SEEDS.incrementAndGet());

  public final RunStore store;
  public final Gateway gateway;
  public final Agents agents;

  private Program(
      RunStore store,
      ProviderAdapter model,
      ProviderAdapter spare,
      UnaryOperator<Gateway.Builder> options) {
    this.store = store;
    this.gateway =
        options
            .apply(
                Gateway.builder()
                    .time(time)
                    .adapter(TARGET.provider(), model)
                    .adapter(SPARE.provider(), spare)
                    .retry(new RetryPolicy(0, Duration.ZERO, 0)))
            .build();
    this.agents = Agents.on(gateway, store);
  }

  public static Program on(RunStore store, ProviderAdapter model) {
    return on(store, model, FakeModel.of());
  }

  public static Program on(RunStore store, ProviderAdapter model, ProviderAdapter spare) {
    return new Program(store, model, spare, UnaryOperator.identity());
  }

  /** A program whose gateway has more than the usual options. */
  public static Program having(
      RunStore store, ProviderAdapter model, UnaryOperator<Gateway.Builder> options) {
    return having(store, model, FakeModel.of(), options);
  }

  /** A program with two models whose gateway has more than the usual options. */
  public static Program having(
      RunStore store,
      ProviderAdapter model,
      ProviderAdapter spare,
      UnaryOperator<Gateway.Builder> options) {
    return new Program(store, model, spare, options);
  }

  public static Program with(FakeModel.Answer... answers) {
    return on(RunStore.inMemory(), FakeModel.of(answers));
  }

  public List<LoggedEvent> log(RunKey run) {
    return store.load(run, 1, Deadline.never());
  }

  public List<RunEvent> events(RunKey run) {
    return log(run).stream().map(LoggedEvent::event).toList();
  }

  /** The types of a run's events, in order. */
  public List<String> types(RunKey run) {
    return events(run).stream().map(event -> event.getClass().getSimpleName()).toList();
  }

  public List<RunSummary> runs() {
    return store.list(RunQuery.all(RunScope.DEFAULT), Deadline.never());
  }

  /**
   * Nothing runs, nothing is timed, nobody owns a run. What is about to end, such as a listener's
   * thread at its last step, is waited for.
   */
  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  public void assertNothingIsLeft() {
    long start = System.nanoTime();
    while (gateway.tasks().liveCount() + time.pendingAlarms() > 0
        && System.nanoTime() - start < 10_000_000_000L) {
      Thread.yield();
    }
    assertEquals(List.of(), gateway.diagnostics().liveTasks());
    assertEquals(List.of(), gateway.diagnostics().abandonedTasks());
    assertEquals(0, time.pendingAlarms(), time::toString);
    for (RunSummary summary : runs()) {
      Optional<Writer> owner = store.acquire(summary.run(), Deadline.never());
      assertTrue(owner.isPresent(), () -> summary.run() + " is still owned");
      store.release(summary.run(), owner.get());
    }
  }
}
