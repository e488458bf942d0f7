package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a signer signs of an approval. A request: its digest and when it expires. A decision: the
 * request's digest, whether the tool may run, and the reason; each as canonical JSON, so that no
 * signature of one can pass for that of the other.
 */
public final class ApprovalSignatures {
  private ApprovalSignatures() {}

  /**
   * Signs a request.
   *
   * @param request the request
   * @param signer the signer, if there is one
   * @return the request with its signature, or as it is
   */
  public static ApprovalRequested sign(ApprovalRequested request, Optional<ApprovalSigner> signer) {
    return signer
        .map(
            holder ->
                new ApprovalRequested(
                    request.requestId(),
                    request.digest(),
                    request.step(),
                    request.callId(),
                    request.tool(),
                    request.toolVersion(),
                    request.arguments(),
                    request.expiresAt(),
                    Optional.of(holder.sign(content(request))),
                    request.child()))
        .orElse(request);
  }

  static ApprovalDecided sign(
      ApprovalRequested request, ApprovalDecided decision, Optional<ApprovalSigner> signer) {
    return signer
        .map(
            holder ->
                new ApprovalDecided(
                    decision.requestId(),
                    decision.approve(),
                    decision.decidedBy(),
                    decision.reason(),
                    Optional.of(holder.sign(content(request, decision)))))
        .orElse(decision);
  }

  /**
   * Refuses an approval that the signer has not signed, or not like this.
   *
   * @param call a call; one without an approval passes
   * @param signer the signer, if there is one
   * @throws InvalidRequestException if the signature of the request, or of the decision on it, is
   *     missing or another one
   */
  public static void requireAuthentic(CallState call, Optional<ApprovalSigner> signer) {
    call.approval()
        .ifPresent(
            request -> requireAuthentic(new RunState.Approval(request, call.decision()), signer));
  }

  /**
   * Refuses an approval that the signer has not signed, or not like this.
   *
   * @param approval the request and the decision, if there is one
   * @param signer the signer, if there is one
   * @throws InvalidRequestException if the signature of the request, or of the decision on it, is
   *     missing or another one
   */
  public static void requireAuthentic(RunState.Approval approval, Optional<ApprovalSigner> signer) {
    if (signer.isEmpty()) {
      return;
    }
    ApprovalRequested request = approval.request();
    require(signer.get(), request, "request", content(request), request.signature());
    approval
        .decision()
        .ifPresent(
            decision ->
                require(
                    signer.get(),
                    request,
                    "decision",
                    content(request, decision),
                    decision.signature()));
  }

  /** Refuses to decide without the key on what was asked with it: no driver would take that. */
  static void requireSigner(ApprovalRequested request, Optional<ApprovalSigner> signer) {
    if (signer.isEmpty() && request.signature().isPresent()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The approval request %s is signed, and there is no signer here to sign the decision."
              .formatted(request.requestId()));
    }
  }

  private static void require(
      ApprovalSigner signer,
      ApprovalRequested request,
      String signed,
      byte[] content,
      Optional<String> signature) {
    if (signature.isEmpty()) {
      throw refused(request, signed, "is missing");
    }
    if (!signer.verify(content, signature.get())) {
      throw refused(request, signed, "does not match: it was tampered with, or the key is another");
    }
  }

  private static InvalidRequestException refused(
      ApprovalRequested request, String signed, String why) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST,
        "The signature of the %s of approval %s for tool \"%s\" %s; no tool was run."
            .formatted(signed, request.requestId(), request.tool(), why));
  }

  private static byte[] content(ApprovalRequested request) {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("digest", request.digest());
    request.expiresAt().map(Instant::toString).ifPresent(end -> content.put("expiresAt", end));
    return bytes(content);
  }

  private static byte[] content(ApprovalRequested request, ApprovalDecided decision) {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("digest", request.digest());
    content.put("approve", decision.approve());
    decision.reason().ifPresent(why -> content.put("reason", why));
    return bytes(content);
  }

  private static byte[] bytes(Map<String, Object> content) {
    return Json.of(content).canonical().getBytes(StandardCharsets.UTF_8);
  }
}
