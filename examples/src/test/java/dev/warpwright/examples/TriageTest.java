package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TriageTest {
  private static final String REFUSING =
      "{\"rules\":[{\"when\":{},\"answer\":{\"text\":\"\"}}],\"faults\":[{\"status\":503}]}";

  @TempDir Path folder;
  private Cli cli = new Cli(Path.of(""));

  @BeforeEach
  void open() {
    cli = new Cli(folder);
  }

  /** One ticket of each kind: refund, damaged, where, account, complaint, thanks, injection. */
  private Path kinds() throws IOException {
    return cli.tickets("T-0002", "T-0004", "T-0003", "T-0001", "T-0018", "T-0051", "T-0167");
  }

  private static void assertAddsUp(Report report) {
    assertEquals(
        report.items(),
        report.completed()
            + report.waitingApproval()
            + report.needsReconciliation()
            + report.failed()
            + report.skipped());
  }

  @Test
  void badLinesAndDuplicatesAreToldAndTheReportAddsUp() throws IOException {
    List<String> good = Files.readAllLines(cli.tickets("T-0001", "T-0002"));
    Path input =
        cli.file("mixed.jsonl", good.get(0), "no json", good.get(1), good.get(0), "{\"id\":1}");
    Cli.Ended ended = cli.triage("--input", input.toString()).expect(0);
    assertEquals(
        List.of("2", "4", "5"),
        ended.err().lines().map(line -> line.replaceAll(".*: Line (\\d+) is .*", "$1")).toList());
    Report report = cli.report();
    assertAddsUp(report);
    assertEquals(2, report.items());
    assertEquals(2, report.completed());
    assertEquals(3, report.badLines());
    assertEquals(2 + 4, cli.effects().size() + 1, "note and reply; refund, note and reply");
  }

  @Test
  void aFileWithoutAnyTicketIsOneLineAndMakesNothing() throws IOException {
    Path input = cli.file("bad.jsonl", "id,customer", "", "[]");
    String line = cli.triage("--input", input.toString()).expect(1).errorLine();
    assertTrue(line.contains("No line of " + input + " is a ticket; line 1: "), line);
    assertFalse(Files.exists(cli.out()));
  }

  @Test
  void ofManyBadLinesTheFirstTwentyAreTold() throws IOException {
    List<String> lines = new ArrayList<>(Files.readAllLines(cli.tickets("T-0003")));
    lines.addAll(Collections.nCopies(25, "[]"));
    Path input = cli.file("mixed.jsonl", lines.toArray(String[]::new));
    List<String> told = cli.triage("--input", input.toString()).expect(0).err().lines().toList();
    assertEquals(21, told.size());
    assertTrue(told.get(19).contains("Line 21 is skipped"), told.get(19));
    assertTrue(told.get(20).endsWith("and 5 more lines."), told.get(20));
    assertEquals(25, cli.report().badLines());
  }

  @Test
  void aJobThatIsStoppedBeforeAnythingEndedLeavesTheReportAsItWas() throws IOException {
    String input = cli.tickets("T-0001", "T-0003").toString();
    cli.triage("--input", input).expect(0);
    Report whole = cli.report();

    Thread.currentThread().interrupt();
    Cli.Ended stopped = cli.triage("--input", input);

    assertTrue(Thread.interrupted());
    assertTrue(stopped.out().contains("Stopped after 0 of 2 tickets"), stopped.toString());
    assertEquals(whole, cli.report());
  }

  @Test
  void anEmptyFileIsNoFailure() throws IOException {
    cli.triage("--input", cli.file("empty.jsonl").toString()).expect(0);
    assertEquals(0, cli.report().items());
  }

  @Test
  void aSecondTriageDoesNothingTwice() throws IOException {
    String input = cli.tickets("T-0001", "T-0002", "T-0003", "T-0129").toString();
    cli.triage("--input", input).expect(0);
    List<String> effects = cli.effects();
    List<Cli.RunLine> runs = cli.runs();

    cli.triage("--input", input).expect(0);
    assertEquals(effects, cli.effects());
    assertEquals(runs, cli.runs());
    Report report = cli.report();
    assertAddsUp(report);
    assertEquals(3, report.skipped());
    assertEquals(1, report.waitingApproval());
    assertEquals(0, report.dispatches());
  }

  @Test
  void withAPrimaryThatRefusesEveryCallAllFinishOnTheFallback() throws IOException {
    String script = cli.file("refusing.json", REFUSING).toString();
    String input = cli.tickets("T-0001", "T-0002", "T-0003").toString();
    cli.triage("--input", input, "--script", script).expect(0);
    Report report = cli.report();
    assertEquals(3, report.completed());
    assertEquals(3, report.fallbacks(), "one a ticket: later steps begin with the last winner");
    assertEquals(3, report.retries());
    assertTrue(cli.show(cli.runOf("T-0002")).contains("goes to backup/scripted"));
  }

  @Test
  void withBothRefusingEveryTicketIsAResumableFailureThatALaterRunFinishes() throws IOException {
    String script = cli.file("refusing.json", REFUSING).toString();
    String input = cli.tickets("T-0001", "T-0002", "T-0003").toString();
    cli.triage("--input", input, "--script", script, "--script", script).expect(1);
    Report failed = cli.report();
    assertAddsUp(failed);
    assertEquals(3, failed.failed());
    assertEquals(List.of(), cli.effects());
    for (String ticket : List.of("T-0001", "T-0002", "T-0003")) {
      String shown = cli.show(cli.runOf(ticket));
      assertTrue(shown.contains("Failed in step 1 (TARGETS_EXHAUSTED, can go on)"), shown);
      assertEquals(2, shown.split("attempt on primary/scripted", -1).length - 1, shown);
      assertEquals(2, shown.split("attempt on backup/scripted", -1).length - 1, shown);
    }
    List<String> runs = cli.runs().stream().map(Cli.RunLine::run).toList();

    cli.triage("--input", input).expect(0);
    assertEquals(3, cli.report().completed());
    assertEquals(2 + 3 + 1, cli.effects().size());
    assertEquals(runs, cli.runs().stream().map(Cli.RunLine::run).toList());
  }

  @Test
  void moreThanOneHundredWaitsAndExactlyOneHundredDoesNot() throws IOException {
    String input = cli.tickets("T-0070", "T-0129").toString();
    cli.triage("--input", input).expect(0);
    assertEquals(1, cli.report().completed());
    assertEquals(1, cli.report().waitingApproval());
    assertTrue(cli.effects().contains("T-0070 refund {\"orderId\":\"A-10032\",\"amount\":100.00}"));
    assertEquals(3, cli.effects().size());

    cli.approve("--all").expect(0);
    assertTrue(cli.effects().contains("T-0129 refund {\"orderId\":\"A-10070\",\"amount\":100.01}"));
    assertEquals(6, cli.effects().size());
    assertTrue(cli.approve("--all").expect(0).out().contains("Runs driven on           0"));
    assertEquals(6, cli.effects().size());
  }

  @Test
  void aDeniedRefundIsNotPaidAndTheAgentIsTold() throws IOException {
    cli.triage("--input", cli.tickets("T-0029", "T-0129").toString()).expect(0);
    String run = cli.runOf("T-0129");
    cli.approve("--run", run, "--deny").expect(0);
    List<String> effects = cli.effects();
    assertEquals(2, effects.size(), effects.toString());
    assertTrue(effects.getFirst().startsWith("T-0129 add_note {\"text\":\"No refund for order"));
    assertTrue(cli.show(run).contains("Denied by "));
    assertTrue(cli.approve("--run", run).expect(1).errorLine().contains("waits for no approval"));
    assertTrue(cli.approve("--run", "nobody").expect(1).errorLine().contains("no run nobody"));
    assertEquals(
        List.of("WAITING_APPROVAL", "COMPLETED"),
        cli.runs().stream().map(Cli.RunLine::status).toList());
  }

  @Test
  void runsAreListedByStatusAndShownWithWhatToDo() throws IOException {
    cli.triage("--input", cli.tickets("T-0029", "T-0129").toString()).expect(0);
    cli.approve("--run", cli.runOf("T-0129"), "--deny").expect(0);

    for (String all : List.of("WAITING_APPROVAL,COMPLETED", "waiting_approval,completed")) {
      assertEquals(3, Cli.run("runs", "--db", cli.db(), "--status", all).out().lines().count());
    }
    String waiting =
        Cli.run("runs", "--db", cli.db(), "--status", "FAILED,WAITING_APPROVAL").expect(0).out();
    assertEquals(2, waiting.lines().count(), waiting);
    assertTrue(waiting.contains("T-0029"), waiting);
    assertEquals(
        1, Cli.run("runs", "--db", cli.db(), "--status", "FAILED").expect(0).out().lines().count());
    assertTrue(
        Cli.run("runs", "--db", cli.db(), "--status", "LATE")
            .expect(2)
            .errorLine()
            .contains("NEEDS_RECONCILIATION"));

    String run = cli.runOf("T-0029");
    String shown = cli.show(run);
    List<String> lines = shown.lines().toList();
    assertEquals("Run      " + run, lines.getFirst());
    assertEquals(
        "Status   WAITING_APPROVAL: decide with approve --run " + run + " [--deny]", lines.get(1));
    assertTrue(shown.contains("\nAsks     refund {"), shown);
    assertTrue(shown.contains("   1    +0.000  Started: agent triage"), shown);
    assertTrue(cli.show(cli.runOf("T-0129")).contains("\nStatus   COMPLETED\n"));
  }

  @Test
  void aCancelledRunIsNeitherApprovedNorTriagedAgain() throws IOException {
    String input = cli.tickets("T-0029", "T-0129").toString();
    cli.triage("--input", input).expect(0);
    String run = cli.runOf("T-0129");
    List<String> effects = cli.effects();

    String told =
        Cli.run("cancel", run, "--db", cli.db(), "--reason", "paid by hand").expect(0).out();
    assertEquals(run + "  CANCELLED", told.strip());
    assertEquals(told, Cli.run("cancel", run, "--db", cli.db()).expect(0).out());
    String shown = cli.show(run);
    assertTrue(shown.contains("\nStatus   CANCELLED\n"), shown);
    assertTrue(shown.contains("Asked to cancel: paid by hand"), shown);
    assertTrue(cli.approve("--run", run).expect(1).errorLine().contains("waits for no approval"));
    cli.triage("--input", input).expect(1);
    assertEquals(1, cli.report().failed());
    assertEquals(effects, cli.effects());
    assertTrue(
        Cli.run("cancel", "nobody", "--db", cli.db()).expect(1).errorLine().contains("nobody"));
  }

  @Test
  void nothingIsApprovedWithoutTheEffectsOfTheTriage() throws IOException {
    cli.triage("--input", cli.tickets("T-0129").toString()).expect(0);
    String elsewhere = folder.resolve("elsewhere").toString();
    String line = Cli.run("approve", "--all", "--db", cli.db(), "--out", elsewhere).errorLine();
    assertTrue(line.contains("--out must be that of the triage"), line);
    assertEquals("WAITING_APPROVAL", cli.runs().getFirst().status());
  }

  @Test
  void eachKindOfTicketIsTreatedAsItsSubjectSays() throws IOException {
    cli.triage("--input", kinds().toString()).expect(0);
    assertEquals(
        List.of(
            "T-0001 add_note",
            "T-0001 reply",
            "T-0002 add_note",
            "T-0002 refund",
            "T-0002 reply",
            "T-0003 reply",
            "T-0004 add_note",
            "T-0004 reply",
            "T-0018 add_note",
            "T-0018 reply",
            "T-0167 add_note"),
        cli.effects().stream().map(effect -> effect.replaceAll(" \\{.*", "")).toList());
  }

  @Test
  void anUnknownOrderIsAskedFor() throws IOException {
    cli.triage("--input", cli.tickets("T-0013").toString()).expect(0);
    assertEquals(1, cli.effects().size());
    assertTrue(cli.effects().getFirst().contains("we find no order A-70012 of yours"));
  }
}
