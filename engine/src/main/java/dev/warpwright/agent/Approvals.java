package dev.warpwright.agent;

import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderState;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.ApprovalSignatures;
import dev.warpwright.run.ApprovalSigner;
import dev.warpwright.run.CallState;
import dev.warpwright.run.Decisions;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalRequested.OfProvider;
import dev.warpwright.run.RunEvent.ApprovalRequested.Why;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunState.Approval;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Makes requests for approval, bound by a digest to exactly what is to be approved and signed if
 * there is a signer, and accepts decisions on them.
 */
final class Approvals {
  private final TimeSource time;
  private final Optional<ApprovalSigner> signer;

  Approvals(TimeSource time, Optional<ApprovalSigner> signer) {
    this.time = time;
    this.signer = signer;
  }

  Optional<ApprovalSigner> signer() {
    return signer;
  }

  ApprovalRequested request(String runId, CallState call, Tool tool, Optional<Why> why) {
    Optional<Instant> expiresAt = tool.approvalExpiry().map(time.now()::plus);
    return ApprovalSignatures.sign(
        request(runId, call, tool, expiresAt, Optional.empty(), why), signer);
  }

  private static ApprovalRequested request(
      String runId,
      CallState call,
      Tool tool,
      Optional<Instant> expiresAt,
      Optional<String> signature,
      Optional<Why> why) {
    Json arguments = Json.parse(call.call().input().canonical());
    Map<String, Object> subject = new LinkedHashMap<>();
    subject.put("runId", runId);
    subject.put("step", call.step());
    subject.put("toolCallId", call.call().id());
    subject.put("toolName", tool.name());
    subject.put("input", arguments);
    subject.put("toolVersion", tool.version());
    String hex = Digest.hex(Json.of(subject).canonical());
    return new ApprovalRequested(
        "approval_" + hex,
        "sha256:" + hex,
        call.step(),
        call.call().id(),
        tool.name(),
        tool.version(),
        arguments,
        expiresAt,
        signature,
        Optional.empty(),
        why);
  }

  /**
   * A request that a provider makes by its answer, for a tool that it runs itself.
   *
   * @param asking the state of the answer that asks
   */
  ApprovalRequested request(
      String runId, int step, ProviderState asking, Optional<Duration> expiry) {
    Optional<Instant> expiresAt = expiry.map(time.now()::plus);
    return ApprovalSignatures.sign(
        request(runId, step, asking, expiresAt, Optional.empty()), signer);
  }

  /**
   * The step makes it another request if a provider gives an id again. The digest covers the
   * provider's own form too, since that is what it is told was approved.
   */
  private static ApprovalRequested request(
      String runId,
      int step,
      ProviderState asking,
      Optional<Instant> expiresAt,
      Optional<String> signature) {
    ProviderApproval asked = asking.approval().orElseThrow();
    String provider = asking.provider().orElseThrow();
    Json arguments = Json.parse(asked.arguments().canonical());
    Map<String, Object> subject = new LinkedHashMap<>();
    subject.put("runId", runId);
    subject.put("step", step);
    subject.put("provider", provider);
    subject.put("modelId", asking.modelId());
    subject.put("providerRequestId", asked.requestId());
    asked.server().ifPresent(server -> subject.put("server", server));
    subject.put("toolName", asked.tool());
    subject.put("input", arguments);
    subject.put("providerData", Digest.of(asking.data().canonical()));
    String hex = Digest.hex(Json.of(subject).canonical());
    return new ApprovalRequested(
        "providerapproval_" + hex,
        "sha256:" + hex,
        step,
        asked.requestId(),
        asked.tool(),
        "1",
        arguments,
        expiresAt,
        signature,
        Optional.empty(),
        Optional.empty(),
        Optional.of(new OfProvider(provider, asked.server(), asked.requestId())));
  }

  /**
   * Refuses to tell a provider what was decided on something else than it asks for, or was tampered
   * with.
   *
   * @throws InvalidRequestException if a signature or a request does not match
   */
  void requireValidAnswers(RunState state) {
    for (ProviderState asking : state.providerApprovals()) {
      requireValid(state, asking);
    }
  }

  private void requireValid(RunState state, ProviderState asking) {
    for (Approval approval : state.approvals()) {
      ApprovalRequested request = approval.request();
      if (isFor(request, state, asking)) {
        ApprovalSignatures.requireAuthentic(approval, signer);
        ApprovalRequested made =
            request(
                state.run().runId(),
                request.step(),
                asking,
                request.expiresAt(),
                request.signature());
        if (!request.equals(made)) {
          throw new InvalidRequestException(
              FailureKind.INVALID_REQUEST,
              "The approval of the provider's tool \"%s\" in step %d of run %s no longer matches"
                      .formatted(request.tool(), request.step(), state.run())
                  + " what the provider asks for.");
        }
      }
    }
  }

