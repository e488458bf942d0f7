package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.EnvironmentLookup;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;

/** Two bounded calls to each provider that was asked for, one whole and one streamed. */
final class LiveCheck {
  /** The variable that asks for them: {@code openai,anthropic=claude-haiku-4-5}. */
  static final String VARIABLE = "WARPWRIGHT_LIVE";

  private static final Set<Check> CHECKS =
      EnumSet.of(Check.BLOCKING, Check.STREAMING, Check.USAGE, Check.CONNECTIONS);

  /** Enough for a model that always reasons. */
  private static final int MAX_TOKENS = 1024;

  private final List<Provider> providers;
  private final EnvironmentLookup environment;
  private final PrintStream out;

  LiveCheck(List<Provider> providers, EnvironmentLookup environment, PrintStream out) {
    this.providers = providers;
    this.environment = environment;
    this.out = out;
  }

  /** A test for each provider: passed, failed, or aborted for want of a credential. */
  Stream<DynamicTest> tests() {
    String asked = Optional.ofNullable(environment.get(VARIABLE)).orElse("");
    return asked.isBlank() ? Stream.empty() : tests(asked);
  }

  private Stream<DynamicTest> tests(String asked) {
    return Arrays.stream(asked.split(",", -1))
        .map(String::strip)
        .map(name -> DynamicTest.dynamicTest("live " + name, () -> check(name)));
  }

  private void check(String name) throws InterruptedException {
    String[] idAndModel = name.split("=", 2);
    Provider provider =
        providers.stream()
            .filter(known -> known.id().equals(idAndModel[0]))
            .findFirst()
            .orElseThrow(
                () -> new AssertionError(VARIABLE + " names no provider that there is: " + name));
    String model = idAndModel.length == 2 ? idAndModel[1] : provider.model();
    Variables variables = new Variables(environment);
    Optional<String> blocked = provider.blocked(true, provider.credentials(), variables);
    if (blocked.isPresent()) {
      String reason = "blocked: " + blocked.get();
      out.println("live " + name + ": " + reason);
      Assumptions.abort(reason);
    }
    ConformanceReport report = report(provider, model, variables);
    out.println("live " + name + ": " + (report.passed() ? "passed" : "FAILED"));
    Assertions.assertTrue(report.passed(), report::table);
  }

  private static ConformanceReport report(Provider provider, String model, Variables variables)
      throws InterruptedException {
    AdapterBuilder<?> builder = provider.ownService(variables);
    Provider.first(provider.credentials(), variables)
        .ifPresent(one -> one.use().accept(builder, variables));
    builder.fromEnvironment(); // a base URL of one's own
    try (HttpAdapter adapter = builder.build()) {
      return Conformance.builder(adapter, model).checks(CHECKS).maxTokens(MAX_TOKENS).build().run();
    }
  }
}
