package dev.warpwright.mcp;

import java.io.InputStream;
import java.io.OutputStream;

/**
 * A server that was started for this program, and its standard streams.
 *
 * @param output what it says
 * @param input what it is told
 * @param end ends it
 */
record Child(InputStream output, OutputStream input, End end) {
  /** Starts a server. */
  @FunctionalInterface
  interface Launcher {
    /**
     * Starts it.
     *
     * @throws java.io.IOException if it cannot be started
     */
    Child start() throws java.io.IOException;
  }

  /** Ends a server. */
  interface End {
    /** Waits a short time for it to end, since its input has, and then kills it. */
    void gently();

    /** Kills it, with all that it has started. */
    void now();
  }
}
