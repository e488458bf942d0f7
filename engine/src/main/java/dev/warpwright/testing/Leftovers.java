package dev.warpwright.testing;

import dev.warpwright.task.TaskTree;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;

/**
 * Says what is still there of something that should be gone when a test ends. A {@link LeakCheck}
 * asks it.
 *
 * <p>A lambda is enough to have something of your own checked:
 *
 * <pre>{@code
 * leaks.watch(() -> pool.borrowed().stream().map(c -> "not given back: " + c).toList());
 * }</pre>
 */
@FunctionalInterface
public interface Leftovers {
  /**
   * What is there at this moment. Called on the test's thread, again and again while what ends by
   * itself is waited for; it must not block.
   *
   * @return lines for people; empty if nothing is left
   */
  List<String> left();

  /**
   * The live tasks of a tree, those that were left behind included.
   *
   * @param tree the tree
   * @return what says them, drawn as a tree
   */
  static Leftovers of(TaskTree tree) {
    Objects.requireNonNull(tree, "tree");
    return () -> LiveTree.draw(tree.live());
  }

  /**
   * Things of which only the number is known.
   *
   * @param what what is counted, in the plural, such as {@code open exchanges}
   * @param count says how many there are; nothing is left when it says zero
   * @return what says their number
   */
  static Leftovers count(String what, LongSupplier count) {
    Objects.requireNonNull(what, "what");
    Objects.requireNonNull(count, "count");
    return () -> {
      long left = count.getAsLong();
      return left == 0 ? List.of() : List.of(what + ": " + left);
    };
  }
}
