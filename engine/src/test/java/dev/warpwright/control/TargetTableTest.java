package dev.warpwright.control;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import dev.warpwright.model.Target;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.ThreadIdGen;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Model checking of the table that breaker and metrics share: who enters a slot while it is being
 * forgotten either keeps it or gets another, and no two users of a target have different slots.
 */
final class TargetTableTest {
  @Test
  @Tag("R247")
  @Tag("R265")
  void entering_and_forgetting_are_linearizable() {
    new ModelCheckingOptions()
        .iterations(10)
        .invocationsPerIteration(100)
        .threads(2)
        .actorsPerThread(3)
        .actorsBefore(1)
        .actorsAfter(1)
        .addGuarantee(forClasses(Target.class.getName()).allMethods().ignore())
        .check(OnePlace.class);
  }

  private static final class Slot extends TargetTable.Slot {
    final AtomicInteger uses = new AtomicInteger();

    @Override
    boolean mayBeForgotten(long nowNanos) {
      return uses.get() < 3;
    }
  }

  /** Two targets want the one place. */
  @Param(name = "thread", gen = ThreadIdGen.class)
  @Param(name = "target", gen = IntGen.class, conf = "0:1")
  public static final class OnePlace {
    private final List<Target> targets = List.of(Target.of("p", "a"), Target.of("p", "b"));
    private final TargetTable<Slot> table = new TargetTable<>(1, Slot::new);
    private final List<Deque<Slot>> held = // each thread's own
        IntStream.range(0, 4).mapToObj(i -> (Deque<Slot>) new ArrayDeque<Slot>()).toList();

    /** How often the slot has been used since it was made, or 0 if there is none. */
    @Operation
    public int enter(@Param(name = "thread") int thread, @Param(name = "target") int target) {
      Slot slot = table.enter(targets.get(target), 0);
      if (slot == null) {
        return 0;
      }
      held.get(thread).push(slot);
      return slot.uses.incrementAndGet();
    }

    @Operation
    public void leave(@Param(name = "thread") int thread) {
      Stream.ofNullable(held.get(thread).poll()).forEach(TargetTable.Slot::leave);
    }

    @Operation
    public boolean isKnown(@Param(name = "target") int target) {
      return table.find(targets.get(target)) != null;
    }
  }
}
