package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ProviderAdapter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What closing a gateway does to operations that are under way, and to its adapters. */
final class GatewayCloseTest {
  @RegisterExtension final Spine spine = new Spine();

  private final AtomicInteger closes = new AtomicInteger();

  private Gateway closable() {
    return spine.build(
        spine
            .builder()
            .adapter(
                "a",
                new ProviderAdapter() {
                  @Override
                  public LanguageModel model(String modelId) {
                    return spine.a;
                  }

                  @Override
                  public void close() {
                    closes.incrementAndGet();
                  }
                }));
  }

  /** A model that answers when the gate is opened. */
  private CountDownLatch gatedAnswer() {
    CountDownLatch gate = spine.gate();
    spine.a.then(
        call -> {
          gate.await();
          return FakeModel.answer("hi", FinishReason.Kind.STOP);
        });
    return gate;
  }

  private static void awaitCall(FakeModel model) {
    Spine.until("the call", () -> model.count() == 1);
  }

  @Test
  @Tag("R19")
  void a_closed_gateway_refuses_operations_and_has_closed_its_adapters_once() {
    Gateway gateway = closable();

    gateway.close();
    gateway.close();

    var refused = assertThrows(InvalidRequestException.class, () -> gateway.generate(request(A)));
    assertEquals("The gateway is closed; make a new one.", refused.getMessage());
    assertEquals(1, closes.get());
  }

  @Test
  @Tag("R19")
  void a_close_cancels_nothing_and_the_last_operation_closes_the_adapters() throws Exception {
    CountDownLatch gate = gatedAnswer();
    Gateway gateway = closable();
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    awaitCall(spine.a);

    gateway.close();

    assertEquals(0, closes.get(), "its connections are in use");
    assertThrows(InvalidRequestException.class, () -> gateway.generate(request(A)));
    gate.countDown();
    assertEquals("hi", caller.get().text());
    assertEquals(1, closes.get());
  }

  @Test
  @Tag("R19")
  void a_close_waits_for_what_runs_but_not_longer_than_it_was_told() throws Exception {
    CountDownLatch gate = gatedAnswer();
    Gateway gateway = closable();
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    awaitCall(spine.a);

    Caller<Boolean> impatient = closing(gateway, Duration.ofSeconds(3));
    spine.awaitWaitOf(Duration.ofSeconds(3));
    spine.advance(3_000);
    impatient.get();
    assertEquals(0, closes.get());

    Caller<Boolean> patient = closing(gateway, Duration.ofMinutes(5));
    spine.awaitWaitOf(Duration.ofMinutes(5));
    gate.countDown();
    patient.get();
    assertEquals("hi", caller.get().text());
    assertEquals(1, closes.get());
  }

  private static Caller<Boolean> closing(Gateway gateway, Duration atMost) {
    return Caller.start(
        () -> {
          gateway.close(atMost);
          return true;
        });
  }

  @Test
  @Tag("R19")
  void an_interrupt_ends_the_wait_of_a_close_and_stays_set() throws Exception {
    CountDownLatch gate = gatedAnswer();
    Gateway gateway = closable();
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    awaitCall(spine.a);
    Caller<Boolean> closing = closing(gateway, Duration.ofMinutes(5));
    spine.awaitWaitOf(Duration.ofMinutes(5));

    closing.interrupt();

    closing.get();
    assertEquals(true, closing.leftInterrupted());
    gate.countDown();
    caller.get();
  }

  @Test
  @Tag("R5")
  void building_a_gateway_contacts_nothing_and_starts_no_thread() {
    List<String> asked = new ArrayList<>();
    Set<Thread> before = Thread.getAllStackTraces().keySet();

    Gateway gateway =
        Gateway.builder()
            .adapter(
                "a",
                id -> {
                  asked.add(id);
                  throw new AssertionError("not asked for a model");
                })
            .attemptObserver((id, attempt) -> asked.add(id))
            .observerMode(ObserverMode.BACKGROUND)
            .build();

    assertEquals(List.of(), asked);
    Set<Thread> started = new HashSet<>(Thread.getAllStackTraces().keySet());
    started.removeAll(before);
    started.removeIf(GatewayCloseTest::isOfTheJvm);
    assertEquals(Set.of(), started);
    assertEquals(0, gateway.tasks().liveCount());
    gateway.close();
    assertFalse(Thread.currentThread().isInterrupted());
  }

  /** Carriers of virtual threads and the like, which other tests may still need. */
  private static boolean isOfTheJvm(Thread thread) {
    return !Objects.equals(thread.getThreadGroup(), Thread.currentThread().getThreadGroup());
  }

  @Test
  @Tag("R19")
  @Tag("R129")
  void operations_that_fail_to_begin_do_not_count_as_under_way() {
    Gateway gateway = closable();
    GenerateRequest noRoute = GenerateRequest.builder("?").build();
    for (int i = 0; i < 3; i++) {
      assertThrows(InvalidRequestException.class, () -> gateway.generate(noRoute));
    }

    gateway.close();

    assertEquals(1, closes.get());
  }

  @Test
  @Tag("R19")
  void many_operations_and_a_close_at_once_close_the_adapters_exactly_once() throws Exception {
    for (int round = 0; round < 100; round++) {
      closes.set(0);
      Gateway gateway = closable();
      FakeModel model = spine.a;
      List<Caller<Boolean>> callers = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        model.says("hi");
        callers.add(
            Caller.start(
                () -> {
                  try {
                    gateway.generate(request(A));
                    return true;
                  } catch (InvalidRequestException closed) {
                    return false;
                  }
                }));
      }
      gateway.close();
      for (Caller<Boolean> caller : callers) {
        caller.get();
      }
      assertEquals(1, closes.get(), "round " + round);
    }
  }
}
