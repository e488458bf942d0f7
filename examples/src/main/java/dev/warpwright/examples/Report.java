package dev.warpwright.examples;

import dev.warpwright.flow.BatchItem;
import dev.warpwright.flow.BatchItem.Outcome;
import dev.warpwright.flow.BatchReport;
import dev.warpwright.tool.JsonType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The numbers of a triage.
 *
 * @param items tickets with an outcome: all of the file, unless the job was stopped; the sum of the
 *     next five
 * @param completed tickets that were completed now
 * @param waitingApproval tickets that wait for an approval
 * @param needsReconciliation tickets that wait for a verdict on a tool call
 * @param failed tickets that failed
 * @param skipped tickets that had ended before
 * @param badLines lines that are no ticket
 * @param dispatches provider calls
 * @param retries provider calls that were made again on the same target
 * @param fallbacks provider calls that went to another target after a failure
 * @param toolCalls tool runs
 * @param seconds how long it took
 */
record Report(
    int items,
    int completed,
    int waitingApproval,
    int needsReconciliation,
    int failed,
    int skipped,
    int badLines,
    int dispatches,
    int retries,
    int fallbacks,
    int toolCalls,
    BigDecimal seconds) {
  private static final JsonType<Report> TYPE = JsonType.of(Report.class, MethodHandles.lookup());

  static Report of(BatchReport batch, int badLines) {
    BatchItem.Work work = batch.work();
    return new Report(
        batch.items().size(),
        batch.count(Outcome.COMPLETED),
        batch.count(Outcome.WAITING_APPROVAL),
        batch.count(Outcome.NEEDS_RECONCILIATION),
        batch.count(Outcome.FAILED),
        batch.count(Outcome.SKIPPED),
        badLines,
        work.dispatches(),
        work.retries(),
        work.fallbacks(),
        work.toolCalls(),
        BigDecimal.valueOf(batch.duration().toMillis(), 3));
  }

  /** Writes the report as a whole or not at all. */
  void write(Path file) {
    Path whole = file.resolveSibling(file.getFileName() + ".tmp");
    try {
      Files.writeString(whole, TYPE.write(this).text() + "\n");
      Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write " + file + ".", e);
    }
  }

  void print(Console console) {
    console.print(
        """
        Tickets          %7d      Provider calls   %7d
          completed      %7d        retries        %7d
          to approve     %7d        fallbacks      %7d
          to reconcile   %7d      Tool calls       %7d
          failed         %7d      Bad lines        %7d
          skipped        %7d      Seconds          %7s\
        """
            .formatted(
                items,
                dispatches,
                completed,
                retries,
                waitingApproval,
                fallbacks,
                needsReconciliation,
                toolCalls,
                failed,
                badLines,
                skipped,
                seconds));
  }
}
