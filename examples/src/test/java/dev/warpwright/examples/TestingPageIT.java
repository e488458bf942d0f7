package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The test on the page about tests, compiled and run as it stands there. */
@Timeout(120)
final class TestingPageIT {
  private static final Pattern JAVA_BLOCK = Pattern.compile("(?s)```java\n(.*?)```");

  @TempDir private Path folder;

  @Test
  void the_test_on_the_page_passes() throws Exception {
    TestExecutionSummary summary = run("RefundTest", source());

    assertEquals(List.of(), failures(summary));
    assertEquals(3, summary.getTestsSucceededCount());
  }

  @Test
  void it_fails_if_it_leaves_something_behind() throws Exception {
    String leaking =
        source()
            .replace(
                "assertEquals(\"Hello.\", answer.get());",
                "time.alarm(time.nanoTime() + 1, () -> {});\n"
                    + "    Thread.currentThread().interrupt();\n");

    TestExecutionSummary summary =
        run("RefundTest", leaking.replace("assertEquals(2, model.calls());", ""));

    List<String> failures = failures(summary);
    assertEquals(1, failures.size(), failures::toString);
    String failure = failures.getFirst();
    assertTrue(failure.startsWith("The test has left an interrupt on its thread."), failure);
    assertTrue(failure.contains("alarms: "), failure);
    assertEquals(2, summary.getTestsSucceededCount());
  }

  @Test
  void the_flow_test_in_the_readme_passes() throws Exception {
    Matcher block = JAVA_BLOCK.matcher(Files.readString(Path.of("..", "README.md")));
    assertTrue(block.find(), "the README has a program");
    assertTrue(block.find(block.end()), "the README has a second program");

    TestExecutionSummary summary = run("CheckoutTest", block.group(1));

    assertEquals(List.of(), failures(summary));
    assertEquals(1, summary.getTestsSucceededCount());
  }

  private static String source() throws IOException {
    Matcher block = JAVA_BLOCK.matcher(Files.readString(Path.of("..", "docs", "testing.md")));
    assertTrue(block.find(), "the page has a test");
    return block.group(1);
  }

  private TestExecutionSummary run(String test, String source) throws Exception {
    Path file = Files.writeString(folder.resolve(test + ".java"), source);
    String classPath = System.getProperty("java.class.path");
    String said =
        Jvm.run(
            folder,
            "javac",
            "-proc:none",
            "-cp",
            classPath,
            "-d",
            folder.toString(),
            file.toString());
    assertEquals("", said);
    ClassLoader here = TestingPageIT.class.getClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, here)) {
      SummaryGeneratingListener listener = new SummaryGeneratingListener();
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(selectClass(loader.loadClass(test)))
                  .build(),
              listener);
      return listener.getSummary();
    }
  }

  private static List<String> failures(TestExecutionSummary summary) {
    return summary.getFailures().stream()
        .map(failure -> String.valueOf(failure.getException().getMessage()))
        .toList();
  }
}
