package dev.warpwright.control;

/** What can stand between a request and its target. */
public enum AdmissionLimit {
  /** So many calls of the target are in flight already. */
  MAX_CONCURRENT("as many of its calls are in flight as may be (maxConcurrent %s)"),

  /** The requests of the target's window are used up. */
  REQUESTS_PER_MINUTE("the requests of this minute are used up (requestsPerMinute %s)"),

  /** The tokens of the target's window do not suffice any more. */
  TOKENS_PER_MINUTE("the tokens left of this minute do not suffice (tokensPerMinute %s)"),

  /** The request alone is larger than what the target may have in a window. */
  REQUEST_TOO_LARGE("its input and maxTokens alone are more than tokensPerMinute, %s"),

  /** The tokens per minute are limited, and it cannot be told how many the request needs. */
  MAX_TOKENS_MISSING("tokensPerMinute, %s, can only be kept for requests with maxTokens"),

  /** The queue holds as many requests, over all targets, as it may. */
  QUEUE_FULL("the queue is full (maxQueue %s)"),

  /** The request has waited as long as a request may. */
  QUEUE_TIMEOUT("its turn did not come in time (queueTimeout %s)"),

  /** What was left of the request's own time was over before its turn came. */
  DEADLINE("its turn did not come before its deadline (%s were left)"),

  /** The table is full of targets that are in use or whose window has not ended. */
  TARGET_TABLE("no further target can be counted now (maxTargets %s)");

  private final String reason;

  AdmissionLimit(String reason) {
    this.reason = reason;
  }

  /** Half a sentence: why a request was kept out. */
  String reason(String configured) {
    return reason.formatted(configured);
  }
}
