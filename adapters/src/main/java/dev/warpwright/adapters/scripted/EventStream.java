package dev.warpwright.adapters.scripted;

import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes one stream: lets its pauses pass, counts its events, and lets happen in it what the script
 * wants. Used by the connection's thread only.
 */
final class EventStream implements EventSink {
  private final ServerStream stream;
  private final ScriptedChunks chunks;
  private final HttpInput in;
  private final StreamBody body;
  private final byte[] heartbeat;

  private long told;
  private long toldChunks;

  EventStream(ServerStream stream, HttpInput in, OutputStream out, boolean chunked)
      throws IOException, InterruptedException {
    this.stream = stream;
    this.chunks = stream.said().answer().delivery().chunks();
    this.in = in;
    this.body = new StreamBody(out, in, chunked, stream.wire().dribble(), limit(stream));
    this.heartbeat = stream.protocol().heartbeat(stream.wire().lineEnd());
  }

  private static long limit(ServerStream stream) throws IOException, InterruptedException {
    return switch (stream.fault().map(Fault.InBody::point).orElse(null)) {
      case Point.Bytes(long count) -> count;
      case Point.Half() -> stream.length() / 2;
      case null, default -> Long.MAX_VALUE;
    };
  }

  /** How many events were sent, signs of life not counted. */
  long told() {
    return told;
  }

  /**
   * Tells the whole stream.
   *
   * @throws StreamCutException if the script ends it
   * @throws IOException if the client ends it
   */
  void tell() throws IOException, InterruptedException {
    stream.tell(this);
    body.flush();
    if (stream.fault().isPresent()) {
      happen(stream.fault().get());
    }
    body.end();
  }

  @Override
  public void event(Mark mark, @Nullable String name, String data)
      throws IOException, InterruptedException {
    Optional<Fault.InBody> fault = stream.fault();
    if (fault.isPresent() && (body.full() || fault.get().point().reached(told, toldChunks, mark))) {
      happen(fault.get());
    }
    if (mark == Mark.CHUNK) {
      await(chunks.pauseBefore(toldChunks));
      toldChunks++;
    }
    if (body.write(stream.bytes(name, data))) {
      told++;
    }
  }

  /** Lets the pause in front of a chunk pass, with its signs of life. */
  private void await(Duration pause) throws IOException, InterruptedException {
    for (int i = 0; i < chunks.heartbeats(); i++) {
      in.expectSilence(pause);
      body.write(heartbeat);
    }
    in.expectSilence(pause);
  }

  private void happen(Fault.InBody fault) throws IOException, InterruptedException {
    body.flush();
    switch (fault) {
      case Fault.Cut(Point _, Fault.End end) -> {
        if (end == Fault.End.IN_CHUNK) {
          body.promise();
        }
        throw new StreamCutException(end);
      }
      case Fault.StallIn _ -> {
        in.discardToEnd();
        throw new EOFException();
      }
      case Fault.ErrorEvent error -> {
        stream
            .protocol()
            .streamError(
                error,
                told,
                stream.said(),
                (_, name, data) -> {
                  if (body.write(stream.bytes(name, data))) {
                    told++;
                  }
                });
        body.flush();
        throw new StreamCutException(Fault.End.CLEAN);
      }
    }
  }

  /** Ends the body in order where the script cut it. */
  void end() throws IOException {
    body.end();
  }
}
