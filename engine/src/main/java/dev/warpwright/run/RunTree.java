package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.RunEvent.ChildStarted;
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
      RunKey run,
      Function<RunKey, List<LoggedEvent>> root,
      Function<RunKey, List<LoggedEvent>> below) {
    Map<RunKey, List<LoggedEvent>> logs = new LinkedHashMap<>();
    Deque<RunKey> open = new ArrayDeque<>();
    List<LoggedEvent> log = root.apply(run);
    logs.put(run, log);
    children(log).forEach(open::addLast);
    while (!open.isEmpty()) {
      RunKey child = open.removeFirst();
      List<LoggedEvent> found = logs.containsKey(child) ? List.of() : below.apply(child);
      if (!found.isEmpty()) {
        logs.put(child, found);
        children(found).reversed().forEach(open::addFirst);
      }
    }
    return List.copyOf(logs.values());
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
