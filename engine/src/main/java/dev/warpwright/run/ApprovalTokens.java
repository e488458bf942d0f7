package dev.warpwright.run;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ApprovalTokenIssued;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Tokens that let whoever holds one decide on one request for approval, once: for a link in a mail
 * or a button in a chat, where nobody is signed in.
 *
 * {@snippet :
 * ApprovalTokens tokens = ApprovalTokens.in(store).signedBy(signer);
 * mail(boss, "https://example.com/approve?token=" + tokens.issue(run, requestId));
 *
 * tokens.consume(token, id -> ApprovalDecision.approve(id).by("boss"));
 * }
 *
 * <p>A token has 256 random bits and is bound to the request as it was shown. The log has its hash
 * only; its text is given once and is in no message, log line or {@code toString}. The text names
 * scope, run and request, which are not secret to its holder. Issuing another token for a request
 * takes the one before out of use.
 *
 * <p>Thread-safe; waits at most 30 s for an answer of the store.
 */
public final class ApprovalTokens {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Writer ISSUER = Writer.outside("approval token");

  private final TimeSource time;
  private final Optional<ApprovalSigner> signer;
  private final ControlEvents control;
  private final RunStore store;

  private ApprovalTokens(RunStore store, TimeSource time, Optional<ApprovalSigner> signer) {
    this.store = Objects.requireNonNull(store, "store");
    this.time = Objects.requireNonNull(time, "time");
    this.signer = signer;
    this.control = new ControlEvents(store, time);
  }

  /**
   * Tokens for the runs of a store.
   *
   * @param store the store
   * @return the tokens
   */
  public static ApprovalTokens in(RunStore store) {
    return in(store, TimeSource.system());
  }

  /**
   * Tokens for the runs of a store, by another clock than that of the system.
   *
   * @param store the store
   * @param time says when tokens expire
   * @return the tokens
   */
  public static ApprovalTokens in(RunStore store, TimeSource time) {
    return new ApprovalTokens(store, time, Optional.empty());
  }

  /**
   * The same tokens, for runs whose approvals are signed. Then what the log says of a token is
   * signed too, so that whoever can write to the store cannot make one.
   *
   * @param signer the signer of the agents that drive the runs
   * @return a copy
   */
  public ApprovalTokens signedBy(ApprovalSigner signer) {
    return new ApprovalTokens(store, time, Optional.of(signer));
  }

  /**
   * Makes a token that is valid as long as its request waits.
   *
   * @param run the run
   * @param requestId a request that the run waits for
   * @return the token's text, which cannot be had again
   * @throws InvalidRequestException if there is no such run or request, the request has expired, or
   *     it is not signed as {@link #signedBy} wants it
   * @throws ConflictException if the request is decided already
   */
  public String issue(RunKey run, String requestId) {
    return issue(run, requestId, Optional.empty());
  }

  /**
   * Makes a token that is valid for a time, and not longer than its request waits.
   *
   * @param run the run
   * @param requestId a request that the run waits for
   * @param validFor more than zero
   * @return the token's text, which cannot be had again
   * @throws InvalidRequestException as {@link #issue(RunKey, String)}, or if the time is not more
   *     than zero
   * @throws ConflictException if the request is decided already
   */
  public String issue(RunKey run, String requestId, Duration validFor) {
    if (validFor.isNegative() || validFor.isZero()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "A token's time must be more than 0, but is " + validFor + ".");
    }
    return issue(run, requestId, Optional.of(time.now().plus(validFor)));
  }

  private String issue(RunKey run, String requestId, Optional<Instant> end) {
    ApprovalToken token = ApprovalToken.fresh(run, requestId);
    var _ = control.append(run, ISSUER, state -> List.of(issued(state, token, end)), patience());
    return token.text();
  }

  private ApprovalTokenIssued issued(RunState state, ApprovalToken token, Optional<Instant> end) {
    ApprovalRequested request = Decisions.requirePending(state, token.requestId());
    if (Decisions.hasExpired(request, time.now())) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The approval request " + request.requestId() + " has expired.");
    }
    ApprovalSignatures.requireAuthenticRequest(request, signer);
    Optional<Instant> earlier =
        Stream.concat(end.stream(), request.expiresAt().stream()).min(Instant::compareTo);
    String fingerprint = fingerprint(request);
    return ApprovalSignatures.sign(
        new ApprovalTokenIssued(
            request.requestId(), fingerprint, hash(token, fingerprint), earlier, Optional.empty()),
        signer);
  }

  /**
   * Decides by a token, which is used up by that. The run goes on with the next resume if nothing
   * else is left to decide.
   *
   * @param token the text that {@link #issue(RunKey, String)} gave
   * @param decision makes the decision for the id of the request
   * @return the run's state afterwards
   * @throws InvalidRequestException if it is no token of a run of this store, was replaced by
   *     another, has expired, or its request is not the one any more that it was issued for;
   *     nothing was decided
   * @throws ConflictException if the request is no longer pending or the token was used already
   */
  public RunState consume(String token, Function<String, ApprovalDecision> decision) {
    ApprovalToken read =
        ApprovalToken.read(token).orElseThrow(() -> ApprovalToken.refused("is not valid"));
    if (store.load(read.run(), 1, patience()).isEmpty()) {
      throw ApprovalToken.refused("is not valid");
    }
    ApprovalDecision made = decision.apply(read.requestId());
    if (!made.requestId().equals(read.requestId())) {
      throw ApprovalToken.refused("is for another request than the decision");
    }
    return control.append(
        read.run(),
        ISSUER,
        state -> {
          requireValid(state, read);
          return Decisions.fromOutside(state, List.of(made), time.now(), signer);
        },
        patience());
  }

  private void requireValid(RunState state, ApprovalToken token) {
    ApprovalTokenIssued issued =
        state
            .approvalToken(token.requestId())
            .filter(known -> isSame(known.tokenHash(), hash(token, known.fingerprint())))
            .orElseThrow(() -> ApprovalToken.refused("is not valid"));
    ApprovalSignatures.requireAuthentic(issued, signer);
    ApprovalRequested request =
        state.pendingApprovals().stream()
            .filter(pending -> pending.requestId().equals(token.requestId()))
            .findFirst()
            .orElseThrow(() -> usedUp(state, token));
    if (issued.expiresAt().filter(end -> !time.now().isBefore(end)).isPresent()) {
      throw ApprovalToken.refused("has expired");
    }
    if (!fingerprint(request).equals(issued.fingerprint())) {
      throw ApprovalToken.refused("was issued for another request than the one that waits now");
    }
  }

  private static ConflictException usedUp(RunState state, ApprovalToken token) {
    return new ConflictException(
        "The approval request %s of run %s is no longer pending or was already consumed."
            .formatted(token.requestId(), state.run()),
        null,
        OperationTrace.NONE);
  }

  /** Of all that a person is shown. */
  private static String fingerprint(ApprovalRequested request) {
    return Digest.of(new String(RunEventCodec.encode(request), StandardCharsets.UTF_8));
  }

  /** Over the fingerprint too, so that nobody can bind the token to another request. */
  private static String hash(ApprovalToken token, String fingerprint) {
    return Digest.of(token.text() + "\n" + fingerprint);
  }

  /** Takes the same time wherever the texts differ. */
  private static boolean isSame(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  private Deadline patience() {
    return Deadline.after(time, PATIENCE);
  }
}
