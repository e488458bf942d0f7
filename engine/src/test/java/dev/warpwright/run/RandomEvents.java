package dev.warpwright.run;

import dev.warpwright.ObjectMode;
import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.AdaptiveRecord;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Money;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TargetSignals;
import dev.warpwright.model.TaskIntent;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.tool.EffectClass;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;

/** Random events of every type, with texts and numbers that break careless codecs. */
final class RandomEvents {
  static final int TYPES = 34;

  private static final List<String> TEXTS =
      List.of(
          "",
          " ",
          "plain",
          "\"quoted\\\"",
          "line\nbreak\r\n\t",
          "\u0000\u0001\u001f\u007f",
          "\u2028\u2029\ufeff\ufffd",
          "äöüß€",
          "😀👩‍👩‍👧",
          "null",
          "</script>");

  private final Random random;

  RandomEvents(long seed) {
    this.random = new Random(seed);
  }

  RunEvent event(int type) {
    return switch (type) {
      case 0 ->
          new RunEvent.RunStarted(
              text(),
              text(),
              map(),
              optional(this::text),
              list(this::message),
              random.nextInt(),
              list(this::target),
              map(),
              optional(random::nextLong),
              random.nextBoolean(),
              optional(this::binding),
              optional(this::json),
              optional(this::text),
              optional(() -> new RunEvent.RunStarted.HandedOver(text(), text(), map())),
              optional(this::life),
              optional(this::fork));
      case 1 -> new RunEvent.StepStarted(random.nextInt(), random.nextInt());
      case 2 -> new RunEvent.RouteBound(random.nextInt(), target(), decision());
      case 3 ->
          new RunEvent.ModelResponded(
              random.nextInt(), target(), message(), finish(), usage(), list(this::attempt));
      case 4 ->
          new RunEvent.ApprovalRequested(
              text(),
              text(),
              random.nextInt(),
              text(),
              text(),
              text(),
              json(),
              optional(this::instant),
              optional(this::text),
              optional(() -> new RunEvent.ApprovalRequested.OfChild(text(), text())),
              optional(() -> new RunEvent.ApprovalRequested.Why(optional(this::text), map())),
              optional(
                  () ->
                      new RunEvent.ApprovalRequested.OfProvider(
                          text(), optional(this::text), text())));
      case 5 ->
          new RunEvent.ApprovalDecided(
              text(),
              random.nextBoolean(),
              optional(this::text),
              optional(this::text),
              optional(this::text));
      case 6 ->
          new RunEvent.ToolStarted(
              random.nextInt(),
              random.nextInt(),
              text(),
              text(),
              one(EffectClass.values()),
              json(),
              text(),
              random.nextInt());
      case 7 ->
          new RunEvent.ToolFinished(
              text(),
              text(),
              optional(this::text),
              random.nextBoolean(),
              json(),
              random.nextBoolean(),
              duration());
      case 8 ->
          new RunEvent.ToolReconciled(
              text(),
              text(),
              one(RunEvent.ToolReconciled.Verdict.values()),
              optional(this::json),
              text(),
              optional(this::text));
      case 9 ->
          new RunEvent.RunSuspended(
              one(RunEvent.RunSuspended.Reason.values()),
              list(this::text),
              optional(this::failed),
              optional(this::timedOut));
      case 10 -> new RunEvent.RunResumed(text());
      case 11 ->
          new RunEvent.RunCompleted(
              text(),
              random.nextInt(),
              usage(),
              optional(this::json),
              optional(() -> one(ObjectMode.values())),
              optional(this::text));
      case 12 -> failed();
      case 13 ->
          new RunEvent.CancelRequested(
              random.nextBoolean() ? Optional.of(text()) : Optional.empty());
      case 14 -> new RunEvent.RunCancelled(random.nextInt(), list(this::attempt));
      case 15 ->
          new RunEvent.GuardrailChecked(
              one(GuardrailStage.values()), text(), optional(this::text), map());
      case 16 -> timedOut();
      case 17 -> new RunEvent.ChildStarted(text(), text(), text());
      case 18 ->
          new RunEvent.ChildFinished(
              text(),
              text(),
              one(RunStatus.values()),
              text(),
              random.nextInt(),
              random.nextInt(),
              random.nextInt(),
              usage(),
              optional(this::total),
              optional(() -> one(FailureKind.values())),
              duration());
      case 19 -> new RunEvent.MemoryLoaded(list(this::message));
      case 20 ->
          new RunEvent.ApprovalTokenIssued(
              text(), text(), text(), optional(this::instant), optional(this::text));
      case 21 ->
          new RunEvent.ContextCompacted(
              text(),
              random.nextInt(),
              list(() -> one(RunEvent.ContextCompacted.Reason.values())),
              text(),
              text(),
              random.nextInt(),
              random.nextInt(),
              random.nextInt(),
              random.nextInt(),
              random.nextLong(),
              random.nextLong(),
              text(),
              usage(),
              list(this::attempt));
      default -> flowEvent(type - 22);
    };
  }

