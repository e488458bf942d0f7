package dev.warpwright.testing;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.task.Alarm;
import dev.warpwright.task.TaskScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a test leaves behind makes it fail, and what ends by itself does not. */
final class LeakCheckTest {
  /** Checks once and does not wait. */
  private final LeakCheck impatient = new LeakCheck(Duration.ZERO);

  private final ManualTime time = new ManualTime();
  private final CountDownLatch gate = new CountDownLatch(1);

  @AfterEach
  void open() {
    gate.countDown();
  }

  /** A model that ignores interrupts until the gate opens. */
  private final class Stubborn implements LanguageModel {
    final CountDownLatch called = new CountDownLatch(1);

    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT;
    }

    @Override
    public ModelResponse generate(ModelCall call) {
      called.countDown();
      while (true) {
        try {
          gate.await();
          throw new IllegalStateException("the test is over");
        } catch (InterruptedException e) {
          // ignored: that is the point
        }
      }
    }
  }

  private Gateway gateway(LanguageModel model) {
    return Gateway.builder().adapter("a", id -> model).time(time).build();
  }

  private static GenerateRequest request() {
    return GenerateRequest.builder(Route.of(Target.of("a", "model-a")), "Hello").build();
  }

  private static String failure(LeakCheck leaks) {
    return assertThrows(AssertionError.class, () -> leaks.check()).getMessage();
  }

  @Test
  void a_test_that_leaves_nothing_passes() {
    impatient.watch(time);
    impatient.watch(gateway(new Stubborn()));
    impatient.watch(Leftovers.count("permits", () -> 0));

    assertDoesNotThrow(() -> impatient.check());
  }

  @Test
  void a_live_operation_is_shown_as_a_tree() throws Exception {
    Stubborn model = new Stubborn();
    Gateway gateway = impatient.watch(gateway(model));
    FutureTask<?> call = new FutureTask<>(() -> gateway.generate(request()));
    Thread.ofVirtual().start(call);
    assertTrue(model.called.await(60, TimeUnit.SECONDS));

    List<String> lines = failure(impatient).lines().map(String::strip).toList();

    assertEquals("The test has left something behind, PT0S after its end:", lines.get(0));
    assertEquals("live tasks: 2", lines.get(1));
    assertTrue(lines.get(2).matches("operation \"generate.*RUNNING, since 2026-.*"), lines.get(2));
    assertTrue(lines.get(3).matches("attempt .*RUNNING, since 2026-.*"), lines.get(3));
  }

  @Test
  void an_abandoned_task_is_named_so() throws Exception {
    Stubborn model = new Stubborn();
    Gateway gateway = impatient.watch(gateway(model));
    FutureTask<?> call = new FutureTask<>(() -> gateway.generate(request()));
    Thread.ofVirtual().start(call);
    assertTrue(model.called.await(60, TimeUnit.SECONDS));
    while (!call.isDone()) {
      time.advance(Duration.ofMinutes(1));
      Thread.onSpinWait();
    }
    String message = failure(impatient);

    assertTrue(message.contains("ABANDONED"), message);
    assertTrue(message.contains("deadline passed"), message);
  }

  @Test
  void each_task_stands_below_its_parent() {
    Gateway gateway = impatient.watch(gateway(new Stubborn()));
    String message;
    try (TaskScope outer = gateway.tasks().open("operation", "outer");
        TaskScope inner = gateway.tasks().open("batch", "inner")) {
      assertFalse(outer.isCancelled() || inner.isCancelled());
      message = failure(impatient);
    }
    assertTrue(
        message.matches(
            "(?s).*\n  live tasks: 2\n  operation \"outer\", .*\n    batch \"inner\", .*"),
        message);
  }

  @Test
  void a_pending_alarm_is_named() {
    impatient.watch(time);
    Alarm alarm = time.alarm(time.nanoTime() + 1_000_000_000, Thread.currentThread()::interrupt);

    String message = failure(impatient);

    assertTrue(message.contains("alarms: "), message);
    assertTrue(message.contains("in PT1S"), message);
    assertTrue(alarm.cancel());
    assertDoesNotThrow(() -> impatient.check());
  }

  @Test
  void a_stray_interrupt_fails_the_test_and_does_not_reach_the_next() {
    Thread.currentThread().interrupt();

    assertEquals("The test has left an interrupt on its thread.", failure(impatient));

    assertFalse(Thread.currentThread().isInterrupted());
    assertDoesNotThrow(() -> impatient.check());
  }

  @Test
  void whatever_else_is_watched_is_asked_too() {
    AtomicLong permits = new AtomicLong(3);
    List<String> borrowed = new ArrayList<>(List.of("not given back: connection 7"));
    impatient.watch(Leftovers.count("permits", permits::get));
    impatient.watch(() -> borrowed);

    String message = failure(impatient);

    assertTrue(message.contains("permits: 3"), message);
    assertTrue(message.contains("not given back: connection 7"), message);
    borrowed.clear();
    permits.set(-1); // given back once too often is wrong as well
    assertTrue(failure(impatient).contains("permits: -1"));
    permits.set(0);
    assertDoesNotThrow(() -> impatient.check());
  }

  @Test
  void what_ends_by_itself_is_waited_for() {
    AtomicLong asked = new AtomicLong();
    LeakCheck patient = new LeakCheck();
    patient.watch(Leftovers.count("stragglers", () -> asked.incrementAndGet() < 100 ? 1 : 0));

    patient.check();

    assertEquals(100, asked.get());
  }

  @Test
  void an_interrupt_that_comes_while_it_waits_is_a_leak_too() {
    AtomicLong asked = new AtomicLong();
    LeakCheck patient = new LeakCheck();
    patient.watch(
        () -> {
          if (asked.incrementAndGet() == 5) {
            Thread.currentThread().interrupt();
          }
          return asked.get() < 10 ? List.of("a straggler") : List.of();
        });

    assertEquals("The test has left an interrupt on its thread.", failure(patient));
  }
}
