package dev.warpwright.examples;

import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Shows what happened in a run. */
@Command(
    name = "show",
    sortOptions = false,
    description = "Shows what happened in a run, event by event.")
final class ShowCommand implements Callable<Integer> {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS").withZone(ZoneId.systemDefault());
  private static final String INDENT = " ".repeat(31);

  private final Console console;

  @Mixin private final DatabaseOption database = new DatabaseOption();

  @Parameters(paramLabel = "RUN", description = "The id of the run, as the command runs lists it.")
  private String run = "";

  ShowCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    if (run.isBlank()) {
      throw new JobException.Usage("The id of the run must not be blank.");
    }
    try (RunStore store = Databases.openExisting(database.url())) {
      List<LoggedEvent> log = Runs.in(store).log(new RunKey(RunScope.DEFAULT, run));
      for (LoggedEvent event : log) {
        console.print(
            "%4d  %s  %s"
                .formatted(
                    event.sequence(),
                    TIME.format(event.time()),
                    indented(EventText.of(event.event()))));
      }
      return 0;
    }
  }

  /** Lines below the first start in one column; what could steer a terminal is taken out. */
  private static String indented(String text) {
    return text.strip().replaceAll("\\R", "\n" + INDENT).replaceAll("[\\p{Cntrl}&&[^\n]]", "?");
  }
}
