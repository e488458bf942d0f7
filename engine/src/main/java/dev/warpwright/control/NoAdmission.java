package dev.warpwright.control;

/** Admits every request at once. */
enum NoAdmission implements AdmissionController {
  INSTANCE;

  private static final Admission.Admitted ADMITTED =
      new Admission.Admitted(
          new AdmissionPermit() {
            @Override
            public void reconcile(long totalTokens) {}

            @Override
            public void close() {}
          });

  @Override
  public Admission tryAcquire(AdmissionRequest request) {
    return ADMITTED;
  }

  @Override
  public Admission.Decision acquire(AdmissionRequest request) {
    return ADMITTED;
  }
}
