package dev.warpwright.adapters.scripted;

import java.util.Map;
import java.util.Optional;

/**
 * One request to a {@link ScriptedServer} and what the server decided to do.
 *
 * @param number the request's place among those that ask for an answer, from 1; 0 if it was refused
 * @param connection the number of its connection, from 1
 * @param method the method
 * @param target the request target: path and query
 * @param headers the header fields by lower-case name; of a repeated field, the values joined by
 *     {@code ", "}
 * @param body the body, empty if it was refused before it was read
 * @param outcome what the server decided
 * @param status the status of the response; 0 if there was none to send
 * @param cause the name of the rule that answered, or the place of the fault, such as {@code
 *     faults[0]}
 * @param arrivedNanos when it had been read, on the scale of {@link System#nanoTime()}
 */
public record RecordedExchange(
    long number,
    long connection,
    String method,
    String target,
    Map<String, String> headers,
    String body,
    ExchangeOutcome outcome,
    int status,
    Optional<String> cause,
    long arrivedNanos) {
  /** Copies the header fields. */
  public RecordedExchange {
    headers = Map.copyOf(headers);
  }

  /** Shows what happened, not the content and no header. */
  @Override
  public String toString() {
    return "RecordedExchange["
        + number
        + ", "
        + method
        + " "
        + target
        + ", "
        + outcome
        + " "
        + status
        + cause.map(name -> ", " + name).orElse("")
        + "]";
  }
}
