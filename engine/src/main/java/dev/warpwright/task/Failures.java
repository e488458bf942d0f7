package dev.warpwright.task;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * What the tasks of a scope failed with since its last join, in the order in which they did. Added
 * to by the tasks, read and emptied by the owner.
 */
final class Failures {
  /** So many are kept with the first one: it may be a constant that is thrown for ever. */
  static final int MAX_SUPPRESSED = 64;

  private record Failed(String name, Throwable cause, @Nullable Failed before) {}

  private final AtomicReference<@Nullable Failed> last = new AtomicReference<>();

  /** Adds the failure of a task. Any thread. */
  void add(String name, Throwable cause) {
    Failed before;
    do {
      before = last.get();
    } while (!last.compareAndSet(before, new Failed(name, cause, before)));
  }

  boolean isEmpty() {
    return last.get() == null;
  }

  /** The name of the task that failed first. */
  Optional<String> firstName() {
    Failed failed = last.get();
    while (failed != null && failed.before != null) {
      failed = failed.before;
    }
    return Optional.ofNullable(failed).map(Failed::name);
  }

  /** Forgets all. */
  void clear() {
    last.set(null);
  }

  /**
   * Takes all out: the first one, with the later ones suppressed in it. Nothing is suppressed in
   * itself, twice, or in a throwable without a stack trace, which is probably a constant.
   */
  Optional<Throwable> take() {
    List<Throwable> causes = new ArrayList<>();
    for (Failed failed = last.getAndSet(null); failed != null; failed = failed.before) {
      causes.addFirst(failed.cause);
    }
    if (causes.isEmpty()) {
      return Optional.empty();
    }
    Throwable first = causes.getFirst();
    if (first.getStackTrace().length > 0) {
      Set<Throwable> known = Collections.newSetFromMap(new IdentityHashMap<>());
      known.add(first);
      Collections.addAll(known, first.getSuppressed());
      for (Throwable later : causes) {
        if (known.size() <= MAX_SUPPRESSED && known.add(later)) {
          first.addSuppressed(later);
        }
      }
    }
    return Optional.of(first);
  }
}
