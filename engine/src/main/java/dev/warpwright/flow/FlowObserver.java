package dev.warpwright.flow;

/**
 * Is told what runs of flows do, for metrics, traces and logs.
 *
 * <p>Best effort: nobody waits for it. What one drive of a run tells comes in order, each on a
 * virtual thread of its own that is interrupted after a second; different runs may tell at the same
 * time. While 256 calls of a drive wait, what comes is dropped, but for {@link
 * FlowTelemetry.FlowFinish}. What it throws changes nothing.
 */
@FunctionalInterface
public interface FlowObserver {
  /**
   * Something happened.
   *
   * @param telemetry what; holds no input, value or secret
   */
  void onTelemetry(FlowTelemetry telemetry);
}
