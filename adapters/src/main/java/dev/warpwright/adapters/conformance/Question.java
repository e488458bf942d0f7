package dev.warpwright.adapters.conformance;

/** What models are asked. Each is told by its place, so that a script can tell them apart. */
final class Question {
  static final String BLOCKING = "Say hello to Utrecht in one short sentence.";
  static final String STREAMING = "Describe Delft in two short sentences.";
  static final String LENGTH_LIMIT = "Write the numbers from 1 to 200 in words, for Leiden.";
  static final String TOOL_CALL =
      "How many people live in Gouda? Use the tool, then answer in one short sentence.";
  static final String NAMED_TOOL =
      "How many people live in Haarlem, and what is the weather there?";
  static final String NO_TOOL = "Say in one short sentence where Arnhem lies.";
  static final String STREAMED_TOOL_CALL = "How many people live in Zwolle? Use the tool.";
  static final String PARALLEL_TOOL_CALLS =
      "How many people live in Breda, and how many in Tilburg? Call the tool twice, at once.";
  static final String STRUCTURED_OUTPUT = "Tell name, coast and population of Vlissingen.";
  static final String JSON_MODE =
      "Answer with a JSON object that has the members \"name\" and \"country\", for Deventer.";
  static final String CANCEL_WAITING = "Write the numbers from 1 to 500 in words, for Assen.";
  static final String CANCEL_STREAM = "Write the numbers from 1 to 500 in words, for Emmen.";
  static final String REFUSED = "Say hello to Almelo.";

  private Question() {}
}
