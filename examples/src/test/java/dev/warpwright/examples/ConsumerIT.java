package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three small programs of {@code src/consumers}, compiled with all warnings as errors and run
 * against the packaged jars and what they need, and nothing else: no JUnit, no logger.
 */
@Timeout(300)
final class ConsumerIT {
  private static final Path PROGRAMS = Path.of("src", "consumers").toAbsolutePath();

  @TempDir private Path folder;

  @Test
  void a_program_on_the_module_path_runs_and_its_second_run_only_greets() throws Exception {
    compile("module-path", "--module-path", PackagedJars.path());
    String[] java = {
      "--module-path",
      PackagedJars.path() + File.pathSeparator + classes(),
      "--module",
      "shop/shop.Shop"
    };

    assertEquals(
        "module shop: Good morning. It is on its way. calls: 3, look-ups: 1, JUnit: false",
        lastLine(java));
    assertEquals(
        "module shop: Good morning. It is on its way. calls: 1, look-ups: 0, JUnit: false",
        lastLine(java));
  }

  @Test
  void a_program_on_the_class_path_runs_and_its_second_run_only_greets() throws Exception {
    compile("class-path", "--class-path", PackagedJars.path());
    String[] java = {
      "--class-path", PackagedJars.path() + File.pathSeparator + classes(), "Orders"
    };

    assertEquals(
        "Good morning. It is on its way. calls: 3, look-ups: 1, JUnit: false", lastLine(java));
    assertEquals(
        "Good morning. It is on its way. calls: 1, look-ups: 0, JUnit: false", lastLine(java));
  }

  @Test
  @Tag("R382")
  void a_program_generates_and_streams_over_six_transports() throws Exception {
    compile("transports", "--module-path", PackagedJars.path());

    assertEquals(
        "[Good morning.] over [/v1/chat/completions, /v1/messages, /v1/responses] in 12 calls",
        lastLine(
            "--module-path",
            PackagedJars.path() + File.pathSeparator + classes(),
            "--module",
            "transports/transports.Transports"));
  }

  private Path classes() {
    return folder.resolve("classes");
  }

  private void compile(String program, String... path) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of(path));
    arguments.addAll(List.of("-Xlint:all", "-Werror", "-d", classes().toString()));
    try (Stream<Path> files = Files.walk(PROGRAMS.resolve(program))) {
      files.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(arguments::add);
    }
    assertEquals("", Jvm.run(folder, "javac", arguments.toArray(String[]::new)));
  }

  /** What the program prints last; before it, SLF4J may say that there is no logger. */
  private String lastLine(String... java) throws IOException, InterruptedException {
    List<String> arguments = new ArrayList<>(List.of(java));
    arguments.add(folder.resolve("runs").toString());
    String printed = Jvm.run(folder, "java", arguments.toArray(String[]::new));
    assertFalse(printed.contains("Exception"), printed);
    return printed.lines().toList().getLast();
  }
}
