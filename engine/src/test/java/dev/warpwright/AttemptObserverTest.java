package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetSnapshot;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Target;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is told of attempts, when, and what an observer cannot do. */
final class AttemptObserverTest {
  private static final Target NOBODY = Target.of("nobody", "m");
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @RegisterExtension final Spine spine = new Spine();

  private final List<String> trail = Collections.synchronizedList(new ArrayList<>());

  private Gateway observed(ObserverMode mode, AttemptObserver observer) {
    return spine.build(spine.builder().observerMode(mode).attemptObserver(observer));
  }

  private void note(String operationId, Attempt attempt) {
    trail.add(
        "%s %s %d %d"
            .formatted(
                attempt.target(), attempt.reasonCode(), attempt.retry(), attempt.targetRank()));
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R349")
  @Tag("R353")
  @Tag("FR-OB3")
  void each_attempt_is_told_once_in_order_with_retry_and_rank(ObserverMode mode) {
    spine.a.fails(FakeModel.status(500), 3);
    spine.b.says("hi");
    Gateway gateway = observed(mode, this::note);

    gateway.generate(request(NOBODY, A, B));
    assertTrue(gateway.flushObservers(PATIENCE));

    assertEquals(
        List.of(
            "nobody/m OPERATION_SKIP 0 0",
            "a/model-a PROVIDER_ERROR 0 1",
            "a/model-a PROVIDER_ERROR 1 1",
            "a/model-a PROVIDER_ERROR 2 1",
            "b/model-b PROVIDER_SUCCESS 0 2"),
        trail);
    assertEquals(0, gateway.diagnostics().pendingObservers());
  }

  @Test
  @Tag("R353")
  void an_awaited_observer_has_been_told_before_the_next_thing_happens() {
    spine.a.then(
        call -> {
          trail.add("called");
          throw FakeModel.status(500);
        });
    spine.a.then(
        call -> {
          trail.add("called");
          return FakeModel.answer("hi", FinishReason.Kind.STOP);
        });

    observed(ObserverMode.AWAIT, (id, attempt) -> trail.add("told")).generate(request(A));

    assertEquals(List.of("called", "told", "called", "told"), trail);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R104")
  @Tag("R351")
  void what_an_observer_throws_is_counted_and_changes_nothing(ObserverMode mode) {
    spine.a.fails(FakeModel.status(500)).says("hi");
    List<Throwable> throwing =
        new ArrayList<>(List.of(new IllegalStateException("no"), new AssertionError("never")));
    Gateway gateway =
        observed(
            mode,
            (id, attempt) -> {
              Throwable next = throwing.removeFirst();
              if (next instanceof Error error) {
                throw error;
              }
              throw (RuntimeException) next;
            });

    assertEquals("hi", gateway.generate(request(A)).text());
    assertTrue(gateway.flushObservers(PATIENCE));

    assertEquals(2, spine.a.count());
    assertEquals(2, gateway.diagnostics().observerFailures());
  }

  @Test
  @Tag("R352")
  void an_awaited_observer_that_never_returns_holds_the_operation_for_its_timeout_only()
      throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    spine.a.says("hi");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .observerMode(ObserverMode.AWAIT)
                .observerTimeout(Duration.ofMillis(250))
                .attemptObserver(
                    (id, attempt) -> {
                      busy.countDown();
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        interrupted.countDown();
                      }
                    }));
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));

    Spine.await("the observer", busy);
    spine.awaitWaitOf(Duration.ofMillis(250));
    spine.advance(250);

    Spine.await("its interrupt", interrupted);
    assertEquals("hi", caller.get().text());
    assertEquals(1, gateway.diagnostics().observerFailures());
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R357")
  @Tag("R116")
  void the_callers_cancellation_interrupts_an_observer_that_runs(ObserverMode mode)
      throws Exception {
    Cancellation cancellation = new Cancellation();
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    spine.a.fails(FakeModel.failure(ProviderException.Kind.PROTOCOL));
    spine.b.hangs();
    Gateway gateway =
        observed(
            mode,
            (id, attempt) -> {
              if (attempt.reasonCode() != ReasonCode.PROVIDER_ERROR) {
                return;
              }
              busy.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                interrupted.countDown();
              }
            });
    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(ask(A, B).cancellation(cancellation).build()));

    Spine.await("the observer", busy);
    cancellation.cancel("enough");

    Spine.await("its interrupt", interrupted);
    caller.failure(OperationCancelledException.class);
    assertTrue(gateway.flushObservers(PATIENCE));
  }

  @Test
  @Tag("R349")
  void an_attempt_that_a_cancel_ended_is_told_of_although_nobody_waits_any_more() throws Exception {
    Cancellation cancellation = new Cancellation();
    spine.a.hangs();
    Gateway gateway = observed(ObserverMode.AWAIT, this::note);
    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(ask(A).cancellation(cancellation).build()));
    spine.a.awaitBusy();

    cancellation.cancel();

    caller.failure(OperationCancelledException.class);
    assertTrue(gateway.flushObservers(PATIENCE));
    assertEquals(List.of("a/model-a REQUEST_ABORTED 0 0"), trail);
  }

  /** Interrupts the operation right after its target has answered. */
  private static final class InterruptAfterAnswer implements TargetMetrics {
    @Override
    public Measurement begin(Target target) {
      Measurement none = TargetMetrics.none().begin(target);
      return new Measurement() {
        @Override
        public void firstText() {
          none.firstText();
        }

        @Override
        public void success(OptionalLong outputTokens) {
          Thread.currentThread().interrupt();
        }

        @Override
        public void error() {
          none.error();
        }

        @Override
        public void cancelled() {
          none.cancelled();
        }

        @Override
        public void close() {
          none.close();
        }
      };
    }

    @Override
    public Optional<TargetSnapshot> snapshot(Target target) {
      return Optional.empty();
    }
  }

  @Test
  @Tag("R349")
  @Tag("R17")
  void an_attempt_after_which_the_caller_was_interrupted_is_told_of_once() throws Exception {
    spine.a.says("hi");
    List<String> told = Collections.synchronizedList(new ArrayList<>());
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .metrics(new InterruptAfterAnswer())
                .observerMode(ObserverMode.AWAIT)
                .attemptObserver((id, attempt) -> told.add(attempt.reasonCode().name())));

    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));

    assertEquals("hi", caller.get().text());
    assertTrue(caller.leftInterrupted());
    assertTrue(gateway.flushObservers(PATIENCE));
    assertEquals(List.of("PROVIDER_SUCCESS"), told);
    assertEquals(0, gateway.diagnostics().observerFailures());
  }

  @Test
  @Tag("R353")
  @Tag("R354")
  @Tag("R364")
  void a_full_background_queue_drops_the_newest_and_counts_it() throws Exception {
    CountDownLatch gate = spine.gate();
    CountDownLatch busy = new CountDownLatch(1);
    spine.a.says("1").says("2").says("3").says("4");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .observerMode(ObserverMode.BACKGROUND)
                .observerQueue(2)
                .attemptObserver(
                    (id, attempt) -> {
                      trail.add("told");
                      busy.countDown();
                      Spine.awaitStubbornly(gate);
                    }));

    gateway.generate(request(A));
    Spine.await("the first call", busy);
    gateway.generate(request(A)); // waits behind it
    gateway.generate(request(A)); // finds it full
    gateway.generate(request(A));

    assertEquals(2, gateway.diagnostics().pendingObservers());
    assertEquals(2, gateway.diagnostics().droppedObservers());
    gate.countDown();
    assertTrue(gateway.flushObservers(PATIENCE));
    assertEquals(List.of("told", "told"), trail);
    assertEquals(0, gateway.diagnostics().pendingObservers());
  }

  @Test
  @Tag("R354")
  void a_flush_gives_up_in_time() throws Exception {
    CountDownLatch gate = spine.gate();
    spine.a.says("hi");
    Gateway gateway = observed(ObserverMode.DETACHED, (id, attempt) -> Spine.awaitStubbornly(gate));
    gateway.generate(request(A));
    Caller<Boolean> caller = Caller.start(() -> gateway.flushObservers(Duration.ofMillis(77)));

    spine.awaitWaitOf(Duration.ofMillis(77));
    spine.advance(77);

    assertFalse(caller.get());
    gate.countDown();
    assertTrue(gateway.flushObservers(PATIENCE));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, -1, 10_001})
  @Tag("R40")
  void a_queue_capacity_outside_its_bounds_is_refused(int capacity) {
    var refused =
        assertThrows(
            InvalidRequestException.class, () -> Gateway.builder().observerQueue(capacity));

    assertEquals(
        "observerQueue must be between 1 and 10000, but is %d.".formatted(capacity),
        refused.getMessage());
  }

  @Test
  @Tag("R35")
  void an_observer_timeout_of_zero_is_refused() {
    var builder = Gateway.builder();
    assertThrows(InvalidRequestException.class, () -> builder.observerTimeout(Duration.ZERO));
  }
}
