package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.agent.HookFailurePolicy;
import dev.warpwright.agent.Invocation;
import dev.warpwright.agent.RunPolicy;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.examples.ConfigurationPage.Row;
import dev.warpwright.flow.FailurePolicy;
import dev.warpwright.mcp.McpServer;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.run.RunScope;
import dev.warpwright.store.jdbc.JdbcRunStore;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.ToolExecution;
import dev.warpwright.tool.ToolSet;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * {@code docs/configuration.md} says what the code does: no setting without a row, no row without.
 */
final class ConfigurationPageTest {
  /** What looks like a type with settings and has none of a program: data, or used inside. */
  private static final Set<String> NO_SETTINGS =
      Set.of(
          "ApprovalPolicy", // a function of the program
          "CatalogEntry.Builder",
          "ForkChanges.Builder", // what is changed in one run
          "Handoff.Builder",
          "Gemini.Builder", // none beside those of AdapterBuilder
          "Ollama.Builder",
          "Vertex.Builder",
          "ModelCatalog.Builder",
          "PlanRequest.Builder",
          "RoutePlanner.Builder",
          "RunQuery.Builder", // what is asked, not a setting
          "ModelCall.Builder",
          "ProviderException.Builder",
          "ScriptedModel.Builder",
          "ScriptedServer.Builder",
          "Conformance.Builder",
          "ValuationPolicy");

  /** What a row may name as a default. */
  private static final Map<String, Object> NAMED =
      Map.ofEntries(
          Map.entry("RetryPolicy.DEFAULT", RetryPolicy.DEFAULT),
          Map.entry("CircuitBreaker.none()", CircuitBreaker.none()),
          Map.entry("AdmissionController.unlimited()", AdmissionController.unlimited()),
          Map.entry("TargetMetrics.none()", TargetMetrics.none()),
          Map.entry("TimeSource.system()", TimeSource.system()),
          Map.entry("ToolExecution.DEFAULT", ToolExecution.DEFAULT),
          Map.entry("ToolChoice.AUTO", ToolChoice.AUTO),
          Map.entry("RunScope.DEFAULT", RunScope.DEFAULT),
          Map.entry("Invocation.DEFAULT", Invocation.DEFAULT),
          Map.entry("RunPolicy.NONE", RunPolicy.NONE),
          Map.entry("FailurePolicy.CONTINUE", FailurePolicy.CONTINUE),
          Map.entry("HookFailurePolicy.IGNORE", HookFailurePolicy.IGNORE),
          Map.entry("MethodHandles.publicLookup()", MethodHandles.publicLookup()));

  private static final Map<String, List<Row>> PAGE = page();

  /** A setting and its row. */
  record Described(String type, Knob knob, Row row) {
    @Override
    public String toString() {
      return type + " " + row.setting() + "/" + row.arguments();
    }
  }