  private static boolean isFor(ApprovalRequested request, RunState state, ProviderState asking) {
    int answered = state.nextStep() - 1;
    return request.kind() == ApprovalRequested.Kind.PROVIDER
        && request.step() == answered
        && request.callId().equals(asking.approval().orElseThrow().requestId());
  }

  /** The request in a parent's log that stands for one of the child run that answers a call. */
  ApprovalRequested promote(String runId, CallState call, ApprovalRequested ofChild) {
    return ApprovalSignatures.sign(promoted(runId, call, ofChild, Optional.empty()), signer);
  }

  /** The id of the request that stands for one of a child run. */
  static String promotedId(String runId, CallState call, ApprovalRequested ofChild) {
    return promoted(runId, call, ofChild, Optional.empty()).requestId();
  }

  private static ApprovalRequested promoted(
      String runId, CallState call, ApprovalRequested ofChild, Optional<String> signature) {
    String childRunId = call.child().orElseThrow().childRunId();
    Map<String, Object> subject = new LinkedHashMap<>();
    subject.put("runId", runId);
    subject.put("step", call.step());
    subject.put("toolCallId", call.call().id());
    subject.put("childRunId", childRunId);
    subject.put("childRequestId", ofChild.requestId());
    subject.put("childDigest", ofChild.digest());
    String hex = Digest.hex(Json.of(subject).canonical());
    return new ApprovalRequested(
        "subapproval_" + hex,
        "sha256:" + hex,
        call.step(),
        call.call().id(),
        ofChild.tool(),
        ofChild.toolVersion(),
        ofChild.arguments(),
        ofChild.expiresAt(),
        signature,
        Optional.of(new ApprovalRequested.OfChild(childRunId, ofChild.requestId())),
        ofChild.why(),
        ofChild.provider());
  }

  /**
   * Refuses a decision on something else than what a child run asks for.
   *
   * @param decided the request that stands for it, with the decision
   * @param ofChild what the child asks for
   * @throws InvalidRequestException if the two do not fit, or a signature does not match
   */
  void requirePromoted(Approval decided, String runId, CallState call, ApprovalRequested ofChild) {
    ApprovalRequested asked = decided.request();
    if (!asked.equals(promoted(runId, call, ofChild, asked.signature()))) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The approval %s of tool \"%s\" no longer matches what the child run asks for."
              .formatted(asked.requestId(), ofChild.tool()));
    }
    ApprovalSignatures.requireAuthentic(decided, signer);
  }

  /** Whether nobody needs to decide any more: nothing is pending, or it has expired. */
  boolean areDecided(RunState state) {
    return Decisions.areAllMade(state, time.now());
  }

  /**
   * The events of decisions, and of requests that have expired.
   *
   * @throws InvalidRequestException if a decision names no request of the run
   * @throws dev.warpwright.model.ConflictException if one is decided already
   */
  List<RunEvent> decided(RunState state, List<ApprovalDecision> decisions, Instant now) {
    return Decisions.events(state, decisions, now, signer);
  }

  /**
   * Refuses to go on with a run whose approvals were tampered with, or asked for a tool that is
   * another one now.
   *
   * @throws InvalidRequestException if a signature or a request does not match its call
   */
  void requireValid(RunState state, Agent agent) {
    for (CallState call : state.calls()) {
      if (call.result().isEmpty()) {
        requireAuthentic(call);
      }
      if (call.awaitsChild()) {
        promotedFor(call, state).forEach(a -> ApprovalSignatures.requireAuthentic(a, signer));
      }
    }
    requireMatching(state, agent);
    requireValidAnswers(state);
  }

  /**
   * Refuses a call whose approval the signer has not signed.
   *
   * @throws InvalidRequestException if a signature is missing or does not match
   */
  void requireAuthentic(CallState call) {
    ApprovalSignatures.requireAuthentic(call, signer);
  }

  private static Stream<Approval> promotedFor(CallState call, RunState state) {
    return state.approvals().stream()
        .filter(
            approval ->
                approval.request().child().filter(c -> call.awaitsChild(c.runId())).isPresent());
  }

  private static void requireMatching(RunState state, Agent agent) {
    for (CallState call : state.calls()) {
      if (call.approval().isEmpty() || call.isDenied() || call.result().isPresent()) {
        continue;
      }
      ApprovalRequested asked = call.approval().get();
      boolean matches =
          agent
              .tools()
              .find(asked.tool())
              .map(
                  tool ->
                      request(
                          state.run().runId(),
                          call,
                          tool,
                          asked.expiresAt(),
                          asked.signature(),
                          asked.why()))
              .filter(asked::equals)
              .isPresent();
      if (!matches) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "The approval of tool \"%s\" in step %d of run %s no longer matches: it was asked for"
                    .formatted(asked.tool(), asked.step(), state.run())
                + " version \""
                + asked.toolVersion()
                + "\" of the tool. Start a new run, or resume with the tool as it was.");
      }
    }
  }
}
