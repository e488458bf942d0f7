package dev.warpwright.adapters.scripted;

import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A stream as it was decided on.
 *
 * @param protocol how it is told
 * @param said what is told
 * @param fault what happens in it, if something does
 */
record ServerStream(Protocol protocol, Said said, Optional<Fault.InBody> fault) {
  void tell(EventSink sink) throws IOException, InterruptedException {
    protocol.stream(said, sink);
  }

  ServerStream with(Fault.InBody happens) {
    return new ServerStream(protocol, said, Optional.of(happens));
  }

  /** An event as it is written. */
  byte[] bytes(@Nullable String name, String data) {
    return protocol.framing().bytes(name, data, wire().lineEnd());
  }

  WireForm wire() {
    return said.answer().delivery().wire();
  }

  /** How many bytes its body has if nothing happens in it, signs of life not counted. */
  long length() throws IOException, InterruptedException {
    long[] length = {0};
    tell((_, name, data) -> length[0] += bytes(name, data).length);
    return length[0];
  }
}
