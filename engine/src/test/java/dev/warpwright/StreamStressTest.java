package dev.warpwright;

import static dev.warpwright.Prices.usd;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.StreamEvent.Finish;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetSnapshot;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Money;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Thousands of streams at once, on real time, of models that fail, break, fall silent and ignore
 * interrupts, with readers that are slow, close, cancel, are interrupted, or just leave. What was
 * seen is of one target a step, and when all is over nothing is held.
 */
@Timeout(120)
final class StreamStressTest {
  private static final int STREAMS = Integer.getInteger("warpwright.streams", 2_000);
  private static final int PLACES = 1_000;
  private static final String SCOPE = "tenant-1";
  private static final Money RESERVE = usd("0.05");

  private final CountDownLatch release = new CountDownLatch(1);
  private final CountingTime time = new CountingTime();
  private final AdmissionController admission =
      AdmissionController.local(AdmissionPolicy.builder(PLACES).maxQueue(10_000).build(), time);
  private final BudgetStore store = BudgetStore.local(usd("100000"));
  private final TargetMetrics metrics = TargetMetrics.local(Duration.ofHours(1), 128, 10_000, time);
  private final Queue<Attempt> told = new ConcurrentLinkedQueue<>();
  private final AtomicInteger closes = new AtomicInteger();

  /** The system's time; knows how many alarms are pending. */
  private static final class CountingTime implements TimeSource {
    private final TimeSource system = TimeSource.system();
    private final AtomicInteger pending = new AtomicInteger();

    @Override
    public long nanoTime() {
      return system.nanoTime();
    }

    @Override
    public Instant now() {
      return system.now();
    }

    @Override
    public Alarm alarm(long atNanoTime, Runnable action) {
      AtomicBoolean over = new AtomicBoolean();
      pending.incrementAndGet();
      Runnable end =
          () -> {
            if (over.compareAndSet(false, true)) {
              pending.decrementAndGet();
            }
          };
      Alarm alarm =
          system.alarm(
              atNanoTime,
              () -> {
                end.run();
                action.run();
              });
      return () -> {
        boolean cancelled = alarm.cancel();
        end.run();
        return cancelled;
      };
    }

    @Override
    public RandomGenerator random() {
      return system.random();
    }
  }

  /** A model that does anything, and tells pieces that say whose they are. */
  private final class Unreliable implements StreamingModel {
    private final String name;
    private final AtomicLong seeds;

    Unreliable(String name, long seed) {
      this.name = name;
      this.seeds = new AtomicLong(seed);
    }

    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT_AND_TOOLS;
    }

    @Override
    public ModelResponse generate(ModelCall call) {
      throw new AssertionError("not asked to stream");
    }

