package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page of streams and objects shows what the programs print. */
@Timeout(60)
final class StreamsAndObjectsTest {
  private static final Path PAGE = Path.of("../docs/examples/streams-and-objects.md");

  private static String shown(String program) throws IOException {
    String page = Files.readString(PAGE);
    int command = page.indexOf("dev.warpwright.examples." + program + "\n");
    int start = page.indexOf("```text\n", command) + "```text\n".length();
    return page.substring(start, page.indexOf("```\n", start));
  }

  private static String printed(Consumer<PrintStream> program) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    program.accept(new PrintStream(bytes, true, StandardCharsets.UTF_8));
    return bytes.toString(StandardCharsets.UTF_8).replace("\r\n", "\n");
  }

  @Test
  @Tag("R136")
  @Tag("R149")
  void streaming() throws IOException {
    assertEquals(shown("Streaming"), printed(Streaming::run));
  }

  @Test
  @Tag("R159")
  @Tag("R163")
  void typed_object() throws IOException {
    assertEquals(shown("TypedObject"), printed(TypedObject::run));
  }

  @Test
  @Tag("R167")
  void streamed_object() throws IOException {
    assertEquals(shown("StreamedObject"), printed(StreamedObject::run));
  }
}
