package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Admission.Admitted;
import dev.warpwright.control.Admission.Decision;
import dev.warpwright.control.Admission.Denied;
import dev.warpwright.model.Target;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the local controller does when time passes, and how little it does meanwhile. */
@Timeout(60)
final class LocalAdmissionTest {
  private static final Target TARGET = Target.of("scripted", "model");
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration TICK = Duration.ofNanos(1);

  private final ManualTime time = new ManualTime();

  @AfterEach
  void no_alarm_is_left() {
    assertEquals(0, time.pendingAlarms(), time::toString);
  }

  private LocalAdmission controller(AdmissionPolicy.Builder policy) {
    return new LocalAdmission(policy.build(), time);
  }

  private static AdmissionPolicy.Builder waitingPolicy(int maxConcurrent) {
    return AdmissionPolicy.builder(maxConcurrent).maxQueue(10_000).queueTimeout(MINUTE);
  }

  private static AdmissionRequest request(long tokens) {
    return request(TARGET, tokens);
  }

  private static AdmissionRequest request(Target target, long tokens) {
    return new AdmissionRequest(target, OptionalLong.of(tokens), Deadline.never());
  }

  private static AdmissionPermit admit(LocalAdmission controller, AdmissionRequest request) {
    return assertInstanceOf(Admitted.class, controller.tryAcquire(request)).permit();
  }

  private static void deny(
      LocalAdmission controller, AdmissionRequest request, AdmissionLimit limit) {
    assertEquals(limit, assertInstanceOf(Denied.class, controller.tryAcquire(request)).limit());
  }

  /** Starts a request that waits, and comes back when it does. */
  private Waiting waiting(LocalAdmission controller, AdmissionRequest request)
      throws InterruptedException {
    int alarms = time.pendingAlarms();
    FutureTask<Decision> task = new FutureTask<>(() -> controller.acquire(request));
    Thread thread = Thread.startVirtualThread(task);
    time.awaitAlarms(alarms + 1);
    return new Waiting(task, thread);
  }

  private record Waiting(FutureTask<Decision> task, Thread thread) {
    AdmissionPermit admitted() throws Exception {
      return assertInstanceOf(Admitted.class, task.get()).permit();
    }

    Denied denied() throws Exception {
      return assertInstanceOf(Denied.class, task.get());
    }
  }

  @Test
  @Tag("R306")
  void a_window_begins_with_its_first_request_and_lasts_a_minute() {
    LocalAdmission controller = controller(AdmissionPolicy.builder(9).requestsPerMinute(2));
    time.advance(Duration.ofSeconds(30)); // nothing has begun
    admit(controller, request(1));
    time.advance(Duration.ofSeconds(50));
    admit(controller, request(1));
    time.advance(Duration.ofSeconds(10).minus(TICK));
    deny(controller, request(1), AdmissionLimit.REQUESTS_PER_MINUTE);

    time.advance(TICK.plusSeconds(5)); // over since five seconds, and none has begun
    admit(controller, request(1));
    time.advance(MINUTE.minus(TICK));
    admit(controller, request(1));
    deny(controller, request(1), AdmissionLimit.REQUESTS_PER_MINUTE);
    time.advance(TICK);
    admit(controller, request(1));
  }

  @Test
  @Tag("R306")
  void tokens_have_the_same_window() {
    LocalAdmission controller = controller(AdmissionPolicy.builder(9).tokensPerMinute(100));
    admit(controller, request(60));
    time.advance(MINUTE.minus(TICK));
    admit(controller, request(40));
    deny(controller, request(1), AdmissionLimit.TOKENS_PER_MINUTE);
    time.advance(TICK);
    admit(controller, request(100));
    deny(controller, request(1), AdmissionLimit.TOKENS_PER_MINUTE);
  }

  @Test
  @Tag("R310")
  void a_call_that_outlives_its_window_still_holds_its_place() {
    LocalAdmission controller = controller(AdmissionPolicy.builder(1).requestsPerMinute(9));
    AdmissionPermit held = admit(controller, request(1));
    time.advance(MINUTE);
    deny(controller, request(1), AdmissionLimit.MAX_CONCURRENT);
    held.close();
    admit(controller, request(1));
  }

  @Test
  @Tag("R309")
  void a_report_counts_only_in_the_window_of_its_request() {
    LocalAdmission controller = controller(AdmissionPolicy.builder(9).tokensPerMinute(100));
    AdmissionPermit earlier = admit(controller, request(90));
    time.advance(MINUTE);
    admit(controller, request(90));

    earlier.reconcile(0);
    deny(controller, request(11), AdmissionLimit.TOKENS_PER_MINUTE);

    time.advance(MINUTE);
    AdmissionPermit last = admit(controller, request(90));
    time.advance(MINUTE); // over, though no other has begun
    last.reconcile(1_000);
    admit(controller, request(100));
    deny(controller, request(1), AdmissionLimit.TOKENS_PER_MINUTE);
  }

