package dev.warpwright.mcp;

import java.io.IOException;

/** The way back to the client for one message of its. */
interface Back {
  /** Sends one message, and leaves the answer open if more than one can be sent. */
  void also(String message) throws IOException;

  /** Sends the last message. */
  void last(String message) throws IOException;

  /** Breaks the connection off, here and now. */
  void cut() throws IOException;

  /** Sends the beginning of an answer and breaks the connection off. */
  void cutWithin() throws IOException;
}
