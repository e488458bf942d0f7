package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The pages of the project lead where they say. */
final class DocumentsTest {
  private static final Path PROJECT = Path.of("..");
  private static final Path DECISIONS = PROJECT.resolve("docs").resolve("decisions");
  private static final Pattern LINK =
      Pattern.compile("]\\((?!https?:)([^)#\\s]*)(?:#([^)\\s]*))?\\)");

  @Test
  void every_decision_is_in_the_index_once() throws IOException {
    List<String> listed = links(DECISIONS.resolve("README.md")).map(link -> link.group(1)).toList();
    Set<String> pages = new TreeSet<>();
    try (Stream<Path> files = Files.list(DECISIONS)) {
      files.map(file -> file.getFileName().toString()).forEach(pages::add);
    }
    pages.remove("README.md");
    assertEquals(List.copyOf(pages), listed.stream().sorted().toList());
  }

  @Test
  void every_link_leads_to_a_page_and_a_heading_of_it() throws IOException {
    List<String> dead = new ArrayList<>();
    for (Path page : pages()) {
      for (MatchResult link : links(page).toList()) {
        Path to = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
        boolean leads =
            Files.exists(to) && (link.group(2) == null || anchors(to).contains(link.group(2)));
        if (!leads) {
          dead.add(page + " -> " + link.group());
        }
      }
    }
    assertEquals(List.of(), dead);
  }

  @Test
  @Tag("A111")
  void the_guide_says_what_a_run_with_effects_needs_in_production() throws IOException {
    String guide = Files.readString(PROJECT.resolve("docs").resolve("guide.md"));

    assertTrue(
        guide.contains(
            "In production, a run whose tools have effects uses a durable store and an idempotency"
                + " key."));
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    try (Stream<Path> files = Files.list(PROJECT)) {
      files.forEach(pages::add);
    }
    try (Stream<Path> files = Files.walk(PROJECT.resolve("docs"))) {
      files.forEach(pages::add);
    }
    pages.removeIf(file -> !file.toString().endsWith(".md"));
    return pages;
  }

  private static Stream<MatchResult> links(Path page) throws IOException {
    return LINK.matcher(Files.readString(page)).results();
  }

  /** The headings of a page as links name them. */
  private static Set<String> anchors(Path page) throws IOException {
    return Files.readAllLines(page).stream()
        .filter(line -> line.startsWith("#"))
        .map(line -> line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT))
        .map(title -> title.replaceAll("[^\\w -]", "").replace(' ', '-'))
        .collect(Collectors.toSet());
  }
}
