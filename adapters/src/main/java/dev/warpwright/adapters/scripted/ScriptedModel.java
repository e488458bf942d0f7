package dev.warpwright.adapters.scripted;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.Usage;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A model inside the program that says what a script or a lambda tells it to.
 *
 * <p>It is a provider's adapter and a model at once: register it under a provider id, and every
 * model id of that provider is played by the same script with one count of calls; or ask it
 * directly.
 *
 * {@snippet :
 * ScriptedModel model = ScriptedModel.answering("Hello.");
 *
 * ScriptedModel echo =
 *     ScriptedModel.answering(
 *         call -> ScriptedAnswer.text("You said: " + call.messages().getLast().text()));
 *
 * ScriptedModel agent =
 *     ScriptedModel.builder()
 *         .next(ScriptedAnswer.tool("clock", Json.EMPTY_OBJECT)) // the first call
 *         .when(call -> call.tools().isEmpty(), ScriptedAnswer.text("I have no tools."))
 *         .otherwise(ScriptedAnswer.text("It is noon."))
 *         .build();
 * }
 *
 * <p>Streamed, the same answer is told in chunks: thoughts as {@link ModelEvent.Reasoning}, words
 * as {@link ModelEvent.Text}, a piece of a call's arguments as {@link ModelEvent#ALIVE}. If the
 * answer reports usage, the counters of the input come first and all of them last.
 *
 * <p>Faults of a script become what an HTTP adapter would throw: a status HTTP_STATUS with its code
 * and {@code retryAfter}, a reset or cut connection READ, garbage and a wrong type PROTOCOL, an
 * error event PROVIDER_EVENT; a stall blocks until the thread is interrupted. A stream breaks where
 * the fault says; there are no events here but chunks, and nothing is told before a place that is
 * given in bytes. If nothing matches, the call fails with HTTP_STATUS 500 and code {@code no_rule};
 * a native output whose schema is not strict fails with 400. Latencies pass on the {@link
 * TimeSource}. Thread-safe; an interrupt ends a latency or a stall at once.
 */
public final class ScriptedModel implements StreamingModel, ProviderAdapter {
  static final String OWN_MODEL_ID = "scripted";

  private final Playback playback;
  private final ModelCapabilities capabilities;
  private final TimeSource time;
  private final CallLog log;
  private final boolean lambdas;

  private ScriptedModel(Builder builder) {
    this.playback = new Playback(builder.steps, builder.cases, builder.script);
    this.capabilities = builder.capabilities;
    this.time = builder.time;
    this.lambdas = builder.lambdas;
    this.log = new CallLog();
  }

  /**
   * What a model says to a call.
   *
   * <p>Called on the caller's thread, by any number of threads at once. It may block and may throw
   * a {@link ProviderException} to fail the call.
   */
  @FunctionalInterface
  public interface Answering {
    /**
     * Answers a call.
     *
     * @param call what is asked
     * @return the answer
     * @throws InterruptedException if the thread was interrupted
     */
    ScriptedAnswer answer(ModelCall call) throws InterruptedException;
  }

  /**
   * A model that plays a script.
   *
   * @param script the script
   * @return the model
   */
  public static ScriptedModel of(Script script) {
    return builder().script(script).build();
  }

  /**
   * A model that says one text after the other and stays with the last.
   *
   * @param first the first text
   * @param more the following ones
   * @return the model
   */
  public static ScriptedModel answering(String first, String... more) {
    Builder builder = builder();
    String last = first;
    for (String text : more) {
      builder.next(ScriptedAnswer.text(last));
      last = text;
    }
    return builder.otherwise(ScriptedAnswer.text(last)).build();
  }

  /**
   * A model that a lambda speaks for.
   *
   * @param answering what it says to each call
   * @return the model
   */
  public static ScriptedModel answering(Answering answering) {
    return builder().otherwise(answering).build();
  }