  private RunEvent.RunStarted.Life life() {
    return new RunEvent.RunStarted.Life(
        optional(this::duration), random.nextBoolean(), optional(this::text));
  }

  private RunEvent.RunTimedOut timedOut() {
    return new RunEvent.RunTimedOut(
        Duration.ofMillis(random.nextInt(1_000_000)), random.nextInt(), list(this::attempt));
  }

  private RunEvent.RunStarted.ForkedFrom fork() {
    return new RunEvent.RunStarted.ForkedFrom(
        text(),
        random.nextInt(),
        instant(),
        optional(this::message),
        optional(this::message),
        optional(this::fork));
  }

  private RunBinding binding() {
    return new RunBinding(
        optional(() -> new Harness("h" + text(), "v" + text(), "f" + text())),
        optional(this::text));
  }

  private RunEvent.RunFailed failed() {
    return new RunEvent.RunFailed(
        one(FailureKind.values()),
        text(),
        random.nextBoolean(),
        random.nextInt(),
        list(this::attempt));
  }

  private Message message() {
    Role role = one(Role.values());
    return switch (role) {
      case SYSTEM -> new Message(role, list(() -> new Part.Text(text())));
      case USER ->
          new Message(
              role,
              list(
                  () ->
                      random.nextBoolean()
                          ? new Part.Text(text())
                          : new Image("https://example.com/" + random.nextInt())));
      case ASSISTANT ->
          new Message(
              role,
              list(
                  () ->
                      switch (random.nextInt(3)) {
                        case 0 -> new Part.Text(text());
                        case 1 -> call();
                        default -> state();
                      }));
      case TOOL ->
          new Message(
              role, list(() -> new ToolResult(text(), text(), json(), random.nextBoolean())));
    };
  }

  private ToolCall call() {
    return random.nextBoolean()
        ? new ToolCall(text(), text(), json())
        : ToolCall.malformed(text(), text(), text());
  }

  private ProviderState state() {
    return new ProviderState(
        optional(this::text), text(), text(), json(), optional(this::approval));
  }

  private ProviderApproval approval() {
    return new ProviderApproval(
        "id " + random.nextInt(),
        optional(() -> "server ä"),
        "tool",
        json(),
        optional(() -> new ProviderApproval.Answer(random.nextBoolean(), optional(this::text))));
  }

  private Target target() {
    return new Target(
        one("a", "open-ai", "x1"),
        one("model", "org/model:1", "mödel"),
        optional(() -> one("d", "D_1.x-y")));
  }

