package dev.warpwright.examples;

import dev.warpwright.model.Json;
import dev.warpwright.run.CallState;
import dev.warpwright.run.RunEvent.ToolReconciled;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Says what became of a call whose outcome nobody knows. */
@Command(
    name = "reconcile",
    sortOptions = false,
    description = {
      "Says what became of a tool call that is in doubt, as somebody has looked up. The run goes on"
          + " when it has its last verdict and a worker, or resume, takes it up."
    })
final class ReconcileCommand implements Callable<Integer> {
  private final Console console;

  @ArgGroup(multiplicity = "1")
  private final Found found = new Found();

  @Option(
      names = "--call",
      paramLabel = "ID",
      description = "The call, as show names it; may be left out if only one is in doubt.")
  private @Nullable String call;

  @Option(names = "--by", paramLabel = "NAME", description = "Who says so; default: the user.")
  private @Nullable String by;

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final DatabaseOption database = new DatabaseOption();
  @Mixin private final RunParameter run = new RunParameter();

  /** What became of it. */
  private static final class Found {
    @Option(
        names = "--succeeded",
        required = true,
        paramLabel = "JSON",
        description = "It took place; the output that the model gets.")
    private @Nullable String succeeded;

    @Option(
        names = "--failed",
        required = true,
        paramLabel = "TEXT",
        description = "It failed; the error that the model gets.")
    private @Nullable String failed;

    @Option(
        names = "--not-executed",
        required = true,
        description = "It did not take place; it runs under the same key.")
    private boolean notExecuted;
  }

  ReconcileCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    RunKey key = run.key();
    Optional<Json> output = output();
    try (RunStore store = Databases.openExisting(database.url())) {
      Runs runs = Runs.in(store);
      RunState state =
          runs.state(key).orElseThrow(() -> new JobException("There is no run " + key + "."));
      CallState doubted = doubted(state);
      RunState now =
          runs.reconcile(
              key,
              new ToolReconciled(
                  doubted.call().id(),
                  doubted.started().orElseThrow().key(),
                  verdict(),
                  output,
                  Operator.name(by)));
      json.print(console, RunJson.of(now), RunJson.line(now));
      return 0;
    }
  }

  private Verdict verdict() {
    if (found.notExecuted) {
      return Verdict.NOT_EXECUTED;
    }
    return found.failed == null ? Verdict.SUCCEEDED : Verdict.FAILED;
  }

  private Optional<Json> output() {
    if (found.notExecuted) {
      return Optional.empty();
    }
    if (found.failed != null) {
      return Optional.of(Json.of(found.failed));
    }
    return Optional.of(Json.parse(Objects.requireNonNull(found.succeeded)));
  }

  private CallState doubted(RunState state) {
    List<CallState> calls = state.inDoubt();
    if (calls.isEmpty()) {
      throw new JobException("Run " + state.run() + " has no call in doubt.");
    }
    if (call == null && calls.size() > 1) {
      throw new JobException.Usage(
          "Several calls are in doubt; --call must name one: " + ids(calls) + ".");
    }
    return calls.stream()
        .filter(each -> call == null || each.call().id().equals(call))
        .findFirst()
        .orElseThrow(
            () ->
                new JobException(
                    "Call " + call + " is not in doubt; these are: " + ids(calls) + "."));
  }

  private static String ids(List<CallState> calls) {
    return calls.stream().map(each -> each.call().id()).collect(Collectors.joining(", "));
  }
}
