package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.contract.Together;
import dev.warpwright.control.Admission;
import dev.warpwright.control.Admission.Admitted;
import dev.warpwright.control.Admission.Denied;
import dev.warpwright.control.AdmissionLimit;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.ManualTime;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several controllers over one database have the limits together. */
@Timeout(120)
@Tag("R314")
abstract class SharedAdmissionContract {
  private static final Target TARGET = Target.of("scripted", "model");
  private static final Duration LONG = Duration.ofSeconds(60);

  private final List<JdbcAdmission> controllers = new ArrayList<>();

  /** The clock of the process that a test lets die: it stands still, so no lease is renewed. */
  private final ManualTime frozen = new ManualTime();

  String url;

  /** The URL of an empty database. */
  abstract String database() throws SQLException;

  @BeforeEach
  void make() throws SQLException {
    url = database();
  }

  @AfterEach
  void close() {
    controllers.forEach(JdbcAdmission::close);
    Databases.assertNoThreadLeft();
  }

  JdbcAdmission open(JdbcAdmission.Builder builder) {
    JdbcAdmission controller = builder.open();
    controllers.add(controller);
    return controller;
  }

  JdbcAdmission open(AdmissionPolicy.Builder policy) {
    return open(Databases.admission(url, policy.build()));
  }

  private JdbcAdmission dying(AdmissionPolicy.Builder policy) {
    return open(Databases.admission(url, policy.build()).timeSource(frozen));
  }

  private void endLeases() throws SQLException {
    Databases.execute(url, "UPDATE ww_admission_lease SET until_millis = 1");
  }

  /** Lets the minute of every window pass. */
  private void endWindows() throws SQLException {
    Databases.execute(url, "UPDATE ww_admission SET start_millis = start_millis - 60000");
  }

  static AdmissionRequest request(long tokens) {
    return new AdmissionRequest(TARGET, OptionalLong.of(tokens), Deadline.never());
  }

  static AdmissionPermit admit(JdbcAdmission controller, long tokens) throws InterruptedException {
    return assertInstanceOf(Admitted.class, controller.acquire(request(tokens))).permit();
  }

  static void deny(JdbcAdmission controller, long tokens, AdmissionLimit limit)
      throws InterruptedException {
    assertEquals(
        limit, assertInstanceOf(Denied.class, controller.acquire(request(tokens))).limit());
  }

  private static FutureTask<AdmissionPermit> start(JdbcAdmission controller, long tokens) {
    FutureTask<AdmissionPermit> caller = new FutureTask<>(() -> admit(controller, tokens));
    Thread.startVirtualThread(caller);
    return caller;
  }

  static void awaitWaiting(JdbcAdmission controller, int waiting) {
    while (!controller.toString().contains(" " + waiting + " waiting")) {
      Together.letOthersRun();
    }
  }

  @Test
  @Tag("R300")
  @Tag("R309")
  void calls_requests_and_tokens_count_in_all_controllers() throws Exception {
    AdmissionPolicy.Builder policy =
        AdmissionPolicy.builder(2).requestsPerMinute(3).tokensPerMinute(100);
    JdbcAdmission one = open(policy);
    JdbcAdmission other = open(policy);
    AdmissionPermit first = admit(one, 50);
    deny(other, 51, AdmissionLimit.TOKENS_PER_MINUTE);
    AdmissionPermit second = admit(other, 50);
    deny(one, 0, AdmissionLimit.MAX_CONCURRENT);

    first.reconcile(10);
    first.close();
    admit(one, 40).close(); // its round tells of all three
    second.close();

    deny(one, 0, AdmissionLimit.REQUESTS_PER_MINUTE);
    endWindows();
    admit(other, 100);
  }

  @Test
  @Tag("R304")
  void two_controllers_with_sixteen_threads_each_never_have_more_in_flight_than_allowed()
      throws Exception {
    AdmissionPolicy policy =
        AdmissionPolicy.builder(3)
            .tokensPerMinute(1_000_000)
            .maxQueue(100)
            .queueTimeout(LONG)
            .build();
    List<JdbcAdmission> two =
        List.of(
            open(Databases.admission(url, policy).poll(Duration.ofMillis(5))),
            open(Databases.admission(url, policy).poll(Duration.ofMillis(5))));
    long seed = System.nanoTime();
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();

    try {
      Together.run(
          32,
          n -> {
            Random random = new Random(seed + n);
            for (int i = 0; i < 5; i++) {
              try (AdmissionPermit permit = admit(two.get(n % 2), random.nextInt(100))) {
                most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
                Together.letOthersRun();
                permit.reconcile(1);
                inFlight.decrementAndGet();
              }
            }
            return n;
          });
    } catch (Throwable failure) {
      throw new AssertionError("seed " + seed, failure);
    }

    assertTrue(most.get() <= 3, "in flight: " + most);
    for (JdbcAdmission each : two) { // each tells of the last that it did
      admit(each, 0).close();
      admit(each, 0).close();
    }
    assertEquals(164, Databases.execute(url, "SELECT requests FROM ww_admission"), "the requests");
    assertEquals(160, Databases.execute(url, "SELECT tokens FROM ww_admission"), "the tokens");
  }

  @Test
  @Tag("R306")
  @Tag("R315")
  void two_controllers_get_exactly_the_requests_of_a_window() throws Exception {
    AdmissionPolicy.Builder policy = AdmissionPolicy.builder(100).requestsPerMinute(20);
    List<JdbcAdmission> two = List.of(open(policy), open(policy));

    List<Admission.Decision> decisions = Together.run(64, n -> two.get(n % 2).acquire(request(1)));

    assertEquals(20, decisions.stream().filter(Admitted.class::isInstance).count());
  }

