package dev.warpwright.adapters.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.ScriptedServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opentest4j.TestAbortedException;

/** The live checks, against a server that is not. */
@Timeout(60)
final class LiveCheckTest {
  private static final String KEY = "live-key-4711";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private ScriptedServer server =
      ScriptedServer.builder(Conformance.script()).requireKey(KEY).start();

  @AfterEach
  void close() {
    server.close();
  }

  private List<DynamicTest> tests(Map<String, String> environment) {
    Provider near = provider("near", List.of(Credential.key("NEAR_KEY")), Map.of());
    Provider far =
        provider(
            "far",
            List.of(Credential.key("FAR_KEY"), Credential.AWS),
            Map.of("FAR_REGION", "x", "FAR_PROJECT", "y"));
    Provider open = provider("open", List.of(), Map.of());
    return new LiveCheck(
            List.of(near, far, open),
            environment::get,
            new PrintStream(out, true, StandardCharsets.UTF_8))
        .tests()
        .toList();
  }

  private Provider provider(String id, List<Credential> credentials, Map<String, String> places) {
    return new Provider(
        id, id, "small", places, credentials, _ -> OpenAi.builder().baseUrl(server.uri()));
  }

  private void run(Map<String, String> environment) throws Throwable {
    List<DynamicTest> tests = tests(environment);
    assertEquals(1, tests.size());
    tests.getFirst().getExecutable().execute();
  }

  private String printed() {
    return out.toString(StandardCharsets.UTF_8);
  }

  @Test
  @Tag("R383")
  void a_provider_gets_two_bounded_calls_and_no_more() throws Throwable {
    run(Map.of("WARPWRIGHT_LIVE", "near", "NEAR_KEY", KEY));

    assertEquals(2, server.requests());
    assertTrue(
        server.exchanges().stream()
            .allMatch(asked -> asked.body().contains("\"max_tokens\":1024")));
    assertEquals(
        1,
        server.exchanges().stream()
            .filter(asked -> asked.body().contains("\"stream\":true"))
            .count());
    assertEquals("live near: passed" + System.lineSeparator(), printed());
  }

  @Test
  @Tag("R383")
  void a_missing_credential_is_blocked_and_no_pass() {
    for (Map<String, String> environment :
        List.of(
            Map.of("WARPWRIGHT_LIVE", "near", "FAR_KEY", KEY),
            Map.of("WARPWRIGHT_LIVE", "near", "NEAR_KEY", " "))) {
      out.reset();

      TestAbortedException aborted =
          assertThrows(TestAbortedException.class, () -> run(environment));

      assertTrue(
          String.valueOf(aborted.getMessage()).contains("blocked: NEAR_KEY is not set"),
          aborted::getMessage);
      assertEquals("live near: blocked: NEAR_KEY is not set" + System.lineSeparator(), printed());
      assertEquals(0, server.exchanges().size());
    }
  }

  @Test
  @Tag("R383")
  void every_variable_that_is_missing_is_named() {
    Map<String, String> some =
        Map.of("WARPWRIGHT_LIVE", "far", "FAR_PROJECT", "p", "AWS_ACCESS_KEY_ID", "half");

    TestAbortedException aborted = assertThrows(TestAbortedException.class, () -> run(some));

    assertTrue(
        String.valueOf(aborted.getMessage())
            .contains(
                "blocked: FAR_REGION, FAR_KEY or AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY is"
                    + " not set"),
        aborted::getMessage);
    assertEquals(0, server.exchanges().size());
  }

  @Test
  void a_service_that_needs_no_key_is_asked_without_one() throws Throwable {
    server.close();
    server = ScriptedServer.start(Conformance.script());

    run(Map.of("WARPWRIGHT_LIVE", "open", "NEAR_KEY", KEY));

    assertEquals(2, server.requests());
    assertFalse(server.exchanges().toString().contains(KEY));
    assertEquals("live open: passed" + System.lineSeparator(), printed());
  }

  @Test
  @Tag("R383")
  void a_credential_that_is_refused_is_a_failure_that_does_not_show_it() {
    AssertionError failed =
        assertThrows(
            AssertionError.class,
            () -> run(Map.of("WARPWRIGHT_LIVE", "near", "NEAR_KEY", "another-key-0815")));

    assertTrue(String.valueOf(failed.getMessage()).contains("401"), failed::getMessage);
    assertFalse(String.valueOf(failed.getMessage()).contains("0815"), failed::getMessage);
    assertEquals("live near: FAILED" + System.lineSeparator(), printed());
    assertEquals(2, server.exchanges().size());
  }

  @Test
  void a_provider_that_does_not_exist_fails() {
    for (String names : List.of("openapi", "openapi,near", ",", ",near")) {
      DynamicTest first = tests(Map.of("WARPWRIGHT_LIVE", names)).getFirst();

      AssertionError failed =
          assertThrows(AssertionError.class, () -> first.getExecutable().execute());

      assertEquals(
          "WARPWRIGHT_LIVE names no provider that there is: " + names.split(",", -1)[0],
          failed.getMessage());
    }
  }

  @Test
  void each_name_is_a_test_and_may_choose_a_model() throws Throwable {
    List<DynamicTest> tests =
        tests(Map.of("WARPWRIGHT_LIVE", " near=large , far", "NEAR_KEY", KEY));
    assertEquals(
        List.of("live near=large", "live far"),
        tests.stream().map(DynamicTest::getDisplayName).toList());

    tests.getFirst().getExecutable().execute();

    assertTrue(server.exchanges().getFirst().body().contains("\"model\":\"large\""));
  }

  @Test
  void without_a_name_there_is_no_test() {
    assertEquals(List.of(), tests(Map.of()));
    assertEquals(List.of(), tests(Map.of("WARPWRIGHT_LIVE", " ")));
  }
}
