package dev.warpwright.store.jdbc;

import dev.warpwright.contract.AdmissionControllerContract;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** The controller on H2 in a file keeps the contract. */
@Tag("R314")
final class JdbcAdmissionInFileTest extends AdmissionControllerContract {
  @TempDir private Path folder;
  private final List<JdbcAdmission> controllers = new ArrayList<>();

  @Override
  protected AdmissionController open(AdmissionPolicy policy) {
    JdbcAdmission controller =
        JdbcAdmission.builder(Databases.inFile(folder.resolve("" + controllers.size())), policy)
            .open();
    controllers.add(controller);
    return controller;
  }

  @AfterEach
  void close() {
    controllers.forEach(JdbcAdmission::close);
    Databases.assertNoThreadLeft();
  }
}
