package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Admission;
import dev.warpwright.control.Admission.Admitted;
import dev.warpwright.control.Admission.Decision;
import dev.warpwright.control.Admission.Denied;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionLimit;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every {@link AdmissionController} must do, on real time. */
@Timeout(60)
public abstract class AdmissionControllerContract {
  /** A target. */
  private static final Target TARGET = Target.of("scripted", "model");

  /** Longer than any test takes. */
  private static final Duration LONG = Duration.ofSeconds(60);

  /** Makes a controller on which nothing is in flight and whose windows have not begun. */
  protected abstract AdmissionController open(AdmissionPolicy policy);

  /** A request of so many tokens with time to wait. */
  private static AdmissionRequest request(long tokens) {
    return request(TARGET, tokens);
  }

  private static AdmissionRequest request(Target target, long tokens) {
    return new AdmissionRequest(target, OptionalLong.of(tokens), Deadline.never());
  }

  /** Asks as the engine does: without waiting first, and then, if it must, with waiting. */
  private static Decision ask(AdmissionController controller, AdmissionRequest request)
      throws InterruptedException {
    return controller.tryAcquire(request) instanceof Decision decision
        ? decision
        : controller.acquire(request);
  }

  /** Asks for what must be admitted. */
  private static AdmissionPermit admit(AdmissionController controller, AdmissionRequest request)
      throws InterruptedException {
    return assertInstanceOf(Admitted.class, ask(controller, request)).permit();
  }

  /** Asks for what must be denied by a limit. */
  private static Denied deny(
      AdmissionController controller, AdmissionRequest request, AdmissionLimit limit)
      throws InterruptedException {
    Denied denied = assertInstanceOf(Denied.class, ask(controller, request));
    assertEquals(limit, denied.limit());
    return denied;
  }

  /** A request on a thread of its own. */
  private static final class Caller {
    private final FutureTask<Decision> task;
    private final Thread thread;

    private Caller(FutureTask<Decision> task) {
      this.task = task;
      this.thread = Thread.startVirtualThread(task);
    }

    /** Starts one and waits until it waits. */
    static Caller waiting(AdmissionController controller, AdmissionRequest request) {
      Caller caller = new Caller(new FutureTask<>(() -> ask(controller, request)));
      awaitParked(caller.thread);
      return caller;
    }

    void interrupt() {
      thread.interrupt();
    }

    AdmissionPermit admitted() throws Exception {
      return assertInstanceOf(Admitted.class, task.get()).permit();
    }

    void interrupted() throws Exception {
      var failure = assertThrows(ExecutionException.class, task::get);
      assertInstanceOf(InterruptedException.class, failure.getCause());
    }

    boolean waits() {
      awaitParked(thread);
      return thread.isAlive();
    }
  }

  private static void awaitParked(Thread thread) {
    while (thread.isAlive() && !isParked(thread)) {
      Together.letOthersRun();
    }
  }

  /** Who waits for a lock is still on the way to where it waits. */
  private static boolean isParked(Thread thread) {
    Thread.State state = thread.getState();
    return (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING)
        && !(LockSupport.getBlocker(thread) instanceof AbstractOwnableSynchronizer);
  }

  /** Nothing is held: as many as allowed are admitted, and no more. */
  private static void assertNothingHeld(AdmissionController controller, AdmissionPolicy policy)
      throws InterruptedException {
    List<AdmissionPermit> all = new ArrayList<>();
    for (int i = 0; i < policy.maxConcurrent(); i++) {
      all.add(admit(controller, request(0)));
    }
    assertFalse(controller.tryAcquire(request(0)) instanceof Admitted);
    all.forEach(AdmissionPermit::close);
  }

  @Test
  @Tag("R305")
  void as_many_calls_as_allowed_are_in_flight_and_the_next_is_told_which_limit_it_met()
      throws Exception {
    AdmissionController controller = open(AdmissionPolicy.builder(2).build());
    admit(controller, request(1));
    admit(controller, request(1));

    Denied denied = deny(controller, request(1), AdmissionLimit.MAX_CONCURRENT);

    assertEquals(TARGET, denied.target());
    assertEquals("2", denied.configured());
    assertEquals(Duration.ZERO, denied.waited());
    assertEquals(
        "scripted/model did not admit the request: as many of its calls are in flight as may be"
            + " (maxConcurrent 2), after 0 ms in the queue.",
        denied.message());
  }

