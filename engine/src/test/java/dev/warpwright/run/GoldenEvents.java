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
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The events whose bytes stand in {@code golden/v1}, by the name of their file. They are never
 * changed: a file that no longer fits means that stored runs no longer load.
 */
final class GoldenEvents {
  private static final Target TARGET = Target.of("openai", "gpt-5");
  private static final Target DEPLOYED = new Target("azure", "gpt-5", Optional.of("eu-1"));
  private static final Json ARGUMENTS =
      Json.parse("{\"to\":\"ann\",\"amount\":12.50,\"at\":1e3,\"list\":[1,null,true,\"ä😀\"]}");
  private static final Usage USAGE =
      new Usage(
          TokenCount.reported(120),
          TokenCount.reported(0),
          TokenCount.ABSENT,
          new TokenCount(7, TokenCount.Provenance.ESTIMATED),
          TokenCount.ABSENT,
          new TokenCount(127, TokenCount.Provenance.DERIVED),
          Optional.of("fast"));
  private static final Attempt FAILED =
      new Attempt(
          1,
          DEPLOYED,
          Attempt.ReasonCode.PROVIDER_ERROR,
          1,
          0,
          Duration.ofMillis(1_234),
          Optional.empty(),
          "HTTP 503",
          Optional.of(ProviderException.Kind.HTTP_STATUS),
          503,
          Optional.of("req-1"),
          Optional.empty(),
          Optional.empty(),
          false);
  private static final Attempt SUCCEEDED =
      new Attempt(
          1,
          TARGET,
          Attempt.ReasonCode.PROVIDER_SUCCESS,
          0,
          1,
          Duration.ofNanos(1),
          Optional.empty(),
          "",
          Optional.empty(),
          0,
          Optional.empty(),
          Optional.of(USAGE),
          Optional.empty(),
          false);
  private static final RunEvent.RunFailed FAILURE =
      new RunEvent.RunFailed(
          FailureKind.TARGETS_EXHAUSTED, "Every target failed.", true, 1, List.of(FAILED));

  private static final RunEvent.RunTimedOut TIMEOUT =
      new RunEvent.RunTimedOut(Duration.ofSeconds(90), 2, List.of(FAILED));

  private static final Money QUOTED = Money.of("0.0125", "USD");
  private static final CostValuation QUOTE =
      new CostValuation(
          "azure",
          "gpt-5",
          CostValuation.Status.ESTIMATED,
          Optional.of(QUOTED),
          Optional.of("USD"),
          "catalog-1",
          Optional.of("2026-03"),
          "warpwright-valuation-v1",
          Optional.of("https://prices.example/"),
          List.of(
              new CostValuation.Component(
                  CostValuation.TokenClass.INPUT, 1000, Optional.of(QUOTED), QUOTED),
              new CostValuation.Component(
                  CostValuation.TokenClass.CACHED_INPUT, 0, Optional.empty(), Money.zero("USD"))),
          List.of(),
          List.of("cold-cache"),
          false);
  private static final CostValuation NO_QUOTE =
      new CostValuation(
          "openai",
          "gpt-5",
          CostValuation.Status.UNKNOWN,
          Optional.empty(),
          Optional.empty(),
          "catalog-1",
          Optional.empty(),
          "warpwright-valuation-v1",
          Optional.empty(),
          List.of(),
          List.of("model-not-in-catalog"),
          List.of(),
          false);
  private static final RouteDecision ADAPTIVE =
      new RouteDecision(
          List.of(DEPLOYED, TARGET),
          RouteDecision.ReasonCode.ROUTING_ADAPTIVE,
          Optional.of(
              new RouteDecision.Ranking(
                  Optional.of(RoutingMode.QUALITY),
                  TaskIntent.REASONING,
                  List.of(
                      new RouteDecision.Standing(
                          Optional.of(-1.25), List.of("tier"), Optional.of(QUOTE)),
                      new RouteDecision.Standing(
                          Optional.empty(), List.of(), Optional.of(NO_QUOTE))))),
          Optional.of(
              new AdaptiveRecord(
                  "warpwright-quality-v1",
                  40,
                  List.of(
                      new AdaptiveRecord.Candidate(
                          TARGET,
                          Optional.empty(),
                          Optional.empty(),
                          TargetSignals.NONE,
                          Optional.empty(),
                          List.of(AdaptiveRecord.Signal.QUALITY, AdaptiveRecord.Signal.COST),
                          List.of("quality-unavailable", "cost-unavailable")),
                      new AdaptiveRecord.Candidate(
                          DEPLOYED,
                          Optional.of(new AdaptiveRecord.Quality(0.75, "eval-1")),
                          Optional.of(QUOTED),
                          new TargetSignals(
                              Optional.of(Duration.ofMillis(1_500)),
                              Optional.of(Duration.ofMillis(90)),
                              Optional.of(2),
                              3,
                              1,
                              Optional.of(81.5),
                              Optional.of(Instant.parse("2026-03-01T00:00:30Z"))),
                          Optional.of(-1.25),
                          List.of(),
                          List.of())),
                  Optional.of(DEPLOYED),
                  Optional.of(new AdaptiveRecord.Affinity(TARGET, 0.5, false)))));

