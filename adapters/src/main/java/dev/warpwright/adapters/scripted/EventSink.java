package dev.warpwright.adapters.scripted;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Takes the events of a stream one after the other. */
@FunctionalInterface
interface EventSink {
  /**
   * Takes an event.
   *
   * @param mark what it is to the script
   * @param name its name, null for none
   * @param data its data, one line
   * @throws IOException if the client is gone, or the script ends the stream here
   */
  void event(Mark mark, @Nullable String name, String data)
      throws IOException, InterruptedException;
}