  @Test
  @Tag("R304")
  void a_permit_gives_back_one_place_however_often_it_is_closed() throws Exception {
    AdmissionController controller = open(AdmissionPolicy.builder(2).build());
    AdmissionPermit first = admit(controller, request(1));
    admit(controller, request(1));

    first.close();
    first.close();
    first.close();

    AdmissionPermit third = admit(controller, request(1));
    first.close();
    deny(controller, request(1), AdmissionLimit.MAX_CONCURRENT);
    third.close();
    admit(controller, request(1));
  }

  @Test
  @Tag("R298")
  void provider_model_and_deployment_make_a_target_and_each_has_its_own_counts() throws Exception {
    AdmissionController controller =
        open(AdmissionPolicy.builder(1).requestsPerMinute(1).tokensPerMinute(10).build());
    List<Target> targets =
        List.of(
            TARGET,
            Target.of("other", "model"),
            Target.of("scripted", "other"),
            new Target("scripted", "model", Optional.of("a")),
            new Target("scripted", "model", Optional.of("b")));
    for (Target target : targets) {
      admit(controller, request(target, 10));
    }
    for (Target target : targets) {
      deny(controller, request(target, 1), AdmissionLimit.MAX_CONCURRENT);
    }
  }

  @Test
  @Tag("R300")
  @Tag("FR-L03")
  void a_refusal_by_concurrency_takes_no_request_and_no_tokens() throws Exception {
    AdmissionController controller =
        open(AdmissionPolicy.builder(1).requestsPerMinute(2).tokensPerMinute(100).build());
    AdmissionPermit first = admit(controller, request(50));
    for (int i = 0; i < 10; i++) {
      deny(controller, request(50), AdmissionLimit.MAX_CONCURRENT);
    }
    first.close();

    admit(controller, request(50)).close();
    deny(controller, request(0), AdmissionLimit.REQUESTS_PER_MINUTE);
  }

  @Test
  @Tag("R300")
  void a_refusal_by_tokens_takes_no_request_and_no_place() throws Exception {
    AdmissionController controller =
        open(AdmissionPolicy.builder(2).requestsPerMinute(3).tokensPerMinute(100).build());
    admit(controller, request(60)).close();
    for (int i = 0; i < 10; i++) {
      deny(controller, request(41), AdmissionLimit.TOKENS_PER_MINUTE);
    }

    admit(controller, request(40));
    admit(controller, request(0)).close();
    deny(controller, request(0), AdmissionLimit.REQUESTS_PER_MINUTE);
  }

  @Test
  @Tag("R306")
  @Tag("R310")
  @Tag("R315")
  void two_hundred_threads_get_exactly_fifty_requests_of_a_window() throws Exception {
    AdmissionController controller =
        open(AdmissionPolicy.builder(200).requestsPerMinute(50).build());

    List<Decision> decisions = Together.run(200, n -> ask(controller, request(1)));

    List<Admitted> admitted = admitted(decisions);
    assertEquals(50, admitted.size());
    decisions.stream()
        .filter(Denied.class::isInstance)
        .forEach(
            denied -> assertEquals(AdmissionLimit.REQUESTS_PER_MINUTE, ((Denied) denied).limit()));
    admitted.forEach(one -> one.permit().close());
    Denied denied = deny(controller, request(1), AdmissionLimit.REQUESTS_PER_MINUTE);
    assertEquals("50", denied.configured());
  }

  @Test
  @Tag("R300")
  @Tag("R307")
  @Tag("FR-L01")
  void five_at_once_never_take_more_than_the_tokens_of_a_window() throws Exception {
    AdmissionController controller = open(AdmissionPolicy.builder(5).tokensPerMinute(100).build());

    List<Decision> decisions = Together.run(5, n -> ask(controller, request(30)));

    List<Admitted> admitted = admitted(decisions);
    assertEquals(3, admitted.size());
    admitted.forEach(one -> one.permit().close());
    Denied denied = deny(controller, request(11), AdmissionLimit.TOKENS_PER_MINUTE);
    assertEquals("100", denied.configured());
    admit(controller, request(10));
  }

