package dev.warpwright;

import java.util.ArrayList;
import java.util.List;

/** Immutable lists of few elements, mostly one: what is read from one is never copied. */
final class Appended {
  private Appended() {}

  /** A list and one element more, in time linear in its size. */
  static <E> List<E> to(List<E> list, E next) {
    if (list.isEmpty()) {
      return List.of(next);
    }
    List<E> longer = new ArrayList<>(list.size() + 1);
    longer.addAll(list);
    longer.add(next);
    return List.copyOf(longer);
  }
}
