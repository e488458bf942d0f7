package dev.warpwright.adapters.scripted;

import java.util.Optional;

/**
 * A fault and the requests that it applies to.
 *
 * @param place where it stands, such as {@code faults[0]}
 * @param when which requests count; all of them without it
 * @param every the step
 * @param from the first counted request that it applies to, from 1
 * @param times how often it applies at most
 * @param fault what goes wrong
 */
record FaultRule(
    String place, Optional<When> when, long every, long from, long times, Fault fault) {
  /** Whether it applies to the n-th request that counts, n from 1. */
  boolean appliesTo(long n) {
    return n >= from && (n - from) % every == 0 && (n - from) / every < times;
  }
}
