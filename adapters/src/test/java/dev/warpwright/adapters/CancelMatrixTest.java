package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.StreamEvent;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.scripted.ClientClose;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.Money;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whoever ends an operation, and however far it is: the provider sees the close, the next target is
 * not asked, and place, money, tasks and connections are back.
 */
@Timeout(120)
final class CancelMatrixTest {
  private static final Duration TIMEOUT = Duration.ofMillis(250);
  private static final Duration SEEN_WITHIN = Duration.ofMillis(100);
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final int ROUNDS = 30;
  private static final String SCOPE = "tenant-1";
  private static final Target PRIMARY = Target.of("primary", "m-1");

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  /** How far the operation is, and what the server does for it from its second request on. */
  enum Phase {
    QUEUE("\"stall\": true"),
    BEFORE_HEADERS("\"stall\": true"),
    BEFORE_FIRST_EVENT("\"stall\": { \"chunks\": 0 }"),
    MID_STREAM("\"stall\": { \"chunks\": 1 }"),
    SLOW_READER("\"stall\": { \"chunks\": 150 }"),
    BLOCKING_QUEUE("\"stall\": true"),
    BLOCKING_BEFORE_HEADERS("\"stall\": true"),
    BLOCKING_IN_BODY("\"stall\": { \"bytes\": 40 }");

    private final String effect;

    Phase(String effect) {
      this.effect = effect;
    }

    boolean isBlocking() {
      return name().startsWith("BLOCKING");
    }

    boolean isQueue() {
      return this == QUEUE || this == BLOCKING_QUEUE;
    }

    boolean isShown() {
      return this == MID_STREAM || this == SLOW_READER;
    }
  }

  /** Who ends it. */
  enum Way {
    HANDLE,
    CLOSE,
    INTERRUPT,
    DEADLINE
  }

  record Cell(Dialect dialect, Phase phase, Way way) {
    @Override
    public String toString() {
      return dialect + ", " + phase + ", " + way;
    }
  }

  static Stream<Cell> cells() {
    List<Cell> cells = new ArrayList<>();
    for (Dialect dialect : Dialect.values()) {
      for (Phase phase : Phase.values()) {
        for (Way way : Way.values()) {
          if (way != Way.CLOSE || !phase.isBlocking()) {
            cells.add(new Cell(dialect, phase, way));
          }
        }
      }
    }
    return cells.stream();
  }

  /** Tells how many have asked for a place. */
  private static final class Admissions implements AdmissionController {
    private final AdmissionController one =
        AdmissionController.local(AdmissionPolicy.builder(1).maxQueue(10).build());
    private final AtomicInteger waiting = new AtomicInteger();

    @Override
    public Admission tryAcquire(AdmissionRequest request) {
      return one.tryAcquire(request);
    }

    @Override
    public Admission.Decision acquire(AdmissionRequest request) throws InterruptedException {
      waiting.incrementAndGet();
      try {
        return one.acquire(request);
      } finally {
        waiting.decrementAndGet();
      }
    }

    boolean hasPlace() {
      Admission admission =
          one.tryAcquire(new AdmissionRequest(PRIMARY, OptionalLong.empty(), Deadline.never()));
      if (admission instanceof Admission.Admitted(AdmissionPermit permit)) {
        permit.close();
        return true;
      }
      return false;
    }
  }

  private static CostAccounting accounting() {
    Money price = Money.of("1", "USD");
    ModelCatalog catalog =
        ModelCatalog.builder("catalog-1")
            .entry(
                CatalogEntry.builder(PRIMARY.provider(), PRIMARY.modelId())
                    .input(price)
                    .output(price)
                    .pricing(Pricing.of("prices-1", "USD"))
                    .build())
            .build();
    return CostAccounting.builder(catalog).cacheAssumption(CacheAssumption.NONE).build();
  }