  @Test
  void a_place_that_another_process_gives_back_is_found_by_looking_again() throws Exception {
    AdmissionPolicy.Builder policy = AdmissionPolicy.builder(1).maxQueue(10).queueTimeout(LONG);
    JdbcAdmission one = open(policy);
    JdbcAdmission other = open(policy);
    AdmissionPermit held = admit(one, 0);
    FutureTask<AdmissionPermit> waiter = start(other, 0);
    awaitWaiting(other, 1);

    held.close();

    waiter.get().close();
    admit(one, 0);
  }

  @Test
  @Tag("R306")
  void who_waits_for_a_window_is_let_in_when_it_has_ended() throws Exception {
    JdbcAdmission controller =
        open(AdmissionPolicy.builder(9).requestsPerMinute(1).maxQueue(10).queueTimeout(LONG));
    admit(controller, 0);
    FutureTask<AdmissionPermit> waiter = start(controller, 0);
    awaitWaiting(controller, 1);

    endWindows();

    waiter.get();
  }

  @Test
  void the_calls_of_a_process_that_died_do_not_count() throws Exception {
    AdmissionPolicy.Builder policy = AdmissionPolicy.builder(2);
    JdbcAdmission dying = dying(policy);
    admit(dying, 0);
    admit(dying, 0);
    JdbcAdmission living = open(policy);
    deny(living, 0, AdmissionLimit.MAX_CONCURRENT);

    endLeases();

    admit(living, 0);
    admit(living, 0);
    deny(living, 0, AdmissionLimit.MAX_CONCURRENT);
  }

  @Test
  void a_process_that_was_taken_for_dead_has_its_calls_again_when_it_is_back() throws Exception {
    AdmissionPolicy.Builder policy = AdmissionPolicy.builder(2);
    JdbcAdmission back = dying(policy);
    AdmissionPermit first = admit(back, 0);
    admit(back, 0);
    ManualTime time = new ManualTime();
    JdbcAdmission living =
        open(Databases.admission(url, policy.build()).timeSource(time).connections(1));
    endLeases();
    time.advance(Duration.ofSeconds(10));
    time.awaitAlarmIn(Duration.ofSeconds(10)); // it has renewed its own, and swept
    assertEquals(1, Databases.execute(url, "SELECT COUNT(*) FROM ww_admission_lease"));
    AdmissionPermit meanwhile = admit(living, 0);

    first.close(); // under a new lease

    deny(back, 0, AdmissionLimit.MAX_CONCURRENT); // one here, one there
    meanwhile.close();
    admit(living, 0);
    deny(living, 0, AdmissionLimit.MAX_CONCURRENT);
  }

  @Test
  void closing_gives_all_calls_back_and_refuses_who_waits() throws Exception {
    AdmissionPolicy.Builder policy = AdmissionPolicy.builder(1).maxQueue(10).queueTimeout(LONG);
    JdbcAdmission closing = open(policy);
    AdmissionPermit held = admit(closing, 0);
    FutureTask<AdmissionPermit> waiter = start(closing, 0);
    awaitWaiting(closing, 1);

    closing.close();

    ExecutionException end = assertThrows(ExecutionException.class, waiter::get);
    assertInstanceOf(IllegalStateException.class, end.getCause());
    assertThrows(IllegalStateException.class, () -> closing.acquire(request(0)));
    held.close();
    assertEquals(0, Databases.execute(url, "SELECT COUNT(*) FROM ww_admission_lease"));
    admit(open(policy), 0);
  }

  @Test
  @Tag("R311")
  void a_target_that_is_idle_and_has_no_window_makes_room() throws Exception {
    AdmissionPolicy.Builder policy = AdmissionPolicy.builder(1).requestsPerMinute(5).maxTargets(1);
    JdbcAdmission controller = open(policy);
    AdmissionPermit held = admit(controller, 0);
    AdmissionRequest other =
        new AdmissionRequest(Target.of("other", "model"), OptionalLong.of(0), Deadline.never());

    for (int i = 0; i < 2; i++) {
      Denied denied = assertInstanceOf(Denied.class, controller.acquire(other));
      assertEquals(AdmissionLimit.TARGET_TABLE, denied.limit());
      endWindows(); // but a call is in flight
    }
    held.close();
    awaitNothingInFlight();
    assertInstanceOf(Admitted.class, controller.acquire(other));
    deny(controller, 0, AdmissionLimit.TARGET_TABLE);
  }

  /** Places are given back in the background. */
  final void awaitNothingInFlight() throws SQLException {
    while (Databases.execute(url, "SELECT SUM(in_flight) FROM ww_admission_share") > 0) {
      Together.letOthersRun();
    }
  }

  @Test
  void settings_out_of_their_bounds_are_refused() {
    AdmissionPolicy policy = AdmissionPolicy.builder(1).build();
    assertEquals(
        "poll must be between PT0.001S and PT1H, but is PT0S.",
        assertThrows(
                InvalidRequestException.class,
                () -> Databases.admission(url, policy).poll(Duration.ZERO))
            .getMessage());
    assertThrows(
        InvalidRequestException.class,
        () -> Databases.admission(url, policy).lease(Duration.ofMillis(999)));
    assertThrows(
        InvalidRequestException.class,
        () -> Databases.admission(url, policy).timeout(Duration.ofHours(2)));
    assertThrows(
        InvalidRequestException.class, () -> Databases.admission(url, policy).connections(33));
  }
}
