package dev.warpwright.run;

import dev.warpwright.model.Digest;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.run.RunEvent.ToolReconciled;
import java.util.Map;

/**
 * What a verdict on a tool call rests on: a statement about exactly this call, such as an entry of
 * the bank's books, with a digest that ties the two together.
 *
 * <p>Whoever looks the call up makes it; {@link Runs#reconcile(RunKey, ToolReconciled, Evidence)}
 * checks it and keeps the digest in the log. The statement itself is for the program to keep.
 *
 * @param run the run
 * @param callId the call
 * @param key the idempotency key that its tool was given
 * @param statement what was found
 * @param digest {@code sha256:} and 64 hex digits over all the others
 */
public record Evidence(RunKey run, String callId, String key, Json statement, String digest) {
  /**
   * Evidence of a statement.
   *
   * @param run the run
   * @param callId the call
   * @param key the idempotency key that its tool was given
   * @param statement what was found
   * @return the evidence, with its digest
   */
  public static Evidence of(RunKey run, String callId, String key, Json statement) {
    return new Evidence(run, callId, key, statement, digest(run, callId, key, statement));
  }

  private static String digest(RunKey run, String callId, String key, Json statement) {
    RunScope scope = run.scope();
    Json subject =
        Json.of(
            Map.of(
                "tenant",
                scope.tenant(),
                "user",
                scope.user().orElse(""), // a user that is there is not blank
                "namespace",
                scope.namespace().orElse(""),
                "runId",
                run.runId(),
                "callId",
                callId,
                "key",
                key,
                "statement",
                statement));
    return Digest.of(subject.canonical());
  }

  /**
   * Checks that this is evidence for a verdict.
   *
   * @throws InvalidRequestException if it is not, for whatever reason; the message says which
   */
  void requireFor(RunKey judged, ToolReconciled verdict) {
    if (!RunState.isDigest(digest)) {
      throw refused(judged, "cannot be verified: a digest is \"sha256:\" and 64 hex digits");
    }
    if (!run.equals(judged) || !callId.equals(verdict.callId()) || !key.equals(verdict.key())) {
      throw refused(judged, "is about another call");
    }
    if (!digest.equals(digest(run, callId, key, statement))) {
      throw refused(judged, "was altered: its digest is another one");
    }
  }

  private static InvalidRequestException refused(RunKey run, String why) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST,
        "The evidence for the verdict on a call of run " + run + " " + why + ".");
  }

  /** Shows whose it is and the digest, not the statement. */
  @Override
  public String toString() {
    return "Evidence[%s, %s, %s]".formatted(run, callId, digest);
  }
}
