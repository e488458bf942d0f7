package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalTokenIssued;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What a signer signs of an approval. A request: its digest, when it expires and why it was asked
 * for. A decision: the request's digest, whether the tool may run, and the reason; each as
 * canonical JSON, so that no signature of one can pass for that of the other.
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
        .map(holder -> request.signed(Optional.of(holder.sign(content(request)))))
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

  /**
   * Refuses a request that the signer has not signed, and one that is signed where there is no
   * signer: no driver would take a decision on it that is not signed.
   */
  static void requireAuthenticRequest(ApprovalRequested request, Optional<ApprovalSigner> signer) {
    if (signer.isPresent()) {
      require(signer.get(), request, "request", content(request), request.signature());
    } else if (request.signature().isPresent()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The approval request %s is signed, and there is no signer here to sign the decision."
              .formatted(request.requestId()));
    }
  }

  static ApprovalTokenIssued sign(ApprovalTokenIssued token, Optional<ApprovalSigner> signer) {
    return signer
        .map(
            holder ->
                new ApprovalTokenIssued(
                    token.requestId(),
                    token.fingerprint(),
                    token.tokenHash(),
                    token.expiresAt(),
                    Optional.of(holder.sign(content(token)))))
        .orElse(token);
  }

  /** Refuses a token that the signer has not signed: whoever wrote it may not have the key. */
  static void requireAuthentic(ApprovalTokenIssued token, Optional<ApprovalSigner> signer) {
    if (signer.isPresent()
        && token.signature().filter(text -> signer.get().verify(content(token), text)).isEmpty()) {
      throw ApprovalToken.refused("is not signed as it must be");
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
    request.why().ifPresent(why -> content.put("why", plain(why)));
    return bytes(content);
  }

  private static byte[] content(ApprovalTokenIssued token) {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("fingerprint", token.fingerprint());
    content.put("tokenHash", token.tokenHash());
    token.expiresAt().map(Instant::toString).ifPresent(end -> content.put("expiresAt", end));
    return bytes(content);
  }

  private static byte[] content(ApprovalRequested request, ApprovalDecided decision) {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("digest", request.digest());
    content.put("approve", decision.approve());
    decision.reason().ifPresent(why -> content.put("reason", why));
    return bytes(content);
  }

  private static Map<String, Object> plain(ApprovalRequested.Why why) {
    Map<String, Object> plain = new LinkedHashMap<>();
    why.reason().ifPresent(reason -> plain.put("reason", reason));
    plain.put("metadata", why.metadata());
    return plain;
  }

  private static byte[] bytes(Map<String, Object> content) {
    return Json.of(content).canonical().getBytes(StandardCharsets.UTF_8);
  }
}
