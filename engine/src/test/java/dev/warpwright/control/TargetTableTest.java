package dev.warpwright.control;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import dev.warpwright.model.Target;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
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
 * forgotten either keeps it or gets another, and never are there more slots than places.
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
        .actorsPerThread(2)
        .actorsBefore(0)
        .actorsAfter(1)
        .addGuarantee(
            forClasses(name -> name.contains("ConcurrentHashMap") || name.endsWith(".Target"))
                .allMethods()
                .ignore())
        .check(OnePlace.class);
  }

  private static final class Slot extends TargetTable.Slot {
    volatile boolean needed; // set by a user of the slot

    @Override
    boolean mayBeForgotten(long nowNanos) {
      return !needed;
    }
  }

  /** Two targets want the one place, which one of them has and does not use at the moment. */
  @Param(name = "thread", gen = ThreadIdGen.class)
  @Param(name = "target", gen = IntGen.class, conf = "0:1")
  public static final class OnePlace {
    private final List<Target> targets = List.of(Target.of("p", "a"), Target.of("p", "b"));
    private final TargetTable<Slot> table = new TargetTable<>(1, () -> 0, Slot::new);
    private final List<Deque<Slot>> held = // each thread's own
        IntStream.range(0, 4).mapToObj(i -> (Deque<Slot>) new ArrayDeque<Slot>()).toList();

    public OnePlace() {
      enter(0, 0);
      leave(0);
    }

    @Operation
    public boolean enter(@Param(name = "thread") int thread, @Param(name = "target") int target) {
      Slot slot = table.enter(targets.get(target));
      if (slot != null) {
        held.get(thread).push(slot);
      }
      return slot != null;
    }

    /** A short use after which the slot is needed for ever. */
    @Operation
    public boolean visit(@Param(name = "target") int target) {
      Slot slot = table.enter(targets.get(target));
      if (slot != null) {
        slot.needed = true;
        slot.leave();
      }
      return slot != null;
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