  /**
   * Begins a model that is scripted in Java.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * This model under another id; counts and script are shared.
   *
   * @param modelId the id that the script's {@code model} conditions see
   * @return the model
   */
  @Override
  public StreamingModel model(String modelId) {
    Objects.requireNonNull(modelId, "modelId");
    return new StreamingModel() {
      @Override
      public ModelCapabilities capabilities() {
        return capabilities;
      }

      @Override
      public boolean honoursInterrupts() {
        return !lambdas;
      }

      @Override
      public ModelResponse generate(ModelCall call) throws InterruptedException {
        return play(modelId, call, null);
      }

      @Override
      public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
        return play(modelId, call, Objects.requireNonNull(events, "events"));
      }
    };
  }

  @Override
  public ModelCapabilities capabilities() {
    return capabilities;
  }

  /** Whether no lambda takes part. */
  @Override
  public boolean honoursInterrupts() {
    return !lambdas;
  }

  /** Answers under the model id {@code scripted}. */
  @Override
  public ModelResponse generate(ModelCall call) throws InterruptedException {
    return play(OWN_MODEL_ID, call, null);
  }

  /** Streams under the model id {@code scripted}. */
  @Override
  public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
    return play(OWN_MODEL_ID, call, Objects.requireNonNull(events, "events"));
  }

  /** Does nothing: a scripted model owns nothing. */
  @Override
  public void close() {}

  private ModelResponse play(String modelId, ModelCall call, @Nullable Events events)
      throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    String requestId = "req_" + log.begin(call);
    try {
      requireStrict(call, requestId);
      Conversation conversation = Conversation.of(modelId, call.messages());
      Playback.Opening opening = playback.open(conversation, requestId, time.now());
      time.sleep(opening.delay());
      ScriptedAnswer answer = playback.answer(call, conversation, requestId);
      if (opening.end().isEmpty()) {
        time.sleep(answer.latency());
      }
      Optional<StreamBreak> end = opening.end().or(answer.delivery()::end);
      if (events != null) {
        tell(answer, end, events);
      }
      if (end.isPresent()) {
        breakOff(end.get());
      }
      ModelResponse response = answer.to(modelId, call.messages());
      return new ModelResponse(
          response.message(), response.finishReason(), response.usage(), Optional.of(requestId));
    } finally {
      log.end();
    }
  }

  /** Tells what comes before the end, or before the answer breaks off. */
  private void tell(ScriptedAnswer answer, Optional<StreamBreak> end, Events events)
      throws InterruptedException {
    Usage usage = answer.usage();
    if (usage.input().isPresent()) {
      events.tell(new ModelEvent.Counters(inputOf(usage)));
    }
    List<ModelEvent> chunks = answer.chunks();
    long limit = end.isEmpty() ? chunks.size() : end.get().point().among(chunks.size());
    for (int i = 0; i < limit; i++) {
      await(answer.delivery().chunks(), i, events);
      events.tell(chunks.get(i));
    }
    if (end.isEmpty() && usage.input().isPresent()) {
      events.tell(new ModelEvent.Counters(usage));
    }
  }

  /** What is known before the first chunk. */
  private static Usage inputOf(Usage usage) {
    return new Usage(
        usage.input(),
        usage.cachedInput(),
        usage.cacheWrite(),
        TokenCount.ABSENT,
        TokenCount.ABSENT,
        TokenCount.ABSENT,
        Optional.empty());
  }

  /** Lets the pause in front of a chunk pass, with its signs of life. */
  private void await(ScriptedChunks chunks, long chunk, Events events) throws InterruptedException {
    Duration pause = chunks.pauseBefore(chunk);
    for (int i = 0; i < chunks.heartbeats(); i++) {
      time.sleep(pause);
      events.tell(ModelEvent.ALIVE);
    }
    time.sleep(pause); // which also looks at the interrupt if there is no pause
  }

  private static void breakOff(StreamBreak end) throws InterruptedException {
    if (end.failure().isPresent()) {
      throw end.failure().get();
    }
    Playback.stall();
  }

  /** Refuses the schema of an output that strict services refuse. */
  private static void requireStrict(ModelCall call, String requestId) {
    if (!(call.output().orElse(null) instanceof OutputFormat.JsonSchema format)) {
      return;
    }
    try {
      OutputRules.STRICT.check(StrictJson.read(format.schema().text()), "schema");
    } catch (RefusedException e) {
      throw ProviderException.builder(
              ProviderException.Kind.HTTP_STATUS, "Scripted request failed with status 400.")
          .status(400)
          .code("invalid_json_schema")
          .requestId(requestId)
          .providerMessage(String.valueOf(e.getMessage()))
          .build();
    }
  }

  /**
   * How many calls have begun, failed ones included.
   *
   * @return the count over all model ids
   */
  public long calls() {
    return log.begun();
  }

  /**
   * How many calls are running now.
   *
   * @return the count over all model ids
   */
  public long running() {
    return log.running();
  }

  /**
   * The latest calls, oldest first.
   *
   * @return at most the last 100
   */
  public List<ModelCall> lastCalls() {
    return log.last();
  }

  /**
   * Waits until so many calls have begun.
   *
   * @param count how many calls, from 1
   * @param timeout how long to wait at most, in real time
   * @throws InterruptedException if the thread was interrupted
   * @throws IllegalStateException if they have not begun in time; the message names how many have
   */
  public void awaitCalls(long count, Duration timeout) throws InterruptedException {
    log.awaitBegun(count, timeout);
  }

  /** Collects the parts of a {@link ScriptedModel}; not thread-safe. */
  public static final class Builder {
    private final List<Answering> steps = new ArrayList<>();
    private final List<Playback.Case> cases = new ArrayList<>();
    private @Nullable Script script;
    private ModelCapabilities capabilities =
        ModelCapabilities.TEXT_AND_TOOLS.with(Capability.STREAMING);
    private TimeSource time = TimeSource.system();
    private boolean lambdas; // which may do what they like

    private Builder() {}

    /**
     * Says this to the next call that no earlier {@code next} answers: the first one answers the
     * first call, the second one the second, and so on. They come before all else, and each is used
     * once.
     *
     * @param answer the answer
     * @return this builder
     */
    public Builder next(ScriptedAnswer answer) {
      Objects.requireNonNull(answer, "answer");
      steps.add(call -> answer);
      return this;
    }

    /**
     * Lets a lambda answer the next call; see {@link #next(ScriptedAnswer)}.
     *
     * @param answering what it says
     * @return this builder
     */
    public Builder next(Answering answering) {
      steps.add(Objects.requireNonNull(answering, "answering"));
      lambdas = true;
      return this;
    }

    /**
     * Fails the next call; see {@link #next(ScriptedAnswer)}.
     *
     * @param failure what the call throws
     * @return this builder
     */
    public Builder failNext(ProviderException failure) {
      Objects.requireNonNull(failure, "failure");
      steps.add(
          call -> {
            throw failure;
          });
      return this;
    }

    /**
     * Answers calls that fulfil a condition, after the {@code next} answers are used up. The first
     * that holds wins.
     *
     * @param condition which calls
     * @param answer the answer
     * @return this builder
     */
    public Builder when(Predicate<ModelCall> condition, ScriptedAnswer answer) {
      Objects.requireNonNull(answer, "answer");
      return when(condition, call -> answer);
    }

    /**
     * Lets a lambda answer calls that fulfil a condition; see {@link #when(Predicate,
     * ScriptedAnswer)}.
     *
     * @param condition which calls
     * @param answering what it says
     * @return this builder
     */
    public Builder when(Predicate<ModelCall> condition, Answering answering) {
      cases.add(new Playback.Case(condition, answering));
      lambdas = true;
      return this;
    }

    /**
     * Answers every call that nothing before it answers.
     *
     * @param answer the answer
     * @return this builder
     */
    public Builder otherwise(ScriptedAnswer answer) {
      Objects.requireNonNull(answer, "answer");
      cases.add(new Playback.Case(call -> true, call -> answer));
      return this;
    }

    /**
     * Lets a lambda answer every call that nothing before it answers.
     *
     * @param answering what it says
     * @return this builder
     */
    public Builder otherwise(Answering answering) {
      return when(call -> true, answering);
    }

    /**
     * Plays a script: its faults come first, its rules last, after all {@code next} and {@code
     * when}.
     *
     * @param played the script
     * @return this builder
     */
    public Builder script(Script played) {
      this.script = Objects.requireNonNull(played, "played");
      return this;
    }

    /**
     * Declares what the model can do; {@link ModelCapabilities#TEXT_AND_TOOLS} and {@link
     * Capability#STREAMING} by default. The model plays its script whatever is declared.
     *
     * @param declared the capabilities
     * @return this builder
     */
    public Builder capabilities(ModelCapabilities declared) {
      this.capabilities = Objects.requireNonNull(declared, "declared");
      return this;
    }

    /**
     * Sets where latencies pass; {@link TimeSource#system()} by default.
     *
     * @param source the time source
     * @return this builder
     */
    public Builder time(TimeSource source) {
      this.time = Objects.requireNonNull(source, "source");
      return this;
    }

    /**
     * Makes the model.
     *
     * @return the model
     */
    public ScriptedModel build() {
      return new ScriptedModel(this);
    }
  }
}
