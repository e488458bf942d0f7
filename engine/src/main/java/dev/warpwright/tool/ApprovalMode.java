package dev.warpwright.tool;

/** Who decides on the calls of a tool that require an approval, in a run that can wait. */
public enum ApprovalMode {
  /** A person: the run waits for a decision. */
  INTERRUPT,
  /** The agent's approval policy, which may ask a person; without one such a call is denied. */
  POLICY
}
