package dev.warpwright.adapters.conformance;

import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.Task;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One run: makes its calls, each within its bounds, counts them, and keeps the answers that later
 * checks look at. Used by the thread that runs the checks.
 */
final class Session implements AutoCloseable {
  /** How long a cancelled call may take to end before it counts as not ended. */
  static final Duration GRACE = Duration.ofSeconds(5);

  private static final long REST_NANOS = 1_000_000;

  /** For so many rests a request is given the time to arrive before its call is cancelled. */
  private static final int RESTS_BEFORE_CANCEL = 100;

  private final Settings settings;
  private final StreamingModel model;
  private final TaskTree tree;
  private final TaskScope scope;
  private int calls;
  private @Nullable ModelResponse whole;
  private @Nullable ModelResponse streamed;
  private @Nullable ModelResponse calling;

  Session(Settings settings) {
    this.settings = settings;
    this.model = settings.adapter().model(settings.modelId());
    this.tree = TaskTree.builder().time(settings.time()).abandonGrace(GRACE).build();
    this.scope = tree.open("conformance", settings.modelId());
  }

  Settings settings() {
    return settings;
  }

  StreamingModel model() {
    return model;
  }

  ModelCapabilities capabilities() {
    return model.capabilities();
  }

  /** How many calls have been made. */
  int calls() {
    return calls;
  }

  void keepWhole(Came came) {
    whole = answer(came);
  }

  void keepStreamed(Came came) {
    streamed = answer(came);
  }

  void keepCalling(Came came) {
    calling = answer(came);
  }

  private static @Nullable ModelResponse answer(Came came) {
    return came instanceof Came.Answer answer ? answer.response() : null;
  }

  /** The answer of the check of answers that come whole, if one came. */
  Optional<ModelResponse> whole() {
    return Optional.ofNullable(whole);
  }

  /** The answer of the check of streams, if one came. */
  Optional<ModelResponse> streamed() {
    return Optional.ofNullable(streamed);
  }

  /** The answer that calls a tool as it should, if one came. */
  Optional<ModelResponse> calling() {
    return Optional.ofNullable(calling);
  }

  /** Begins a call with one question. */
  ModelCall.Builder call(String question) {
    return call(List.of(Message.user(question)));
  }

  /** Begins a call within the bounds that all have. */
  ModelCall.Builder call(List<Message> messages) {
    return ModelCall.builder(messages).maxTokens(OptionalInt.of(settings.maxTokens()));
  }

  Came generate(ModelCall.Builder call) throws InterruptedException {
    return generate(model, call);
  }

  Came generate(LanguageModel asked, ModelCall.Builder call) throws InterruptedException {
    Deadline deadline = begin();
    return came(
        deadline, () -> new Came.Answer(asked.generate(built(call, deadline)), Told.NOTHING));
  }

  Came stream(ModelCall.Builder call) throws InterruptedException {
    return stream(model, call);
  }

  Came stream(StreamingModel asked, ModelCall.Builder call) throws InterruptedException {
    Deadline deadline = begin();
    return came(
        deadline, streaming(asked, built(call, deadline), new Telling(settings.time(), () -> {})));
  }

  private static Callable<Came.Answer> streaming(
      StreamingModel asked, ModelCall call, Telling telling) {
    return () -> {
      ModelResponse response = asked.stream(call, telling);
      return new Came.Answer(response, telling.told());
    };
  }

  /** Counts a call that begins now. */
  private Deadline begin() {
    calls++;
    return Deadline.after(settings.time(), settings.callTimeout());
  }

  /** Takes a call back that was not sent. */
  private void end(Outcome<Came.Answer> outcome) {
    if (outcome instanceof Outcome.Failure<Came.Answer>(Throwable cause)
        && Judgement.isUnsent(cause)) {
      calls--;
    }
  }

  private static ModelCall built(ModelCall.Builder call, Deadline deadline) {
    return call.deadline(deadline).build();
  }

  private String callName() {
    return "call " + calls;
  }

  private Came came(Deadline deadline, Callable<Came.Answer> body) throws InterruptedException {
    Outcome<Came.Answer> outcome = scope.call("call", callName(), deadline, body);
    throwIfInterrupted();
    end(outcome);
    return switch (outcome) {
      case Outcome.Success<Came.Answer>(Came.Answer answer) -> answer;
      case Outcome.Failure<Came.Answer>(ProviderException failure) -> new Came.Failed(failure);
      case Outcome.Failure<Came.Answer>(Throwable cause) -> new Came.Broken(cause);
      case Outcome.TimedOut<Came.Answer>(boolean abandoned) -> new Came.Late(abandoned);
      case Outcome.Cancelled<Came.Answer> _ -> throw new InterruptedException();
    };
  }

  private static void throwIfInterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  /** Cancels a call while its answer is awaited. */
  Stopped cancelWaiting(ModelCall.Builder call) throws InterruptedException {
    Deadline deadline = begin();
    ModelCall built = built(call, deadline);
    try (TaskScope inner = tree.open("cancel", callName())) {
      int before = settings.openExchanges();
      Task<Came.Answer> task =
          inner.fork(
              "call",
              callName(),
              deadline,
              () -> new Came.Answer(model.generate(built), Told.NOTHING));
      int rests = 0;
      while (rests < RESTS_BEFORE_CANCEL && !task.isDone() && !deadline.hasPassed()) {
        throwIfInterrupted();
        LockSupport.parkNanos(REST_NANOS);
        rests += settings.openExchanges() > before ? 1 : 0;
      }
      return stop(inner, task);
    }
  }

  /** Cancels a call as soon as its stream has told a text. */
  Stopped cancelStream(ModelCall.Builder call) throws InterruptedException {
    Deadline deadline = begin();
    ModelCall built = built(call, deadline);
    try (TaskScope inner = tree.open("cancel", callName())) {
      Telling telling = new Telling(settings.time(), inner::wake);
      Task<Came.Answer> task =
          inner.fork("call", callName(), deadline, streaming(model, built, telling));
      inner.await(() -> telling.hasText() || task.isDone(), Deadline.never());
      return stop(inner, task);
    }
  }

  private Stopped stop(TaskScope inner, Task<Came.Answer> task) throws InterruptedException {
    long cancelled = settings.time().nanoTime();
    inner.cancel("the check cancels it");
    inner.join();
    Duration took = Duration.ofNanos(settings.time().nanoTime() - cancelled);
    throwIfInterrupted();
    end(task.outcome());
    return new Stopped(task.outcome(), took, settings.openExchanges());
  }

  @Override
  public void close() {
    scope.close();
  }
}
