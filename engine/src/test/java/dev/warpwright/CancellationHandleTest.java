package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.RetryPolicy;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.task.Cancellation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** The handle by which a caller cancels from another thread. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class CancellationHandleTest {
  @RegisterExtension final Spine spine;

  CancellationHandleTest(boolean honouringInterrupts) {
    spine = new Spine(honouringInterrupts);
  }

  private final Cancellation cancellation = new Cancellation();

  private Caller<GenerateResult> call(Gateway gateway, GenerateRequest.Builder request) {
    return Caller.start(() -> gateway.generate(request.cancellation(cancellation).build()));
  }

  @Test
  @Tag("R18")
  void a_handle_that_is_cancelled_already_refuses_the_operation_before_any_work() {
    cancellation.cancel("token=abcdef, stopped");
    GenerateRequest request = ask(A).cancellation(cancellation).build();
    Gateway gateway = spine.gateway();

    var refused = assertThrows(OperationCancelledException.class, () -> gateway.generate(request));

    assertEquals(
        "The operation was cancelled before it began: token=[REDACTED], stopped",
        refused.getMessage());
    assertEquals(0, spine.a.count());
    assertEquals(List.of(), refused.trace().attempts());
  }

  @Test
  @Tag("R18")
  @Tag("R117")
  void a_cancel_during_an_attempt_ends_it_with_the_callers_reason() throws Exception {
    spine.a.hangs();
    Caller<GenerateResult> caller = call(spine.gateway(), ask(A, B));
    spine.a.awaitBusy();

    cancellation.cancel("the user left, Bearer abcdef");

    var failure = caller.failure(OperationCancelledException.class);
    assertTrue(
        String.valueOf(failure.getMessage()).contains("the user left, Bearer [REDACTED]"),
        failure.getMessage());
    assertEquals(ReasonCode.REQUEST_ABORTED, failure.trace().attempts().getFirst().reasonCode());
    assertFalse(caller.leftInterrupted(), "a handle leaves the caller's flag alone");
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("R102")
  @Tag("R116")
  void a_cancel_during_the_backoff_ends_the_operation_without_another_call() throws Exception {
    spine.a.fails(FakeModel.status(503));
    Gateway gateway =
        spine.build(spine.builder().retry(new RetryPolicy(2, Duration.ofSeconds(7), 0)));
    Caller<GenerateResult> caller = call(gateway, ask(A, B));
    spine.awaitWaitOf(Duration.ofSeconds(7));

    cancellation.cancel("enough");

    assertTrue(
        String.valueOf(caller.failure(OperationCancelledException.class).getMessage())
            .contains("enough"));
    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("R116")
  void a_cancel_reaches_a_running_tool() throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    spine.a.asksFor(Tools.call("c1", "wait"));
    Caller<GenerateResult> caller =
        call(
            spine.gateway(),
            ask(A)
                .maxSteps(2)
                .tools(
                    Tools.of(
                        "wait",
                        input -> {
                          busy.countDown();
                          try {
                            new CountDownLatch(1).await();
                          } catch (InterruptedException e) {
                            interrupted.countDown();
                          }
                          return "";
                        })));
    Spine.await("the tool", busy);

    cancellation.cancel();

    Spine.await("its interrupt", interrupted);
    caller.failure(OperationCancelledException.class);
    assertEquals(1, spine.a.count());
  }

  @Test
  @Tag("R18")
  void only_the_first_cancel_counts_and_its_reason_stays() {
    AtomicInteger told = new AtomicInteger();
    cancellation.onCancel(reason -> told.incrementAndGet());

    cancellation.cancel("first");
    cancellation.cancel("second");

    assertEquals(Optional.of("first"), cancellation.reason());
    assertEquals(1, told.get());
    cancellation.onCancel(reason -> told.addAndGet(reason.equals("first") ? 10 : 100));
    assertEquals(11, told.get());
    assertEquals("Cancellation[cancelled]", cancellation.toString());
  }

  @Test
  @Tag("R129")
  void an_operation_leaves_no_listener_behind() {
    spine.a.says("hi").fails(FakeModel.status(400));
    Gateway gateway = spine.gateway();
    AtomicInteger told = new AtomicInteger();
    GenerateRequest request = ask(A).cancellation(cancellation).build();

    gateway.generate(request);
    assertThrows(RuntimeException.class, () -> gateway.generate(request));
    cancellation.onCancel(reason -> told.incrementAndGet()).close();
    cancellation.cancel(); // of operations that have ended: nothing to cancel

    assertEquals(0, told.get());
  }

  @Test
  @Tag("R18")
  void one_of_many_cancels_at_once_tells_each_listener_once() throws Exception {
    for (int round = 0; round < 200; round++) {
      Cancellation raced = new Cancellation();
      AtomicInteger told = new AtomicInteger();
      CyclicBarrier start = new CyclicBarrier(5);
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        String reason = "reason " + i;
        threads.add(
            Thread.ofVirtual()
                .start(
                    () -> {
                      meet(start);
                      raced.cancel(reason);
                    }));
      }
      meet(start);
      for (int i = 0; i < 10; i++) {
        raced.onCancel(reason -> told.incrementAndGet());
      }
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(10, told.get(), "round " + round);
    }
  }

  private static void meet(CyclicBarrier barrier) {
    try {
      barrier.await();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  @Test
  @Tag("R18")
  @Tag("R116")
  void a_listener_that_throws_keeps_no_operation_from_being_cancelled() throws Exception {
    IllegalStateException first = new IllegalStateException("first");
    IllegalStateException second = new IllegalStateException("second");
    cancellation.onCancel(
        reason -> {
          throw first;
        });
    cancellation.onCancel(
        reason -> {
          throw second;
        });
    spine.a.hangs();
    Caller<GenerateResult> caller = call(spine.gateway(), ask(A));
    spine.a.awaitBusy();

    assertEquals(first, assertThrows(IllegalStateException.class, cancellation::cancel));

    caller.failure(OperationCancelledException.class);
    assertEquals(List.of(second), List.of(first.getSuppressed()));
  }
}
