package dev.warpwright.agent;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.tool.ApprovalMode;
import dev.warpwright.tool.ToolCaller;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Decides for the program whether tool calls may run.
 *
 * <p>Asked about each call for which nobody has decided yet and which does not go to a person by
 * itself ({@link ApprovalMode#INTERRUPT}), also about calls that require no approval, before
 * anything of the batch runs; and again on a resume about those that have not begun. What it throws
 * fails the invocation, and nothing of the batch runs. Called on a task of the operation within its
 * deadline; thread-safe, since runs share an agent.
 */
@FunctionalInterface
public interface ApprovalPolicy {
  /**
   * Decides on a call.
   *
   * @param call the call, whose input matches the schema
   * @return the verdict
   */
  Verdict judge(Subject call);

  /**
   * A policy that says yes or no.
   *
   * @param approves true to let a call run
   * @return the policy
   */
  static ApprovalPolicy of(Predicate<Subject> approves) {
    return call -> new Verdict(approves.test(call), false, Optional.empty(), Map.of());
  }

  /**
   * What is to be decided.
   *
   * @param caller the run's id, agent, metadata and context
   * @param call the call
   * @param requiresApproval whether its tool says that it requires an approval
   */
  record Subject(ToolCaller caller, ToolCall call, boolean requiresApproval) {
    /** Shows tool and run; the input may be private. */
    @Override
    public String toString() {
      return "Subject[" + call.name() + ", " + caller.operationId() + "]";
    }
  }

  /**
   * What the policy says: the call may run, a person is to be asked, or neither, so that it is
   * denied. A denial is an error result for the model and counts as one.
   *
   * @param approved whether it may run
   * @param approvalRequired whether a person is to be asked
   * @param reason why: told to the model with a denial, and to the person who is asked
   * @param metadata notes for the person who is asked
   */
  record Verdict(
      boolean approved,
      boolean approvalRequired,
      Optional<String> reason,
      Map<String, String> metadata) {
    /** Checks that it does not say both, and copies the map. */
    public Verdict {
      metadata = Map.copyOf(metadata);
      if (approved && approvalRequired) {
        throw new InvalidRequestException(
            FailureKind.INVALID_CONFIGURATION,
            "An approval policy must say either approved or approvalRequired, but says both.");
      }
    }

    /**
     * The call may run.
     *
     * @return the verdict
     */
    public static Verdict approve() {
      return new Verdict(true, false, Optional.empty(), Map.of());
    }

    /**
     * The call does not run.
     *
     * @param reason why; the model is told
     * @return the verdict
     */
    public static Verdict deny(String reason) {
      return new Verdict(false, false, Optional.of(reason), Map.of());
    }

    /**
     * A person decides.
     *
     * @param reason why; the person is told
     * @return the verdict
     */
    public static Verdict ask(String reason) {
      return new Verdict(false, true, Optional.of(reason), Map.of());
    }

    /**
     * The same verdict with notes.
     *
     * @param notes for the person who is asked
     * @return a copy
     */
    public Verdict with(Map<String, String> notes) {
      return new Verdict(approved, approvalRequired, reason, notes);
    }

    /** Shows the verdict, not why. */
    @Override
    public String toString() {
      return approved ? "Verdict[approved]" : approvalRequired ? "Verdict[ask]" : "Verdict[denied]";
    }
  }
}
