package dev.warpwright;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gateways on manual time with fake models, and the check after each test that nothing of them is
 * left: no live or abandoned task, no alarm, no interrupt.
 */
final class Spine implements AfterEachCallback {
  static final Duration GRACE = Duration.ofMillis(100);

  /** Two retries without any wait. */
  static final RetryPolicy AT_ONCE = new RetryPolicy(2, Duration.ZERO, 0);

  static final Target A = Target.of("a", "model-a");
  static final Target B = Target.of("b", "model-b");
  static final Target C = Target.of("c", "model-c");

  private final LeakCheck leaks = new LeakCheck();
  final ManualTime time = leaks.watch(new ManualTime());
  final FakeModel a = new FakeModel();
  final FakeModel b = new FakeModel();
  final FakeModel c = new FakeModel();
  private final List<CountDownLatch> gates = new ArrayList<>();

  /** With models that declare nothing of interrupts. */
  Spine() {
    this(false);
  }

  /**
   * With models that declare to honour interrupts or not; one that is told to ignore them never
   * does.
   */
  Spine(boolean honouringInterrupts) {
    List.of(a, b, c).forEach(model -> model.honouringInterrupts(honouringInterrupts));
  }

  /** A gateway with the three models that does not wait between retries. */
  Gateway.Builder builder() {
    return Gateway.builder()
        .time(time)
        .abandonGrace(GRACE)
        .retry(AT_ONCE)
        .adapter("a", id -> a)
        .adapter("b", id -> b)
        .adapter("c", id -> c);
  }

  Gateway build(Gateway.Builder builder) {
    return leaks.watch(builder.build());
  }

  Gateway gateway() {
    return build(builder());
  }

  /** A latch for stubborn tools and observers; opened when the test ends. */
  CountDownLatch gate() {
    CountDownLatch gate = new CountDownLatch(1);
    gates.add(gate);
    return gate;
  }

  static GenerateRequest.Builder ask(Target primary, Target... fallbacks) {
    return GenerateRequest.builder(Route.of(primary, fallbacks), "Why is the sky blue?");
  }

  static GenerateRequest request(Target primary, Target... fallbacks) {
    return ask(primary, fallbacks).build();
  }

  void advance(long millis) {
    time.advance(Duration.ofMillis(millis));
  }

  /** Waits until somebody waits for exactly so long. */
  void awaitWaitOf(Duration wait) throws InterruptedException {
    time.awaitAlarmIn(wait);
  }

  static void await(String what, CountDownLatch latch) throws InterruptedException {
    assertTrue(latch.await(60, TimeUnit.SECONDS), "waited 10 s for " + what);
  }

  /** Waits through interrupts, as a stubborn tool does. */
  static void awaitStubbornly(CountDownLatch gate) {
    while (true) {
      try {
        gate.await();
        return;
      } catch (InterruptedException e) {
        // ignored: that is the point
      }
    }
  }

  /** For what has no latch, such as a thread's last step. */
  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  static void until(String what, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - start < 10_000_000_000L, "waited 10 s for " + what);
      Thread.yield();
    }
  }

  @Override
  public void afterEach(ExtensionContext context) {
    List.of(a, b, c).forEach(FakeModel::release);
    gates.forEach(CountDownLatch::countDown);
    leaks.afterEach(context);
  }
}
