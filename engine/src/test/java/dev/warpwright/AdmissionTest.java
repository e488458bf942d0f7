package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.CircuitState;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetSnapshot;
import dev.warpwright.model.AdmissionDeniedException;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.TaskTrace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** How operations ask for a place at a target, wait for it, and give it back. */
@ParameterizedClass
@ValueSource(booleans = {false, true})
final class AdmissionTest {
  @RegisterExtension final Spine spine;

  AdmissionTest(boolean honouringInterrupts) {
    spine = new Spine(honouringInterrupts);
  }

  private Gateway gateway(AdmissionPolicy.Builder policy) {
    return spine.build(
        spine.builder().admission(AdmissionController.local(policy.build(), spine.time)));
  }

  /** A call that holds the only place until the gate is opened. */
  private CountDownLatch holdPlace(Gateway gateway, List<Caller<GenerateResult>> callers) {
    CountDownLatch gate = spine.gate();
    CountDownLatch busy = new CountDownLatch(1);
    spine.a.then(
        call -> {
          busy.countDown();
          gate.await();
          return FakeModel.answer("first", FinishReason.Kind.STOP);
        });
    callers.add(Caller.start(() -> gateway.generate(request(A))));
    try {
      Spine.await("the first call", busy);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    return gate;
  }

  @Test
  @Tag("R298")
  @Tag("R305")
  @Tag("R106")
  void a_refusal_falls_back_at_once_and_says_which_limit() throws Exception {
    Gateway gateway = gateway(AdmissionPolicy.builder(1));
    List<Caller<GenerateResult>> callers = new ArrayList<>();
    CountDownLatch gate = holdPlace(gateway, callers);
    spine.b.says("b");

    GenerateResult result = gateway.generate(request(A, B));

    assertEquals("b", result.text());
    Attempt denied = result.attempts().getFirst();
    assertEquals(ReasonCode.ADMISSION_DENIED, denied.reasonCode());
    assertTrue(denied.dispatched(), "it counts against the total of attempts");
    assertTrue(denied.message().contains("maxConcurrent"), denied.message());
    assertEquals(1, result.attempts().stream().filter(x -> x.target().equals(A)).count());
    gate.countDown();
    assertEquals("first", callers.getFirst().get().text());
  }

  @Test
  @Tag("R64")
  @Tag("R305")
  void when_no_other_target_is_left_it_is_an_admission_denial() throws Exception {
    Gateway gateway = gateway(AdmissionPolicy.builder(1));
    List<Caller<GenerateResult>> callers = new ArrayList<>();
    CountDownLatch gate = holdPlace(gateway, callers);
    spine.b.fails(status(400));

    var failure =
        assertThrows(AdmissionDeniedException.class, () -> gateway.generate(request(B, A)));

    assertEquals(2, failure.trace().attempts().size());
    assertFalse(failure.retryable());
    assertInstanceOf(Throwable.class, failure.getCause());
    gate.countDown();
    callers.getFirst().get();
  }

  @Test
  @Tag("R301")
  @Tag("R304")
  void a_queued_call_waits_as_a_task_of_its_own_and_goes_when_the_place_is_free() throws Exception {
    Gateway gateway =
        gateway(AdmissionPolicy.builder(1).maxQueue(1).queueTimeout(Duration.ofSeconds(60)));
    List<Caller<GenerateResult>> callers = new ArrayList<>();
    CountDownLatch gate = holdPlace(gateway, callers);
    spine.a.says("second");
    Caller<GenerateResult> queued = Caller.start(() -> gateway.generate(request(A)));
    Spine.until(
        "the wait",
        () ->
            gateway.diagnostics().liveTasks().stream()
                .anyMatch(task -> task.kind().equals("admission")));
    assertEquals(1, spine.a.count());

    gate.countDown();

    GenerateResult second = queued.get();
    assertEquals("second", second.text());
    assertEquals(
        List.of("admission", "attempt"),
        second.tasks().children().stream().map(TaskTrace::kind).toList());
    callers.getFirst().get();
  }

  @Test
  @Tag("R302")
  @Tag("R116")
  @Tag("C23")
  void a_queued_call_that_is_cancelled_consumes_nothing() throws Exception {
    Gateway gateway =
        gateway(AdmissionPolicy.builder(1).maxQueue(1).queueTimeout(Duration.ofSeconds(60)));
    List<Caller<GenerateResult>> callers = new ArrayList<>();
    CountDownLatch gate = holdPlace(gateway, callers);
    Cancellation cancellation = new Cancellation();
    Caller<GenerateResult> queued =
        Caller.start(() -> gateway.generate(ask(A).cancellation(cancellation).build()));
    awaitQueued();
    assertThrows(AdmissionDeniedException.class, () -> gateway.generate(request(A)));

    cancellation.cancel("gone");

    var failure = queued.failure(OperationCancelledException.class);
    assertEquals(ReasonCode.REQUEST_ABORTED, failure.trace().attempts().getFirst().reasonCode());
    spine.a.says("next");
    Caller<GenerateResult> next = Caller.start(() -> gateway.generate(request(A)));
    awaitQueued();
    gate.countDown();
    assertEquals("next", next.get().text());
    callers.getFirst().get();
    assertEquals(2, spine.a.count());
  }

  /** Waits until a call is in the queue, where its time runs. */
  private void awaitQueued() throws InterruptedException {
    spine.awaitWaitOf(Duration.ofSeconds(60));
  }

  @Test
  @Tag("R120")
  @Tag("R303")
  void time_in_the_queue_counts_against_the_deadline() throws Exception {
    Gateway gateway =
        gateway(AdmissionPolicy.builder(1).maxQueue(1).queueTimeout(Duration.ofSeconds(60)));
    List<Caller<GenerateResult>> callers = new ArrayList<>();
    CountDownLatch gate = holdPlace(gateway, callers);
    Caller<GenerateResult> queued =
        Caller.start(() -> gateway.generate(ask(A).timeout(Duration.ofMillis(40)).build()));
    spine.awaitWaitOf(Duration.ofMillis(40));

    spine.advance(40);

    RuntimeException end = queued.failure(RuntimeException.class);
    assertTrue(
        end instanceof DeadlineExceededException || end instanceof AdmissionDeniedException,
        end.toString());
    assertEquals(1, spine.a.count());
    gate.countDown();
    callers.getFirst().get();
  }

  @Test
  @Tag("C24")
  @Tag("R153")
  void a_deadline_gives_the_place_back_although_the_provider_never_returns() throws Exception {
    Gateway gateway = gateway(AdmissionPolicy.builder(1));
    spine.a.ignoresInterrupts();
    Caller<GenerateResult> stuck =
        Caller.start(() -> gateway.generate(ask(A).timeout(Duration.ofMillis(40)).build()));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofMillis(40));
    spine.advance(40);
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(100);
    stuck.failure(DeadlineExceededException.class);

    spine.a.says("the place is free");

    assertEquals("the place is free", gateway.generate(request(A)).text());
  }

