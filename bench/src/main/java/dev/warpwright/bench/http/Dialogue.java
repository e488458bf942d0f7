package dev.warpwright.bench.http;

import java.util.Collections;

/** What is asked and answered in every call, and what the server is told to do with it. */
final class Dialogue {
  /** What the model is told to be, some 400 characters. */
  static final String SYSTEM =
      "You answer questions of customers of a shop for looms and yarn. ".repeat(6).strip();

  /** A question that is answered at once, some 900 characters. */
  static final String QUESTION =
      "Where is my order A-1044, and when will it come? "
          + "I have written three times and nobody has answered. ".repeat(16).strip();

  /** A question whose answer the server keeps to itself. */
  static final String HELD_CALL = "Hold the answer. " + QUESTION;

  /** A question whose streamed answer the server does not continue behind its first chunk. */
  static final String HELD_STREAM = "Hold the stream. " + QUESTION;

  /** How many chunks a streamed answer has. */
  static final int CHUNKS = 100;

  /** The answer, a word for each chunk. */
  static final String ANSWER = String.join(" ", Collections.nCopies(CHUNKS, "shipped"));

  /** The script of the server. */
  static final String SCRIPT =
      """
      { "rules": [
          { "when": { "user": "^Hold the answer" },
            "answer": { "text": "%1$s", "latency": "PT1H" } },
          { "when": { "user": "^Hold the stream" },
            "answer": { "text": "%1$s", "stream": { "pause": "PT1H" } } },
          { "when": {},
            "answer": { "text": "%1$s", "usage": { "input": 320, "output": 100 } } } ] }
      """
          .formatted(ANSWER);

  private Dialogue() {}

  /** Checks an answer: a client that is quick because it reads nothing is not measured. */
  static void requireAnswer(String answer) {
    if (!answer.equals(ANSWER)) {
      throw new IllegalStateException("Another answer came: " + answer);
    }
  }
}
