package dev.warpwright.model;

import dev.warpwright.json.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;

/**
 * What a provider asks before a tool that it runs itself may act, and what it is answered. It is
 * part of the {@link ProviderState} that holds the provider's own form of the request, and shares
 * its fate: no other provider sees it.
 *
 * @param requestId the provider's id of the request; 1 to {@value #MAX_NAME} characters, not blank
 * @param server the provider's name of the server that has the tool, if it says one; as long at
 *     most
 * @param tool the tool; as long as an id
 * @param arguments what the tool is to be called with; a JSON string with the provider's text if
 *     that is no JSON. At most {@value #MAX_ARGUMENT_BYTES} bytes of UTF-8
 * @param answer what was answered, once somebody has decided
 */
public record ProviderApproval(
    String requestId,
    Optional<String> server,
    String tool,
    Json arguments,
    Optional<Answer> answer) {
  /** The longest id, server and tool, in characters. */
  public static final int MAX_NAME = 256;

  /** The longest arguments, in bytes of UTF-8. */
  public static final int MAX_ARGUMENT_BYTES = 256 * 1024;

  /** Checks the bounds. */
  public ProviderApproval {
    requireName("requestId", requestId);
    server.ifPresent(name -> requireName("server", name));
    requireName("tool", tool);
    Objects.requireNonNull(answer, "answer");
    int bytes = arguments.text().getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_ARGUMENT_BYTES) {
      throw invalid(
          "The arguments of a provider's request for approval must have at most %d bytes, but have"
              + " %d.",
          MAX_ARGUMENT_BYTES, bytes);
    }
  }

  /**
   * What a provider asks, not yet answered.
   *
   * @param requestId the provider's id of the request
   * @param server the provider's name of the server that has the tool
   * @param tool the tool
   * @param arguments what it is to be called with
   * @return the request
   * @throws InvalidRequestException if one of them breaks its bound
   */
  public static ProviderApproval of(
      String requestId, Optional<String> server, String tool, Json arguments) {
    return new ProviderApproval(requestId, server, tool, arguments, Optional.empty());
  }

  /**
   * The same request with an answer.
   *
   * @param given the answer
   * @return a copy
   */
  public ProviderApproval answered(Answer given) {
    return new ProviderApproval(requestId, server, tool, arguments, Optional.of(given));
  }

  private static void requireName(String what, String name) {
    if (name.isBlank() || name.length() > MAX_NAME) {
      throw invalid(
          what
              + " of a provider's request for approval must have 1 to %d characters and not be"
              + " blank, but has %d.",
          MAX_NAME,
          name.length());
    }
    if (!StrictJson.cleanText(name).equals(name)) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          what + " of a provider's request for approval must have no unpaired surrogates.");
    }
  }

  private static InvalidRequestException invalid(String rule, int bound, int value) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, rule.formatted(bound, value));
  }

  /** Shows the tool and whether it is answered; arguments may be private. */
  @Override
  public String toString() {
    return "ProviderApproval[%s, %s]"
        .formatted(tool, answer.map(Answer::toString).orElse("not answered"));
  }

  /**
   * What was decided.
   *
   * @param approved whether the tool may act
   * @param reason why not; the provider is told
   */
  public record Answer(boolean approved, Optional<String> reason) {
    /** Refuses null. */
    public Answer {
      Objects.requireNonNull(reason, "reason");
    }

    /**
     * The tool may act.
     *
     * @return the answer
     */
    public static Answer approve() {
      return new Answer(true, Optional.empty());
    }

    /**
     * The tool may not act.
     *
     * @param reason why; the provider is told
     * @return the answer
     */
    public static Answer deny(String reason) {
      return new Answer(false, Optional.of(reason));
    }

    /** Shows the answer, not the reason. */
    @Override
    public String toString() {
      return approved ? "approved" : "denied";
    }
  }
}
