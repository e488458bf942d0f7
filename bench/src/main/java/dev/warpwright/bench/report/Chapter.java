package dev.warpwright.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The results of one class.
 *
 * @param place where it stands among the others
 * @param name the class, without its package
 * @param question what it answers
 * @param baseline what the others are compared with, in words
 * @param environment where and how a load program measured it; empty for JMH's
 * @param groups what stands beside each other
 */
record Chapter(
    int place,
    String name,
    String question,
    String baseline,
    Map<String, String> environment,
    List<Group> groups) {

  /**
   * What is compared with each other.
   *
   * @param title what tells it from other groups; empty if there is one
   * @param baseline what the others are compared with, if it was measured
   * @param rows all of it, the baseline first, then the others by their number or from the best on
   */
  record Group(String title, Optional<Row> baseline, List<Row> rows) {
    Unit unit() {
      return rows.getFirst().result().unit();
    }

    /** Whether it was measured what they allocate. */
    boolean isAllocating() {
      return rows.stream().anyMatch(row -> row.result().bytes().isPresent());
    }

    /** How a row stands to the baseline, if that was measured. */
    Optional<String> ratio(Row row) {
      return baseline.map(
          base -> Text.ratio(row.result().score().median() / base.result().score().median()));
    }
  }

  /**
   * One of a group.
   *
   * @param label which
   * @param result what was measured
   */
  record Row(String label, Result result) {}

  /** All chapters, in their order. */
  static List<Chapter> all(Results results) {
    return results.byType().entrySet().stream()
        .map(
            entry ->
                of(
                    entry.getKey(),
                    entry.getValue(),
                    results.environments().getOrDefault(entry.getKey(), Map.of())))
        .sorted(Comparator.comparingInt(Chapter::place))
        .toList();
  }

  /** Arranges the results of a class as its {@link Question} says. */
  static Chapter of(String type, List<Result> results, Map<String, String> environment) {
    String name = type.substring(type.lastIndexOf('.') + 1);
    Optional<Question> question = question(type);
    String by = question.map(Question::by).orElse("");
    String baseline = question.map(Question::baseline).orElse("");
    boolean methodsDiffer = results.stream().map(Result::method).distinct().count() > 1;
    Map<String, List<Result>> groups = new LinkedHashMap<>();
    for (Result result : results) {
      String title = title(result, by, methodsDiffer);
      groups.computeIfAbsent(title, each -> new ArrayList<>()).add(result);
    }
    return new Chapter(
        question.map(Question::place).orElse(Integer.MAX_VALUE),
        name,
        question.map(Question::value).orElse(name),
        Text.words(baseline),
        environment,
        groups.entrySet().stream()
            .map(entry -> group(entry.getKey(), entry.getValue(), key(by), baseline))
            .toList());
  }

  private static Optional<Question> question(String type) {
    try {
      return Optional.ofNullable(
          Class.forName(type, false, Chapter.class.getClassLoader()).getAnnotation(Question.class));
    } catch (ClassNotFoundException e) {
      return Optional.empty(); // results of another version of the suite
    }
  }

  private static Function<Result, String> key(String by) {
    return by.isEmpty() ? Result::method : result -> result.params().getOrDefault(by, "");
  }

  private static String title(Result result, String by, boolean methodsDiffer) {
    Map<String, String> others = new LinkedHashMap<>(result.params());
    others.remove(by);
    List<String> parts = new ArrayList<>();
    if (!by.isEmpty() && methodsDiffer) {
      parts.add(Text.words(result.method()));
    }
    if (!others.isEmpty()) {
      parts.add(Text.words(others));
    }
    return String.join(", ", parts);
  }

  /** Numbers in their order; else the best first: less is, except of what is done in a second. */
  private static Comparator<Result> order(List<Result> results, Function<Result, String> key) {
    if (results.stream().allMatch(result -> key.apply(result).matches("\\d+"))) {
      return Comparator.comparingInt(result -> Integer.parseInt(key.apply(result)));
    }
    return Comparator.comparingDouble(
        result -> (result.unit() == Unit.RATE ? -1 : 1) * result.score().median());
  }

  private static Group group(
      String title, List<Result> results, Function<Result, String> key, String baseline) {
    Comparator<Result> baselineFirst =
        Comparator.comparing(result -> !key.apply(result).equals(baseline));
    List<Row> rows =
        results.stream()
            .sorted(baselineFirst.thenComparing(order(results, key)))
            .map(result -> new Row(Text.words(key.apply(result)), result))
            .toList();
    Optional<Row> first =
        rows.stream().filter(row -> key.apply(row.result()).equals(baseline)).findFirst();
    return new Group(title, first, rows);
  }
}
