package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.RunEvent.ChildStarted;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.task.Deadline;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;

/** Runs together with the child runs below them. */
final class RunTree {
  private RunTree() {}

  /** The log of a run and of those below it that are there; each once. */
  static List<List<LoggedEvent>> logs(
      List<LoggedEvent> root, Function<RunKey, List<LoggedEvent>> load) {
    return logs(root, load, false);
  }

  /** The same without those that a fork has of the run that it was cut off from. */
  static List<List<LoggedEvent>> own(
      List<LoggedEvent> root, Function<RunKey, List<LoggedEvent>> load) {
    return logs(root, load, true);
  }

  private static List<List<LoggedEvent>> logs(
      List<LoggedEvent> root, Function<RunKey, List<LoggedEvent>> load, boolean own) {
    Map<RunKey, List<LoggedEvent>> logs = new LinkedHashMap<>();
    logs.put(root.getFirst().run(), root);
    Deque<List<LoggedEvent>> open = new ArrayDeque<>(List.of(root));
    while (!open.isEmpty()) {
      List<LoggedEvent> parent = open.removeFirst();
      for (RunKey child : children(parent)) {
        List<LoggedEvent> log = logs.containsKey(child) ? List.of() : load.apply(child);
        if (!log.isEmpty() && (!own || isChild(log, parent))) {
          logs.put(child, log);
          open.addLast(log);
        }
      }
    }
    return List.copyOf(logs.values());
  }

  private static boolean isChild(List<LoggedEvent> log, List<LoggedEvent> parent) {
    return ((RunStarted) log.getFirst().event())
        .childOf()
        .filter(parent.getFirst().run().runId()::equals)
        .isPresent();
  }

  /**
   * Deletes runs, the first one first.
   *
   * @return how many
   */
  static int delete(List<List<LoggedEvent>> logs, RunStore store, Supplier<Deadline> patience) {
    Map<RunKey, Writer> held = new LinkedHashMap<>();
    try {
      for (List<LoggedEvent> log : logs) {
        RunKey run = log.getFirst().run();
        if (RunState.of(log).status() == RunStatus.NEEDS_RECONCILIATION) {
          throw notDeleted(run, "waits for a verdict");
        }
        held.put(
            run,
            store
                .borrow(run, patience.get())
                .orElseThrow(() -> notDeleted(run, "is being driven")));
      }
    } finally {
      held.forEach(store::release);
    }
    int deleted = 0;
    for (RunKey run : held.keySet()) {
      deleted += store.delete(run, patience.get()) ? 1 : 0;
    }
    return deleted;
  }

  private static ConflictException notDeleted(RunKey run, String why) {
    return new ConflictException(
        "The run " + run + " " + why + "; nothing was deleted.", null, OperationTrace.NONE);
  }

  /** The children that a log names, in order. */
  static List<RunKey> children(List<LoggedEvent> log) {
    RunScope scope = log.getFirst().run().scope();
    return log.stream()
        .map(LoggedEvent::event)
        .filter(ChildStarted.class::isInstance)
        .map(event -> new RunKey(scope, ((ChildStarted) event).childRunId()))
        .distinct()
        .toList();
  }

  /**
   * Adds runs to a store, or none of them.
   *
   * @return the runs
   */
  static List<RunKey> adopt(
      List<List<LoggedEvent>> logs, RunStore store, Supplier<Deadline> patience) {
    Map<RunKey, Standing> standings = new LinkedHashMap<>();
    for (List<LoggedEvent> log : logs) {
      RunState state = RunState.of(log); // checks it
      if (standings.put(state.run(), state.standing()) != null) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST, "The run " + state.run() + " is in the text twice.");
      }
      if (!store.load(state.run(), 1, patience.get()).isEmpty()) {
        throw new ConflictException(
            "The run " + state.run() + " exists already in its scope; nothing was taken in.",
            null,
            OperationTrace.NONE);
      }
    }
    Set<RunKey> adopted = new HashSet<>();
    try {
      for (List<LoggedEvent> log : logs.reversed()) { // a run never without those below it
        RunKey run = log.getFirst().run();
        store.adopt(log, Objects.requireNonNull(standings.get(run)), patience.get());
        adopted.add(run);
      }
    } catch (RuntimeException | Error e) {
      takeBack(adopted, store, patience, e);
      throw e;
    }
    return new ArrayList<>(standings.keySet());
  }

  private static void takeBack(
      Set<RunKey> adopted, RunStore store, Supplier<Deadline> patience, Throwable why) {
    for (RunKey run : adopted) {
      try {
        var _ = store.delete(run, patience.get());
      } catch (RuntimeException e) {
        why.addSuppressed(e); // somebody drives it already, or the store is gone
      }
    }
  }
}
