package dev.warpwright.adapters.wire;

import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import java.util.Optional;

/**
 * What one protocol makes of the events of one streamed answer. Framing, JSON, error objects, the
 * terminator {@code [DONE]} and signs of life are not its business: {@link EventStream} sees to
 * them. Used by the calling thread only.
 *
 * <p>A runtime exception that is no {@link ProviderException} means that the answer breaks the
 * protocol.
 */
public interface StreamReader {
  /**
   * Takes the next event.
   *
   * @param event holds no error object
   * @param out is told what the event shows
   * @return whether more events may come; false at the protocol's own terminator
   * @throws ProviderException if the event breaks the protocol or reports a failure
   * @throws InterruptedException if nobody wants the answer any more
   */
  boolean read(StreamEvent event, Teller out) throws InterruptedException;

  /**
   * Ends the answer. Called once, when the body has ended as it should, or behind a terminator.
   *
   * @return the answer, or nothing if the protocol's finish signal never came
   * @throws ProviderException if what came makes no answer
   */
  Optional<ModelResponse> end();

  /**
   * Looks at an event that holds an error object, before the call fails of it.
   *
   * @param failure what the error object says
   * @param event the event around it
   * @return the failure of the call; by default the same
   */
  default ProviderException failed(ProviderException failure, StreamEvent event) {
    return failure;
  }
}