    @Override
    public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
      Random random = new Random(seeds.incrementAndGet());
      int kind = random.nextInt(100);
      if (kind < 12) {
        throw FakeModel.status(503);
      }
      StringBuilder text = new StringBuilder();
      int pieces = random.nextInt(30);
      for (int i = 0; i < pieces; i++) {
        String piece = name + random.nextInt(10);
        text.append(piece);
        switch (random.nextInt(6)) {
          case 0 -> events.tell(ModelEvent.ALIVE);
          case 1 -> events.tell(new ModelEvent.Reasoning("hm"));
          default -> {}
        }
        events.tell(new ModelEvent.Text(piece));
      }
      if (kind < 22) {
        throw FakeModel.failure(ProviderException.Kind.READ);
      }
      if (kind < 27) {
        return FakeModel.answer(text.toString(), FinishReason.Kind.ERROR);
      }
      if (kind < 32) {
        return FakeModel.blocks(call);
      }
      if (kind < 34) {
        Spine.awaitStubbornly(release);
      }
      boolean asks = kind < 50 && call.messages().stream().noneMatch(m -> m.role() == Role.TOOL);
      List<Part> parts = new ArrayList<>(List.of(new Part.Text(text.toString())));
      if (asks) {
        parts.add(Tools.call("1"));
      }
      return FakeModel.response(
          parts,
          asks ? FinishReason.Kind.TOOL_CALLS : FinishReason.Kind.STOP,
          Usage.reported(10, 5));
    }
  }

  private ProviderAdapter adapter(String name, long seed) {
    Unreliable model = new Unreliable(name, seed);
    return new ProviderAdapter() {
      @Override
      public LanguageModel model(String id) {
        return model;
      }

      @Override
      public void close() {
        closes.incrementAndGet();
      }
    };
  }

  @Test
  @Tag("R136")
  @Tag("R151")
  @Tag("R153")
  @Tag("R129")
  @Tag("R155")
  void thousands_of_streams_at_once_leave_nothing_behind_and_mix_nothing() throws Exception {
    long seed = System.nanoTime();
    Gateway gateway =
        Gateway.builder()
            .time(time)
            .abandonGrace(Duration.ofMillis(5))
            .retry(new RetryPolicy(1, Duration.ZERO, 0))
            .timeout(Duration.ofSeconds(4))
            .attemptTimeout(Duration.ofSeconds(2))
            .streamIdleTimeout(Duration.ofMillis(500))
            .streamBufferEvents(8)
            .adapter("a", adapter("a", seed))
            .adapter("b", adapter("b", seed + 1_000_000))
            .admission(admission)
            .metrics(metrics)
            .costAccounting(Prices.accounting())
            .budget(store, ReservationRule.fixed(RESERVE))
            .observerQueue(10_000)
            .attemptObserver((operation, attempt) -> told.add(attempt))
            .build();
    Queue<TextStream> left = new ConcurrentLinkedQueue<>();
    AtomicInteger successes = new AtomicInteger();
    List<Caller<Boolean>> readers = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) {
      Random random = new Random(seed + i);
      readers.add(
          Caller.start(
              () -> {
                if (read(gateway, random, left)) {
                  successes.incrementAndGet();
                }
                return true;
              }));
    }
    try {
      for (Caller<Boolean> reader : readers) {
        reader.get();
      }
      Spine.until("the ends", () -> noneButAbandoned(gateway));
      assertTrue(successes.get() > 0 && successes.get() < STREAMS, () -> successes + " succeeded");
      for (TextStream stream : left) {
        checkEnd(stream);
      }
      checkControls(gateway);
      release.countDown();
      Spine.until("no live task", () -> gateway.tasks().liveCount() == 0);
      Spine.until("no alarm", () -> time.pending.get() == 0);
      assertEquals(0, gateway.tasks().detachedFailures());
      gateway.close();
      assertEquals(2, closes.get());
    } catch (Throwable thrown) {
      throw new AssertionError("seed " + seed, thrown);
    } finally {
      release.countDown();
    }
  }

  private static boolean noneButAbandoned(Gateway gateway) {
    Diagnostics now = gateway.diagnostics();
    return now.liveTasks().size() == now.abandonedTasks().size() && now.pendingObservers() == 0;
  }

  /** Reads in one of many ways; whether there was an answer. */
  private boolean read(Gateway gateway, Random random, Queue<TextStream> left) throws Exception {
    Cancellation handle = new Cancellation();
    GenerateRequest request =
        Spine.ask(A, B)
            .tools(Tools.echo())
            .maxSteps(3)
            .budgetScope(SCOPE)
            .cancellation(handle)
            .build();
    TextStream stream = gateway.streamText(request);
    int way = random.nextInt(10);
    if (way == 0) {
      left.add(stream);
      return false;
    }
    int most = way < 5 ? random.nextInt(20) : Integer.MAX_VALUE;
    Thread closer = Thread.ofVirtual().unstarted(stream::close);
    StringBuilder step = new StringBuilder();
    try {
      int seen = 0;
      for (StreamEvent event : stream) {
        switch (event) {
          case TextDelta(String text) -> step.append(text);
          case Finish finish when !finish.last() -> step.setLength(0);
          default -> {}
        }
        requireOneTarget(step);
        pause(random);
        if (seen++ == most) {
          switch (way) {
            case 1 -> stream.close();
            case 2 -> handle.cancel("no more");
            case 3 -> Thread.currentThread().interrupt();
            default -> closer.start();
          }
        }
      }
      stream.collect();
      return true;
    } catch (StreamBrokenException broken) {
      assertEquals(step.toString(), broken.partialText(), "not what was shown");
      return false;
    } catch (WarpwrightException expected) {
      return false;
    } finally {
      Thread.interrupted();
      stream.close();
      if (closer.getState() != Thread.State.NEW) {
        closer.join();
      }
    }
  }

  private static void requireOneTarget(StringBuilder step) {
    assertTrue(step.indexOf("a") < 0 || step.indexOf("b") < 0, () -> "of two targets: " + step);
  }

  @SuppressWarnings("ThreadPriorityCheck") // a slow reader
  private static void pause(Random random) {
    for (int i = random.nextInt(4); i > 0; i--) {
      Thread.yield();
    }
  }

  /** A stream that was left has ended, by itself or at its deadline. */
  private static void checkEnd(TextStream stream) {
    try {
      stream.collect();
    } catch (WarpwrightException expected) {
      // that is an end
    }
  }

  private void checkControls(Gateway gateway) {
    assertEquals(0, gateway.diagnostics().droppedObservers());
    long succeeded = count(ReasonCode.PROVIDER_SUCCESS);
    long inDoubt =
        told.stream()
            .filter(x -> x.reasonCode() != ReasonCode.PROVIDER_SUCCESS && x.cost().isPresent())
            .count();
    BudgetSnapshot account = store.snapshot(SCOPE);
    assertEquals(usd("0"), account.reserved());
    assertEquals(usd("0.02").nanos() * succeeded, account.spent().nanos());
    assertEquals(RESERVE.nanos() * inDoubt, account.uncertain().nanos());
    long measured = 0;
    for (Target target : List.of(A, B)) {
      Optional<TargetSnapshot> snapshot = metrics.snapshot(target);
      assertEquals(0, snapshot.map(TargetSnapshot::inFlight).orElse(0));
      measured += snapshot.map(TargetSnapshot::successes).orElse(0);
      checkPlaces(target);
    }
    assertEquals(succeeded, measured);
  }

  private long count(ReasonCode code) {
    return told.stream().filter(attempt -> attempt.reasonCode() == code).count();
  }

  /** All places of a target are free, and there is no place too many. */
  private void checkPlaces(Target target) {
    List<AdmissionPermit> permits = new ArrayList<>();
    AdmissionRequest request = new AdmissionRequest(target, OptionalLong.empty(), Deadline.never());
    for (int i = 0; i < PLACES; i++) {
      permits.add(
          assertInstanceOf(Admission.Admitted.class, admission.tryAcquire(request)).permit());
    }
    assertTrue(!(admission.tryAcquire(request) instanceof Admission.Admitted));
    permits.forEach(AdmissionPermit::close);
  }
}
