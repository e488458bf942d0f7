package dev.warpwright.adapters.scripted;

import java.time.Duration;

/**
 * The moment at which a {@link ScriptedServer} saw that a client had closed its connection.
 *
 * {@snippet :
 * long cancelled = System.nanoTime();
 * caller.interrupt();
 * ClientClose close = server.awaitClose(1, Duration.ofSeconds(5));
 * assert close.after(cancelled).toMillis() < 100;
 * }
 *
 * @param connection the number of the connection, from 1
 * @param number the number of the request that was owed a response; 0 if none was
 * @param phase what the server was doing
 * @param events how many events of a stream it had sent by then, signs of life not counted
 * @param reset whether the client reset the connection rather than ending it in order
 * @param atNanos when, on the scale of {@link System#nanoTime()}
 * @param sinceRequest the time since the request had arrived, zero if none was owed a response
 */
public record ClientClose(
    long connection,
    long number,
    Phase phase,
    long events,
    boolean reset,
    long atNanos,
    Duration sinceRequest) {
  /** What a server was doing when its client closed. */
  public enum Phase {
    /** It waited for the next request: the ordinary end of a kept connection. */
    IDLE,
    /** It was in the middle of reading a request. */
    READING,
    /** It stalled, or waited out a latency, before its response. */
    WAITING,
    /** It was writing its response as a whole. */
    WRITING,
    /** It was in the middle of a stream: it wrote, paused or stalled. */
    STREAMING
  }

  /**
   * How long after a moment it was.
   *
   * @param nanoTime the moment, from {@link System#nanoTime()} in the same program
   * @return the time between; negative if the close came first
   */
  public Duration after(long nanoTime) {
    return Duration.ofNanos(atNanos - nanoTime);
  }
}
