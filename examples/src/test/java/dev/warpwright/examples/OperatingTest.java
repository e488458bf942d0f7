package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunExport;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of who operates runs, for people and for programs. */
class OperatingTest {
  @TempDir Path folder;
  private Cli cli = new Cli(Path.of(""));

  @BeforeEach
  void open() {
    cli = new Cli(folder);
  }

  private Cli.Ended at(String command, String... args) {
    List<String> all = new ArrayList<>(List.of(command, "--db", cli.db()));
    all.addAll(List.of(args));
    return Cli.run(all.toArray(String[]::new));
  }

  private Cli.Ended job(String command, String... args) {
    List<String> all =
        new ArrayList<>(List.of(command, "--out", cli.out().toString(), "--no-progress"));
    all.addAll(List.of(args));
    return Cli.run(all.toArray(String[]::new));
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> object(String line) {
    return (Map<String, Object>) Objects.requireNonNull(Json.parse(line).value());
  }

  private static Map<String, Object> object(Cli.Ended ended) {
    return object(ended.expect(0).out());
  }

  @Test
  void whatIsQueuedIsDrivenByWorkAndATriageThenSkipsIt() throws IOException {
    String input = cli.tickets("T-0001", "T-0002", "T-0129").toString();
    String queued = cli.triage("--input", input, "--queue").expect(0).out();
    assertTrue(queued.startsWith("3 tickets have their runs. To drive them: work --db "), queued);
    assertEquals(queued, cli.triage("--input", input, "--queue").expect(0).out());
    assertEquals(
        List.of("QUEUED", "QUEUED", "QUEUED"),
        cli.runs().stream().map(Cli.RunLine::status).toList());
    assertTrue(cli.show(cli.runOf("T-0001")).contains("QUEUED: waits for a worker"));
    assertEquals(List.of(), cli.effects());

    String told = job("work", "--until-idle").expect(0).out();
    assertTrue(told.contains("Runs taken up            3"), told);
    assertTrue(told.contains("ended or wait          3"), told);
    assertEquals(
        List.of("COMPLETED", "COMPLETED", "WAITING_APPROVAL"),
        cli.runs().stream().map(Cli.RunLine::status).toList());
    List<String> effects = cli.effects();
    assertEquals(2 + 3, effects.size());

    cli.triage("--input", input).expect(0);
    assertEquals(2, cli.report().skipped());
    assertEquals(1, cli.report().waitingApproval());
    assertEquals(effects, cli.effects());
  }

  @Test
  void listsAndStatesAreJsonForPrograms() throws IOException {
    cli.triage("--input", cli.tickets("T-0129").toString()).expect(0);
    String run = cli.runOf("T-0129");

    Map<String, Object> listed = object(at("runs", "--json"));
    assertEquals(
        List.of(
            "run",
            "status",
            "agent",
            "key",
            "events",
            "created",
            "updated",
            "claims",
            "quarantined"),
        List.copyOf(listed.keySet()));
    assertEquals(run, listed.get("run"));
    assertEquals("triage:T-0129", listed.get("key"));
    assertEquals(false, listed.get("quarantined"));

    Map<String, Object> shown = object(at("show", run, "--json"));
    assertEquals(
        List.of(
            "run",
            "status",
            "terminal",
            "agent",
            "key",
            "events",
            "started",
            "updated",
            "steps",
            "inputTokens",
            "outputTokens",
            "text",
            "approvals",
            "inDoubt"),
        List.copyOf(shown.keySet()));
    assertEquals("WAITING_APPROVAL", shown.get("status"));
    String text = at("show", run, "--json").out();
    assertTrue(
        text.contains(
            "\"tool\":\"refund\",\"arguments\":{\"amount\":100.01,\"orderId\":\"A-10070\""),
        text);

    Map<String, Object> denied =
        object(job("deny", "--run", run, "--json", "--by", "ann", "--reason", "Not ours."));
    assertEquals("COMPLETED", denied.get("status"));
    assertEquals(List.of(), denied.get("approvals"));
    String log = cli.show(run);
    assertTrue(log.contains("Denied by ann: Not ours."), log);
  }

  @Test
  void cancelDeleteAndExportSpeakJsonToo() throws IOException {
    cli.triage("--input", cli.tickets("T-0029", "T-0129", "T-0001").toString()).expect(0);
    String run = cli.runOf("T-0129");
    assertEquals("CANCELLED", object(at("cancel", run, "--json")).get("status"));

    String exported = at("export", run).expect(0).out();
    List<LoggedEvent> log = RunExport.read(exported);
    assertEquals(run, log.getFirst().run().runId());
    assertEquals(exported.strip(), RunExport.write(log).strip());

    Path file = folder.resolve("exported.jsonl");
    Files.writeString(file, exported);
    assertTrue(at("import", file.toString()).expect(1).errorLine().contains("exists already"));
    String masked = at("export", run, "--masked", "--children").expect(0).out();
    assertEquals(exported.lines().count(), masked.lines().count());
    assertFalse(masked.contains("T-0129"), masked);
    Files.writeString(folder.resolve("masked.jsonl"), masked);
    assertTrue(
        at("import", folder.resolve("masked.jsonl").toString())
            .expect(1)
            .errorLine()
            .contains("masked"));
    assertTrue(at("import", "nothing").expect(1).errorLine().contains("There is no file"));

    assertEquals("1", String.valueOf(object(at("delete", run, "--json")).get("deleted")));
    assertEquals(run, object(at("import", file.toString(), "--json")).get("run"));
    assertEquals(exported, at("export", run).expect(0).out());
    assertEquals("1", String.valueOf(object(at("delete", run, "--json")).get("deleted")));
    assertTrue(at("delete", run).expect(1).errorLine().contains("There is no run " + run));
    assertTrue(at("export", run).expect(1).errorLine().contains("There is no run"));
    assertEquals("0 deleted", at("delete", "--older-than", "P1D").expect(0).out().strip());
    assertEquals(
        "1 deleted", at("delete", "--older-than", "PT0S").expect(0).out().strip(), "of two");
    assertEquals(
        List.of("WAITING_APPROVAL"), cli.runs().stream().map(Cli.RunLine::status).toList());
    assertEquals(2, at("delete", "--older-than", "-P1D").exitCode());
    assertEquals(2, at("delete").exitCode());
  }

  @Test
  @Tag("A126")
  void whatIsOnlyDecidedIsDrivenOnByAWorker() throws IOException {
    cli.triage("--input", cli.tickets("T-0029", "T-0129").toString()).expect(0);
    String run = cli.runOf("T-0129");
    int effects = cli.effects().size();

    String told = job("approve", "--run", run, "--only-decide").expect(0).out();
    assertEquals(run + "  1 given", told.strip());
    assertEquals(
        1, job("deny", "--all", "--only-decide", "--json").expect(0).out().lines().count());
    assertEquals(effects, cli.effects().size());
    assertEquals(2, at("stranded").expect(0).out().lines().skip(1).count());

    assertTrue(job("work", "--until-idle").expect(0).out().contains("ended or wait          2"));
    assertEquals(
        List.of("COMPLETED", "COMPLETED"), cli.runs().stream().map(Cli.RunLine::status).toList());
    assertTrue(cli.effects().contains("T-0129 refund {\"orderId\":\"A-10070\",\"amount\":100.01}"));
    assertTrue(cli.effects().stream().noneMatch(effect -> effect.startsWith("T-0029 refund")));
  }

  @Test
  @Tag("F72")
  @Tag("F73")
  void aForkGoesOnByAWorkerUnderKeysOfItsOwn() throws IOException {
    cli.triage("--input", cli.tickets("T-0029").toString()).expect(0);
    String run = cli.runOf("T-0029");
    Map<String, Object> fork = object(at("fork", run, "--at", "1", "--json"));
    assertEquals(run, fork.get("forkedFrom"));
    assertEquals("1", String.valueOf(fork.get("forkedAt")));
    String id = String.valueOf(fork.get("run"));
    assertTrue(at("show", id).expect(0).out().contains("Forked   from " + run + " at 1"));
    assertTrue(
        at("fork", run, "--at", "2").expect(1).errorLine().contains("nearest sequence below"));
    assertEquals(2, at("fork", run).exitCode());
    job("work", "--until-idle").expect(0);
    assertEquals(
        object(at("show", run, "--json")).get("status"),
        object(at("show", id, "--json")).get("status"));
  }

  @Test
  void aFailedRunIsResumed() throws IOException {
    String script =
        cli.file(
                "refusing.json",
                "{\"rules\":[{\"when\":{},\"answer\":{\"text\":\"\"}}],\"faults\":[{\"status\":503}]}")
            .toString();
    cli.triage("--input", cli.tickets("T-0001").toString(), "--script", script, "--script", script)
        .expect(1);
    String run = cli.runOf("T-0001");
    Map<String, Object> failed = object(at("show", run, "--json"));
    assertEquals("FAILED", failed.get("status"));
    assertEquals(false, failed.get("terminal"));
    assertTrue(cli.show(run).contains("FAILED: resume it with resume " + run));
    assertTrue(String.valueOf(failed.get("failure")).contains("TARGETS_EXHAUSTED"));

    assertEquals("COMPLETED", object(job("resume", run, "--json")).get("status"));
    assertEquals(run + "  COMPLETED", job("resume", run).expect(0).out().strip());
    assertTrue(job("resume", "nobody").expect(1).errorLine().contains("nobody"));
  }

  /** A run of an agent that is not the program's, which waits for a verdict on a refund. */
  private RunKey inDoubt() throws IOException {
    Files.createDirectories(cli.out());
    RunKey run = new RunKey(RunScope.DEFAULT, "doubtful");
    ToolCall call = new ToolCall("c1", "refund", Json.parse("{\"orderId\":\"A-1\"}"));
    List<RunEvent> events =
        List.of(
            new RunStarted(
                "elsewhere",
                "1",
                Map.of(),
                Optional.empty(),
                List.of(Message.user("Do it.")),
                10,
                List.of(Target.of("one", "model")),
                Map.of()),
            new StepStarted(1, 1),
            new ModelResponded(
                1,
                Target.of("one", "model"),
                new Message(Role.ASSISTANT, List.<Part>of(call)),
                new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
                Usage.ABSENT,
                List.of()),
            new ToolStarted(1, 0, "c1", "refund", EffectClass.ONCE, call.input(), "key-1", 1),
            new RunSuspended(RunSuspended.Reason.RECONCILIATION, List.of("c1"), Optional.empty()));
    List<LoggedEvent> log = new ArrayList<>();
    for (RunEvent event : events) {
      log.add(new LoggedEvent(run, log.size() + 1L, new Writer("test", 1), Instant.EPOCH, event));
    }
    try (RunStore store = Databases.open(cli.db())) {
      store.adopt(log, RunState.of(log).standing(), Deadline.never());
    }
    return run;
  }

  @Test
  @Tag("A153")
  void aCallInDoubtGetsItsVerdictAndTheRunIsStrandedUntilSomebodyDrivesItsAgent()
      throws IOException {
    String run = inDoubt().runId();
    String shown = at("show", run, "--json").out();
    assertTrue(shown.contains("\"inDoubt\":[{\"call\":\"c1\",\"key\":\"key-1\""), shown);
    assertTrue(
        at("reconcile", run, "--call", "c2", "--not-executed")
            .expect(1)
            .errorLine()
            .contains("these are: c1"));
    assertEquals(2, at("reconcile", run).exitCode());
    assertEquals(2, at("reconcile", run, "--not-executed", "--failed", "x").exitCode());
    assertEquals(1, at("stranded").expect(0).out().lines().count());

    Map<String, Object> decided =
        object(at("reconcile", run, "--succeeded", "{\"paid\":true}", "--by", "ann", "--json"));
    assertEquals(List.of(), decided.get("inDoubt"));
    assertTrue(cli.show(run).contains("c1 SUCCEEDED, says the ann: {\"paid\":true}"));
    assertTrue(
        at("reconcile", run, "--not-executed").expect(1).errorLine().contains("no call in doubt"));

    Map<String, Object> stranded = object(at("stranded", "--json"));
    assertEquals(run, stranded.get("run"));
    assertEquals("elsewhere", stranded.get("agent"));
    assertTrue(at("stranded").expect(0).out().contains("NEEDS_RECONCILIATION  " + run));
    assertEquals(run, object(at("readmit", run, "--json")).get("run"));
    assertTrue(at("readmit", "nobody").expect(1).errorLine().contains("nobody"));
  }

  @Test
  void aWrongServerIsOneLine() {
    String line = Cli.run("runs", "--db", "jdbc:postgresql:").errorLine();
    assertFalse(line.contains("Unexpected"), line);
  }
}
