package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionLimit;
import dev.warpwright.control.AdmissionPermit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.model.StoreException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several controllers over one PostgreSQL, and commits of which nobody knows the fate. */
@NeedsPostgres
@Tag("R314")
final class PostgresSharedAdmissionTest extends SharedAdmissionContract {
  private final LostCommits commits = new LostCommits();

  @Override
  String database() throws SQLException {
    return PostgresServer.get().cleared();
  }

  private JdbcAdmission.Builder overLostCommits(AdmissionPolicy.Builder policy) {
    return JdbcAdmission.builder(commits.source(PostgresServer.source(url)), policy.build())
        .connections(1);
  }

  /** The rows are there, and nothing is under way. */
  private void warmUp(JdbcAdmission controller) throws InterruptedException, SQLException {
    admit(controller, 0).close();
    awaitNothingInFlight();
  }

  @Test
  void a_round_that_was_committed_without_an_answer_counts_once() throws Exception {
    JdbcAdmission controller =
        open(overLostCommits(AdmissionPolicy.builder(9).requestsPerMinute(5).tokensPerMinute(90)));
    warmUp(controller);

    commits.lose(1);
    AdmissionPermit second = admit(controller, 60);
    assertEquals(60, Databases.execute(url, "SELECT tokens FROM ww_admission"));
    commits.lose(1);
    second.reconcile(20);
    admit(controller, 70);

    assertEquals(90, Databases.execute(url, "SELECT tokens FROM ww_admission"));
    assertEquals(3, Databases.execute(url, "SELECT requests FROM ww_admission"));
  }

  @Test
  void who_is_not_told_that_it_is_admitted_holds_nothing() throws Exception {
    JdbcAdmission controller = open(overLostCommits(AdmissionPolicy.builder(1)));
    warmUp(controller);
    commits.lose(2);

    assertThrows(StoreException.class, () -> controller.acquire(request(0)));

    admit(controller, 0);
  }

  @Test
  @Tag("R302")
  @Tag("R312")
  void who_is_interrupted_while_the_database_admits_it_consumes_nothing() throws Exception {
    JdbcAdmission controller =
        open(overLostCommits(AdmissionPolicy.builder(1).requestsPerMinute(2).tokensPerMinute(10)));
    warmUp(controller);
    commits.hold();
    FutureTask<Admission.Decision> caller = new FutureTask<>(() -> controller.acquire(request(10)));
    Thread thread = Thread.startVirtualThread(caller);
    commits.awaitHeld();

    thread.interrupt();

    ExecutionException end = assertThrows(ExecutionException.class, caller::get);
    assertInstanceOf(InterruptedException.class, end.getCause());
    commits.letGo();
    admit(controller, 10).close(); // the second request, with all tokens
    deny(controller, 0, AdmissionLimit.REQUESTS_PER_MINUTE);
  }

  @Test
  void a_request_that_the_database_does_not_answer_fails_and_holds_nothing() throws Exception {
    JdbcAdmission controller =
        open(
            overLostCommits(AdmissionPolicy.builder(1).queueTimeout(Duration.ZERO))
                .timeout(Duration.ofMillis(5)));
    commits.hold();

    StoreException failure =
        assertThrows(StoreException.class, () -> controller.acquire(request(0)));

    assertEquals(
        "The database did not answer within PT0.005S (timeout) whether a request is admitted; it is"
            + " not.",
        failure.getMessage());
    commits.letGo();
    assertEquals("JDBC admission: 0 in flight", controller.toString().split(",", 2)[0]);
  }

  @Test
  void connections_that_a_pool_lost_are_replaced() throws Exception {
    JdbcAdmission controller = open(AdmissionPolicy.builder(2));
    admit(controller, 0);
    PostgresServer.terminateOthers(url);

    admit(controller, 0);

    deny(controller, 0, AdmissionLimit.MAX_CONCURRENT);
  }
}
