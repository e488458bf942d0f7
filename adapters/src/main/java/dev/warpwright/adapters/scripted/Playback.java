package dev.warpwright.adapters.scripted;

import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Decides what a {@link ScriptedModel} says: faults, then steps, then cases, then rules. */
final class Playback {
  private final ConcurrentLinkedQueue<ScriptedModel.Answering> steps;
  private final List<Case> cases;
  private final @Nullable Script script;
  private final FaultSchedule faults;

  Playback(List<ScriptedModel.Answering> steps, List<Case> cases, @Nullable Script script) {
    this.steps = new ConcurrentLinkedQueue<>(steps);
    this.cases = List.copyOf(cases);
    this.script = script;
    this.faults = new FaultSchedule(script == null ? List.of() : script.faults());
  }

  /**
   * Answers calls that fulfil a condition.
   *
   * @param condition which calls
   * @param answering what is said
   */
  record Case(Predicate<ModelCall> condition, ScriptedModel.Answering answering) {}

  /**
   * What a call begins with.
   *
   * @param delay how long the answer is held up
   * @param end where it breaks off, if a fault breaks it; then it comes without its latency
   */
  record Opening(Duration delay, Optional<StreamBreak> end) {
    static final Opening PLAIN = new Opening(Duration.ZERO, Optional.empty());

    static Opening breaking(Point point, ProviderException failure) {
      return new Opening(Duration.ZERO, Optional.of(new StreamBreak(point, Optional.of(failure))));
    }
  }

  /**
   * Lets the script's faults happen.
   *
   * @throws ProviderException if the fault is a failure that leaves nothing to be told
   */
  Opening open(Conversation conversation, String requestId, Instant now)
      throws InterruptedException {
    Optional<FaultRule> rule = faults.arrive(conversation).fault();
    if (rule.isEmpty()) {
      return Opening.PLAIN;
    }
    return switch (rule.get().fault()) {
      case Fault.SlowHeaders(Duration delay) -> new Opening(delay, Optional.empty());
      case Fault.Stall() -> stall();
      case Fault.Status status -> throw Failures.status(status, requestId, now);
      case Fault.Reset _ -> throw Failures.broken("was reset");
      case Fault.NoHttp() -> throw Failures.garbage(null);
      case Fault.NoJson(), Fault.WrongType() -> throw Failures.garbage(requestId);
      case Fault.Cut cut when cut.isHarmless() -> Opening.PLAIN;
      case Fault.Cut(Point point, Fault.End _) ->
          Opening.breaking(point, Failures.broken("ended in the middle of the body"));
      case Fault.StallIn(Point point) ->
          new Opening(Duration.ZERO, Optional.of(new StreamBreak(point, Optional.empty())));
      case Fault.ErrorEvent event ->
          Opening.breaking(event.point(), Failures.event(event, requestId));
    };
  }

  static Opening stall() throws InterruptedException {
    new CountDownLatch(1).await(); // nobody counts it down: only an interrupt ends it
    throw new AssertionError("A latch that is never counted down was passed.");
  }

  ScriptedAnswer answer(ModelCall call, Conversation conversation, String requestId)
      throws InterruptedException {
    ScriptedModel.@Nullable Answering step = steps.poll();
    if (step != null) {
      return step.answer(call);
    }
    for (Case next : cases) {
      if (next.condition().test(call)) {
        return next.answering().answer(call);
      }
    }
    Optional<Script.Reply> reply = script == null ? Optional.empty() : script.answer(conversation);
    return reply.orElseThrow(() -> Failures.noRule(conversation, requestId)).answer();
  }
}