  @Test
  @Tag("R301")
  void the_turn_of_the_window_wakes_as_many_as_it_has_room_for() throws Exception {
    LocalAdmission controller = controller(waitingPolicy(9).requestsPerMinute(2));
    admit(controller, request(1));
    time.advance(TICK);
    admit(controller, request(1));
    List<Waiting> waiting = new ArrayList<>();
    for (int n = 0; n < 3; n++) {
      waiting.add(waiting(controller, request(1)));
    }

    time.advance(MINUTE.minus(TICK)); // the window ends before anybody's patience

    waiting.get(0).admitted();
    waiting.get(1).admitted();
    assertTrue(controller.toString().contains("4 in flight, 1 waiting"), controller::toString);
    settle(controller, List.of(waiting.get(2).thread())); // it has looked, too
    time.advance(TICK);
    assertEquals(AdmissionLimit.QUEUE_TIMEOUT, waiting.get(2).denied().limit());
    assertEquals(MINUTE, waiting.get(2).denied().waited());
  }

  @Test
  @Tag("R301")
  void a_release_wakes_the_first_at_once_without_time_passing() throws Exception {
    LocalAdmission controller = controller(waitingPolicy(1));
    AdmissionPermit held = admit(controller, request(1));
    Waiting first = waiting(controller, request(1));
    Waiting second = waiting(controller, request(1));

    held.close();

    first.admitted().close();
    second.admitted().close();
  }

  @Test
  @Tag("R302")
  void the_window_is_watched_by_whoever_is_first() throws Exception {
    LocalAdmission controller = controller(waitingPolicy(9).requestsPerMinute(1));
    admit(controller, request(1));
    time.advance(TICK);
    Waiting first = waiting(controller, request(1));
    Waiting second = waiting(controller, request(1));

    first.thread().interrupt();
    first.thread().join();
    settle(controller, List.of(second.thread()));
    time.advance(MINUTE.minus(TICK));

    second.admitted();
  }

  @Test
  @Tag("R131")
  @Tag("R303")
  void the_shorter_of_deadline_and_queue_timeout_ends_the_wait() throws Exception {
    LocalAdmission controller = controller(waitingPolicy(1));
    admit(controller, request(1));
    for (int seconds : new int[] {10, 59, 60, 61}) {
      Deadline deadline = Deadline.after(time, Duration.ofSeconds(seconds));
      Waiting waiting =
          waiting(controller, new AdmissionRequest(TARGET, OptionalLong.of(1), deadline));

      time.advance(MINUTE);

      Denied denied = waiting.denied();
      boolean own = seconds < 60;
      assertEquals(own ? AdmissionLimit.DEADLINE : AdmissionLimit.QUEUE_TIMEOUT, denied.limit());
      assertEquals(Duration.ofSeconds(own ? seconds : 60).toString(), denied.configured());
    }
  }

  @Test
  @Tag("R302")
  void a_permit_is_not_taken_by_who_has_waited_too_long_at_that_moment() throws Exception {
    LocalAdmission controller = controller(waitingPolicy(9).requestsPerMinute(1));
    admit(controller, request(1));
    Waiting waiting = waiting(controller, request(1));

    time.advance(MINUTE); // the turn of the window and the end of its patience

    assertEquals(AdmissionLimit.QUEUE_TIMEOUT, waiting.denied().limit());
    admit(controller, request(1));
  }

  @Test
  @Tag("R299")
  @Tag("R311")
  void an_idle_target_makes_room_in_the_table_when_its_window_has_ended() {
    LocalAdmission controller =
        controller(AdmissionPolicy.builder(2).requestsPerMinute(1).maxTargets(2));
    Target a = Target.of("scripted", "a");
    Target b = Target.of("scripted", "b");
    Target c = Target.of("scripted", "c");
    admit(controller, request(a, 1)).close();
    time.advance(Duration.ofSeconds(30));
    AdmissionPermit held = admit(controller, request(b, 1));
    time.advance(Duration.ofSeconds(30).minus(TICK));
    for (int i = 0; i < 10; i++) {
      deny(controller, request(c, 1), AdmissionLimit.TARGET_TABLE);
      deny(controller, request(a, 1), AdmissionLimit.REQUESTS_PER_MINUTE);
    }

    time.advance(TICK);
    AdmissionPermit heldC = admit(controller, request(c, 1));
    deny(controller, request(a, 1), AdmissionLimit.TARGET_TABLE);

    time.advance(MINUTE.multipliedBy(10)); // all windows are over, but both are in use
    deny(controller, request(a, 1), AdmissionLimit.TARGET_TABLE);
    held.close();
    admit(controller, request(a, 1)).close();
    deny(controller, request(b, 1), AdmissionLimit.TARGET_TABLE); // a's window is open, c in use
    heldC.close();
    admit(controller, request(b, 1));
  }

