package dev.warpwright.adapters.scripted;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Numbers the requests of one server or model and chooses their faults. Every fault counts every
 * request that its {@code when} holds for, whichever fault wins in the end, so the choice depends
 * on the order of arrival alone.
 */
final class FaultSchedule {
  private final List<FaultRule> rules;
  private final ReentrantLock lock = new ReentrantLock();
  private final long[] counted; // guarded by lock; one per rule
  private long requests; // guarded by lock

  FaultSchedule(List<FaultRule> rules) {
    this.rules = rules;
    this.counted = new long[rules.size()];
  }

  /**
   * A request's number and its fault.
   *
   * @param number from 1
   * @param fault the rule that won, if one applies
   */
  record Arrival(long number, Optional<FaultRule> fault) {}

  Arrival arrive(Conversation conversation) {
    boolean[] counts = new boolean[rules.size()];
    for (int i = 0; i < counts.length; i++) {
      Optional<When> when = rules.get(i).when();
      counts[i] = when.isEmpty() || when.get().match(conversation).isPresent();
    }
    lock.lock();
    try {
      requests++;
      int winner = -1;
      for (int i = 0; i < counts.length; i++) {
        if (counts[i] && rules.get(i).appliesTo(++counted[i]) && winner < 0) {
          winner = i;
        }
      }
      return new Arrival(requests, winner < 0 ? Optional.empty() : Optional.of(rules.get(winner)));
    } finally {
      lock.unlock();
    }
  }
}