  private GoldenEvents() {}

  private static RunEvent from(Optional<RunEvent.RunStarted.HandedOver> handoff) {
    return new RunEvent.RunStarted(
        "research",
        "1",
        Map.of(),
        Optional.of("subagent:1"),
        List.of(),
        1,
        List.of(),
        Map.of(),
        Optional.empty(),
        false,
        Optional.empty(),
        Optional.empty(),
        Optional.of("parent-1"),
        handoff);
  }

  static Map<String, RunEvent> all() {
    Map<String, RunEvent> events = new LinkedHashMap<>();
    events.put(
        "RunStarted",
        new RunEvent.RunStarted(
            "triage",
            "3",
            Map.of("prompt", "sha256:aa", "agent", "sha256:bb", "options", "sha256:cc"),
            Optional.of("ticket-1"),
            List.of(
                Message.system("Be brief."),
                Message.user("Line 1\nLine \"2\" ä€😀"),
                new Message(
                    Role.ASSISTANT,
                    List.of(
                        new Part.Text("One moment."),
                        new ToolCall("c1", "lookup", ARGUMENTS),
                        ToolCall.malformed("c2", "lookup", "{oops"))),
                Message.tool(
                    List.of(
                        new ToolResult("c1", "lookup", Json.parse("null"), false),
                        new ToolResult("c2", "lookup", Json.of("Not JSON."), true)))),
            10,
            List.of(DEPLOYED, TARGET),
            Map.of("b", "2", "a", "1")));
    events.put(
        "RunStarted-minimal",
        new RunEvent.RunStarted(
            "a", "1", Map.of(), Optional.empty(), List.of(), 1, List.of(), Map.of()));
    events.put(
        "RunStarted-limited",
        new RunEvent.RunStarted(
            "a",
            "1",
            Map.of(),
            Optional.empty(),
            List.of(),
            1,
            List.of(),
            Map.of(),
            Optional.of(1_048_576L),
            false,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty()));
    events.put(
        "RunStarted-imported",
        new RunEvent.RunStarted(
            "a",
            "1",
            Map.of(),
            Optional.empty(),
            List.of(
                new Message(
                    Role.ASSISTANT, List.of(new ToolCall("c1", "lookup", Json.EMPTY_OBJECT))),
                Message.tool(List.of(new ToolResult("c1", "lookup", Json.parse("\"ok\""), false)))),
            1,
            List.of(),
            Map.of(),
            Optional.empty(),
            true,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty()));
    events.put(
        "RunStarted-bound",
        new RunEvent.RunStarted(
            "a",
            "1",
            Map.of(),
            Optional.empty(),
            List.of(),
            1,
            List.of(),
            Map.of(),
            Optional.empty(),
            false,
            Optional.of(
                new RunBinding(
                    Optional.of(new Harness("tickets", "2026.11", "4f2a9c")),
                    Optional.of("sha256:00ff"))),
            Optional.empty(),
            Optional.empty(),
            Optional.empty()));
    events.put("RunStarted-child", from(Optional.empty()));
    events.put(
        "RunStarted-handoff",
        from(
            Optional.of(
                new RunEvent.RunStarted.HandedOver("handoff_1", "desk", Map.of("k", "v")))));
    events.put(
        "RunStarted-forked",
        new RunEvent.RunStarted(
            "a",
            "1",
            Map.of(),
            Optional.empty(),
            List.of(Message.user("Hi.")),
            1,
            List.of(TARGET),
            Map.of(),
            Optional.empty(),
            false,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(
                new RunEvent.RunStarted.ForkedFrom(
                    "run-2",
                    7,
                    Instant.parse("2026-11-30T12:00:00.5Z"),
                    Optional.of(Message.user("Hello.")),
                    Optional.of(Message.user("And?")),
                    Optional.of(
                        new RunEvent.RunStarted.ForkedFrom(
                            "run-1",
                            3,
                            Instant.parse("2026-11-29T12:00:00Z"),
                            Optional.empty(),
                            Optional.empty(),
                            Optional.empty()))))));
    events.put("StepStarted", new RunEvent.StepStarted(2, 5));
    events.put(
        "RouteBound",
        new RunEvent.RouteBound(
            1,
            DEPLOYED,
            new RouteDecision(
                List.of(DEPLOYED, TARGET), RouteDecision.ReasonCode.ROUTING_ORDERED)));
    events.put(
        "CancelRequested", new RunEvent.CancelRequested(Optional.of("No longer \"needed\".")));
    events.put("CancelRequested-minimal", new RunEvent.CancelRequested(Optional.empty()));
    events.put(
        "MemoryLoaded",
        new RunEvent.MemoryLoaded(List.of(Message.user("She prefers e-mail. ä😀"))));
    events.put("MemoryLoaded-minimal", new RunEvent.MemoryLoaded(List.of()));
    events.put(
        "ApprovalTokenIssued",
        new RunEvent.ApprovalTokenIssued(
            "approval_1",
            "sha256:" + "0".repeat(64),
            "sha256:" + "1".repeat(64),
            Optional.of(Instant.parse("2026-01-01T12:00:00.123456789Z")),
            Optional.of("hmac-sha256:" + "2".repeat(64))));
    events.put(
        "ApprovalTokenIssued-minimal",
        new RunEvent.ApprovalTokenIssued(
            "approval_1",
            "sha256:" + "0".repeat(64),
            "sha256:" + "1".repeat(64),
            Optional.empty(),
            Optional.empty()));
    events.put(
        "GuardrailChecked",
        new RunEvent.GuardrailChecked(
            GuardrailStage.TOOL_OUTPUT,
            "card-numbers",
            Optional.of("a \"card\" number"),
            Map.of("count", "2", "a", "ä")));
    events.put(
        "GuardrailChecked-minimal",
        new RunEvent.GuardrailChecked(GuardrailStage.INPUT, "words", Optional.empty(), Map.of()));
    events.put("RunCancelled", new RunEvent.RunCancelled(2, List.of(FAILED)));
    events.put("RunCancelled-minimal", new RunEvent.RunCancelled(0, List.of()));
    events.put(
        "RouteBound-mode",
        new RunEvent.RouteBound(
            1,
            TARGET,
            new RouteDecision(
                List.of(TARGET),
                RouteDecision.ReasonCode.ROUTING_ORDERED,
                Optional.of(
                    new RouteDecision.Ranking(
                        Optional.of(RoutingMode.ORDERED), TaskIntent.TOOL_HEAVY, List.of())),
                Optional.empty())));
    events.put("RouteBound-adaptive", new RunEvent.RouteBound(1, DEPLOYED, ADAPTIVE));
    events.put(
        "ModelResponded",
        new RunEvent.ModelResponded(
            1,
            TARGET,
            Message.assistant("Done."),
            new FinishReason(FinishReason.Kind.STOP, "stop"),
            USAGE,
            List.of(FAILED, SUCCEEDED)));
    events.put(
        "ModelResponded-minimal",
        new RunEvent.ModelResponded(
            1,
            TARGET,
            new Message(Role.ASSISTANT, List.of()),
            new FinishReason(FinishReason.Kind.OTHER, ""),
            Usage.ABSENT,
            List.of()));
    events.put("ModelResponded-priced", priced());
    events.put(
        "RunStarted-image",
        new RunEvent.RunStarted(
            "a",
            "1",
            Map.of(),
            Optional.empty(),
            List.of(Message.user("Which?", Image.of("image/png", new byte[] {1, 2, 3}))),
            1,
            List.of(),
            Map.of()));
    events.put(
        "ModelResponded-private",
        new RunEvent.ModelResponded(
            2,
            TARGET,
            new Message(
                Role.ASSISTANT,
                List.of(
                    ProviderState.of(
                            "anthropic-messages",
                            "claude-x",
                            Json.parse(
                                "{\"type\":\"thinking\",\"thinking\":\"Ä\\n"
                                    + "\",\"signature\":\"s/+=\",\"n\":1.50}"))
                        .issuedBy("anthropic"),
                    new Part.Text("Wait."),
                    ProviderState.of("other", "m", Json.of("opaque")),
                    new ToolCall("c1", "lookup", Json.EMPTY_OBJECT))),
            new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_use"),
            Usage.ABSENT,
            List.of()));
    events.put(
        "ModelResponded-asking",
        new RunEvent.ModelResponded(
            1,
            TARGET,
            new Message(
                Role.ASSISTANT,
                List.of(
                    ProviderState.of(
                            "openai-responses", "gpt-5", Json.parse("{\"items\":[{\"n\":1.50}]}"))
                        .issuedBy("openai")
                        .asking(
                            ProviderApproval.of(
                                "mcpr_1", Optional.of("docs"), "search", ARGUMENTS)),
                    ProviderState.of("openai-responses", "gpt-5", Json.EMPTY_OBJECT)
                        .issuedBy("openai")
                        .asking(
                            ProviderApproval.of(
                                    "mcpr_2", Optional.empty(), "write", Json.of("{\"a\":"))
                                .answered(ProviderApproval.Answer.deny("No \"ä😀\"."))))),
            new FinishReason(FinishReason.Kind.PAUSED, "completed"),
            Usage.ABSENT,
            List.of()));
    events.put(
        "ApprovalRequested-provider",
        new RunEvent.ApprovalRequested(
            "providerapproval_1",
            "sha256:" + "0".repeat(64),
            1,
            "mcpr_1",
            "search",
            "1",
            ARGUMENTS,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(
                new RunEvent.ApprovalRequested.OfProvider(
                    "openai", Optional.of("docs"), "mcpr_1"))));
    events.put(
        "ApprovalRequested",
        new RunEvent.ApprovalRequested(
            "approval_1", "sha256:" + "0".repeat(64), 1, "c1", "refund", "1", ARGUMENTS));
    events.put(
        "ApprovalRequested-signed",
        new RunEvent.ApprovalRequested(
            "approval_1",
            "sha256:" + "0".repeat(64),
            1,
            "c1",
            "refund",
            "1",
            ARGUMENTS,
            Optional.of(Instant.parse("2026-01-01T12:00:00.123456789Z")),
            Optional.of("hmac-sha256:" + "1".repeat(64)),
            Optional.empty(),
            Optional.empty()));
    events.put(
        "ApprovalRequested-asked",
        new RunEvent.ApprovalRequested(
            "approval_1",
            "sha256:" + "0".repeat(64),
            1,
            "c1",
            "refund",
            "1",
            ARGUMENTS,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(
                new RunEvent.ApprovalRequested.Why(
                    Optional.of("more than \"usual\""), Map.of("limit", "100.00")))));
    events.put(
        "ApprovalRequested-noted",
        new RunEvent.ApprovalRequested(
            "approval_1",
            "sha256:" + "0".repeat(64),
            1,
            "c1",
            "refund",
            "1",
            ARGUMENTS,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(new RunEvent.ApprovalRequested.Why(Optional.empty(), Map.of()))));
    events.put(
        "ApprovalRequested-child",
        new RunEvent.ApprovalRequested(
            "subapproval_1",
            "sha256:" + "0".repeat(64),
            1,
            "c1",
            "refund",
            "1",
            ARGUMENTS,
            Optional.empty(),
            Optional.empty(),
            Optional.of(new RunEvent.ApprovalRequested.OfChild("child-1", "approval_1")),
            Optional.empty()));
    events.put("ChildStarted", new RunEvent.ChildStarted("c1", "child-1", "research"));
    events.put(
        "ChildFinished",
        new RunEvent.ChildFinished(
            "c1",
            "child-1",
            RunStatus.COMPLETED,
            "Found \"it\" ä€😀",
            2,
            1,
            0,
            USAGE,
            Optional.of(new CostTotal(CostValuation.Status.KNOWN, Optional.of(QUOTED), List.of())),
            Optional.empty(),
            Duration.ofMillis(1_234)));
    events.put(
        "ChildFinished-failed",
        new RunEvent.ChildFinished(
            "c1",
            "child-1",
            RunStatus.FAILED,
            "",
            1,
            0,
            0,
            Usage.ABSENT,
            Optional.of(
                new CostTotal(
                    CostValuation.Status.UNKNOWN, Optional.empty(), List.of("lost-call"))),
            Optional.of(FailureKind.TARGETS_EXHAUSTED),
            Duration.ZERO));
    events.put(
        "RunSuspended-child",
        new RunEvent.RunSuspended(
            RunEvent.RunSuspended.Reason.CHILD, List.of("child-1"), Optional.empty()));
    events.put(
        "ApprovalDecided-signed",
        new RunEvent.ApprovalDecided(
            "approval_1",
            false,
            Optional.empty(),
            Optional.of("expired"),
            Optional.of("hmac-sha256:" + "2".repeat(64))));
    events.put(
        "ApprovalDecided",
        new RunEvent.ApprovalDecided(
            "approval_1", false, Optional.of("ann"), Optional.of("Too much.")));
    events.put(
        "ApprovalDecided-minimal",
        new RunEvent.ApprovalDecided("approval_1", true, Optional.empty(), Optional.empty()));
    events.put(
        "ToolStarted",
        new RunEvent.ToolStarted(1, 0, "c1", "refund", EffectClass.ONCE, ARGUMENTS, "key-1", 1));
    events.put(
        "ToolFinished",
        new RunEvent.ToolFinished(
            "c1",
            "refund",
            Optional.of("key-1"),
            true,
            Json.parse("{\"z\":1,\"a\":12345678901234567890.123456789}"),
            false,
            Duration.ofSeconds(61, 5_000_000)));
    events.put(
        "ToolFinished-refused",
        new RunEvent.ToolFinished(
            "c2", "refund", Optional.empty(), false, Json.of("Denied."), true, Duration.ZERO));
    events.put(
        "ToolReconciled",
        new RunEvent.ToolReconciled(
            "c1",
            "key-1",
            RunEvent.ToolReconciled.Verdict.SUCCEEDED,
            Optional.of(Json.parse("null")),
            "ann"));
    events.put(
        "ToolReconciled-evidence",
        new RunEvent.ToolReconciled(
            "c1",
            "key-1",
            RunEvent.ToolReconciled.Verdict.FAILED,
            Optional.of(Json.of("The bank refused.")),
            "ann",
            Optional.of("sha256:" + "3".repeat(64))));
    events.put(
        "ToolReconciled-minimal",
        new RunEvent.ToolReconciled(
            "c1",
            "key-1",
            RunEvent.ToolReconciled.Verdict.NOT_EXECUTED,
            Optional.empty(),
            "reconciler"));
    events.put(
        "RunSuspended",
        new RunEvent.RunSuspended(
            RunEvent.RunSuspended.Reason.RECONCILIATION, List.of("c1"), Optional.of(FAILURE)));
    events.put(
        "RunSuspended-minimal",
        new RunEvent.RunSuspended(
            RunEvent.RunSuspended.Reason.APPROVAL, List.of("approval_1"), Optional.empty()));
    events.put(
        "RunSuspended-timed-out",
        new RunEvent.RunSuspended(
            RunEvent.RunSuspended.Reason.RECONCILIATION,
            List.of("c1"),
            Optional.empty(),
            Optional.of(TIMEOUT)));
    events.put("RunTimedOut", TIMEOUT);
    events.put("RunResumed", new RunEvent.RunResumed("approval"));
    events.put("RunCompleted", new RunEvent.RunCompleted("Done.", 2, USAGE));
    events.put(
        "RunCompleted-object",
        new RunEvent.RunCompleted(
            "Well.{\"n\":1.50}",
            2,
            USAGE,
            Optional.of(Json.parse("{\"n\":1.50}")),
            Optional.of(ObjectMode.NATIVE)));
    events.put("RunFailed", FAILURE);
    events.put(
        "ContextCompacted",
        new RunEvent.ContextCompacted(
            "run-1:compaction_" + "a".repeat(64),
            4,
            List.of(
                RunEvent.ContextCompacted.Reason.MAX_MESSAGES,
                RunEvent.ContextCompacted.Reason.MAX_ESTIMATED_INPUT_TOKENS),
            "sha256:" + "4".repeat(64),
            "sha256:" + "5".repeat(64),
            1,
            7,
            9,
            4,
            3_000_000_000L,
            120,
            "She wants \"12.50\" back.",
            USAGE,
            List.of(SUCCEEDED)));
    putFlowEvents(events);
    return events;
  }

