package dev.warpwright.flow;

/**
 * Takes a flow's body back to its driver: the run waits, or is over for this drive. It has no stack
 * trace, and being an Error it is not caught by a {@code catch (Exception e)}; a body that catches
 * it all the same is found out at its next call.
 */
final class Unwind extends Error {
  private static final long serialVersionUID = 1L;

  /** The only one; it says nothing. */
  @SuppressWarnings("StaticAssignmentOfThrowable") // it keeps no stack and no suppressed ones
  static final Unwind NOW = new Unwind();

  private Unwind() {
    super("The flow waits. This error must not be caught.", null, false, false);
  }
}
