package dev.warpwright.control;

import dev.warpwright.contract.AdmissionControllerContract;
import org.junit.jupiter.api.Tag;

/** The controller of one process keeps the contract. */
@Tag("R314")
final class LocalAdmissionContractTest extends AdmissionControllerContract {
  @Override
  protected AdmissionController open(AdmissionPolicy policy) {
    return AdmissionController.local(policy);
  }
}
