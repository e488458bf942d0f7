package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.StreamEvent;
import dev.warpwright.TextStream;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Money;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Thousands of streams over real sockets, a tenth of them cancelled: what was taken is back. */
@Timeout(120)
final class CancelsOverHttpStressTest {
  private static final List<Dialect> DIALECTS = List.of(Dialect.values());
  private static final int STREAMS = Integer.getInteger("warpwright.streams", 3_000);
  private static final int AT_ONCE = 150;
  private static final int PLACES = 100;
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String SCOPE = "tenant-1";
  private static final String TEXT = "One two three four five six seven eight nine ten.";
  private static final Money RESERVE = Money.of("1", "USD");

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private final AdmissionController admission =
      AdmissionController.local(AdmissionPolicy.builder(PLACES).maxQueue(10_000).build());
  private final BudgetStore store = BudgetStore.local(Money.of("1000000", "USD"));
  private final Queue<Attempt> told = new ConcurrentLinkedQueue<>();
  private final AtomicInteger succeeded = new AtomicInteger();
  private final AtomicInteger cancelled = new AtomicInteger();

  private static Target target(Dialect dialect) {
    return Target.of(dialect.name().toLowerCase(Locale.ROOT), "m-1");
  }

  private static CostAccounting accounting() {
    ModelCatalog.Builder catalog = ModelCatalog.builder("catalog-1");
    for (Dialect dialect : DIALECTS) {
      catalog.entry(
          CatalogEntry.builder(target(dialect).provider(), "m-1")
              .input(Money.of("1", "USD"))
              .output(Money.of("1", "USD"))
              .pricing(Pricing.of("prices-1", "USD"))
              .build());
    }
    return CostAccounting.builder(catalog.build()).cacheAssumption(CacheAssumption.NONE).build();
  }

  @Test
  @Tag("R118")
  @Tag("R122")
  @Tag("R151")
  @Tag("R153")
  void thousands_of_streams_with_cancels_leave_no_connection_place_or_money_behind()
      throws Exception {
    long seed = System.nanoTime();
    Script script =
        Script.parse(
            """
            { "rules": [ { "when": {},
                           "answer": { "text": "%s", "usage": { "input": 30, "output": 70 },
                                       "stream": { "pause": "PT0.002S" } } } ] }
            """
                .formatted(TEXT));
    try (ScriptedServer server = ScriptedServer.builder(script).recordLast(0).start()) {
      Gateway.Builder builder =
          Gateway.builder()
              .admission(admission)
              .costAccounting(accounting())
              .budget(store, ReservationRule.fixed(RESERVE))
              .streamBufferEvents(8)
              .observerQueue(10_000)
              .attemptObserver((operation, attempt) -> told.add(attempt));
      for (Dialect dialect : DIALECTS) {
        ProviderAdapter adapter = dialect.at(server.uri());
        builder.adapter(target(dialect).provider(), adapter);
        leaks.watch(Leftovers.count(dialect + " exchanges", () -> Dialect.openExchanges(adapter)));
      }
      leaks.watch(Leftovers.count("streams", server::openStreams));
      leaks.watch(Leftovers.count("connections", server::openConnections));
      try (Gateway gateway = leaks.watch(builder.build())) {
        readAll(gateway, seed);
        assertTrue(gateway.flushControls(PATIENCE));
        assertTrue(gateway.flushObservers(PATIENCE));
        assertEquals(STREAMS, succeeded.get() + cancelled.get());
        assertTrue(cancelled.get() > 0, "nothing was cancelled");
        checkControls(gateway);
      }
      server.awaitOpenConnections(0, PATIENCE);
    } catch (Throwable thrown) {
      throw new AssertionError("seed " + seed, thrown);
    }
  }

  private void readAll(Gateway gateway, long seed) throws Exception {
    Semaphore atOnce = new Semaphore(AT_ONCE);
    List<FutureTask<Void>> readers = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      Random random = new Random(seed + i);
      FutureTask<Void> reader =
          new FutureTask<>(
              () -> {
                try {
                  read(gateway, random);
                } finally {
                  atOnce.release();
                }
                return null;
              });
      readers.add(reader);
      atOnce.acquire();
      Thread.ofVirtual().start(reader);
    }
    for (FutureTask<Void> reader : readers) {
      reader.get(60, TimeUnit.SECONDS);
    }
  }

  /** Reads one stream; one in ten is ended in the middle, or before anything has come. */
  private void read(Gateway gateway, Random random) {
    Dialect dialect = DIALECTS.get(random.nextInt(DIALECTS.size()));
    Cancellation handle = new Cancellation();
    GenerateRequest request =
        GenerateRequest.builder(Route.of(target(dialect)), "Hello")
            .cancellation(handle)
            .budgetScope(SCOPE)
            .build();
    int way = random.nextInt(30); // 0, 1 and 2 end it
    int most = random.nextInt(8);
    StringBuilder text = new StringBuilder();
    try (TextStream stream = gateway.streamText(request)) {
      int seen = 0;
      if (most == 0) {
        end(way, stream, handle);
      }
      for (StreamEvent event : stream) {
        if (event instanceof StreamEvent.TextDelta(String piece)) {
          text.append(piece);
          assertTrue(TEXT.startsWith(text.toString()), () -> "not the text: " + text);
          if (++seen == most) {
            end(way, stream, handle);
          }
        }
      }
      assertEquals(TEXT, text.toString());
      assertEquals(30, stream.collect().usage().input().tokens());
      succeeded.incrementAndGet();
    } catch (OperationCancelledException expected) {
      assertTrue(way < 3, "nobody has cancelled it");
      assertEquals(way == 2, Thread.interrupted());
      cancelled.incrementAndGet();
    } finally {
      Thread.interrupted();
    }
  }

  private static void end(int way, TextStream stream, Cancellation handle) {
    switch (way) {
      case 0 -> stream.close();
      case 1 -> handle.cancel();
      case 2 -> Thread.currentThread().interrupt();
      default -> {}
    }
  }

  /** A success costs 10 cents; what was cut off may have cost all that was set aside for it. */
  private void checkControls(Gateway gateway) {
    assertEquals(0, gateway.diagnostics().droppedObservers());
    BudgetSnapshot account = store.snapshot(SCOPE);
    assertEquals(0, account.reserved().nanos());
    long successes = told.stream().filter(Attempt::ok).count();
    long inDoubt = told.stream().filter(end -> !end.ok() && end.cost().isPresent()).count();
    assertEquals(Money.of("0.1", "USD").nanos() * successes, account.spent().nanos());
    assertEquals(RESERVE.nanos() * inDoubt, account.uncertain().nanos());
    for (Dialect dialect : DIALECTS) {
      AdmissionRequest request =
          new AdmissionRequest(target(dialect), OptionalLong.empty(), Deadline.never());
      List<AdmissionPermit> permits = new ArrayList<>();
      for (int i = 0; i < PLACES; i++) {
        if (admission.tryAcquire(request) instanceof Admission.Admitted(AdmissionPermit permit)) {
          permits.add(permit);
        }
      }
      assertEquals(PLACES, permits.size(), "places of " + dialect);
      permits.forEach(AdmissionPermit::close);
    }
  }
}
