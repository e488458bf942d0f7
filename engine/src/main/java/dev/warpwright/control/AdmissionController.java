package dev.warpwright.control;

import dev.warpwright.task.TimeSource;

/**
 * Decides when a call may go to its target: the port between the engine and a limiter.
 *
 * <p>A target has a limit of concurrent calls and, if set, limits of requests and of tokens per
 * minute. A permit takes from all of them together; a refusal takes from none.
 *
 * <p>The engine calls {@link #tryAcquire} first, on the operation's own thread. If that says {@link
 * Admission.MustWait}, it calls {@link #acquire} in a task of its own, on a virtual thread whose
 * interrupt means that the caller does not want the permit any more. It closes each permit exactly
 * where the call ends, also one that arrives after the caller has gone; nothing is dispatched then.
 *
 * <p>The upstream limits remain the final boundary: a provider may go on with a call that was cut
 * off here and whose permit was therefore given back.
 *
 * <p>Implementations are thread-safe. {@link #local} limits one process. An implementation over a
 * shared backend must reserve atomically, honour interrupts, and let the permits of a process that
 * died expire.
 */
public interface AdmissionController {

  /**
   * Admits a request if it need not wait. Never blocks, and never overtakes a request that waits
   * for the same target.
   *
   * @param request what is to be admitted
   * @return a permit, a denial, or that only {@link #acquire} can tell; a backend that must be
   *     asked over the network always says the latter, which is the default
   */
  default Admission tryAcquire(AdmissionRequest request) {
    return Admission.MUST_WAIT;
  }

  /**
   * Admits a request, waiting for its turn if necessary. The requests of a target are served
   * strictly in the order in which they came here. No wait is longer than what remains of the
   * request's deadline.
   *
   * @param request what is to be admitted
   * @return a permit or a denial
   * @throws InterruptedException if the thread is interrupted before or while it waits; the flag is
   *     then cleared, nothing is held, and the next request in the queue is looked at immediately
   */
  Admission.Decision acquire(AdmissionRequest request) throws InterruptedException;

  /**
   * A controller that admits everything at once.
   *
   * @return the one instance
   */
  static AdmissionController unlimited() {
    return NoAdmission.INSTANCE;
  }

  /**
   * A controller for this process.
   *
   * @param policy the limits, of each target separately
   * @return a controller on which nothing is in flight
   */
  static AdmissionController local(AdmissionPolicy policy) {
    return local(policy, TimeSource.system());
  }

  /**
   * A controller for this process, on the given time.
   *
   * @param policy the limits, of each target separately
   * @param time the clock of the windows and of the queue
   * @return a controller on which nothing is in flight
   */
  static AdmissionController local(AdmissionPolicy policy, TimeSource time) {
    return new LocalAdmission(policy, time);
  }
}
