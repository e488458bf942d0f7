package dev.warpwright.run;

import dev.warpwright.ObjectMode;
import dev.warpwright.cost.CostTotal;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.RouteDecision;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What happened in a run: the closed, durable family of event types.
 *
 * <p>Events are stored for ever. A component is never renamed or removed, and a new one is
 * optional.
 */
public sealed interface RunEvent
    permits FlowEvent,
        RunEvent.RunStarted,
        RunEvent.MemoryLoaded,
        RunEvent.StepStarted,
        RunEvent.ContextCompacted,
        RunEvent.RouteBound,
        RunEvent.ModelResponded,
        RunEvent.GuardrailChecked,
        RunEvent.ApprovalRequested,
        RunEvent.ApprovalTokenIssued,
        RunEvent.ApprovalDecided,
        RunEvent.ToolStarted,
        RunEvent.ToolFinished,
        RunEvent.ToolReconciled,
        RunEvent.ChildStarted,
        RunEvent.ChildFinished,
        RunEvent.RunSuspended,
        RunEvent.RunResumed,
        RunEvent.CancelRequested,
        RunEvent.RunCancelled,
        RunEvent.RunTimedOut,
        RunEvent.RunCompleted,
        RunEvent.RunFailed {
  /**
   * A fresh run was accepted.
   *
   * @param agentId the agent or the flow
   * @param agentVersion its version
   * @param fingerprint digests of what the run was asked with, by part
   * @param idempotencyKey the key under which it was claimed
   * @param messages the conversation that the run begins with
   * @param maxSteps how many model calls it may make
   * @param targets the targets that it may use, in order: its route binding
   * @param metadata the program's own notes
   * @param maxStateBytes how large its state may become, in bytes; empty means {@link
   *     RunState#DEFAULT_MAX_BYTES}
   * @param imported whether tools were called in the conversation before the run began: then every
   *     step, also after a reload, goes to models only that take them
   * @param binding the harness and the environment that it is bound to, if it is to any
   * @param input what a flow was given; empty for an agent
   * @param parent the run in the same scope that this one came from: whose child it is or, with a
   *     handoff, that handed over to it
   * @param handoff what was handed over, if another run did
   * @param life how long a flow's run may take and which run it goes on from; empty if nothing of
   *     that is set
   * @param forkedFrom where the run was cut off from another one, if it is a fork
   */
  record RunStarted(
      String agentId,
      String agentVersion,
      Map<String, String> fingerprint,
      Optional<String> idempotencyKey,
      List<Message> messages,
      int maxSteps,
      List<Target> targets,
      Map<String, String> metadata,
      Optional<Long> maxStateBytes,
      boolean imported,
      Optional<RunBinding> binding,
      Optional<Json> input,
      Optional<String> parent,
      Optional<HandedOver> handoff,
      Optional<Life> life,
      Optional<ForkedFrom> forkedFrom)
      implements RunEvent {
    /**
     * How long a flow's run may take in all, and where it goes on from.
     *
     * @param timeout how long, from this event on and waits included
     * @param cancels whether it is cancelled then, so that it can take back what it did, and not
     *     just ended
     * @param continues the run in the same scope that ended so that this one goes on
     */
    public record Life(Optional<Duration> timeout, boolean cancels, Optional<String> continues) {}

    /**
     * Where a run comes from that goes on with what another one began.
     *
     * @param id the handoff's id
     * @param fromAgentId the agent that handed over
     * @param metadata the program's own notes on it
     */
    public record HandedOver(String id, String fromAgentId, Map<String, String> metadata) {
      /** Copies the map. */
      public HandedOver {
        metadata = Map.copyOf(metadata);
      }

      /** Shows id and agent; metadata may be private. */
      @Override
      public String toString() {
        return "HandedOver[" + id + ", " + fromAgentId + "]";
      }
    }

    /**
     * Where a run was cut off from another one, whose events it has up to there, and what it
     * changes in the conversation at that point.
     *
     * @param runId the other run
     * @param sequence the last event that is of it
     * @param time when the run was cut off
     * @param replaced what stands in the place of the last message
     * @param added what follows behind that
     * @param earlier where the other run was cut off itself, if that is not behind this point
     */
    public record ForkedFrom(
        String runId,
        long sequence,
        Instant time,
        Optional<Message> replaced,
        Optional<Message> added,
        Optional<ForkedFrom> earlier) {
      /**
       * This and all that the other run was cut off from.
       *
       * @return the latest first
       */
      public Stream<ForkedFrom> all() {
        return Stream.concat(Stream.of(this), earlier.stream().flatMap(ForkedFrom::all));
      }

      /** Shows run and sequence, not what is changed. */
      @Override
      public String toString() {
        return "ForkedFrom[" + runId + ", " + sequence + "]";
      }
    }

    /**
     * A run of no import, no binding and no parent, whose state may become as large as by default.
     *
     * @param agentId the agent
     * @param agentVersion its version
     * @param fingerprint digests of what the run was asked with, by part
     * @param idempotencyKey the key under which it was claimed
     * @param messages the conversation that the run begins with
     * @param maxSteps how many model calls it may make
     * @param targets the targets that it may use, in order
     * @param metadata the program's own notes
     */
    public RunStarted(
        String agentId,
        String agentVersion,
        Map<String, String> fingerprint,
        Optional<String> idempotencyKey,
        List<Message> messages,
        int maxSteps,
        List<Target> targets,
        Map<String, String> metadata) {
      this(
          agentId,
          agentVersion,
          fingerprint,
          idempotencyKey,
          messages,
          maxSteps,
          targets,
          metadata,
          Optional.empty(),
          false,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());
    }

    /**
     * A run whose life has no limit of its own, and that is no fork.
     *
     * @param agentId the agent or the flow
     * @param agentVersion its version
     * @param fingerprint digests of what the run was asked with, by part
     * @param idempotencyKey the key under which it was claimed
     * @param messages the conversation that the run begins with
     * @param maxSteps how many model calls it may make
     * @param targets the targets that it may use, in order
     * @param metadata the program's own notes
     * @param maxStateBytes how large its state may become, in bytes; empty means the default
     * @param imported whether tools were called in the conversation before the run began
     * @param binding the harness and the environment that it is bound to, if it is to any
     * @param input what a flow was given; empty for an agent
     * @param parent the run in the same scope that this one came from
     * @param handoff what was handed over, if another run did
     */
    public RunStarted(
        String agentId,
        String agentVersion,
        Map<String, String> fingerprint,
        Optional<String> idempotencyKey,
        List<Message> messages,
        int maxSteps,
        List<Target> targets,
        Map<String, String> metadata,
        Optional<Long> maxStateBytes,
        boolean imported,
        Optional<RunBinding> binding,
        Optional<Json> input,
        Optional<String> parent,
        Optional<HandedOver> handoff) {
      this(
          agentId,
          agentVersion,
          fingerprint,
          idempotencyKey,
          messages,
          maxSteps,
          targets,
          metadata,
          maxStateBytes,
          imported,
          binding,
          input,
          parent,
          handoff,
          Optional.empty(),
          Optional.empty());
    }

    /**
     * The first event of a flow's run.
     *
     * @param flowId the flow
     * @param version its version
     * @param fingerprint digests of what the run was asked with, by part
     * @param idempotencyKey the key under which it was claimed
     * @param input what it was given
     * @param metadata the program's own notes
     * @param maxStateBytes how large its state may become, in bytes; empty means the default
     * @param parent the run of which it is a child
     * @param life how long it may take and which run it goes on from
     * @return the event
     */
    public static RunStarted ofFlow(
        String flowId,
        String version,
        Map<String, String> fingerprint,
        Optional<String> idempotencyKey,
        Json input,
        Map<String, String> metadata,
        Optional<Long> maxStateBytes,
        Optional<String> parent,
        Optional<Life> life) {
      return new RunStarted(
          flowId,
          version,
          fingerprint,
          idempotencyKey,
          List.of(),
          1,
          List.of(),
          metadata,
          maxStateBytes,
          false,
          Optional.empty(),
          Optional.of(input),
          parent,
          Optional.empty(),
          life,
          Optional.empty());
    }

    /**
     * Who can drive the run, as stores have it in their index.
     *
     * @return the agent's id, or {@code flow:} and the flow's
     */
    public String drivenBy() {
      return input.isPresent() ? "flow:" + agentId : agentId;
    }

    /** Copies the collections. */
    public RunStarted {
      fingerprint = Map.copyOf(fingerprint);
      messages = List.copyOf(messages);
      targets = List.copyOf(targets);
      metadata = Map.copyOf(metadata);
    }

    /**
     * The run that this one is a child of: it began this one, waits for its end, and is cancelled
     * together with it.
     *
     * @return the id of the parent; empty if there is none, or if it only handed over
     */
    public Optional<String> childOf() {
      return handoff.isPresent() ? Optional.empty() : parent;
    }

    /** Shows agent and sizes; metadata may be private. */
    @Override
    public String toString() {
      return "RunStarted[%s %s, %d messages, %s]"
          .formatted(agentId, agentVersion, messages.size(), targets);
    }
  }

  /**
   * What the agent remembers was loaded, before the first step. The messages stand behind the
   * leading system messages of the run.
   *
   * @param messages what is remembered; none if there was nothing, or if the memory failed and that
   *     was to be ignored
   */
  record MemoryLoaded(List<Message> messages) implements RunEvent {
    /** Copies the list. */
    public MemoryLoaded {
      messages = List.copyOf(messages);
    }
  }

  /**
   * A model call begins.
   *
   * @param step the step, 1-based and counted over resumes
   * @param messageCount how many messages are sent
   */
  record StepStarted(int step, int messageCount) implements RunEvent {}

  /**
   * The older part of the conversation was replaced by a summary.
   *
   * @param recordId names the compaction; derived from run, step and what was replaced
   * @param beforeStep the step before whose model call it took place
   * @param reasons the limits that were passed
   * @param sourceDigest {@code sha256:} and 64 hex digits over what was replaced
   * @param resultDigest the same over the conversation afterwards
   * @param from the first message that was replaced, 0-based
   * @param to the first one behind them
   * @param messagesBefore how many messages there were
   * @param messagesAfter how many there are
   * @param tokensBefore how many tokens they had, by estimate
   * @param tokensAfter how many they have
   * @param summary what stands in their place
   * @param usage the tokens that the summary took
   * @param attempts the provider calls that it took
   */
  record ContextCompacted(
      String recordId,
      int beforeStep,
      List<ContextCompacted.Reason> reasons,
      String sourceDigest,
      String resultDigest,
      int from,
      int to,
      int messagesBefore,
      int messagesAfter,
      long tokensBefore,
      long tokensAfter,
      String summary,
      Usage usage,
      List<Attempt> attempts)
      implements RunEvent {
    private static final String MARK = "[Compacted prior conversation]";

    /** A limit of the conversation. */
    public enum Reason {
      /** It had too many messages. */
      MAX_MESSAGES,
      /** It had too many tokens, by estimate. */
      MAX_ESTIMATED_INPUT_TOKENS
    }

    /** Copies the lists. */
    public ContextCompacted {
      reasons = List.copyOf(reasons);
      attempts = List.copyOf(attempts);
    }

    /**
     * The message that a summary becomes.
     *
     * @param summary the summary
     * @return a message of the assistant
     */
    public static Message message(String summary) {
      return Message.assistant(MARK + "\n" + summary);
    }

    /** Shows the counts, not what the summary says. */
    @Override
    public String toString() {
      return "ContextCompacted[%s, before step %d, %d messages of %d]"
          .formatted(recordId, beforeStep, messagesAfter, messagesBefore);
    }
  }

  /**
   * A target won a step, for the first time or in place of another.
   *
   * @param step the step
   * @param target the winner
   * @param decision the order of targets and why
   */
  record RouteBound(int step, Target target, RouteDecision decision) implements RunEvent {}

  /**
   * A model call completed.
   *
   * @param step the step
   * @param target who answered
   * @param message the answer
   * @param finishReason why it ended
   * @param usage the tokens
   * @param attempts the attempts of this step, skips included
   */
  record ModelResponded(
      int step,
      Target target,
      Message message,
      FinishReason finishReason,
      Usage usage,
      List<Attempt> attempts)
      implements RunEvent {
    /** Copies the list. */
    public ModelResponded {
      attempts = List.copyOf(attempts);
    }
  }

  /**
   * A guardrail triggered. The run fails for good after it, as soon as no outcome is unknown.
   *
   * @param stage what the guardrail looked at
   * @param guardrailId the guardrail
   * @param reason why, in its own words
   * @param metadata its notes
   */
  record GuardrailChecked(
      GuardrailStage stage,
      String guardrailId,
      Optional<String> reason,
      Map<String, String> metadata)
      implements RunEvent {
    /** Copies the map. */
    public GuardrailChecked {
      metadata = Map.copyOf(metadata);
    }

    /** Shows guardrail and stage; why may quote what it looked at. */
    @Override
    public String toString() {
      return "GuardrailChecked[%s, %s]".formatted(guardrailId, stage);
    }
  }

  /**
   * A tool call needs a decision before it may run, or a provider asks for one.
   *
   * @param requestId the request's id, derived from the call
   * @param digest {@code sha256:} and 64 hex digits over what is to be approved
   * @param step the step that asked for the tool
   * @param callId the call; of a tool that a provider runs, the provider's id of its request
   * @param tool the tool
   * @param toolVersion the tool's approval version; 1 of a tool that a provider runs
   * @param arguments the canonical input
   * @param expiresAt from when on the request counts as denied; never, if empty
   * @param signature the {@link ApprovalSigner}'s, over all that a person is shown, if there is a
   *     signer
   * @param child the request of a child run for which this one stands: what is decided here is
   *     decided there; tool, version and arguments are those of the child's call
   * @param why why the program's own policy asks, if it was that
   * @param provider who asks, if it is the provider of a tool that it runs itself; of the child's
   *     provider if it stands for a request of a child run
   */
  record ApprovalRequested(
      String requestId,
      String digest,
      int step,
      String callId,
      String tool,
      String toolVersion,
      Json arguments,
      Optional<Instant> expiresAt,
      Optional<String> signature,
      Optional<OfChild> child,
      Optional<Why> why,
      Optional<OfProvider> provider)
      implements RunEvent {
    /** Of what a request asks to approve. */
    public enum Kind {
      /** A tool that the provider runs itself. */
      PROVIDER,
      /** A tool of this run's own agent. */
      LOCAL_TOOL,
      /** A tool in a child run. */
      SUBAGENT
    }

    /**
     * A request in a child run.
     *
     * @param runId the child run
     * @param requestId its own request, which may stand for one of a child of its own
     */
    public record OfChild(String runId, String requestId) {}

    /**
     * A provider that asks.
     *
     * @param id the provider
     * @param server the provider's name of the server that has the tool, if it says one
     * @param requestId the provider's own id of its request
     */
    public record OfProvider(String id, Optional<String> server, String requestId) {}

    /**
     * A request of a tool of this run's own agent, or one that stands for such a request of a
     * child.
     *
     * @param requestId the request's id, derived from the call
     * @param digest {@code sha256:} and 64 hex digits over what is to be approved
     * @param step the step that asked for the tool
     * @param callId the call
     * @param tool the tool
     * @param toolVersion the tool's approval version
     * @param arguments the canonical input
     * @param expiresAt from when on the request counts as denied; never, if empty
     * @param signature the {@link ApprovalSigner}'s, if there is a signer
     * @param child the request of a child run for which this one stands
     * @param why why the program's own policy asks, if it was that
     */
    public ApprovalRequested(
        String requestId,
        String digest,
        int step,
        String callId,
        String tool,
        String toolVersion,
        Json arguments,
        Optional<Instant> expiresAt,
        Optional<String> signature,
        Optional<OfChild> child,
        Optional<Why> why) {
      this(
          requestId,
          digest,
          step,
          callId,
          tool,
          toolVersion,
          arguments,
          expiresAt,
          signature,
          child,
          why,
          Optional.empty());
    }

    /**
     * A request of a tool of this run's own agent.
     *
     * @param requestId the request's id, derived from the call
     * @param digest {@code sha256:} and 64 hex digits over what is to be approved
     * @param step the step that asked for the tool
     * @param callId the call
     * @param tool the tool
     * @param toolVersion the tool's approval version
     * @param arguments the canonical input
     * @param expiresAt from when on the request counts as denied; never, if empty
     * @param signature the {@link ApprovalSigner}'s, if there is a signer
     */
    public ApprovalRequested(
        String requestId,
        String digest,
        int step,
        String callId,
        String tool,
        String toolVersion,
        Json arguments,
        Optional<Instant> expiresAt,
        Optional<String> signature) {
      this(
          requestId,
          digest,
          step,
          callId,
          tool,
          toolVersion,
          arguments,
          expiresAt,
          signature,
          Optional.empty(),
          Optional.empty());
    }

    /**
     * Why a policy asks for a decision.
     *
     * @param reason in its own words
     * @param metadata its notes
     */
    public record Why(Optional<String> reason, Map<String, String> metadata) {
      /** Copies the map. */
      public Why {
        metadata = Map.copyOf(metadata);
      }

      /** Shows nothing; both may be private. */
      @Override
      public String toString() {
        return "Why[]";
      }
    }

    /**
     * A request that does not expire and is not signed.
     *
     * @param requestId the request's id, derived from the call
     * @param digest {@code sha256:} and 64 hex digits over what is to be approved
     * @param step the step that asked for the tool
     * @param callId the call
     * @param tool the tool
     * @param toolVersion the tool's approval version
     * @param arguments the canonical input
     */
    public ApprovalRequested(
        String requestId,
        String digest,
        int step,
        String callId,
        String tool,
        String toolVersion,
        Json arguments) {
      this(
          requestId,
          digest,
          step,
          callId,
          tool,
          toolVersion,
          arguments,
          Optional.empty(),
          Optional.empty());
    }

    /**
     * Of what it asks to approve.
     *
     * @return SUBAGENT if it stands for a request of a child run, whoever asks there; PROVIDER if a
     *     provider asks
     */
    public Kind kind() {
      return child.isPresent()
          ? Kind.SUBAGENT
          : provider.isPresent() ? Kind.PROVIDER : Kind.LOCAL_TOOL;
    }

    /**
     * The same request with another signature.
     *
     * @param other the signature, or none
     * @return a copy
     */
    ApprovalRequested signed(Optional<String> other) {
      return new ApprovalRequested(
          requestId,
          digest,
          step,
          callId,
          tool,
          toolVersion,
          arguments,
          expiresAt,
          other,
          child,
          why,
          provider);
    }
  }

  /**
   * Somebody was given a token by which a request can be decided. Written from outside; takes the
   * place of an earlier one for the same request.
   *
   * @param requestId the request
   * @param fingerprint {@code sha256:} and 64 hex digits over the whole request
   * @param tokenHash {@code sha256:} and 64 hex digits over token and fingerprint
   * @param expiresAt from when on the token is not valid any more; never, if empty
   * @param signature the {@link ApprovalSigner}'s, over all the others, if there is a signer
   */
  record ApprovalTokenIssued(
      String requestId,
      String fingerprint,
      String tokenHash,
      Optional<Instant> expiresAt,
      Optional<String> signature)
      implements RunEvent {
    /** Shows the request. */
    @Override
    public String toString() {
      return "ApprovalTokenIssued[" + requestId + "]";
    }
  }

  /**
   * A decision on an approval was accepted.
   *
   * @param requestId the request
   * @param approve whether the tool may run
   * @param decidedBy who decided
   * @param reason why; {@code expired} if nobody decided in time
   * @param signature the {@link ApprovalSigner}'s, over the request's digest, the decision and the
   *     reason, if there is a signer
   */
  record ApprovalDecided(
      String requestId,
      boolean approve,
      Optional<String> decidedBy,
      Optional<String> reason,
      Optional<String> signature)
      implements RunEvent {
    /**
     * A decision that is not signed.
     *
     * @param requestId the request
     * @param approve whether the tool may run
     * @param decidedBy who decided
     * @param reason why
     */
    public ApprovalDecided(
        String requestId, boolean approve, Optional<String> decidedBy, Optional<String> reason) {
      this(requestId, approve, decidedBy, reason, Optional.empty());
    }

    /** Shows the decision, not its reason. */
    @Override
    public String toString() {
      return "ApprovalDecided[%s, %s]".formatted(requestId, approve ? "approved" : "denied");
    }
  }

  /**
   * The intent to run a tool, written before its effect.
   *
   * @param step the step that asked for it
   * @param ordinal the call's place among the calls of the step, 0-based
   * @param callId the call
   * @param tool the tool
   * @param effect its effect class
   * @param arguments the input
   * @param key the idempotency key that the tool is given
   * @param attempt 1 for the first run, then counting
   */
  record ToolStarted(
      int step,
      int ordinal,
      String callId,
      String tool,
      EffectClass effect,
      Json arguments,
      String key,
      int attempt)
      implements RunEvent {}

  /**
   * The outcome of a tool call is known, or the call was refused.
   *
   * @param callId the call
   * @param tool the tool
   * @param key the idempotency key, if the call was executed
   * @param executed false if the call was refused: denied, unknown tool, invalid input
   * @param output the output or, for an error, a JSON string with its text
   * @param error whether the call failed
   * @param duration how long the tool ran
   */
  record ToolFinished(
      String callId,
      String tool,
      Optional<String> key,
      boolean executed,
      Json output,
      boolean error,
      Duration duration)
      implements RunEvent {}

  /**
   * An unknown outcome was decided.
   *
   * @param callId the call
   * @param key its idempotency key
   * @param verdict what is known now
   * @param output the output or error text, unless the tool did not run
   * @param decidedBy who decided: the tool's reconciler or a person
   * @param evidence the digest of the {@link Evidence} that was shown, if any was
   */
  record ToolReconciled(
      String callId,
      String key,
      Verdict verdict,
      Optional<Json> output,
      String decidedBy,
      Optional<String> evidence)
      implements RunEvent {
    /**
     * A verdict without evidence.
     *
     * @param callId the call
     * @param key its idempotency key
     * @param verdict what is known now
     * @param output the output or error text, unless the tool did not run
     * @param decidedBy who decided: the tool's reconciler or a person
     */
    public ToolReconciled(
        String callId, String key, Verdict verdict, Optional<Json> output, String decidedBy) {
      this(callId, key, verdict, output, decidedBy, Optional.empty());
    }

    /** What is known of an effect after the fact. */
    public enum Verdict {
      /** It took place and succeeded. */
      SUCCEEDED,
      /** It took place and failed. */
      FAILED,
      /** It did not take place: the tool may run, under the same key. */
      NOT_EXECUTED
    }
  }

  /**
   * A child run begins, or is about to: the intent, written before the child's own first event.
   *
   * @param callId the call that it answers
   * @param childRunId the child run, in the same scope
   * @param agentId its agent, or {@code flow:} and its flow
   */
  record ChildStarted(String callId, String childRunId, String agentId) implements RunEvent {}

  /**
   * A child run has ended, and the call that it answers with it.
   *
   * @param callId the call that it answers
   * @param childRunId the child run
   * @param status how it ended: COMPLETED, FAILED or CANCELLED
   * @param text the text of all its model's answers, joined
   * @param steps how many model calls it made
   * @param toolCalls how many tool calls it answered, those to children of its own included
   * @param toolErrors how many of them gave an error
   * @param usage its tokens, with those of its children
   * @param cost what it cost, with its children; empty if no model call was valued
   * @param error what kind of failure ended it, if one did; never a provider's words
   * @param duration the time from its first event to its last
   */
  record ChildFinished(
      String callId,
      String childRunId,
      RunStatus status,
      String text,
      int steps,
      int toolCalls,
      int toolErrors,
      Usage usage,
      Optional<CostTotal> cost,
      Optional<FailureKind> error,
      Duration duration)
      implements RunEvent {
    /**
     * Whether the call that it answers gets an error.
     *
     * @return true unless the child run completed
     */
    public boolean failed() {
      return status != RunStatus.COMPLETED;
    }

    /**
     * The record as the output of the call.
     *
     * @return a JSON object or, of a child that failed, a JSON string with its text
     */
    public Json output() {
      return ChildOutput.of(this);
    }

    /**
     * The same without the text of the child, where that does not fit into the state.
     *
     * @return a record that says so instead
     */
    public ChildFinished withoutText() {
      return new ChildFinished(
          callId,
          childRunId,
          status,
          "The text is too large for the state of this run.",
          steps,
          toolCalls,
          toolErrors,
          usage,
          cost,
          error,
          duration);
    }

    /** Shows how the child ended, not what it says. */
    @Override
    public String toString() {
      return "ChildFinished[%s, %s, %s]".formatted(callId, childRunId, status);
    }
  }

  /**
   * The run stops without ending; it holds no thread and no memory.
   *
   * @param reason what it waits for
   * @param awaited the approval requests, call ids or child runs that are open
   * @param intendedEnd how the run would have failed, had no outcome been unknown; a cancel that
   *     waits for the verdict is {@link RunState#cancellation()}
   * @param intendedTimeout that the timeout of its policy would have ended it
   */
  record RunSuspended(
      Reason reason,
      List<String> awaited,
      Optional<RunFailed> intendedEnd,
      Optional<RunTimedOut> intendedTimeout)
      implements RunEvent {
    /**
     * A stop that no timeout has caused.
     *
     * @param reason what it waits for
     * @param awaited the approval requests or call ids that are open
     * @param intendedEnd how the run would have failed, had no outcome been unknown
     */
    public RunSuspended(Reason reason, List<String> awaited, Optional<RunFailed> intendedEnd) {
      this(reason, awaited, intendedEnd, Optional.empty());
    }

    /** What a suspended run waits for. */
    public enum Reason {
      /** Decisions on approvals. */
      APPROVAL,
      /** A verdict on a tool or step whose outcome is unknown. */
      RECONCILIATION,
      /** A signal. */
      SIGNAL,
      /** A time. */
      TIMER,
      /** A child run that cannot go on by itself, as it needs a verdict. */
      CHILD
    }

    /** Copies the list. */
    public RunSuspended {
      awaited = List.copyOf(awaited);
    }
  }

  /**
   * A driver goes on with a run.
   *
   * @param cause why, for people
   */
  record RunResumed(String cause) implements RunEvent {}

  /**
   * Somebody asked to cancel the run. Written from outside, also while a driver owns the run.
   *
   * @param reason why
   */
  record CancelRequested(Optional<String> reason) implements RunEvent {
    /** Shows no reason; it may be private. */
    @Override
    public String toString() {
      return "CancelRequested[]";
    }
  }

  /**
   * The cancel took effect.
   *
   * @param step the step in which it happened, 0 before the first
   * @param attempts the attempts of that step, skips included
   */
  record RunCancelled(int step, List<Attempt> attempts) implements RunEvent {
    /** Copies the list. */
    public RunCancelled {
      attempts = List.copyOf(attempts);
    }
  }

  /**
   * The timeout of the run's policy ended it.
   *
   * @param limit how long the invocation of an agent, or the whole run of a flow, was allowed to
   *     take
   * @param step the step in which it happened, 0 before the first
   * @param attempts the attempts of that step, skips included
   */
  record RunTimedOut(Duration limit, int step, List<Attempt> attempts) implements RunEvent {
    /** Copies the list. */
    public RunTimedOut {
      attempts = List.copyOf(attempts);
    }
  }

  /**
   * The final answer was accepted.
   *
   * @param text the text of all the model's answers, joined
   * @param steps how many steps it took
   * @param usage the tokens of all steps
   * @param output what a flow returned, or the object that the last answer of an agent is, if it
   *     must be one
   * @param outputMode how the model was brought to answer with that object
   * @param continuedAs the run in the same scope in which a flow goes on; then it returned nothing
   */
  record RunCompleted(
      String text,
      int steps,
      Usage usage,
      Optional<Json> output,
      Optional<ObjectMode> outputMode,
      Optional<String> continuedAs)
      implements RunEvent {
    /**
     * The end of an agent's run.
     *
     * @param text the text of all the model's answers, joined
     * @param steps how many steps it took
     * @param usage the tokens of all steps
     * @param output the object that the last answer is, if it must be one
     * @param outputMode how the model was brought to answer with that object
     */
    public RunCompleted(
        String text,
        int steps,
        Usage usage,
        Optional<Json> output,
        Optional<ObjectMode> outputMode) {
      this(text, steps, usage, output, outputMode, Optional.empty());
    }

    /**
     * The end of a flow's run that goes on in another one.
     *
     * @param runId that one
     * @return the event
     */
    public static RunCompleted continuedAs(String runId) {
      return new RunCompleted(
          "", 0, Usage.ABSENT, Optional.empty(), Optional.empty(), Optional.of(runId));
    }

    /**
     * The end of a flow.
     *
     * @param output what it returned
     */
    public RunCompleted(Json output) {
      this("", 0, Usage.ABSENT, Optional.of(output), Optional.empty());
    }

    /**
     * The end of an agent's run whose answer is a text.
     *
     * @param text the text of all the model's answers, joined
     * @param steps how many steps it took
     * @param usage the tokens of all steps
     */
    public RunCompleted(String text, int steps, Usage usage) {
      this(text, steps, usage, Optional.empty(), Optional.empty());
    }

    /** Shows how long the text is, not what it says. */
    @Override
    public String toString() {
      return "RunCompleted[%d characters, %d steps]".formatted(text.length(), steps);
    }
  }

  /**
   * The run ended by a failure.
   *
   * @param kind what kind of failure
   * @param message what happened, redacted
   * @param resumable whether the run may be continued from here
   * @param step the step in which it happened, 0 before the first
   * @param attempts the attempts of that step, skips included
   * @param position the call of a flow whose failure it was; a resume makes that call again
   */
  record RunFailed(
      FailureKind kind,
      String message,
      boolean resumable,
      int step,
      List<Attempt> attempts,
      Optional<String> position)
      implements RunEvent {
    /**
     * The failure of an agent's run.
     *
     * @param kind what kind of failure
     * @param message what happened, redacted
     * @param resumable whether the run may be continued from here
     * @param step the step in which it happened, 0 before the first
     * @param attempts the attempts of that step, skips included
     */
    public RunFailed(
        FailureKind kind, String message, boolean resumable, int step, List<Attempt> attempts) {
      this(kind, message, resumable, step, attempts, Optional.empty());
    }

    /** Copies the list. */
    public RunFailed {
      attempts = List.copyOf(attempts);
    }
  }
}
