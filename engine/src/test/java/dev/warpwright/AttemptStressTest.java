package dev.warpwright;

import static dev.warpwright.Prices.usd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.contract.Together;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Operations whose attempts run on their callers' threads, on real time: answers, failures, attempt
 * timeouts, deadlines, handles, interrupts of callers and the close of the gateway race. Every
 * caller comes back with one end and the interrupt that it was sent, and when all is over nothing
 * is held.
 */
@Timeout(120)
final class AttemptStressTest {
  private static final int ROUNDS = 40;
  private static final int CALLERS = 100;

  /** Nobody opens it: who waits here is interrupted, or has had enough. */
  private static final CountDownLatch NEVER = new CountDownLatch(1);

  private static void waitAtMost(int nanos) throws InterruptedException {
    var _ = NEVER.await(nanos, TimeUnit.NANOSECONDS);
  }

  @Test
  @Tag("R17")
  @Tag("R107")
  @Tag("R129")
  void nothing_is_lost_or_left_over_when_everything_races() throws Exception {
    long base = System.nanoTime();
    AtomicInteger[] ends = new AtomicInteger[5];
    Arrays.setAll(ends, i -> new AtomicInteger());
    for (int i = 0; i < ROUNDS; i++) {
      long seed = base + i;
      try {
        new Round(seed).run(ends);
      } catch (Throwable thrown) {
        throw new AssertionError("seed " + seed, thrown);
      }
    }
    for (AtomicInteger count : ends) {
      assertTrue(count.get() > 0, () -> "not every kind of end: " + Arrays.toString(ends));
    }
  }

  private static final class Round {
    private static final String SCOPE = "tenant-1";

    private final long seed;
    private final TargetMetrics metrics = TargetMetrics.local();
    private final BudgetStore store = BudgetStore.local(usd("100000"));
    private final AtomicInteger running = new AtomicInteger();
    private final Gateway gateway;

    Round(long seed) {
      this.seed = seed;
      this.gateway =
          Gateway.builder()
              .adapter("a", id -> new Model(id))
              .adapter("b", id -> new Model(id))
              .retry(new RetryPolicy(1, Duration.ofNanos(100_000), 1))
              .attemptTimeout(Duration.ofNanos(2_000_000))
              .timeout(Duration.ofMillis(8))
              .abandonGrace(Duration.ofSeconds(5))
              .metrics(metrics)
              .admission(
                  AdmissionController.local(
                      AdmissionPolicy.builder(CALLERS).maxQueue(CALLERS).build()))
              .costAccounting(Prices.accounting())
              .budget(store, ReservationRule.fixed(usd("0.01")))
              .build();
    }

    /** Ends at its interrupt, at every moment. */
    private final class Model implements LanguageModel {
      private final String name;

      Model(String name) {
        this.name = name;
      }

      @Override
      public ModelCapabilities capabilities() {
        return ModelCapabilities.TEXT;
      }

      @Override
      public boolean honoursInterrupts() {
        return true;
      }

      @Override
      public ModelResponse generate(ModelCall call) throws InterruptedException {
        running.incrementAndGet();
        try {
          ThreadLocalRandom random = ThreadLocalRandom.current();
          switch (random.nextInt(8)) {
            case 0 -> {}
            case 1, 5, 6, 7 -> throw FakeModel.status(500);
            case 2 -> waitAtMost(random.nextInt(3_000_000));
            case 3 -> NEVER.await();
            default -> {
              long until = System.nanoTime() + random.nextInt(200_000);
              while (until - System.nanoTime() > 0) {
                Thread.onSpinWait();
              }
            }
          }
          return FakeModel.answer(name, FinishReason.Kind.STOP);
        } finally {
          running.decrementAndGet();
        }
      }
    }

    void run(AtomicInteger[] ends) throws Exception {
      List<AtomicReference<Thread>> threads =
          Stream.generate(AtomicReference<Thread>::new).limit(CALLERS).toList();
      Together.run(
          CALLERS + 1,
          number -> {
            if (number == CALLERS) {
              waitAtMost(new Random(seed).nextInt(4_000_000));
              gateway.close(Duration.ofSeconds(10));
            } else {
              call(number, threads.get(number), ends);
            }
            return true;
          });
      check();
    }

    private void call(int number, AtomicReference<Thread> self, AtomicInteger[] ends)
        throws Exception {
      Random random = new Random(31 * seed + number);
      boolean interrupts = random.nextInt(4) == 0;
      Cancellation cancellation = new Cancellation();
      self.set(Thread.currentThread());
      Thread disturber =
          Thread.startVirtualThread(
              () -> {
                try {
                  waitAtMost(random.nextInt(6_000_000));
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
                if (interrupts) {
                  self.get().interrupt();
                } else if (random.nextInt(3) == 0) {
                  cancellation.cancel("enough");
                }
              });
      boolean stopped = false;
      try {
        while (true) {
          GenerateResult result =
              gateway.generate(
                  GenerateRequest.builder(
                          Route.of(Target.of("a", "m"), Target.of("b", "m")), "Hello")
                      .budgetScope(SCOPE)
                      .cancellation(cancellation)
                      .build());
          stopped |= result.attempts().size() > 1;
          ends[0].incrementAndGet();
        }
      } catch (WarpwrightException end) {
        stopped |= end.trace().attempts().size() > 0;
        switch (end) {
          case DeadlineExceededException _ -> ends[1].incrementAndGet();
          case OperationCancelledException _ -> ends[2].incrementAndGet();
          case AttemptsExhaustedException _ -> ends[3].incrementAndGet();
          case InvalidRequestException _ -> ends[4].incrementAndGet(); // the gateway is closed
          default -> throw end;
        }
      }
      boolean left = Thread.interrupted();
      while (disturber.isAlive()) {
        try {
          disturber.join();
        } catch (InterruptedException e) {
          left = true;
        }
      }
      left |= Thread.interrupted();
      assertFalse(left && !interrupts, "an interrupt that nobody sent");
      // One that meets an attempt's own on the flag cannot be told from it: see InlineTask.
      assertTrue(left || !interrupts || stopped, "the caller's interrupt is lost");
    }

    private void check() {
      assertEquals(0, running.get());
      assertEquals(List.of(), gateway.diagnostics().liveTasks());
      for (String provider : List.of("a", "b")) {
        metrics
            .snapshot(Target.of(provider, "m"))
            .ifPresent(snapshot -> assertEquals(0, snapshot.inFlight()));
      }
      BudgetSnapshot account = store.snapshot(SCOPE);
      assertEquals(usd("0"), account.reserved());
    }
  }
}