  @Test
  @Tag("R311")
  void without_limits_per_minute_every_idle_target_makes_room() {
    LocalAdmission controller = controller(AdmissionPolicy.builder(1).maxTargets(2));
    for (int i = 0; i < 100; i++) {
      AdmissionPermit one = admit(controller, request(Target.of("scripted", "one" + i), 1));
      AdmissionPermit two = admit(controller, request(Target.of("scripted", "two" + i), 1));
      deny(controller, request(1), AdmissionLimit.TARGET_TABLE);
      one.close();
      admit(controller, request(1)).close();
      two.close();
    }
  }

  @Test
  @Tag("R311")
  void a_target_for_which_somebody_waits_stays_in_the_table() throws Exception {
    LocalAdmission controller = controller(waitingPolicy(1).requestsPerMinute(1).maxTargets(1));
    admit(controller, request(1)).close();
    Waiting waiting = waiting(controller, request(1));
    time.advance(Duration.ofSeconds(59));
    deny(controller, request(Target.of("other", "model"), 1), AdmissionLimit.TARGET_TABLE);
    waiting.thread().interrupt();
    waiting.thread().join();
    time.advance(Duration.ofSeconds(1));
    admit(controller, request(Target.of("other", "model"), 1));
  }

  @Test
  @Tag("R301")
  @Tag("R303")
  void ten_thousand_waiters_are_served_in_order_and_look_a_few_times_each() throws Exception {
    int count = 10_000;
    LocalAdmission controller = controller(waitingPolicy(1));
    AdmissionPermit held = admit(controller, request(1));
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<Thread> threads = new ArrayList<>();
    for (int n = 0; n < count; n++) {
      int number = n;
      threads.add(
          Thread.startVirtualThread(
              () -> {
                try (AdmissionPermit _ = ((Admitted) controller.acquire(request(1))).permit()) {
                  order.add(number);
                } catch (InterruptedException e) {
                  order.add(-1);
                }
              }));
      time.awaitAlarms(n + 1);
    }
    assertEquals(count, controller.looks()); // each once, when it came
    deny(controller, request(1), AdmissionLimit.QUEUE_FULL);
    time.advance(MINUTE.minus(TICK)); // nobody looks because time passes
    settle(controller, threads);
    assertEquals(count, controller.looks());

    held.close();
    for (Thread thread : threads) {
      thread.join();
    }

    assertEquals(IntStream.range(0, count).boxed().toList(), order);
    assertEquals(2L * count, controller.looks()); // and once when its turn had come
  }

  @Test
  @Tag("R301")
  void waiters_for_windows_look_a_few_times_each_however_many_they_are() throws Exception {
    int count = 10_000;
    int perWindow = 500;
    LocalAdmission controller = controller(waitingPolicy(count).requestsPerMinute(perWindow));
    for (int n = 0; n < perWindow; n++) {
      admit(controller, request(1)).close();
    }
    time.advance(TICK);
    List<Thread> threads = new ArrayList<>();
    List<Decision> decisions = Collections.synchronizedList(new ArrayList<>());
    for (int n = 0; n < count; n++) {
      threads.add(
          Thread.startVirtualThread(
              () -> {
                try {
                  decisions.add(controller.acquire(request(1)));
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
              }));
      time.awaitAlarms(n + 1);
    }

    time.advance(MINUTE.minus(TICK));
    int looks = count + perWindow + 1; // the first that must wait on: its alarm
    awaitLooks(controller, looks);
    settle(controller, threads);

    assertEquals(perWindow, decisions.size());
    assertEquals(looks, controller.looks());
    time.advance(TICK);
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(count, decisions.size());
    assertTrue(controller.looks() <= 4L * count, () -> "looks: " + controller.looks());
  }

  /** Waits until so many have looked, or for long enough that the assertion says how many did. */
  private static void awaitLooks(LocalAdmission controller, long looks) {
    long start = System.nanoTime();
    while (controller.looks() < looks && System.nanoTime() - start < 10_000_000_000L) {
      Thread.onSpinWait();
    }
  }

  /**
   * Comes back when nobody has anything to do: many times in a row all threads wait and nobody has
   * looked meanwhile. (Once would not do: whom the last one woke was perhaps looked at before.) It
   * asks for the looks only if all threads wait, because that takes the lock, and who has just got
   * a lock may still look as if it waited.
   */
  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  static void settle(LocalAdmission controller, List<Thread> threads) {
    long looks = -1;
    int quiet = 0;
    while (quiet < 20) {
      if (threads.stream().allMatch(LocalAdmissionTest::isIdle)) {
        long now = controller.looks();
        quiet = now == looks ? quiet + 1 : 0;
        looks = now;
      } else {
        quiet = 0;
      }
      Thread.yield();
    }
  }

  private static boolean isIdle(Thread thread) {
    return switch (thread.getState()) {
      case WAITING, TERMINATED -> true;
      default -> false;
    };
  }
}
