package dev.warpwright.examples;

import dev.warpwright.flow.Batch;
import dev.warpwright.flow.BatchItem;
import dev.warpwright.flow.BatchItem.Outcome;
import dev.warpwright.flow.BatchReport;
import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowContext;
import dev.warpwright.flow.Flows;
import dev.warpwright.flow.StepOptions;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.TaskTree;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Puts every file of a folder through a flow: read it, find out what it is about, write a card for
 * the index. The folder is walked while the batch runs, so it may hold any number of files. A
 * second batch of the same key does only what the first one could not.
 */
final class DocumentPipeline {
  public record Facts(int lines, List<String> topics) {}

  private static final Pattern WORD = Pattern.compile("\\p{L}{5,}");

  private final Flow<String, String> index =
      Flow.of("index", String.class, String.class, this::index);

  private final PrintStream out;
  private final RunStore store;
  private final Path documents;
  private final Path cards;

  DocumentPipeline(PrintStream out, RunStore store, Path documents, Path cards) {
    this.out = out;
    this.store = store;
    this.documents = documents;
    this.cards = cards;
  }

  static void main(String[] args) throws IOException {
    Path work = Files.createTempDirectory("documents");
    Path documents = args.length > 0 ? Path.of(args[0]) : samples(work.resolve("in"));
    try (RunStore store = RunStore.inMemory()) {
      new DocumentPipeline(System.out, store, documents, work.resolve("cards")).run();
    }
  }

  private String index(FlowContext ctx, String name) {
    Facts facts =
        ctx.step(
            "read", Facts.class, StepOptions.pure(), step -> facts(documents.resolve(name)));
    String card = name + ": " + facts.lines() + " lines about " + facts.topics();
    ctx.run("write", step -> write(name, card));
    return card;
  }

  /** A file that is no text fails its step, and so its item and no other. */
  private static Facts facts(Path file) throws IOException {
    String text;
    try {
      text = Files.readString(file);
    } catch (CharacterCodingException e) {
      throw new IOException("it is no text", e);
    }
    Map<String, Long> counts =
        WORD.matcher(text.toLowerCase(Locale.ROOT)).results().map(MatchResult::group)
            .collect(Collectors.groupingBy(Function.identity(), TreeMap::new, Collectors.counting()));
    List<String> topics =
        counts.entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
            .limit(2)
            .map(Map.Entry::getKey)
            .toList();
    return new Facts((int) text.lines().count(), topics);
  }

  /** Idempotent: the same card under the same name. */
  private void write(String name, String card) throws IOException {
    Path file = cards.resolve(name.replace('/', '_') + ".card");
    Files.createDirectories(cards);
    Files.writeString(file, card + "\n");
  }

  void run() throws IOException {
    Flows flows = Flows.on(TaskTree.builder().build(), store);
    BatchReport first = batch().run(flows);
    for (BatchItem item : first.items()) {
      item.message().ifPresent(message -> out.println(item.key() + ": " + message));
    }

    BatchReport again = batch().run(flows);
    out.println(
        "Again: %d documents, %d skipped, %d failed."
            .formatted(again.size(), again.count(Outcome.SKIPPED), again.count(Outcome.FAILED)));

    try (Stream<Path> written = Files.list(cards)) {
      for (Path card : written.sorted().toList()) {
        out.print(Files.readString(card));
      }
    }
  }

  private Batch<String, Flows> batch() {
    return Batch.of("documents", index, this::names, name -> name, name -> name).maxConcurrency(4);
  }

  /** The files of the folder, found one after the other; the walk is closed by its end. */
  @SuppressWarnings("StreamResourceLeak")
  private Iterator<String> names() {
    try {
      return Files.walk(documents)
          .filter(Files::isRegularFile)
          .map(file -> documents.relativize(file).toString().replace('\\', '/'))
          .iterator();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A folder for whoever has none at hand. */
  static Path samples(Path folder) throws IOException {
    Files.createDirectories(folder.resolve("src"));
    Files.writeString(
        folder.resolve("notes.md"), "# Durable\nA durable timer outlives its process.\n");
    Files.writeString(folder.resolve("prices.csv"), "article,euros\nbicycle,900\nbicycle,950\n");
    Files.writeString(
        folder.resolve("src/Empty.java"), "public final class Empty {}\n// public, as it is empty\n");
    Files.write(folder.resolve("logo.bin"), new byte[] {(byte) 0xff, 0, 1});
    return folder;
  }
}
