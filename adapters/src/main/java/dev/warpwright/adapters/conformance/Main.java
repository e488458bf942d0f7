package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.EnvironmentLookup;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCapabilities;
import java.io.PrintStream;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

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
 * provider's own service is asked, with what the provider's own variables hold. With one, a key is
 * sent only if its variable is named. {@code --help} tells the rest.
 *
 * <p>The exit code is 0 if the server passed, 1 if a check failed, and 2 if nothing was checked:
 * the arguments are wrong, or a variable is missing, which is reported as blocked.
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
    Variables variables = new Variables(environment);
    List<Credential> credentials = credentials(arguments);
    Optional<String> blocked = blocked(arguments, credentials, variables);
    if (blocked.isPresent()) {
      return ConformanceReport.blocked(
          arguments.model() + " at " + arguments.provider().id(),
          arguments.checks(),
          blocked.get());
    }
    try (HttpAdapter adapter =
            adapter(arguments, variables, builder -> prove(credentials, builder, variables));
        HttpAdapter wrong = adapter(arguments, variables, builder -> builder.apiKey(WRONG_KEY))) {
      Conformance.Builder run =
          Conformance.builder(adapter, arguments.model()).checks(arguments.checks());
      arguments.timeout().ifPresent(run::callTimeout);
      arguments.maxTokens().ifPresent(run::maxTokens);
      if (!credentials.isEmpty()) {
        run.wrongKey(wrong, WRONG_KEY);
      }
      return run.build().run();
    }
  }

  /** The key that is named; else what the provider's own service takes, and another server none. */
  private static List<Credential> credentials(Arguments arguments) {
    return arguments
        .keyVariable()
        .map(variable -> List.of(Credential.key(variable)))
        .orElseGet(
            () -> arguments.baseUrl().isPresent() ? List.of() : arguments.provider().credentials());
  }

  private static Optional<String> blocked(
      Arguments arguments, List<Credential> credentials, Variables variables) {
    return arguments.provider().blocked(arguments.baseUrl().isEmpty(), credentials, variables);
  }

  private static void prove(
      List<Credential> credentials, AdapterBuilder<?> builder, Variables variables) {
    Provider.first(credentials, variables).ifPresent(one -> one.use().accept(builder, variables));
  }

  private static HttpAdapter adapter(
      Arguments arguments, Variables variables, Consumer<AdapterBuilder<?>> prove) {
    Provider provider = arguments.provider();
    AdapterBuilder<?> builder =
        arguments
            .baseUrl()
            .<AdapterBuilder<?>>map(provider::at)
            .orElseGet(() -> provider.ownService(variables));
    prove.accept(builder);
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