  private static ScriptedServer server(String fault) {
    String words = String.join(" ", IntStream.range(0, 200).mapToObj(i -> "word" + i).toList());
    return ScriptedServer.start(
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "text": "%s",
                                                   "usage": { "input": 3, "output": 2 } } } ],
              "faults": [ { "from": 2, %s } ] }
            """
                .formatted(words, fault)));
  }

  private static void until(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - start < PATIENCE.toNanos(), () -> "waited for " + what);
      Thread.onSpinWait();
    }
  }

  /** The world of one cell. */
  private static final class World {
    final Cell cell;
    final ScriptedServer server;
    final Gateway gateway;
    final Admissions admissions;

    World(Cell cell, ScriptedServer server, Gateway gateway, Admissions admissions) {
      this.cell = cell;
      this.server = server;
      this.gateway = gateway;
      this.admissions = admissions;
    }

    private static GenerateRequest request(Cancellation handle, Duration timeout) {
      return GenerateRequest.builder(Route.of(PRIMARY, Target.of("fallback", "m-2")), "Hello")
          .cancellation(handle)
          .timeout(timeout)
          .budgetScope(SCOPE)
          .build();
    }

    /** After how long the server has seen the close; nothing if the machine was too busy. */
    Optional<Duration> round() throws Exception {
      if (!cell.phase.isQueue()) {
        return cancelled();
      }
      long before = server.requests();
      Cancellation handle = new Cancellation();
      try (TextStream holder = gateway.streamText(request(handle, PATIENCE))) {
        server.awaitRequest(before + 1, PATIENCE);
        Optional<Duration> none = cancelled();
        assertEquals(before + 1, server.requests(), "the one in the queue was sent");
        handle.cancel();
        assertThrows(OperationCancelledException.class, holder::collect);
        return none;
      }
    }

    private Optional<Duration> cancelled() throws Exception {
      long number = server.requests() + 1;
      Cancellation handle = new Cancellation();
      boolean timed = cell.way == Way.DEADLINE;
      GenerateRequest request = request(handle, timed ? TIMEOUT : PATIENCE);
      CountDownLatch shown = new CountDownLatch(1);
      CountDownLatch readOn = new CountDownLatch(cell.phase == Phase.SLOW_READER ? 1 : 0);
      long deadline = System.nanoTime() + TIMEOUT.toNanos();
      TextStream stream = cell.phase.isBlocking() ? null : gateway.streamText(request);
      FutureTask<WarpwrightException> reading =
          new FutureTask<>(
              () -> {
                WarpwrightException end =
                    assertThrows(
                        WarpwrightException.class,
                        () -> {
                          if (stream == null) {
                            gateway.generate(request);
                          } else {
                            read(stream, shown, readOn);
                          }
                        });
                assertEquals(cell.way == Way.INTERRUPT, Thread.currentThread().isInterrupted());
                return end;
              });
      Thread reader = Thread.ofPlatform().start(reading);
      if (!timed) {
        awaitPhase(number, shown);
      }
      long cancelledAt = timed ? deadline : System.nanoTime();
      cancel(handle, stream, reader);
      Optional<Duration> seen =
          timed ? seenAtDeadline(number, reading, cancelledAt) : Optional.empty();
      if (!timed && !cell.phase.isQueue()) {
        seen = Optional.of(seen(number, cancelledAt));
      }
      readOn.countDown();
      checkEnd(reading.get(60, TimeUnit.SECONDS));
      if (stream != null) {
        stream.close();
      }
      return seen;
    }

    private void awaitPhase(long number, CountDownLatch shown) throws InterruptedException {
      if (cell.phase.isQueue()) {
        until("the queue", () -> admissions.waiting.get() == 1);
        return;
      }
      server.awaitRequest(number, PATIENCE);
      if (cell.phase == Phase.BEFORE_FIRST_EVENT) {
        until("the headers", () -> server.openStreams() == 1);
      } else if (cell.phase.isShown()) {
        assertTrue(shown.await(60, TimeUnit.SECONDS));
      }
    }

    private void cancel(Cancellation handle, @Nullable TextStream stream, Thread reader) {
      switch (cell.way) {
        case HANDLE -> handle.cancel();
        case INTERRUPT -> reader.interrupt();
        case CLOSE -> {
          if (stream != null) {
            stream.close();
          }
        }
        case DEADLINE -> {}
      }
    }

    /** Nothing if the deadline was over before the request had come. */
    private Optional<Duration> seenAtDeadline(
        long number, FutureTask<WarpwrightException> reading, long deadline) throws Exception {
      if (cell.phase.isQueue()) {
        return Optional.empty();
      }
      if (cell.phase != Phase.SLOW_READER) {
        reading.get(60, TimeUnit.SECONDS);
        server.awaitOpenConnections(0, PATIENCE);
        if (server.requests() < number) {
          return Optional.empty();
        }
      }
      return Optional.of(seen(number, deadline));
    }

    private Duration seen(long number, long cancelledAt) throws InterruptedException {
      ClientClose close = server.awaitClose(number, PATIENCE);
      assertNotEquals(ClientClose.Phase.IDLE, close.phase());
      assertNotEquals(ClientClose.Phase.READING, close.phase());
      return close.after(cancelledAt);
    }

    private static void read(TextStream stream, CountDownLatch shown, CountDownLatch readOn) {
      for (StreamEvent event : stream) {
        if (event instanceof StreamEvent.TextDelta) {
          shown.countDown();
          try {
            readOn.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        }
      }
    }

    private void checkEnd(WarpwrightException end) {
      Class<?> expected =
          cell.way == Way.DEADLINE
              ? DeadlineExceededException.class
              : OperationCancelledException.class;
      assertEquals(expected, end.getClass());
      List<Attempt> attempts = end.trace().attempts();
      assertTrue(attempts.size() <= 1, attempts::toString);
      attempts.forEach(attempt -> assertEquals(reasonCode(), attempt.reasonCode()));
    }

    private Attempt.ReasonCode reasonCode() {
      if (cell.way != Way.DEADLINE) {
        return Attempt.ReasonCode.REQUEST_ABORTED;
      }
      return cell.phase.isQueue()
          ? Attempt.ReasonCode.ADMISSION_DENIED // it waited as long as it could
          : Attempt.ReasonCode.DEADLINE_EXCEEDED;
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cells")
  @Tag("R116")
  @Tag("R118")
  @Tag("R151")
  @Tag("R153")
  @Tag("FR-C01")
  @Tag("FR-L05")
  void the_provider_sees_the_end_and_all_that_was_taken_is_back(Cell cell) throws Exception {
    Admissions admissions = new Admissions();
    BudgetStore store = BudgetStore.local(Money.of("1000000", "USD"));
    try (ScriptedServer server = server(cell.phase.effect);
        ScriptedServer other = server("\"status\": 500")) {
      ProviderAdapter primary = cell.dialect.at(server.uri());
      ProviderAdapter fallback = cell.dialect.other().at(other.uri());
      leaks.watch(Leftovers.count("exchanges", () -> Dialect.openExchanges(primary)));
      leaks.watch(Leftovers.count("streams", server::openStreams));
      try (Gateway gateway =
          leaks.watch(
              Gateway.builder()
                  .adapter(PRIMARY.provider(), primary)
                  .adapter("fallback", fallback)
                  .admission(admissions)
                  .costAccounting(accounting())
                  .budget(store, ReservationRule.fixed(Money.of("1", "USD")))
                  .streamBufferEvents(4)
                  .build())) {
        World world = new World(cell, server, gateway, admissions);
        gateway.generate(World.request(new Cancellation(), PATIENCE)); // a cold start is no measure
        Duration quickest = PATIENCE;
        for (int i = 0; i < ROUNDS && quickest.compareTo(SEEN_WITHIN) > 0; i++) {
          Optional<Duration> seen = world.round();
          if (cell.phase.isQueue()) {
            quickest = Duration.ZERO;
          } else if (seen.isPresent() && seen.get().compareTo(quickest) < 0) {
            quickest = seen.get();
          }
        }
        assertTrue(quickest.compareTo(SEEN_WITHIN) <= 0, "the quickest was " + quickest);
        assertEquals(0, other.requests(), "the next target was asked");
        until("the place", admissions::hasPlace);
        assertTrue(gateway.flushControls(PATIENCE));
        assertEquals(0, store.snapshot(SCOPE).reserved().nanos());
      }
      server.awaitOpenConnections(0, PATIENCE);
    }
  }
}
