package dev.warpwright.adapters.scripted;

import java.time.Duration;
import java.util.Optional;

/**
 * What a server does with a request.
 *
 * @param number the request's number, 0 if it was refused
 * @param response what is sent, whole unless the connection breaks; of a stream only the head
 * @param stream the stream that follows the head, if it is one
 * @param delay how long it is held up; a connection that breaks does so at once
 * @param broken how the connection breaks, if it does
 */
record Decision(
    long number,
    ServerResponse response,
    Optional<ServerStream> stream,
    Duration delay,
    Optional<Fault.Broken> broken) {
  static Decision plain(ServerResponse response) {
    return new Decision(0, response, Optional.empty(), Duration.ZERO, Optional.empty());
  }
}