  private static List<Admitted> admitted(List<Decision> decisions) {
    return decisions.stream().filter(Admitted.class::isInstance).map(Admitted.class::cast).toList();
  }

  @Test
  @Tag("R308")
  void a_request_larger_than_the_limit_is_denied_without_waiting() throws Exception {
    AdmissionController controller = open(waitingPolicy(1).tokensPerMinute(100).build());

    Denied denied = deny(controller, request(101), AdmissionLimit.REQUEST_TOO_LARGE);

    assertEquals("100", denied.configured());
    assertEquals(Duration.ZERO, denied.waited());
    assertTrue(denied.message().contains("tokensPerMinute, 100"), denied.message());
    admit(controller, request(100));
  }

  @Test
  @Tag("R307")
  void a_request_that_cannot_be_estimated_is_denied_if_tokens_are_limited() throws Exception {
    AdmissionRequest unknown = new AdmissionRequest(TARGET, OptionalLong.empty(), Deadline.never());

    Denied denied =
        deny(
            open(waitingPolicy(1).tokensPerMinute(100).build()),
            unknown,
            AdmissionLimit.MAX_TOKENS_MISSING);

    assertTrue(denied.message().contains("requests with maxTokens"), denied.message());
    admit(open(waitingPolicy(1).requestsPerMinute(10).build()), unknown);
  }

  @Test
  @Tag("R309")
  void reported_tokens_replace_the_estimate_once() throws Exception {
    AdmissionController controller = open(AdmissionPolicy.builder(9).tokensPerMinute(100).build());
    AdmissionPermit permit = admit(controller, request(90));
    deny(controller, request(11), AdmissionLimit.TOKENS_PER_MINUTE);

    permit.reconcile(40);
    permit.reconcile(0);

    deny(controller, request(61), AdmissionLimit.TOKENS_PER_MINUTE);
    AdmissionPermit second = admit(controller, request(50));
    second.reconcile(120);
    deny(controller, request(0), AdmissionLimit.TOKENS_PER_MINUTE);
    assertThrows(InvalidRequestException.class, () -> second.reconcile(-1));
  }

  @Test
  @Tag("R309")
  void unknown_usage_keeps_the_estimate() throws Exception {
    AdmissionController controller = open(AdmissionPolicy.builder(9).tokensPerMinute(100).build());
    AdmissionPermit permit = admit(controller, request(90));

    permit.close();
    permit.reconcile(0);

    deny(controller, request(11), AdmissionLimit.TOKENS_PER_MINUTE);
  }

  @Test
  void a_report_of_absurd_size_blocks_the_window_and_nothing_else() throws Exception {
    AdmissionController controller = open(AdmissionPolicy.builder(9).tokensPerMinute(100).build());
    AdmissionPermit first = admit(controller, request(10));
    AdmissionPermit second = admit(controller, request(10));

    first.reconcile(Long.MAX_VALUE);
    second.reconcile(Long.MAX_VALUE);

    deny(controller, request(0), AdmissionLimit.TOKENS_PER_MINUTE);
  }

  @Test
  @Tag("R301")
  @Tag("C23")
  void waiters_are_served_in_the_order_of_their_arrival() throws Exception {
    AdmissionController controller = open(waitingPolicy(1).build());
    AdmissionPermit held = admit(controller, request(1));
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int n = 0; n < 20; n++) {
      int number = n;
      Thread thread =
          Thread.startVirtualThread(
              () -> {
                try (AdmissionPermit _ = admit(controller, request(1))) {
                  order.add(number);
                } catch (InterruptedException e) {
                  order.add(-1);
                }
              });
      awaitParked(thread);
      threads.add(thread);
    }
    assertEquals(List.of(), order);

    held.close();
    for (Thread thread : threads) {
      thread.join();
    }

