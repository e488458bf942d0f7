package dev.warpwright.run;

import dev.warpwright.model.Json;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * The first place at which a replay does something else than the log says.
 *
 * @param run the run, the replayed one or one below it
 * @param sequence where the log has the event, or would have it
 * @param what what is recorded and what the code does, in names and kinds: it holds nothing that a
 *     model, a tool or a person said
 * @param recorded what the log has there; empty if it has ended
 * @param produced what the code would write there, if it comes to that
 */
public record ReplayDifference(
    RunKey run,
    long sequence,
    String what,
    Optional<RunEvent> recorded,
    Optional<RunEvent> produced) {
  /**
   * What the log has, with its content: messages and tool data, as the case may be.
   *
   * @return the event as JSON
   */
  public Optional<Json> recordedJson() {
    return recorded.map(ReplayDifference::json);
  }

  /**
   * What the code would write, with its content: messages and tool data, as the case may be.
   *
   * @return the event as JSON
   */
  public Optional<Json> producedJson() {
    return produced.map(ReplayDifference::json);
  }

  private static Json json(RunEvent event) {
    return Json.parse(new String(RunEventCodec.encode(event), StandardCharsets.UTF_8));
  }

  /** Shows the place and what differs, without content. */
  @Override
  public String toString() {
    return "Run %s, sequence %d: %s".formatted(run, sequence, what);
  }
}