  private RouteDecision decision() {
    List<Target> targets = list(this::target);
    return new RouteDecision(
        targets,
        one(RouteDecision.ReasonCode.values()),
        optional(
            () ->
                new RouteDecision.Ranking(
                    optional(() -> one(RoutingMode.values())),
                    one(TaskIntent.values()),
                    random.nextBoolean()
                        ? List.of()
                        : targets.stream().map(target -> standing()).toList())),
        optional(this::adaptive));
  }

  private RouteDecision.Standing standing() {
    return new RouteDecision.Standing(
        optional(this::number), list(this::text), optional(this::cost));
  }

  private RunEvent flowEvent(int type) {
    return switch (type) {
      case 0 ->
          new FlowEvent.FlowStepStarted(
              text(), text(), one(EffectClass.values()), text(), random.nextInt());
      case 1 ->
          new FlowEvent.FlowStepFinished(
              text(),
              text(),
              random.nextInt(),
              optional(this::json),
              optional(this::stepError),
              duration());
      case 2 ->
          new FlowEvent.StepRetryScheduled(
              text(), text(), random.nextInt(), stepError(), instant());
      case 3 -> new FlowEvent.TimerScheduled(text(), text(), instant());
      case 4 -> new FlowEvent.TimerFired(text());
      case 5 -> new FlowEvent.SignalAwaited(text(), text(), optional(this::instant));
      case 6 -> new FlowEvent.SignalReceived(text(), text(), json());
      case 7 -> new FlowEvent.SignalTimedOut(text());
      case 8 -> new FlowEvent.ParallelStarted(text(), text(), random.nextInt());
      case 9 ->
          new FlowEvent.ParallelFinished(
              text(),
              list(() -> one(FlowEvent.ParallelFinished.BranchEnd.values())),
              optional(random::nextInt));
      case 10 -> new FlowEvent.VersionMarked(text(), text(), random.nextInt());
      case 11 -> new FlowEvent.Observed(text(), one(FlowEvent.Observed.Source.values()), json());
      default -> throw new IllegalArgumentException("type " + type);
    };
  }

  private FlowEvent.StepError stepError() {
    return new FlowEvent.StepError(one(FailureKind.values()), text(), text());
  }

  private Money money() {
    return new Money(random.nextLong(), one("USD", "EUR"));
  }

  private double number() {
    return one(0.0, -1.25, 1e-300, -1e300, random.nextGaussian());
  }

  private AdaptiveRecord adaptive() {
    return new AdaptiveRecord(
        text(),
        random.nextLong(),
        list(
            () ->
                new AdaptiveRecord.Candidate(
                    target(),
                    optional(() -> new AdaptiveRecord.Quality(number(), text())),
                    optional(this::money),
                    signals(),
                    optional(this::number),
                    list(() -> one(AdaptiveRecord.Signal.values())),
                    list(this::text))),
        optional(this::target),
        optional(() -> new AdaptiveRecord.Affinity(target(), number(), random.nextBoolean())));
  }

  private TargetSignals signals() {
    return new TargetSignals(
        optional(() -> Duration.ofNanos(random.nextInt(Integer.MAX_VALUE))),
        optional(() -> Duration.ofSeconds(random.nextInt(Integer.MAX_VALUE))),
        optional(() -> random.nextInt(Integer.MAX_VALUE)),
        random.nextInt(Integer.MAX_VALUE),
        random.nextInt(Integer.MAX_VALUE),
        optional(() -> Math.abs(number())),
        optional(() -> Instant.ofEpochSecond(random.nextInt(), random.nextInt(1_000_000_000))));
  }

  private FinishReason finish() {
    return new FinishReason(one(FinishReason.Kind.values()), text());
  }

  private Usage usage() {
    return random.nextInt(4) == 0
        ? Usage.ABSENT
        : new Usage(count(), count(), count(), count(), count(), count(), optional(this::text));
  }

  private TokenCount count() {
    return random.nextInt(3) == 0
        ? TokenCount.ABSENT
        : new TokenCount(random.nextLong(), one(TokenCount.Provenance.values()));
  }

