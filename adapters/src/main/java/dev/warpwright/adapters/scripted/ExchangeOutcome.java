package dev.warpwright.adapters.scripted;

/** What a {@link ScriptedServer} decided to do with a request. */
public enum ExchangeOutcome {
  /** A rule answered, perhaps after a fault that only made it slow. */
  ANSWERED,
  /** A fault of the script took the place of the answer or broke it. */
  FAULT,
  /** No rule of the script matched: status 500. */
  NO_RULE,
  /** The request was refused as a real server would: status 400, 401, 404, 405, 411, 413 … */
  REFUSED
}
