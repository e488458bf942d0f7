package dev.warpwright.run;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Who watches which run: for implementers of {@link RunStore#watch}. Thread-safe; nothing is kept
 * of a run that nobody watches.
 */
public final class RunWatches {
  /** The listeners of each run, each list immutable and not empty. */
  private final Map<RunKey, List<Watcher>> watchers = new ConcurrentHashMap<>();

  /** A registration; its identity is what counts. */
  private static final class Watcher {
    final RunListener listener;

    Watcher(RunListener listener) {
      this.listener = listener;
    }
  }

  /** Nobody watches yet. */
  public RunWatches() {}

  /**
   * Registers a listener.
   *
   * @param run the run
   * @param listener see {@link RunStore#watch}
   * @return ends the registration
   */
  public RunStore.Watch add(RunKey run, RunListener listener) {
    Watcher added = new Watcher(listener);
    watchers.merge(run, List.of(added), RunWatches::joined);
    return () -> watchers.computeIfPresent(run, (key, before) -> without(before, added));
  }

  private static List<Watcher> joined(List<Watcher> before, List<Watcher> added) {
    return Stream.concat(before.stream(), added.stream()).toList();
  }

  @SuppressWarnings("ReferenceEquality") // of two equal listeners one stays
  private static @Nullable List<Watcher> without(List<Watcher> before, Watcher removed) {
    List<Watcher> left = before.stream().filter(watcher -> watcher != removed).toList();
    return left.isEmpty() ? null : left;
  }

  /**
   * Tells the run's listeners of an append that is durable, if it came from outside.
   *
   * @param append what was written
   */
  public void wrote(Append append) {
    if (!append.writer().isOwner()
        && append.events().stream().anyMatch(RunEvent.CancelRequested.class::isInstance)) {
      cancelRequested(append.run());
    }
  }

  /**
   * Tells the run's listeners that somebody asked to cancel it.
   *
   * @param run the run
   */
  public void cancelRequested(RunKey run) {
    watchers.getOrDefault(run, List.of()).forEach(watcher -> watcher.listener.cancelRequested());
  }

  /** Tells all listeners that the store has lost its runs. */
  public void lost() {
    watchers.values().forEach(each -> each.forEach(watcher -> watcher.listener.lost()));
  }
}