  private Attempt attempt() {
    return new Attempt(
        random.nextInt(),
        target(),
        one(Attempt.ReasonCode.values()),
        random.nextInt(),
        random.nextInt(),
        duration(),
        optional(this::duration),
        text(),
        optional(() -> one(ProviderException.Kind.values())),
        random.nextInt(),
        optional(this::text),
        optional(this::usage),
        optional(this::cost),
        random.nextBoolean());
  }

  private CostValuation cost() {
    boolean known = random.nextBoolean();
    Money amount = money();
    return new CostValuation(
        text(),
        text(),
        known ? CostValuation.Status.KNOWN : CostValuation.Status.UNKNOWN,
        known ? Optional.of(amount) : Optional.empty(),
        known ? Optional.of(amount.currency()) : optional(() -> "USD"),
        text(),
        optional(this::text),
        text(),
        optional(this::text),
        list(
            () ->
                new CostValuation.Component(
                    one(CostValuation.TokenClass.values()),
                    random.nextLong(),
                    optional(() -> amount),
                    amount)),
        known ? List.of() : List.of(text()),
        list(this::text),
        random.nextBoolean());
  }

  private CostTotal total() {
    return random.nextBoolean()
        ? new CostTotal(CostValuation.Status.KNOWN, Optional.of(money()), List.of())
        : new CostTotal(CostValuation.Status.UNKNOWN, Optional.empty(), List.of(text()));
  }

  private Instant instant() {
    return one(
        Instant.EPOCH,
        Instant.ofEpochSecond(random.nextLong(-1_000_000_000_000L, 1_000_000_000_000L), 1),
        Instant.ofEpochSecond(1_800_000_000, random.nextInt(1_000_000_000)));
  }

  private Duration duration() {
    return one(
        Duration.ZERO,
        Duration.ofNanos(1),
        Duration.ofMillis(-1),
        Duration.ofSeconds(random.nextLong(), random.nextInt(1_000_000_000)),
        Duration.ofDays(400));
  }

  private Json json() {
    if (random.nextInt(20) == 0) {
      return Json.parse("[".repeat(100) + "]".repeat(100));
    }
    return Json.of(value(4));
  }

  private Object value(int depth) {
    return switch (random.nextInt(depth == 0 ? 6 : 9)) {
      case 0 -> text();
      case 1 -> random.nextBoolean();
      case 2 -> random.nextLong();
      case 3 -> new BigDecimal(new BigInteger(200, random), random.nextInt(-400, 400));
      case 4 -> new BigInteger(random.nextInt(1, 300), random).negate();
      case 5 -> Json.parse(one("null", "1.50", "-0.0", "1e400", "0.10", "12345678901234567890"));
      case 6 -> list(() -> value(depth - 1));
      default -> {
        Map<String, Object> members = new LinkedHashMap<>();
        for (int n = random.nextInt(4); n > 0; n--) {
          members.put(one(TEXTS.toArray(String[]::new)) + n, value(depth - 1));
        }
        yield members;
      }
    };
  }

  private Map<String, String> map() {
    Map<String, String> map = new HashMap<>();
    for (int n = random.nextInt(6); n > 0; n--) {
      map.put(text() + n, text());
    }
    return map;
  }

  private String text() {
    return random.nextInt(100) == 0
        ? "long ".repeat(20_000)
        : TEXTS.get(random.nextInt(TEXTS.size()));
  }

  private <T> List<T> list(Supplier<? extends T> element) {
    List<T> list = new ArrayList<>();
    for (int n = random.nextInt(4); n > 0; n--) {
      list.add(element.get());
    }
    return list;
  }

  private <T> Optional<T> optional(Supplier<T> value) {
    return random.nextBoolean() ? Optional.of(value.get()) : Optional.empty();
  }

  @SafeVarargs
  private <T> T one(T... values) {
    return values[random.nextInt(values.length)];
  }
}
