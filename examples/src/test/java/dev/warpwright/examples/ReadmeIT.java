package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The README's first program, compiled and run as it stands there. */
final class ReadmeIT {
  private static final Pattern JAVA_BLOCK = Pattern.compile("(?s)```java\n(.*?)```");

  @TempDir private Path folder;

  @Test
  void the_first_program_runs_and_its_second_run_asks_no_provider() throws Exception {
    Path source = folder.resolve("First.java");
    String program = firstProgram();
    assertTrue(program.lines().count() <= 15, "at most 15 lines");
    Files.writeString(source, program);
    Script script =
        Script.parse("{\"rules\": [{\"when\": {}, \"answer\": {\"text\": \"It scatters.\"}}]}");

    try (ScriptedServer server = ScriptedServer.start(script)) {
      assertEquals("It scatters.\n", run(source, server));
      assertEquals("It scatters.\n", run(source, server));
      assertEquals(1, server.requests());
    }
  }

  private static String firstProgram() throws IOException {
    Matcher block = JAVA_BLOCK.matcher(Files.readString(Path.of("..", "README.md")));
    assertTrue(block.find(), "the README has a program");
    return block.group(1);
  }

  private String run(Path source, ScriptedServer server) throws Exception {
    Path output = folder.resolve("output.txt");
    ProcessBuilder java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                Path.of("target", "warpwright-examples.jar").toAbsolutePath().toString(),
                source.toString())
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    java.environment().put("OPENAI_API_KEY", "a-key");
    java.environment().put("OPENAI_BASE_URL", server.uri().toString());
    Process process = java.start();
    assertTrue(process.waitFor(60, TimeUnit.SECONDS), "the program ends");
    String printed = Files.readString(output, StandardCharsets.UTF_8).replace("\r\n", "\n");
    assertEquals(0, process.exitValue(), printed);
    return printed;
  }
}
