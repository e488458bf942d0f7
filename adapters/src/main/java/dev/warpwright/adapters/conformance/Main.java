package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.EnvironmentLookup;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCapabilities;
import java.io.PrintStream;
import java.util.Optional;

/**
 * {@link Conformance} from the command line: checks a server and prints a table.
 *
 * <pre>{@code
 * java -cp … dev.warpwright.adapters.conformance.Main --protocol openai \
 *     --base-url http://localhost:8000/v1 --model qwen3 --features streaming,tools,jsonMode
 * }</pre>
 *
 * <p>A key is read from the environment, from the variable that {@code --key-variable} names; it is
 * never an argument, which other users of the machine could read. Without {@code --base-url} the
 * provider's own service is asked, with the key of the provider's own variable. With one, a key is
 * sent only if its variable is named. {@code --help} tells the rest.
 *
 * <p>The exit code is 0 if the server passed, 1 if a check failed, and 2 if nothing was checked:
 * the arguments are wrong, or the credential is missing, which is reported as blocked.
 */
public final class Main {
  private static final int PASSED = 0;
  private static final int FAILED = 1;
  private static final int NOTHING_CHECKED = 2;

  /** What no provider takes for a key of its own. */
  private static final String WRONG_KEY = "warpwright-conformance-wrong-key";

  private Main() {}

  /**
   * Checks a server, and ends the process with the exit code.
   *
   * @param args see {@code --help}
   * @throws InterruptedException if the thread was interrupted
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(run(args, System::getenv, System.out, System.err));
  }

  static int run(String[] args, EnvironmentLookup environment, PrintStream out, PrintStream err)
      throws InterruptedException {
    try {
      Arguments arguments = Arguments.parse(args);
      if (arguments.help()) {
        out.print(Arguments.HELP);
        return PASSED;
      }
      ConformanceReport report = report(arguments, environment);
      out.print(report.table());
      if (report.count(CheckOutcome.BLOCKED) > 0) {
        return NOTHING_CHECKED;
      }
      return report.passed() ? PASSED : FAILED;
    } catch (InvalidRequestException e) {
      err.println(e.getMessage());
      return NOTHING_CHECKED;
    }
  }

  private static ConformanceReport report(Arguments arguments, EnvironmentLookup environment)
      throws InterruptedException {
    Optional<String> variable = arguments.keyVariable();
    Optional<String> key =
        variable.map(environment::get).map(String::strip).filter(found -> !found.isEmpty());
    if (variable.isPresent() && key.isEmpty()) {
      return ConformanceReport.blocked(
          arguments.model() + " at " + arguments.provider().id(),
          arguments.checks(),
          variable.get() + " is not set");
    }
    try (HttpAdapter adapter = adapter(arguments, key);
        HttpAdapter wrong = adapter(arguments, Optional.of(WRONG_KEY))) {
      Conformance.Builder run =
          Conformance.builder(adapter, arguments.model()).checks(arguments.checks());
      arguments.timeout().ifPresent(run::callTimeout);
      arguments.maxTokens().ifPresent(run::maxTokens);
      if (key.isPresent()) {
        run.wrongKey(wrong, WRONG_KEY);
      }
      return run.build().run();
    }
  }

  private static HttpAdapter adapter(Arguments arguments, Optional<String> key) {
    AdapterBuilder<?> builder = arguments.provider().builder().get();
    key.ifPresent(builder::apiKey);
    arguments.baseUrl().ifPresent(builder::baseUrl);
    if (arguments.allowCleartext()) {
      builder.allowCleartext();
    }
    arguments
        .features()
        .ifPresent(
            features -> {
              ModelCapabilities declared =
                  ModelCapabilities.of(features.toArray(Capability[]::new));
              builder.capabilities(id -> declared);
            });
    return builder.build();
  }
}
