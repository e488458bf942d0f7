package dev.warpwright.examples;

import dev.warpwright.model.Json;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows where a run stands and what happened in it. */
@Command(
    name = "show",
    sortOptions = false,
    description = {
      "Shows where a run stands and what happened in it, event by event.",
      "Times are seconds since the run started."
    })
final class ShowCommand implements Callable<Integer> {
  private static final String INDENT = " ".repeat(17);

  private final Console console;

  @Mixin private final DatabaseOption database = new DatabaseOption();

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final RunParameter run = new RunParameter();

  ShowCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    RunKey key = run.key();
    try (RunStore store = Databases.openExisting(database.url())) {
      List<LoggedEvent> log = Runs.in(store).log(key);
      RunState state = RunState.of(log);
      if (json.isWanted()) {
        console.print(Json.of(RunJson.of(state)).text());
        return 0;
      }
      RunHeader.lines(state).forEach(line -> console.print(clean(line)));
      console.print("");
      for (LoggedEvent event : log) {
        console.print(
            "%4d %9s  %s"
                .formatted(
                    event.sequence(),
                    since(state.startedAt(), event.time()),
                    indented(EventText.of(event.event()))));
      }
      return 0;
    }
  }

  private static String since(Instant start, Instant time) {
    return String.format(Locale.ROOT, "+%.3f", Duration.between(start, time).toMillis() / 1000.0);
  }

  /** Lines below the first start in one column. */
  private static String indented(String text) {
    return clean(text.strip().replaceAll("\\R", "\n" + INDENT));
  }

  /** Takes out what could steer a terminal. */
  private static String clean(String text) {
    return text.replaceAll("[\\p{Cntrl}&&[^\n]]", "?");
  }
}
