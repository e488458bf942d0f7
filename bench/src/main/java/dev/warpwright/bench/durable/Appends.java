package dev.warpwright.bench.durable;

import dev.warpwright.bench.load.Load;
import dev.warpwright.bench.load.Meter;
import dev.warpwright.bench.report.Question;
import dev.warpwright.model.Json;
import dev.warpwright.model.Target;
import dev.warpwright.run.Append;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The store's port alone: callers that each append to a run of their own, one event at a time. */
@Question(
    place = 17,
    value = "How near do appends come to what the database can do?",
    by = "what",
    baseline = "raw commit of events and run")
final class Appends {
  /** The outcome of a tool with a short output. */
  static final RunEvent EVENT =
      new RunEvent.ToolFinished(
          "call-123456",
          "lookup_order",
          Optional.of("0195f2a0-7c11-7e5c-9f3a-2b1f8a9d4e10/12/0"),
          true,
          Json.of(Map.of("order", "A-1044", "state", "shipped", "parcels", 2)),
          false,
          Duration.ofMillis(12));

  private Appends() {}

  /** A caller of {@link RunStore#append}. */
  static Load.Call caller(RunStore store, Meter meter, int number) {
    RunKey run = new RunKey(RunScope.DEFAULT, "append-" + number);
    Writer owner = create(store, run);
    return new Load.Call() {
      private long sequence = 1;

      @Override
      public void once() {
        Instant now = Instant.now();
        store.append(
            new Append(run, sequence, owner, now, List.of(EVENT), Standing.of(RunStatus.RUNNING)),
            Deadline.never());
        sequence++;
        meter.unit();
      }
    };
  }

  /** Creates a run. */
  static Writer create(RunStore store, RunKey run) {
    RunEvent.RunStarted started =
        new RunEvent.RunStarted(
            "bench",
            "1",
            Map.of(),
            Optional.empty(),
            List.of(),
            10,
            List.of(Target.of("none", "instant")),
            Map.of());
    return switch (store.create(new NewRun(run, Instant.now(), started), Deadline.never())) {
      case RunStore.Claim.Won(Writer owner) -> owner;
      case RunStore.Claim.Taken(RunKey taken) ->
          throw new IllegalStateException("There is a run " + taken + " already.");
    };
  }
}
