package dev.warpwright.bench.http;

/** A client of the Chat Completions protocol. Used by any number of threads at once. */
interface ChatClient extends AutoCloseable {
  /**
   * Asks and waits for the whole answer.
   *
   * @return its text
   */
  String ask(String question) throws Exception;

  /**
   * Asks and reads the answer while it comes.
   *
   * @param question what is asked
   * @param atEach is run at each piece of text
   * @return its text
   */
  String stream(String question, Runnable atEach) throws Exception;

  @Override
  void close();
}
