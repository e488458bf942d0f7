package dev.warpwright.task;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The children of a scope: written by the scope's owner alone, read by any thread without a lock.
 *
 * <p>The first child has a place of its own, so that an only child needs no array. Every other is
 * put into the next free place and its place is emptied when it is done; it is never moved within
 * an array. A full array is replaced by a new one that holds what is left. So a reader sees every
 * child that was added before it began and is not done: in the array it read, or because the
 * child's place was already there. It may miss a child that is added meanwhile; {@link TaskScope}
 * therefore looks at its cancel flag again after adding one.
 */
final class Children {
  private static final int FIRST_CAPACITY = 3; // behind the first

  private volatile @Nullable Fate<?> first; // a place of its own, as mostly there is only one child
  private volatile @Nullable AtomicReferenceArray<@Nullable Fate<?>> places;
  private int used; // owner thread only; the places from here on are empty

  /** Adds a child. Owner only; amortised constant time. */
  void add(Fate<?> child) {
    if (first == null) {
      first = child;
      return;
    }
    AtomicReferenceArray<@Nullable Fate<?>> array = places;
    if (array == null || used == array.length()) {
      array = withoutDone(array);
    }
    array.set(used++, child);
  }

  /** Takes a child out if it was the first or the last that was added. Owner only. */
  void removeLast(Fate<?> child) {
    if (child.equals(first)) {
      first = null;
      return;
    }
    AtomicReferenceArray<@Nullable Fate<?>> array = places;
    if (array != null && used > 0 && child.equals(array.get(used - 1))) {
      array.set(--used, null);
    }
  }

  /** Forgets all children, which are done. Owner only. */
  void clear() {
    first = null;
    AtomicReferenceArray<@Nullable Fate<?>> array = places;
    while (array != null && used > 0) {
      array.set(--used, null);
    }
  }

  private AtomicReferenceArray<@Nullable Fate<?>> withoutDone(
      @Nullable AtomicReferenceArray<@Nullable Fate<?>> full) {
    int running = 0;
    for (int i = 0; full != null && i < full.length(); i++) {
      Fate<?> child = full.get(i);
      running += child != null && !child.isSettled() ? 1 : 0;
    }
    var roomier =
        new AtomicReferenceArray<@Nullable Fate<?>>(Math.max(FIRST_CAPACITY, 2 * running));
    used = 0;
    for (int i = 0; full != null && i < full.length(); i++) {
      Fate<?> child = full.get(i);
      if (child != null && !child.isSettled()) { // none is started meanwhile, so there is room
        roomier.setPlain(used++, child);
      }
    }
    places = roomier;
    Fate<?> one = first;
    if (one != null && one.isSettled()) {
      first = null;
    }
    return roomier;
  }

  /** Visits the children, those that are done perhaps among them. Any thread. */
  void forEach(Consumer<? super Fate<?>> action) {
    Fate<?> one = first;
    if (one != null) {
      action.accept(one);
    }
    AtomicReferenceArray<@Nullable Fate<?>> array = places;
    if (array == null) {
      return;
    }
    for (int i = 0; i < array.length(); i++) {
      Fate<?> child = array.get(i);
      if (child != null) {
        action.accept(child);
      }
    }
  }

  /** Enforces the deadlines of the children; returns the next one due. Owner only. */
  Deadline enforceDeadlines() {
    AtomicReferenceArray<@Nullable Fate<?>> array = places;
    Fate<?> one = first;
    Deadline next = one == null ? Deadline.never() : one.enforce();
    for (int i = 0; array != null && i < used; i++) {
      Fate<?> child = array.get(i);
      if (child != null) {
        next = next.earlier(child.enforce());
      }
    }
    return next;
  }
}