  @Test
  @Tag("R120")
  @Tag("R256")
  @Tag("R305")
  void an_attempt_whose_time_is_over_in_the_queue_says_nothing_of_the_targets_health()
      throws Exception {
    CircuitBreaker breaker =
        CircuitBreaker.local(CircuitPolicy.builder().failureThreshold(1).build(), spine.time);
    AdmissionController full =
        request -> {
          new CountDownLatch(1).await();
          throw new AssertionError("unreachable");
        };
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .retry(new RetryPolicy(0, Duration.ZERO, 0))
                .attemptTimeout(Duration.ofSeconds(1))
                .circuitBreaker(breaker)
                .admission(full));
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    spine.awaitWaitOf(Duration.ofSeconds(1));
    spine.advance(1_000);

    var failure = caller.failure(AdmissionDeniedException.class);

    Attempt attempt = failure.trace().attempts().getFirst();
    assertEquals(ReasonCode.ADMISSION_DENIED, attempt.reasonCode());
    assertTrue(attempt.message().contains("attemptTimeout"), attempt.message());
    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
    assertEquals(0, spine.a.count());
  }

  @Test
  @Tag("R305")
  @Tag("R251")
  void a_denial_says_nothing_of_the_targets_health() {
    CircuitBreaker breaker =
        CircuitBreaker.local(CircuitPolicy.builder().failureThreshold(1).build(), spine.time);
    TargetMetrics metrics = TargetMetrics.local(Duration.ofMinutes(1), 8, 8, spine.time);
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .circuitBreaker(breaker)
                .metrics(metrics)
                .admission(
                    AdmissionController.local(
                        AdmissionPolicy.builder(1).requestsPerMinute(1).build(), spine.time)));
    spine.a.says("one");
    gateway.generate(request(A));

    assertThrows(AdmissionDeniedException.class, () -> gateway.generate(request(A)));

    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
    TargetSnapshot measured = metrics.snapshot(A).orElseThrow();
    assertEquals(1, measured.cancellations());
    assertEquals(0, measured.errors());
    assertEquals(0, measured.inFlight());
    spine.advance(60_000);
    spine.a.says("two");
    assertEquals("two", gateway.generate(request(A)).text());
  }

  @Test
  @Tag("R307")
  @Tag("R308")
  @Tag("R309")
  void tokens_are_reserved_by_estimate_and_reconciled_by_report() {
    Gateway gateway = gateway(AdmissionPolicy.builder(9).tokensPerMinute(100));
    var missing = assertThrows(AdmissionDeniedException.class, () -> gateway.generate(request(A)));
    assertTrue(String.valueOf(missing.getMessage()).contains("maxTokens"), missing.getMessage());
    assertThrows(
        AdmissionDeniedException.class, () -> gateway.generate(ask(A).maxTokens(99).build()));

    for (int i = 0; i < 4; i++) {
      spine.a.says("reports 15 of the 55 tokens that were reserved");
      gateway.generate(ask(A).maxTokens(50).build());
    }

    assertThrows(
        AdmissionDeniedException.class, () -> gateway.generate(ask(A).maxTokens(50).build()));
    assertEquals(4, spine.a.count());
  }

  /** A shared limiter that grants when it is told to, and counts what is given back. */
  private static final class Shared implements AdmissionController {
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch grant = new CountDownLatch(1);
    final AtomicInteger closed = new AtomicInteger();

    @Override
    public Admission.Decision acquire(AdmissionRequest request) {
      asked.countDown();
      Spine.awaitStubbornly(grant);
      return new Admission.Admitted(
          new AdmissionPermit() {
            @Override
            public void reconcile(long totalTokens) {}

            @Override
            public void close() {
              closed.incrementAndGet();
            }
          });
    }
  }

  @Test
  @Tag("R312")
  void a_permit_that_comes_after_the_cancel_is_given_back_and_nothing_is_dispatched()
      throws Exception {
    Shared shared = new Shared();
    Gateway gateway = spine.build(spine.builder().admission(shared));
    Cancellation cancellation = new Cancellation();
    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(ask(A).cancellation(cancellation).build()));
    Spine.await("the request", shared.asked);

    cancellation.cancel();
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(100);
    caller.failure(OperationCancelledException.class);
    assertEquals(1, gateway.diagnostics().abandonedTasks().size());
    shared.grant.countDown();

    Spine.until("the permit to be given back", () -> shared.closed.get() == 1);
    assertEquals(0, spine.a.count());
  }

  @Test
  @Tag("R303")
  void an_attempt_that_waits_for_a_place_all_its_time_says_nothing_of_the_targets_health()
      throws Exception {
    Shared never = new Shared();
    CircuitBreaker breaker =
        CircuitBreaker.local(CircuitPolicy.builder().failureThreshold(1).build(), spine.time);
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .circuitBreaker(breaker)
                .admission(never)
                .attemptTimeout(Duration.ofMillis(40)));
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A)));
    Spine.await("the request", never.asked);

    spine.awaitWaitOf(Duration.ofMillis(40));
    spine.advance(40);
    spine.awaitWaitOf(Spine.GRACE);
    spine.advance(100);

    AdmissionDeniedException denied = caller.failure(AdmissionDeniedException.class);
    assertEquals(
        List.of(ReasonCode.ADMISSION_DENIED),
        denied.trace().attempts().stream().map(Attempt::reasonCode).toList());
    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
    assertEquals(0, spine.a.count());
    never.grant.countDown();
    Spine.until("the permit to be given back", () -> never.closed.get() == 1);
  }

  @Test
  @Tag("R256")
  void an_attempt_whose_time_is_over_before_its_call_says_nothing_of_the_targets_health() {
    CircuitBreaker breaker =
        CircuitBreaker.local(CircuitPolicy.builder().failureThreshold(1).build(), spine.time);
    AdmissionController slow =
        new AdmissionController() {
          @Override
          public Admission tryAcquire(AdmissionRequest request) {
            spine.advance(40);
            return AdmissionController.unlimited().tryAcquire(request);
          }

          @Override
          public Admission.Decision acquire(AdmissionRequest request) {
            throw new AssertionError("nobody queues");
          }
        };
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .circuitBreaker(breaker)
                .admission(slow)
                .attemptTimeout(Duration.ofMillis(40)));

    assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A)));

    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
    assertEquals(0, spine.a.count());
  }

  @Test
  @Tag("R298")
  void a_controller_that_fails_keeps_the_call_from_its_target_only() {
    AdmissionController broken =
        request -> {
          throw new IllegalStateException("token=abcdef");
        };
    Gateway gateway = spine.build(spine.builder().admission(broken));

    var failure =
        assertThrows(AdmissionDeniedException.class, () -> gateway.generate(request(A, B)));

    assertEquals(2, failure.trace().attempts().size());
    assertTrue(
        String.valueOf(failure.getMessage()).contains("java.lang.IllegalStateException"),
        failure.getMessage());
    assertFalse(String.valueOf(failure.getMessage()).contains("abcdef"));
  }

  @Test
  @Tag("R298")
  void every_retry_and_every_step_asks_again() {
    List<String> asked = Collections.synchronizedList(new ArrayList<>());
    AdmissionController counting =
        new AdmissionController() {
          @Override
          public Admission tryAcquire(AdmissionRequest request) {
            asked.add(request.target().provider());
            return AdmissionController.unlimited().tryAcquire(request);
          }

          @Override
          public Admission.Decision acquire(AdmissionRequest request) {
            throw new AssertionError("never has to wait");
          }
        };
    spine.a.fails(status(500)).asksFor(Tools.call("1")).says("done");
    Gateway gateway = spine.build(spine.builder().admission(counting));

    gateway.generate(ask(A).tools(Tools.echo()).maxSteps(2).build());

    assertEquals(List.of("a", "a", "a"), asked);
  }

  @Test
  @Tag("R315")
  @Tag("FR-L01")
  void two_hundred_threads_get_exactly_as_many_calls_as_the_minute_allows() throws Exception {
    int threads = 200;
    Gateway gateway = gateway(AdmissionPolicy.builder(threads).requestsPerMinute(50));
    for (int i = 0; i < 50; i++) {
      spine.a.says("yes");
    }
    CyclicBarrier start = new CyclicBarrier(threads);
    List<Caller<Boolean>> callers = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      callers.add(
          Caller.start(
              () -> {
                start.await();
                try {
                  return gateway.generate(request(A)).text().equals("yes");
                } catch (AdmissionDeniedException denied) {
                  return false;
                }
              }));
    }
    int admitted = 0;
    for (Caller<Boolean> caller : callers) {
      admitted += caller.get() ? 1 : 0;
    }
    assertEquals(50, admitted);
    assertEquals(50, spine.a.count());
  }

  @Test
  @Tag("R65")
  void the_limit_of_attempts_counts_denials() {
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .maxTotalAttempts(1)
                .admission(
                    AdmissionController.local(
                        AdmissionPolicy.builder(1).tokensPerMinute(10).build(), spine.time)));

    assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(request(A, B)));
    assertEquals(0, spine.b.count());
  }
}