  /** An answer from the cache after a failed call that may have cost something. */
  private static RunEvent priced() {
    CostValuation known =
        new CostValuation(
            "openai",
            "gpt-5",
            CostValuation.Status.ESTIMATED,
            Optional.of(Money.of("0.0025", "USD")),
            Optional.of("USD"),
            "catalog-7",
            Optional.of("prices-3"),
            "warpwright-valuation-v1",
            Optional.of("https://example.com/prices"),
            List.of(
                new CostValuation.Component(
                    CostValuation.TokenClass.INPUT,
                    10,
                    Optional.of(Money.of("0.25", "USD")),
                    Money.of("0.0025", "USD")),
                new CostValuation.Component(
                    CostValuation.TokenClass.CACHE_WRITE, 0, Optional.empty(), Money.zero("USD"))),
            List.of(),
            List.of("no-cache-write"),
            true);
    CostValuation unknown =
        new CostValuation(
            "azure",
            "gpt-5",
            CostValuation.Status.UNKNOWN,
            Optional.empty(),
            Optional.empty(),
            "catalog-7",
            Optional.empty(),
            "warpwright-valuation-v1",
            Optional.empty(),
            List.of(),
            List.of("model-not-in-catalog"),
            List.of(),
            false);
    return new RunEvent.ModelResponded(
        1,
        TARGET,
        Message.assistant("Done."),
        new FinishReason(FinishReason.Kind.STOP, "stop"),
        USAGE,
        List.of(
            new Attempt(
                1,
                DEPLOYED,
                Attempt.ReasonCode.ADMISSION_DENIED,
                0,
                0,
                Duration.ofMillis(5),
                Optional.empty(),
                "full",
                Optional.empty(),
                0,
                Optional.empty(),
                Optional.empty(),
                Optional.of(unknown),
                false),
            new Attempt(
                1,
                TARGET,
                Attempt.ReasonCode.PROVIDER_SUCCESS,
                0,
                1,
                Duration.ofNanos(1),
                Optional.empty(),
                "",
                Optional.empty(),
                0,
                Optional.empty(),
                Optional.of(USAGE),
                Optional.of(known),
                true)));
  }

