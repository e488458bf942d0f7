package dev.warpwright.model;

import java.util.AbstractList;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * An unmodifiable list whose size is known and whose elements are worked out when one of them is
 * first read. Two threads that read at once may both work them out, to the same values. Safe for
 * use by any thread.
 *
 * @param <E> the type of the elements
 */
final class LateList<E> extends AbstractList<E> implements RandomAccess {
  private final int size;
  private volatile @Nullable Supplier<List<E>> source; // null once the elements are there
  private volatile @Nullable List<E> elements;

  /**
   * A list of what the source gives.
   *
   * @param size how many that are
   * @param source works them out; pure
   */
  LateList(int size, Supplier<List<E>> source) {
    this.size = size;
    this.source = source;
  }

  /** The same list if it is such a one, which nobody can change; else a copy. */
  static <E> List<E> copyOf(List<E> list) {
    return list instanceof LateList<E> late ? late : List.copyOf(list);
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public E get(int index) {
    return elements().get(index);
  }

  private List<E> elements() {
    Supplier<List<E>> missing = source; // first: if it is gone, the elements are there
    List<E> known = elements;
    if (known == null) {
      known = List.copyOf(Objects.requireNonNull(missing, "source").get());
      elements = known;
      source = null; // lets go of what they were worked out from
    }
    return known;
  }
}
