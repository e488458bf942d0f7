package dev.warpwright.examples;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Takes in what {@code export} printed. */
@Command(
    name = "import",
    sortOptions = false,
    description = {
      "Takes in the runs that export printed, of another database, with their ids and keys.",
      "A run that had not ended goes on here: delete it there, so that it does not in both."
    })
final class ImportCommand implements Callable<Integer> {
  private static final long MAX_BYTES = 512L * 1024 * 1024;

  private final Console console;

  @Parameters(paramLabel = "FILE", description = "What export printed.")
  private Path file = Path.of("");

  @Mixin private final JsonOption json = new JsonOption();
  @Mixin private final DatabaseOption database = new DatabaseOption();

  ImportCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    String text = text();
    try (RunStore store = Databases.open(database.url())) {
      for (RunKey run : Runs.in(store).importRuns(text)) {
        json.print(console, Map.of("run", run.runId()), run.runId());
      }
      return 0;
    }
  }

  private String text() throws IOException {
    try {
      long bytes = Files.size(file);
      if (bytes > MAX_BYTES) {
        throw new JobException(
            "The file %s may have %d bytes, but has %d.".formatted(file, MAX_BYTES, bytes));
      }
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new JobException("There is no file " + file + ".");
    } catch (CharacterCodingException e) {
      throw new JobException("The file " + file + " is no UTF-8 text.");
    }
  }
}
