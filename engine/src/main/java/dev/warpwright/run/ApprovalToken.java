package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * What a token of {@link ApprovalTokens} says: which request it is for, and 256 random bits that
 * nobody else knows. Its text is the only place where the bits are.
 *
 * @param run the run
 * @param requestId the request
 * @param secret the bits, as base64url
 */
record ApprovalToken(RunKey run, String requestId, String secret) {
  private static final int SECRET_BYTES = 32;
  private static final int MAX_TEXT = 8192;

  // Not the program's source of randomness: a token must not be guessed, in tests neither.
  private static final SecureRandom RANDOM = new SecureRandom();

  static ApprovalToken fresh(RunKey run, String requestId) {
    byte[] bits = new byte[SECRET_BYTES];
    RANDOM.nextBytes(bits);
    return new ApprovalToken(run, requestId, encoded(bits));
  }

  /** Reads a text; empty if it is of no token. */
  static Optional<ApprovalToken> read(String text) {
    int dot = text.indexOf('.');
    if (dot < 0 || text.length() > MAX_TEXT) {
      return Optional.empty();
    }
    try {
      byte[] json = Base64.getUrlDecoder().decode(text.substring(0, dot));
      return Json.parse(new String(json, StandardCharsets.UTF_8)).value() instanceof List<?> parts
          ? of(parts, text.substring(dot + 1))
          : Optional.empty();
    } catch (IllegalArgumentException | InvalidRequestException e) {
      return Optional.empty();
    }
  }

  private static Optional<ApprovalToken> of(List<?> parts, String secret) {
    if (parts.size() != 5
        || !(parts.get(0) instanceof String tenant)
        || !(parts.get(3) instanceof String runId)
        || !(parts.get(4) instanceof String requestId)) {
      return Optional.empty();
    }
    RunScope scope = new RunScope(tenant, part(parts.get(1)), part(parts.get(2)));
    return Optional.of(new ApprovalToken(new RunKey(scope, runId), requestId, secret));
  }

  private static Optional<String> part(Object part) {
    return part instanceof String text ? Optional.of(text) : Optional.empty();
  }

  /** The text that is handed out. */
  String text() {
    RunScope scope = run.scope();
    Json parts =
        Json.of(
            Arrays.asList(
                scope.tenant(),
                scope.user().orElse(null),
                scope.namespace().orElse(null),
                run.runId(),
                requestId));
    return encoded(parts.text().getBytes(StandardCharsets.UTF_8)) + "." + secret;
  }

  private static String encoded(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  static InvalidRequestException refused(String why) {
    return new InvalidRequestException(
        FailureKind.INVALID_REQUEST, "The approval token " + why + "; nothing was decided.");
  }

  /** Shows the run and the request, not the secret. */
  @Override
  public String toString() {
    return "ApprovalToken[" + run + ", " + requestId + "]";
  }
}
