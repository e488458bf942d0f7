package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.task.TimeSource;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Checks whether a live server does what its protocol promises: answers whole and streamed, tools,
 * structured output, usage, errors and cancels. For a server that nearly speaks a protocol, and for
 * an adapter of one's own.
 *
 * {@snippet :
 * try (HttpAdapter server = OpenAi.builder().baseUrl(URI.create("http://localhost:8000/v1")).build()) {
 *   ConformanceReport report = Conformance.builder(server, "qwen3").build().run();
 *   System.out.print(report.table());
 * }
 * }
 *
 * <p>What the model does not {@linkplain dev.warpwright.model.LanguageModel#capabilities declare}
 * is skipped: declare what is to be checked with {@link
 * dev.warpwright.adapters.AdapterBuilder#capabilities}.
 *
 * <p>Every call is bounded, in output tokens and in time; a run of all checks makes at most 16 of
 * them, one after the other, and repeats none. They cost what such calls cost. Whether a model is
 * clever is not checked.
 *
 * <p>Immutable. Runs may be repeated; while one goes on, nothing else may use the adapter, whose
 * open exchanges it counts.
 */
public final class Conformance {
  private static final String SCRIPT = "provider.json";

  private final Settings settings;
  private final Set<Check> checks;

  private Conformance(Settings settings, Set<Check> checks) {
    this.settings = settings;
    this.checks = checks;
  }

  /**
   * Begins a run.
   *
   * @param adapter the server; it stays open
   * @param modelId the model that is asked
   * @return a builder
   */
  public static Builder builder(HttpAdapter adapter, String modelId) {
    return new Builder(adapter, modelId);
  }

  /**
   * A script of a provider that passes every check, for a {@link
   * dev.warpwright.adapters.scripted.ScriptedServer} that requires a key. A copy of it, the file
   * {@code provider.json} beside this class in the jar, becomes a provider with a fault by a rule
   * or a fault more in front.
   *
   * @return the script
   */
  public static Script script() {
    try (InputStream in = Conformance.class.getResourceAsStream(SCRIPT)) {
      return Script.read(Objects.requireNonNull(in, SCRIPT), SCRIPT);
    } catch (IOException e) {
      throw new UncheckedIOException("The script " + SCRIPT + " cannot be read.", e);
    }
  }

  /**
   * Makes the calls and judges what comes. Blocks until all is done; a call that does not end in
   * time is a failed check.
   *
   * @return what was found
   * @throws InterruptedException if the thread was interrupted; the call that was being made has
   *     ended then, or was left behind 5 s after its own interrupt
   */
  public ConformanceReport run() throws InterruptedException {
    List<CheckResult> results = new ArrayList<>();
    try (Session session = new Session(settings)) {
      for (Check check : checks) {
        results.add(result(check, session));
      }
    }
    return new ConformanceReport(settings.modelId() + " at " + settings.adapter(), results);
  }

  private CheckResult result(Check check, Session session) throws InterruptedException {
    int callsBefore = session.calls();
    long startNanos = settings.time().nanoTime();
    Optional<Capability> missing = missing(check, session.capabilities());
    Verdict verdict =
        missing.isPresent()
            ? Verdict.skipped(missing.get().label() + " is not declared")
            : check.probe().run(session);
    return new CheckResult(
        check,
        verdict.outcome(),
        verdict.detail(),
        Duration.ofNanos(settings.time().nanoTime() - startNanos),
        session.calls() - callsBefore);
  }

  private static Optional<Capability> missing(Check check, ModelCapabilities declared) {
    return check.needs().stream().filter(need -> !declared.has(need)).findFirst();
  }

  /** Shows what is asked, no key. */
  @Override
  public String toString() {
    return "Conformance[" + settings.modelId() + " at " + settings.adapter() + ", " + checks + "]";
  }

  /** Collects what a run is made with; not thread-safe. */
  public static final class Builder {
    private static final Duration MAX_CALL_TIMEOUT = Duration.ofHours(1);
    private static final int MAX_MAX_TOKENS = 100_000;

    private final HttpAdapter adapter;
    private final String modelId;
    private Set<Check> checks = EnumSet.allOf(Check.class);
    private Optional<Settings.WrongKey> wrongKey = Optional.empty();
    private Duration callTimeout = Duration.ofSeconds(60);
    private int maxTokens = 512;
    private TimeSource time = TimeSource.system();

    private Builder(HttpAdapter adapter, String modelId) {
      this.adapter = Objects.requireNonNull(adapter, "adapter");
      this.modelId = Objects.requireNonNull(modelId, "modelId");
    }

    /**
     * Chooses what is checked; everything by default. {@link Check#USAGE} looks at the answers of
     * {@link Check#BLOCKING} and {@link Check#STREAMING}, {@link Check#TOOL_RESULT} answers the
     * call of {@link Check#TOOL_CALL}: without those they are skipped.
     *
     * @param checks the checks, at least one; made in the order of the enum
     * @return this builder
     */
    public Builder checks(Set<Check> checks) {
      if (checks.isEmpty()) {
        throw refused("checks must name at least one check, but is empty.");
      }
      this.checks = Collections.unmodifiableSet(EnumSet.copyOf(checks));
      return this;
    }

    /**
     * Gives a wrong key, for {@link Check#WRONG_KEY}, which is skipped without.
     *
     * @param wrong an adapter of the same server with that key; it stays open
     * @param key the key, which must not show in the failure
     * @return this builder
     */
    public Builder wrongKey(HttpAdapter wrong, String key) {
      if (key.isBlank()) {
        throw refused("key must be a key that is wrong, but is blank.");
      }
      this.wrongKey =
          Optional.of(new Settings.WrongKey(Objects.requireNonNull(wrong, "wrong"), key));
      return this;
    }

    /**
     * Sets how long one call may take; 60 seconds by default.
     *
     * @param callTimeout more than zero, at most one hour
     * @return this builder
     */
    public Builder callTimeout(Duration callTimeout) {
      if (!callTimeout.isPositive() || callTimeout.compareTo(MAX_CALL_TIMEOUT) > 0) {
        throw refused(
            "callTimeout must be more than PT0S and at most %s, but is %s."
                .formatted(MAX_CALL_TIMEOUT, callTimeout));
      }
      this.callTimeout = callTimeout;
      return this;
    }

    /**
     * Sets the limit of output tokens of one call; 512 by default. A model that reasons needs more.
     *
     * @param maxTokens 64 to 100 000
     * @return this builder
     */
    public Builder maxTokens(int maxTokens) {
      if (maxTokens < 64 || maxTokens > MAX_MAX_TOKENS) {
        throw refused(
            "maxTokens must be between 64 and %d, but is %d.".formatted(MAX_MAX_TOKENS, maxTokens));
      }
      this.maxTokens = maxTokens;
      return this;
    }

    /**
     * Sets where time comes from; {@link TimeSource#system()} by default.
     *
     * @param time the time source
     * @return this builder
     */
    public Builder time(TimeSource time) {
      this.time = Objects.requireNonNull(time, "time");
      return this;
    }

    /**
     * Makes the run; contacts nothing.
     *
     * @return what can be run
     */
    public Conformance build() {
      return new Conformance(
          new Settings(adapter, modelId, wrongKey, callTimeout, maxTokens, time), checks);
    }

    private static InvalidRequestException refused(String message) {
      return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
    }
  }
}
