package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.Agent;
import dev.warpwright.flow.Flow;
import dev.warpwright.flow.Replay;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.ReplayDifference;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import dev.warpwright.testing.ManualTime;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every run of the examples replays against the flow or the agent that it was a run of. */
@Timeout(120)
final class ExampleReplayTest {
  private static final PrintStream OUT = new PrintStream(OutputStream.nullOutputStream());

  @TempDir private Path folder;

  private final ManualTime time = new ManualTime();
  private final RunStore store = RunStore.inMemory(time);
  private final Outside outside = new Outside();

  @Test
  @Tag("F69")
  @Tag("F70")
  @Tag("F71")
  void every_run_of_the_flows_replays_and_is_moved_byte_for_byte() throws Exception {
    OrderCheckout checkout = new OrderCheckout(OUT, store, outside);
    checkout.run();
    ResearchReport report = new ResearchReport(OUT, store, outside);
    report.run();
    Reminder reminder = new Reminder(OUT, store, outside, time);
    reminder.run();
    MigrationInFlight migration = new MigrationInFlight(OUT, store, outside);
    migration.run();
    DocumentPipeline pipeline =
        new DocumentPipeline(
            OUT, store, DocumentPipeline.samples(folder.resolve("in")), folder.resolve("cards"));
    pipeline.run();

    List<Flow<?, ?>> flows = new ArrayList<>();
    for (Object example : List.of(checkout, report, reminder, migration, pipeline)) {
      flows.addAll(flows(example));
    }
    List<String> deeds = outside.deeds();
    int replayed = 0;
    Runs runs = Runs.in(store, time);
    for (RunSummary run : runs.list(RunQuery.builder(RunScope.DEFAULT).limit(1000).build())) {
      RunState state = runs.state(run.run()).orElseThrow();
      if (state.started().childOf().isPresent()) {
        continue; // with its parent
      }
      List<List<LoggedEvent>> logs = runs.logs(run.run());
      requireReplays(logs, flows);
      requireMoves(runs, run.run());
      replayed += logs.size();
    }
    assertTrue(replayed > 15, "replayed: " + replayed);
    assertEquals(deeds, outside.deeds());
  }

  private static List<Flow<?, ?>> flows(Object example) throws IllegalAccessException {
    List<Flow<?, ?>> flows = new ArrayList<>();
    for (Field field : example.getClass().getDeclaredFields()) {
      if (field.getType() == Flow.class) {
        field.setAccessible(true);
        flows.add((Flow<?, ?>) field.get(example));
      }
    }
    assertFalse(flows.isEmpty());
    return flows;
  }

  /** A run that met new code fits that; what was deployed in between needs not fit. */
  private static void requireReplays(List<List<LoggedEvent>> logs, List<Flow<?, ?>> flows) {
    RunState state = RunState.of(logs.getFirst());
    List<Optional<ReplayDifference>> differences =
        flows.stream()
            .filter(flow -> state.started().drivenBy().equals("flow:" + flow.id()))
            .<Optional<ReplayDifference>>map(flow -> Replay.of(logs).against(flow))
            .toList();
    assertTrue(differences.stream().anyMatch(Optional::isEmpty), () -> state + ": " + differences);
    if (state.run().runId().equals("shoes")) {
      assertEquals(2, differences.stream().flatMap(Optional::stream).count(), "old and careless");
    }
  }

  private static void requireMoves(Runs runs, RunKey run) {
    String text = text(runs, run);
    try (RunStore other = RunStore.inMemory()) {
      Runs.in(other).importRuns(text);
      assertEquals(text, text(Runs.in(other), run));
    }
  }

  private static String text(Runs runs, RunKey run) {
    return runs.logs(run).stream().map(RunExport::write).collect(Collectors.joining());
  }

  @Test
  @Tag("F70")
  @Tag("F71")
  void every_run_of_the_triage_replays() throws Exception {
    Cli cli = new Cli(folder);
    cli.triage().expect(0);
    try (RunStore triaged = Databases.openExisting(cli.db());
        Effects effects = Effects.open(folder.resolve("none"))) {
      Runs runs = Runs.in(triaged);
      List<RunSummary> all = runs.list(RunQuery.builder(RunScope.DEFAULT).limit(1000).build());
      assertTrue(all.size() > 20, "runs: " + all.size());
      for (RunSummary run : all) {
        List<LoggedEvent> log = runs.log(run.run());
        List<Target> targets = RunState.of(log).started().targets();
        Target[] spare = targets.subList(1, targets.size()).toArray(Target[]::new);
        Agent agent = TriageAgent.of(Route.of(targets.getFirst(), spare), Orders.load(), effects);
        assertEquals(Optional.empty(), Replay.ofRun(log).against(agent));
      }
      assertTrue(
          all.stream().map(RunSummary::status).distinct().count() > 1,
          () -> Arrays.toString(all.toArray()));
    }
  }
}
