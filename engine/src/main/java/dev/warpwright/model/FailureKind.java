package dev.warpwright.model;

/**
 * The stable name of a way to fail, shared by exceptions, run logs and reports.
 *
 * <p>The names are part of the durable log: a constant is never renamed.
 */
public enum FailureKind {
  /** A request or value breaks a stated rule. */
  INVALID_REQUEST,
  /** The message history breaks a rule; the message is fixed and holds no content. */
  INVALID_HISTORY,
  /** A tenant scope, key or part of one breaks a rule. */
  INVALID_SCOPE,
  /** A builder was given a value out of its bounds. */
  INVALID_CONFIGURATION,
  /** No candidate passed the checks before a dispatch. */
  NO_ELIGIBLE_TARGET,
  /** Every target was tried and failed. */
  TARGETS_EXHAUSTED,
  /** The operation's limit of provider attempts was reached. */
  TOTAL_ATTEMPTS,
  /** A tool that the provider runs itself failed, and must not be run again. */
  PROVIDER_TOOL,
  /** Nothing was left but targets whose circuits are open. */
  CIRCUIT_OPEN,
  /** Nothing was left but targets that had no place for the call. */
  ADMISSION_DENIED,
  /** The money for a call could not be set aside. */
  BUDGET_DENIED,
  /** The operation's deadline passed. */
  DEADLINE,
  /** The caller cancelled or was interrupted. */
  CANCELLED,
  /** A stream failed after it had shown output. */
  STREAM_BROKEN,
  /** A stream that had shown output gave no sign of life for its idle timeout. */
  STREAM_IDLE,
  /** The output is no JSON. */
  OUTPUT_PARSE,
  /** The output or a tool's input does not match its schema. */
  OUTPUT_SCHEMA,
  /** The model refused, or its answer was filtered. */
  OUTPUT_REFUSAL,
  /** The output was cut off. */
  OUTPUT_TRUNCATION,
  /** A concurrent writer, another binding, or a reused key won. */
  CONFLICT,
  /** A tool that must not be repeated may or may not have acted. */
  UNKNOWN_OUTCOME,
  /** A declared bound (steps, tool errors, bytes) was passed. */
  LIMIT,
  /** A guardrail triggered. */
  GUARDRAIL,
  /** A tool failed and the request asked to stop at the first failure. */
  TOOL_FAILED,
  /** The code of a flow does something else than its log says. */
  NON_DETERMINISM,
  /** The store of runs failed or did not answer in time. */
  STORE,
  /** The run has not ended: it waits for somebody, or is being driven elsewhere. */
  UNFINISHED,
  /** A failure that no other kind describes, such as an exception of the program's own code. */
  INTERNAL
}