  private static void putFlowEvents(Map<String, RunEvent> events) {
    Instant noon = Instant.parse("2026-01-01T12:00:00Z");
    FlowEvent.StepError error =
        new FlowEvent.StepError(FailureKind.INTERNAL, "java.io.IOException", "No ä\n.");
    events.put(
        "RunStarted-flow",
        RunEvent.RunStarted.ofFlow(
            "checkout",
            "2",
            Map.of("input", "sha256:aa"),
            Optional.empty(),
            ARGUMENTS,
            Map.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty()));
    events.put(
        "RunStarted-life",
        RunEvent.RunStarted.ofFlow(
            "checkout",
            "2",
            Map.of("input", "sha256:aa"),
            Optional.empty(),
            ARGUMENTS,
            Map.of(),
            Optional.empty(),
            Optional.empty(),
            Optional.of(
                new RunEvent.RunStarted.Life(
                    Optional.of(Duration.ofDays(30)), true, Optional.of("run-1")))));
    events.put("RunCompleted-continued", RunEvent.RunCompleted.continuedAs("run-1.2"));
    events.put("RunCompleted-flow", new RunEvent.RunCompleted(Json.parse("{\"a\":1.50}")));
    events.put(
        "RunFailed-flow",
        new RunEvent.RunFailed(
            FailureKind.INTERNAL, "No.", true, 0, List.of(), Optional.of("3/0/2")));
    events.put(
        "FlowStepStarted",
        new FlowEvent.FlowStepStarted("3/0/2", "charge", EffectClass.ONCE, "key-1", 2));
    events.put(
        "FlowStepFinished",
        new FlowEvent.FlowStepFinished(
            "3/0/2", "charge", 2, Optional.of(ARGUMENTS), Optional.empty(), Duration.ofMillis(12)));
    events.put(
        "FlowStepFinished-failed",
        new FlowEvent.FlowStepFinished(
            "1", "charge", 1, Optional.empty(), Optional.of(error), Duration.ZERO));
    events.put(
        "FlowStepFinished-cancelled",
        new FlowEvent.FlowStepFinished(
            "1", "charge", 1, Optional.empty(), Optional.empty(), Duration.ZERO));
    events.put(
        "StepRetryScheduled", new FlowEvent.StepRetryScheduled("1", "charge", 1, error, noon));
    events.put("TimerScheduled", new FlowEvent.TimerScheduled("2", "sleep", noon));
    events.put("TimerFired", new FlowEvent.TimerFired("2"));
    events.put("SignalAwaited", new FlowEvent.SignalAwaited("2", "paid", Optional.of(noon)));
    events.put("SignalAwaited-forever", new FlowEvent.SignalAwaited("2", "p", Optional.empty()));
    events.put(
        "SignalReceived", new FlowEvent.SignalReceived("2", "signal-1", Json.parse("[1,2.0]")));
    events.put("SignalTimedOut", new FlowEvent.SignalTimedOut("2"));
    events.put("ParallelStarted", new FlowEvent.ParallelStarted("3", "lookups", 2));
    events.put(
        "ParallelFinished",
        new FlowEvent.ParallelFinished(
            "3",
            List.of(
                FlowEvent.ParallelFinished.BranchEnd.COMPLETED,
                FlowEvent.ParallelFinished.BranchEnd.FAILED,
                FlowEvent.ParallelFinished.BranchEnd.CANCELLED),
            Optional.of(1)));
    events.put("VersionMarked", new FlowEvent.VersionMarked("4", "new-tax", 2));
    events.put(
        "Observed",
        new FlowEvent.Observed("5", FlowEvent.Observed.Source.TIME, Json.of(noon.toString())));
  }
}