  private static Map<String, List<Row>> page() {
    try {
      return ConfigurationPage.read();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<Row> rows(String type) {
    return PAGE.getOrDefault(type, List.of());
  }

  static Stream<Described> described() {
    return Knobs.all().entrySet().stream()
        .flatMap(type -> type.getValue().stream().flatMap(knob -> described(type.getKey(), knob)));
  }

  private static Stream<Described> described(String type, Knob knob) {
    return rows(type).stream()
        .filter(row -> row.key().equals(knob.key()))
        .map(row -> new Described(type, knob, row));
  }

  @Test
  void every_setting_has_one_row_and_every_row_is_a_setting() {
    Map<String, List<Knob>> types = Knobs.all();
    assertEquals(types.keySet(), PAGE.keySet(), "the sections of docs/configuration.md");
    assertAll(
        types.entrySet().stream()
            .map(
                type ->
                    () ->
                        assertEquals(
                            type.getValue().stream().map(Knob::key).sorted().toList(),
                            rows(type.getKey()).stream().map(Row::key).sorted().toList(),
                            "the settings of " + type.getKey() + " in docs/configuration.md")));
  }

  @Test
  void every_type_with_settings_has_a_section() throws Exception {
    Set<String> found = new TreeSet<>();
    for (Class<?> module :
        List.of(Gateway.class, OpenAi.class, McpServer.class, JdbcRunStore.class)) {
      for (Class<?> type : classesBeside(module)) {
        if (Modifier.isPublic(type.getModifiers()) && mayHaveSettings(type)) {
          found.add(title(type));
        }
      }
    }
    assertTrue(found.contains("Gateway.Builder"), found::toString);
    assertTrue(found.contains("JdbcRunStore.Builder"), found::toString);
    // A type and its builder have one section, under the name of either.
    found.removeIf(
        title ->
            PAGE.containsKey(title.replace(".Builder", ""))
                || PAGE.containsKey(title + ".Builder"));
    found.removeAll(PAGE.keySet());
    assertEquals(new TreeSet<>(NO_SETTINGS), found, "public types that have no section");
  }

  private static boolean mayHaveSettings(Class<?> type) {
    return type.getSimpleName().equals("Builder") || type.getSimpleName().endsWith("Policy");
  }

  private static String title(Class<?> type) {
    return type.getName().substring(type.getPackageName().length() + 1).replace('$', '.');
  }

  private static List<Class<?>> classesBeside(Class<?> type)
      throws URISyntaxException, IOException, ClassNotFoundException {
    Path place = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(place)) {
      return classesUnder(place);
    }
    try (FileSystem jar = FileSystems.newFileSystem(place)) {
      return classesUnder(jar.getPath("/"));
    }
  }

  private static List<Class<?>> classesUnder(Path root) throws IOException, ClassNotFoundException {
    List<String> names;
    try (Stream<Path> files = Files.walk(root)) {
      names =
          files
              .map(file -> root.relativize(file).toString())
              .filter(file -> file.endsWith(".class") && !file.endsWith("-info.class"))
              .map(file -> file.substring(0, file.length() - ".class".length()))
              .map(file -> file.replace('/', '.'))
              .toList();
    }
    List<Class<?>> classes = new ArrayList<>();
    for (String name : names) {
      classes.add(Class.forName(name, false, ConfigurationPageTest.class.getClassLoader()));
    }
    return classes;
  }

  @Test
  void the_builder_of_a_record_sets_nothing_else() {
    assertAll(
        Stream.of(CircuitPolicy.class, AdmissionPolicy.class)
            .map(
                policy ->
                    () -> {
                      Set<String> components =
                          Stream.of(policy.getRecordComponents())
                              .map(component -> component.getName())
                              .collect(Collectors.toSet());
                      Stream.of(policy.getDeclaredClasses()[0].getDeclaredMethods())
                          .map(method -> method.getName())
                          .filter(name -> !name.equals("build"))
                          .forEach(
                              name -> assertTrue(components.contains(name), policy + " " + name));
                    }));
  }

  @ParameterizedTest
  @MethodSource("described")
  void a_row_says_what_the_setting_does_and_in_which_unit(Described setting) {
    assertFalse(setting.row().unit().isBlank());
    assertTrue(setting.row().consequence().endsWith("."), setting.row().consequence());
  }

  @ParameterizedTest
  @MethodSource("described")
  void the_default_is_the_one_on_the_page(Described setting) {
    String cell = setting.row().byDefault();
    if (setting.knob().byDefault().isEmpty()) {
      assertEquals("required", cell);
      return;
    }
    Object actual = setting.knob().byDefault().get().get();
    assertTrue(isDefault(cell, actual), () -> "The page says " + cell + ", the code " + actual);
  }

  private static boolean isDefault(String cell, @Nullable Object actual) {
    if (actual != null && actual.getClass().isHidden()) {
      return !Quantity.is(cell) && !cell.equals("required"); // a lambda: said in words
    }
    if (actual instanceof List<?> several && !several.isEmpty()) {
      List<String> cells = List.of(cell.split("; "));
      return cells.size() == several.size()
          && Stream.iterate(0, i -> i < cells.size(), i -> i + 1)
              .allMatch(i -> isDefault(cells.get(i), several.get(i)));
    }
    return switch (cell) {
      case "none" -> isNothing(actual);
      case "no" -> actual == null || actual.equals(false);
      case "yes" -> Boolean.TRUE.equals(actual);
      default -> actual != null && isValue(cell, actual);
    };
  }

  private static boolean isNothing(@Nullable Object value) {
    return switch (value) {
      case null -> true;
      case Collection<?> collection -> collection.isEmpty();
      case Map<?, ?> map -> map.isEmpty();
      default ->
          List.of(
                  Optional.empty(),
                  OptionalInt.empty(),
                  OptionalLong.empty(),
                  OptionalDouble.empty(),
                  ToolSet.NONE)
              .contains(value);
    };
  }

  private static boolean isValue(String cell, Object actual) {
    if (cell.startsWith("`")) {
      String code = cell.substring(1, cell.length() - 1);
      return actual.equals(NAMED.get(code)) || code.equals(actual.toString());
    }
    return switch (actual) {
      case Duration time -> Quantity.time(cell).equals(time);
      case Number number -> Quantity.number(cell) == number.doubleValue();
      default -> cell.equals(actual.toString());
    };
  }

  @ParameterizedTest
  @MethodSource("described")
  @Tag("R29")
  void exactly_the_values_beyond_the_bounds_are_refused(Described setting) throws Throwable {
    List<Class<?>> types = setting.knob().types();
    for (int place = 0; place < types.size(); place++) {
      Optional<Bound> bound =
          types.size() > 1 && !Bound.isOrdered(types.get(place))
              ? Optional.empty()
              : Bound.of(setting.row().bounds(), types.get(place));
      if (bound.isPresent()) {
        check(setting, place, bound.get());
      }
    }
  }

  private static void check(Described setting, int place, Bound bound) throws Throwable {
    for (Object value : bound.inside()) {
      List<Object> values = values(setting, place, value);
      assertDoesNotThrow(
          () -> setting.knob().setter().set(values), () -> shown(value) + " is inside the bounds");
    }
    for (Bound.Refused refused : bound.outside()) {
      List<Object> values = values(setting, place, refused.value());
      Exception thrown =
          assertThrows(
              refusal(setting),
              () -> setting.knob().setter().set(values),
              () -> shown(refused.value()) + " is beyond the bounds");
      assertMessage(setting, refused, String.valueOf(thrown.getMessage()));
    }
  }

  private static Class<? extends Exception> refusal(Described setting) {
    return setting.type().equals("TaskTree.Builder")
        ? IllegalArgumentException.class
        : InvalidRequestException.class;
  }

  /** All values of a setting, that of one place given. */
  private static List<Object> values(Described setting, int place, Object value) {
    List<Object> values = new ArrayList<>();
    for (Class<?> type : setting.knob().types()) {
      values.add(
          values.size() == place
              ? type == String[].class ? new String[] {(String) value} : value
              : other(type));
    }
    return values;
  }

  private static Object other(Class<?> type) {
    if (type == String.class) {
      return "a";
    }
    if (type.isEnum()) {
      return type.getEnumConstants()[0];
    }
    return type == int.class ? (Object) 1 : (Object) 1L;
  }

  private static String shown(Object value) {
    return value instanceof String text ? text.length() + " characters" : value.toString();
  }

  private static void assertMessage(Described setting, Bound.Refused refused, String message) {
    String letters = message.replaceAll("[^A-Za-z0-9]", "").toLowerCase(Locale.ROOT);
    assertTrue(
        letters.contains(setting.row().setting().toLowerCase(Locale.ROOT)),
        () -> "The message does not name the setting: " + message);
    for (List<String> part : refused.said()) {
      assertTrue(
          part.stream().anyMatch(form -> says(message, form)),
          () -> "The message does not show one of " + part + ": " + message);
    }
  }

  private static boolean says(String message, String form) {
    return Pattern.compile("(?<![\\w.-])" + Pattern.quote(form) + "(?!\\w|\\.\\d)")
        .matcher(message)
        .find();
  }

  /**
   * What the page owes to its readers beside the tables, and words without which it is not said.
   */
  static Stream<Arguments> duties() {
    return Stream.of(
        Arguments.of(
            "R74",
            List.of(
                "limits the model's price, not the invoice",
                "independent of cost accounting and of reservations",
                "`maxTotalAttempts`",
                "spending limits at the provider",
                "authentication",
                "rate limiting")),
        Arguments.of("R238", List.of("neither billing nor a strict limit")),
        Arguments.of("R252", List.of("no expensive computation")),
        Arguments.of(
            "R290",
            List.of("starting points", "no guarantee of a level of service", "claims an optimum")),
        Arguments.of("R316", List.of("the provider's own limits remain the final boundary")),
        Arguments.of(
            "R329, R334",
            List.of(
                "comes from the program, never straight from a client",
                "put the period into the scope",
                "not the exact invoice",
                "Recover the ledger, then build another gateway")),
        Arguments.of("R344", List.of("belongs to the call that it joined")),
        Arguments.of("R348", List.of("whenever credentials or endpoints change")),
        Arguments.of("R356", List.of("No mode of observers can stop code that computes")),
        Arguments.of("R391", List.of("your service's own durable ledger")));
  }

  @ParameterizedTest
  @MethodSource("duties")
  @Tag("R74")
  @Tag("R238")
  @Tag("R252")
  @Tag("R290")
  @Tag("R316")
  @Tag("R329")
  @Tag("R334")
  @Tag("R344")
  @Tag("R348")
  @Tag("R356")
  @Tag("R391")
  void the_page_says_what_a_setting_does_not_do(String duty, List<String> words)
      throws IOException {
    String page = Files.readString(ConfigurationPage.PATH);
    words.forEach(word -> assertTrue(page.contains(word), duty + ": " + word));
  }
}