    assertEquals(IntStream.range(0, 20).boxed().toList(), order);
    assertNothingHeld(controller, waitingPolicy(1).build());
  }

  @Test
  @Tag("R301")
  void a_small_request_does_not_overtake_a_large_one_that_waits() throws Exception {
    AdmissionController controller = open(waitingPolicy(9).tokensPerMinute(100).build());
    AdmissionPermit held = admit(controller, request(90));
    Caller large = Caller.waiting(controller, request(50));

    assertEquals(Admission.MUST_WAIT, controller.tryAcquire(request(1)));
    Caller small = Caller.waiting(controller, request(1));
    assertTrue(small.waits());

    held.reconcile(40);
    large.admitted();
    small.admitted();
  }

  @Test
  @Tag("R302")
  @Tag("R303")
  @Tag("FR-L05")
  @Tag("C23")
  void an_interrupted_waiter_leaves_at_once_and_consumes_nothing() throws Exception {
    AdmissionPolicy policy =
        AdmissionPolicy.builder(1)
            .requestsPerMinute(3)
            .tokensPerMinute(100)
            .maxQueue(1)
            .queueTimeout(LONG)
            .build();
    AdmissionController controller = open(policy);
    AdmissionPermit held = admit(controller, request(10));
    for (int i = 0; i < 10; i++) {
      Caller waiter = Caller.waiting(controller, request(80));
      Denied third = deny(controller, request(80), AdmissionLimit.QUEUE_FULL);
      assertEquals("1", third.configured());
      assertTrue(third.message().contains("maxQueue 1"), third.message());
      waiter.interrupt();
      waiter.interrupted();
    }
    Caller next = Caller.waiting(controller, request(80));

    held.close();

    next.admitted().close();
    admit(controller, request(10)).close();
    assertFalse(controller.tryAcquire(request(0)) instanceof Admitted); // three requests by now
  }

  @Test
  @Tag("R302")
  void who_is_interrupted_before_it_asks_takes_nothing_of_what_is_free() throws Exception {
    AdmissionController controller = open(waitingPolicy(1).requestsPerMinute(1).build());

    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> controller.acquire(request(1)));

    assertFalse(Thread.currentThread().isInterrupted());
    admit(controller, request(1));
  }

  @Test
  @Tag("R302")
  void when_the_first_leaves_the_next_is_looked_at_immediately() throws Exception {
    AdmissionController controller = open(waitingPolicy(9).tokensPerMinute(100).build());
    admit(controller, request(90));
    Caller large = Caller.waiting(controller, request(50));
    Caller small = Caller.waiting(controller, request(10));

    large.interrupt();

    large.interrupted();
    small.admitted();
  }

  @Test
  @Tag("R302")
  @Tag("R303")
  @Tag("R305")
  void who_has_waited_for_the_queue_timeout_is_denied_and_consumes_nothing() throws Exception {
    AdmissionPolicy policy =
        AdmissionPolicy.builder(1)
            .requestsPerMinute(2)
            .maxQueue(1)
            .queueTimeout(Duration.ofMillis(5))
            .build();
    AdmissionController controller = open(policy);
    AdmissionPermit held = admit(controller, request(1));
    for (int i = 0; i < 3; i++) {
      Denied denied = deny(controller, request(1), AdmissionLimit.QUEUE_TIMEOUT);
      assertEquals("PT0.005S", denied.configured());
      assertTrue(denied.waited().compareTo(policy.queueTimeout()) >= 0, denied.toString());
      assertTrue(
          denied.message().contains("(queueTimeout PT0.005S), after " + denied.waited().toMillis()),
          denied.message());
    }
    held.close();

    admit(controller, request(1)).close();
    assertFalse(controller.tryAcquire(request(1)) instanceof Admitted); // two requests by now
  }

  @Test
  @Tag("R131")
  @Tag("R303")
  void no_wait_is_longer_than_the_deadline() throws Exception {
    AdmissionController controller = open(waitingPolicy(1).build());
    admit(controller, request(1));
    Deadline soon = Deadline.after(TimeSource.system(), Duration.ofMillis(5));
    Deadline passed = Deadline.after(TimeSource.system(), Duration.ZERO);

    for (Deadline deadline : List.of(soon, passed)) {
      AdmissionRequest request = new AdmissionRequest(TARGET, OptionalLong.of(1), deadline);
      Denied denied = assertInstanceOf(Denied.class, controller.acquire(request));
      assertEquals(AdmissionLimit.DEADLINE, denied.limit());
      assertTrue(deadline.hasPassed());
    }
  }

  @Test
  @Tag("R303")
  void who_may_not_wait_at_all_is_denied() throws Exception {
    AdmissionController controller =
        open(AdmissionPolicy.builder(1).maxQueue(1).queueTimeout(Duration.ZERO).build());
    AdmissionPermit held = admit(controller, request(1));
    deny(controller, request(1), AdmissionLimit.QUEUE_TIMEOUT);
    held.close();
    admit(controller, request(1));
  }

  @Test
  @Tag("R303")
  void the_queue_is_one_for_all_targets() throws Exception {
    AdmissionController controller =
        open(AdmissionPolicy.builder(1).maxQueue(2).queueTimeout(LONG).build());
    Target other = Target.of("other", "model");
    AdmissionPermit held = admit(controller, request(TARGET, 1));
    AdmissionPermit otherHeld = admit(controller, request(other, 1));
    Caller first = Caller.waiting(controller, request(TARGET, 1));
    Caller second = Caller.waiting(controller, request(other, 1));

    deny(controller, request(TARGET, 1), AdmissionLimit.QUEUE_FULL);
    deny(controller, request(other, 1), AdmissionLimit.QUEUE_FULL);

    otherHeld.close();
    second.admitted();
    Caller third = Caller.waiting(controller, request(TARGET, 1));
    held.close();
    first.admitted().close();
    third.admitted().close();
  }

  @Test
  @Tag("R311")
  void an_open_window_keeps_its_place_in_a_full_table() throws Exception {
    AdmissionController controller =
        open(waitingPolicy(1).requestsPerMinute(1).maxTargets(1).build());
    admit(controller, request(1)).close();

    Denied denied =
        deny(controller, request(Target.of("other", "model"), 1), AdmissionLimit.TARGET_TABLE);

    assertEquals("1", denied.configured());
    assertTrue(denied.message().contains("maxTargets 1"), denied.message());
  }

  @Test
  @Tag("R300")
  @Tag("R302")
  @Tag("R304")
  void nothing_is_lost_or_taken_twice_under_cancels_and_timeouts() throws Exception {
    AdmissionPolicy policy =
        AdmissionPolicy.builder(3)
            .requestsPerMinute(1_000_000)
            .tokensPerMinute(1_000_000_000)
            .maxQueue(150)
            .queueTimeout(LONG)
            .build();
    AdmissionController controller = open(policy);
    long seed = System.nanoTime();
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger served = new AtomicInteger();
    List<Thread> threads = Collections.synchronizedList(new ArrayList<>());

    try {
      Together.run(
          200,
          n -> {
            threads.add(Thread.currentThread());
            Random random = new Random(seed + n);
            for (int i = 0; i < 20; i++) {
              if (random.nextInt(4) == 0) { // its turn to interrupt somebody
                threads.get(random.nextInt(threads.size())).interrupt();
              }
              try {
                if (ask(controller, impatient(random)) instanceof Admitted admitted) {
                  try (AdmissionPermit permit = admitted.permit()) {
                    int now = inFlight.incrementAndGet();
                    most.accumulateAndGet(now, Math::max);
                    Together.letOthersRun();
                    if (random.nextBoolean()) {
                      permit.reconcile(random.nextInt(100));
                    }
                    served.incrementAndGet();
                    inFlight.decrementAndGet();
                  }
                }
              } catch (InterruptedException e) {
                // the next round
              }
            }
            return n;
          });
    } catch (Throwable failure) {
      throw new AssertionError("seed " + seed, failure);
    }
    assertTrue(most.get() <= 3, "in flight: " + most);
    assertTrue(served.get() > 0);
    assertEquals(0, inFlight.get());
    assertNothingHeld(controller, policy);
  }

  /** A request that waits for some milliseconds, or for as long as it takes. */
  private static AdmissionRequest impatient(Random random) {
    Deadline deadline =
        random.nextInt(4) == 0
            ? Deadline.never()
            : Deadline.after(TimeSource.system(), Duration.ofMillis(1 + random.nextInt(4)));
    return new AdmissionRequest(TARGET, OptionalLong.of(random.nextInt(100)), deadline);
  }

  /** A policy under which many may wait for long. */
  private static AdmissionPolicy.Builder waitingPolicy(int maxConcurrent) {
    return AdmissionPolicy.builder(maxConcurrent).maxQueue(1_000).queueTimeout(LONG);
  }
}
