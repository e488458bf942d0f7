package dev.warpwright.tool;

import dev.warpwright.model.Json;

/** The failure of a tool, with the output that the program shows in its place. */
final class ReplacedFailure extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Json output;

  ReplacedFailure(Json output, Exception cause) {
    super(cause);
    this.output = output;
  }

  Json output() {
    return output;
  }
}
