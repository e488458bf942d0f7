package dev.warpwright.agent;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import java.util.Optional;

/**
 * Where the tools of an agent act, if that has to be made ready for a run: a sandbox, a container,
 * a check-out. Runs are bound to its fingerprint.
 *
 * <p>Implementations are thread-safe.
 */
public interface ExecutionEnvironment {
  /**
   * What runs are bound to: the same for environments in which a run may be continued, such as the
   * digest of an image. Asked once, when the agent is built.
   *
   * @return not blank, at most 256 characters
   */
  String fingerprint();

  /**
   * Makes the environment ready for a run that is about to be driven. Called once an invocation,
   * when the run is owned, before its first step or tool; as a task of the operation, on a thread
   * of its own, which is interrupted when the operation ends. What it throws fails the run
   * resumably.
   *
   * @param run the run
   * @return the environment, which is released on every way out
   * @throws Exception whatever went wrong
   */
  Handle acquire(RunKey run) throws Exception;

  /** An environment that is ready for a run. */
  interface Handle {
    /**
     * What it is. If it is not what the run is bound to, the run fails with a conflict.
     *
     * @return the fingerprint
     */
    String fingerprint();

    /**
     * Gives the environment back. Called once, when the tools have ended or were given up and
     * before anybody else may drive the run, on a thread of its own that is interrupted after 30 s.
     * What it throws is reported to the {@link HookFailurePolicy} and changes nothing.
     *
     * @param status how the invocation leaves the run; empty if nobody can say
     * @throws Exception whatever went wrong
     */
    void release(Optional<RunStatus> status) throws Exception;
  }
}
