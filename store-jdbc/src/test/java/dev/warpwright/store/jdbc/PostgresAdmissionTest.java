package dev.warpwright.store.jdbc;

import dev.warpwright.contract.AdmissionControllerContract;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** The controller on PostgreSQL keeps the contract. */
@NeedsPostgres
@Tag("R314")
final class PostgresAdmissionTest extends AdmissionControllerContract {
  private final List<JdbcAdmission> controllers = new ArrayList<>();

  @Override
  protected AdmissionController open(AdmissionPolicy policy) {
    close();
    try {
      String url = PostgresServer.get().cleared();
      controllers.add(JdbcAdmission.builder(PostgresServer.source(url), policy).open());
      return controllers.getLast();
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void close() {
    controllers.forEach(JdbcAdmission::close);
    controllers.clear();
    Databases.assertNoThreadLeft();
  }
}
