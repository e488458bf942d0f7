package dev.warpwright.control;

/** A permit of {@link LocalAdmission}, which does the work under its lock. */
final class LocalPermit implements AdmissionPermit {
  private final LocalAdmission controller;
  final Gate gate;
  final long tokens;
  final long window;
  boolean reconciled; // guarded by the controller's lock
  boolean closed; // guarded by the controller's lock

  /**
   * A permit that was taken.
   *
   * @param tokens what was taken of the tokens
   * @param window of which window they were taken
   */
  LocalPermit(LocalAdmission controller, Gate gate, long tokens, long window) {
    this.controller = controller;
    this.gate = gate;
    this.tokens = tokens;
    this.window = window;
  }

  @Override
  public void reconcile(long totalTokens) {
    controller.reconcile(this, totalTokens);
  }

  @Override
  public void close() {
    controller.release(this);
  }

  @Override
  public String toString() {
    return "admission permit";
  }
}
