package dev.warpwright.store.jdbc;

import dev.warpwright.run.Append;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs whose events after the first are those of {@link CrashWriter#event}, two an append. */
final class Appends {
  private Appends() {}

  /** Creates a run under its own id as key; the owner, or null if another one has it. */
  static @Nullable Writer create(RunStore store, RunKey run) {
    RunEvent.RunStarted started =
        new RunEvent.RunStarted(
            "a", "1", Map.of(), Optional.of(run.runId()), List.of(), 1, List.of(), Map.of());
    Claim claim = store.create(new NewRun(run, Instant.now(), started), Acknowledged.soon());
    return claim instanceof Claim.Won won
        ? won.owner()
        : store.acquire(run, Acknowledged.soon()).orElse(null);
  }

  static void two(RunStore store, RunKey run, long head, Writer owner) {
    store.append(
        new Append(
            run,
            head,
            owner,
            Instant.now(),
            List.of(CrashWriter.event(head + 1), CrashWriter.event(head + 2)),
            Standing.of(RunStatus.RUNNING)),
        Acknowledged.soon());
  }
}
