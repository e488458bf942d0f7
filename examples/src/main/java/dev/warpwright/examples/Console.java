package dev.warpwright.examples;

import java.io.PrintWriter;

/**
 * Where the commands write.
 *
 * @param out results
 * @param err progress and errors
 */
record Console(PrintWriter out, PrintWriter err) {
  /** Says in one line what went wrong. */
  void error(String message) {
    err.println(Main.NAME + ": " + message.strip().replaceAll("\\s*\\R\\s*", " "));
    err.flush();
  }

  void print(String text) {
    out.println(text);
    out.flush();
  }
}
