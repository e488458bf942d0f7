package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page of the compatible vendors shows what the program prints. */
@Timeout(60)
final class CompatibleTest {
  private static final Path PAGE = Path.of("../docs/examples/compatible.md");

  @Test
  void the_page_shows_what_the_program_prints() throws IOException {
    String page = Files.readString(PAGE);
    int start = page.indexOf("```text\n") + "```text\n".length();
    String shown = page.substring(start, page.indexOf("```\n", start));

    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    Compatible.run(new PrintStream(printed, true, StandardCharsets.UTF_8));

    assertEquals(shown, printed.toString(StandardCharsets.UTF_8).replace("\r\n", "\n"));
  }
}
