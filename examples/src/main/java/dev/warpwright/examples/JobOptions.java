package dev.warpwright.examples;

import dev.warpwright.adapters.scripted.Script;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the commands that run agents. */
final class JobOptions {
  static final Path DEFAULT_OUT = Path.of("warpwright-triage");

  private static final int MAX_CONCURRENCY = 10_000;

  @Option(
      names = "--out",
      paramLabel = "DIR",
      description =
          "Where effects.jsonl, report.json and, by default, the database are; default:"
              + " ./warpwright-triage.")
  private Path out = DEFAULT_OUT;

  @Option(
      names = "--db",
      paramLabel = "JDBC-URL",
      description =
          "The database of the runs; default: jdbc:h2:async: and the path of DIR/runs. On"
              + " jdbc:postgresql://HOST/DATABASE (user and password from PGUSER and PGPASSWORD)"
              + " several processes share the work.")
  private @Nullable String db;

  @Option(
      names = "--concurrency",
      paramLabel = "N",
      description = "How many runs at the same time; default: 8.")
  private int concurrency = 8;

  @Option(
      names = "--provider-url",
      paramLabel = "URL",
      description =
          "An OpenAI-compatible server, such as https://api.openai.com/v1; the key is"
              + " taken from OPENAI_API_KEY. Without it two scripted servers play the providers.")
  private @Nullable URI providerUrl;

  @Option(
      names = "--model",
      paramLabel = "ID",
      description = "The model to ask; default: gpt-5-mini, or scripted without --provider-url.")
  private @Nullable String model;

  @Option(
      names = "--script",
      paramLabel = "FILE",
      description =
          "What the scripted primary says in place of the shipped script; given twice,"
              + " the second is for the backup.")
  private List<Path> scripts = List.of();

  @Option(names = "--no-progress", description = "Does not tell how far the job is.")
  private boolean noProgress;

  Path out() {
    return out;
  }

  /** The folder, made if it is missing. */
  Path madeOut() {
    try {
      return Files.createDirectories(out);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot make the folder " + out + ".", e);
    }
  }

  String db() {
    return db == null ? Databases.in(out) : db;
  }

  int concurrency() {
    return concurrency;
  }

  boolean progress() {
    return !noProgress;
  }

  /** Refuses what cannot work, before anything is opened. */
  void check() {
    if (concurrency < 1 || concurrency > MAX_CONCURRENCY) {
      throw new JobException.Usage(
          "--concurrency must be between 1 and "
              + MAX_CONCURRENCY
              + ", but is "
              + concurrency
              + ".");
    }
    if (model != null && model.isBlank()) {
      throw new JobException.Usage("--model must not be blank.");
    }
    if (scripts.size() > 2) {
      throw new JobException.Usage("--script can be given twice at most.");
    }
    if (providerUrl != null && !scripts.isEmpty()) {
      throw new JobException.Usage("--script is for the scripted servers, not --provider-url.");
    }
    var _ = db();
  }

  /** Opens the effects of the tools: for this process alone, unless the database is shared. */
  Effects effects() {
    Path file = madeOut().resolve("effects.jsonl");
    return Databases.isShared(db()) ? Effects.shared(file) : Effects.open(file);
  }

  /** Opens effects that must be there; see {@link #effects()}. */
  Effects existingEffects() {
    Path file = out.resolve("effects.jsonl");
    Effects.requireExisting(file);
    return effects();
  }

  /** Starts or finds the providers. */
  Providers providers() {
    if (providerUrl != null) {
      return Providers.at(providerUrl, model == null ? "gpt-5-mini" : model);
    }
    Script primary = scripts.isEmpty() ? Providers.primaryScript() : script(scripts.getFirst());
    Script backup = scripts.size() < 2 ? Providers.backupScript() : script(scripts.getLast());
    return Providers.scripted(primary, backup, model == null ? "scripted" : model);
  }

  private static Script script(Path file) {
    Lines.require("--script", file);
    return Script.load(file);
  }
}
