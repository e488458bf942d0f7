package dev.warpwright;

import dev.warpwright.task.TaskInfo;
import java.util.List;

/**
 * What a gateway has under way, at one moment.
 *
 * @param liveTasks the running tasks with their names, deadlines and places in the tree
 * @param abandonedTasks tasks that ignored their interrupt and were left behind; each is listed
 *     until it ends
 * @param affinityEntries how many conversations the gateway remembers the target of
 * @param pendingObservers how many observer calls have not ended yet
 * @param droppedObservers how many observer calls found their queue full, so far
 * @param observerFailures how many observer calls have failed or run out of their time, so far
 * @param pendingSettlements how many settlements of reservations have not ended yet
 * @param settlementFailures how many settlements have failed or run out of their time, so far; with
 *     the first, nothing is set aside any more
 * @param inFlightCacheKeys how many calls are shared, or could be, at the moment
 * @param pendingCacheWrites how many answers are on their way into the cache
 * @param droppedCacheWrites how many answers were not kept because too many were on their way
 * @param cacheFailures how many look-ups and writes have failed or run out of their time, so far;
 *     each was treated as a miss
 */
public record Diagnostics(
    List<TaskInfo> liveTasks,
    List<TaskInfo> abandonedTasks,
    int affinityEntries,
    int pendingObservers,
    long droppedObservers,
    long observerFailures,
    int pendingSettlements,
    long settlementFailures,
    int inFlightCacheKeys,
    int pendingCacheWrites,
    long droppedCacheWrites,
    long cacheFailures) {
  /** Copies the lists. */
  public Diagnostics {
    liveTasks = List.copyOf(liveTasks);
    abandonedTasks = List.copyOf(abandonedTasks);
  }
}
