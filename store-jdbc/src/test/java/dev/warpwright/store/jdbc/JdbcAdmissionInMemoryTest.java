package dev.warpwright.store.jdbc;

import dev.warpwright.contract.AdmissionControllerContract;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;

/** The controller on H2 in memory keeps the contract. */
@Tag("R314")
final class JdbcAdmissionInMemoryTest extends AdmissionControllerContract {
  private final List<JdbcAdmission> controllers = new ArrayList<>();

  @Override
  protected AdmissionController open(AdmissionPolicy policy) {
    JdbcAdmission controller = JdbcAdmission.builder(Databases.inMemory(), policy).open();
    controllers.add(controller);
    return controller;
  }

  @AfterEach
  void close() {
    controllers.forEach(JdbcAdmission::close);
    Databases.assertNoThreadLeft();
  }
}
