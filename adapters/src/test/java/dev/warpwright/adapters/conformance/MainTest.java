package dev.warpwright.adapters.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The kit from the command line. */
@Timeout(60)
final class MainTest {
  private static final String KEY = "main-key-4711";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(Map<String, String> environment, String... args) throws InterruptedException {
    return Main.run(
        args,
        environment::get,
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  private static ScriptedServer server(Script script) {
    return ScriptedServer.builder(script).requireKey(KEY).start();
  }

  private String printed() {
    return out.toString(StandardCharsets.UTF_8);
  }

  static Stream<String> protocols() {
    return PlayedProvider.PROTOCOLS.stream();
  }

  @ParameterizedTest
  @MethodSource("protocols")
  void a_server_that_passes_ends_with_zero_and_its_table(String protocol) throws Exception {
    try (ScriptedServer server = server(Conformance.script())) {
      int exitCode =
          run(
              Map.of("KIT_KEY", KEY),
              "--protocol",
              protocol,
              "--base-url",
              server.uri().toString(),
              "--model",
              "kit-model",
              "--key-variable",
              "KIT_KEY");

      assertEquals(0, exitCode, this::printed);
      for (String line :
          Arrays.asList(
              "kit-model at ",
              "\nblocking             passed        1 ",
              "\njson-mode            skipped       0      0 ms  jsonMode is not declared\n",
              "\nwrong-key            passed        1 ",
              protocol.equals("ollama")
                  ? "\n13 passed, 0 FAILED, 0 not shown, 3 skipped, 0 blocked, 12 of at most 16"
                  : "\n14 passed, 0 FAILED, 0 not shown, 2 skipped, 0 blocked, 14 of at most 16")) {
        assertTrue(printed().contains(line), () -> line + "\nin\n" + printed());
      }
      assertFalse(printed().contains(KEY), this::printed);
      assertEquals(0, err.size());
    }
  }

  @Test
  void features_checks_and_bounds_can_be_chosen() throws Exception {
    try (ScriptedServer server = server(Conformance.script())) {
      int exitCode =
          run(
              Map.of("KIT_KEY", KEY),
              "--protocol",
              "openai",
              "--base-url",
              server.uri().toString(),
              "--model",
              "kit-model",
              "--key-variable",
              "KIT_KEY",
              "--features",
              "structuredOutput, jsonMode",
              "--checks",
              "json-mode,structured-output,tool-call",
              "--max-tokens",
              "77",
              "--timeout",
              "PT20S");

      assertEquals(0, exitCode, this::printed);
      assertTrue(printed().contains("2 passed, 0 FAILED, 0 not shown, 1 skipped"), this::printed);
      assertEquals(2, server.requests());
      assertTrue(
          server.exchanges().stream()
              .allMatch(asked -> asked.body().contains("\"max_tokens\":77")));
    }
  }

  @Test
  void a_failed_check_ends_with_one() throws Exception {
    try (ScriptedServer server =
        server(
            PlayedProvider.script(
                "", "{ \"when\": { \"user\": \"Utrecht\" }, \"status\": 400 },"))) {
      int exitCode =
          run(
              Map.of("KIT_KEY", KEY),
              "--protocol",
              "openai",
              "--base-url",
              server.uri().toString(),
              "--model",
              "kit-model",
              "--key-variable",
              "KIT_KEY",
              "--checks",
              "blocking");

      assertEquals(1, exitCode, this::printed);
      assertTrue(printed().contains("\nblocking             FAILED        1 "), this::printed);
      assertTrue(printed().contains("HTTP_STATUS 400"), this::printed);
    }
  }

  @Test
  void a_missing_key_is_blocked_and_nothing_is_asked() throws Exception {
    try (ScriptedServer server = server(Conformance.script())) {
      int exitCode =
          run(
              Map.of("KIT_KEY", " "),
              "--protocol",
              "openai",
              "--base-url",
              server.uri().toString(),
              "--model",
              "kit-model",
              "--key-variable",
              "KIT_KEY");

      assertEquals(2, exitCode);
      assertTrue(
          printed().contains("blocked       0      0 ms  KIT_KEY is not set"), this::printed);
      assertTrue(printed().contains("0 passed, 0 FAILED, 0 not shown, 0 skipped, 16 blocked"));
      assertEquals(0, server.acceptedConnections());
    }
  }

  @Test
  void the_own_service_of_a_provider_wants_the_key_of_its_variable() throws Exception {
    assertEquals(2, run(Map.of(), "--protocol", "anthropic"));

    assertTrue(printed().contains("ANTHROPIC_API_KEY is not set"), this::printed);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "azure|AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY is not set",
        "vertex|GOOGLE_CLOUD_LOCATION, GOOGLE_CLOUD_PROJECT, VERTEX_ACCESS_TOKEN or"
            + " GOOGLE_APPLICATION_CREDENTIALS is not set",
        "bedrock|AWS_REGION, AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID with"
            + " AWS_SECRET_ACCESS_KEY is not set",
        "bedrock-openai|BEDROCK_BASE_URL, AWS_BEARER_TOKEN_BEDROCK is not set"
      })
  void a_service_that_cannot_be_found_is_blocked(String protocol, String reason) throws Exception {
    assertEquals(2, run(Map.of(), "--protocol", protocol));

    assertTrue(printed().contains(reason), this::printed);
  }

  @ParameterizedTest
  @ValueSource(strings = {"azure", "vertex", "bedrock", "bedrock-openai"})
  void another_server_is_asked_without_the_variables_of_the_place(String protocol)
      throws Exception {
    try (ScriptedServer server = ScriptedServer.start(Conformance.script())) {
      int exitCode =
          run(
              Map.of(),
              "--protocol",
              protocol,
              "--base-url",
              server.uri().toString(),
              "--model",
              "kit-model",
              "--checks",
              "blocking,streaming");

      assertEquals(0, exitCode, this::printed);
      assertEquals(2, server.requests());
    }
  }

  @Test
  void another_server_is_sent_no_key_that_was_not_named() throws Exception {
    try (ScriptedServer server = ScriptedServer.start(Conformance.script())) {
      int exitCode =
          run(
              Map.of("OPENAI_API_KEY", KEY),
              "--protocol",
              "openai",
              "--base-url",
              server.uri().toString(),
              "--model",
              "kit-model",
              "--checks",
              "blocking,wrong-key");

      assertEquals(0, exitCode, this::printed);
      assertEquals(1, server.exchanges().size());
      assertFalse(server.exchanges().toString().contains(KEY));
      assertTrue(printed().contains("the server is asked without a key"), this::printed);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--protocol|--protocol needs a value.",
        "--model m|--protocol is needed, one of: ",
        "--protocol soap|--protocol must be one of openai, ",
        "--protocol openai --protocol openai|--protocol is given twice.",
        "--protocol openai --base-url http://localhost:1|--model is needed together with"
            + " --base-url.",
        "--protocol openai --timeout soon|--timeout must be a duration such as PT60S.",
        "--protocol openai --max-tokens many|--max-tokens must be a number.",
        "--protocol openai --checks blocking,coffee|--checks must name some of blocking, ",
        "--protocol openai --features flying|--features must name some of streaming, ",
        "--protocol openai --api-key|There is no argument --api-key; see --help.",
        "--protocol openai sk-secret-1234|Not an argument; see --help.",
        "--protocol openai --api-key=secret-1234|Not an argument; see --help.",
        "--protocol openai --key-variable sk-secret-1234|--key-variable must name a variable in"
      })
  void a_wrong_command_line_is_one_line_without_secrets(String arguments, String message)
      throws Exception {
    int exitCode = run(Map.of(), arguments.split(" "));

    String said = err.toString(StandardCharsets.UTF_8);
    assertEquals(2, exitCode);
    assertTrue(said.startsWith(message), said);
    assertEquals(1, said.lines().count(), said);
    assertFalse(said.contains("1234"), said);
    assertEquals(0, out.size());
  }

  @Test
  void cleartext_to_another_machine_must_be_allowed() throws Exception {
    int exitCode =
        run(
            Map.of(),
            "--protocol",
            "openai",
            "--base-url",
            "http://models.invalid/v1",
            "--model",
            "kit-model");

    assertEquals(2, exitCode);
    assertEquals(0, out.size());
    assertTrue(err.size() > 0);
  }

  @Test
  void help_names_every_protocol_check_and_feature() throws Exception {
    assertEquals(0, run(Map.of(), "--help"));

    for (Provider provider : Provider.ALL) {
      assertTrue(printed().contains(provider.id()), this::printed);
    }
    for (Check check : Check.values()) {
      assertTrue(printed().contains(check.label()), this::printed);
    }
  }
}
