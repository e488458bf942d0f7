package dev.warpwright.model;

/**
 * What an answer is worth: whether it is the whole of what the model had to say, and if not, why.
 */
public enum Completeness {
  /** It is whole. */
  COMPLETE,
  /** It ended as it should and says nothing: no text, no tool call, nothing else. */
  EMPTY,
  /** The model declined; a text, if there is one, says so. */
  REFUSED,
  /** A filter of the provider cut it off or held it back. */
  FILTERED,
  /** A limit or a pause cut it off, or it ended for a reason that is not known. */
  TRUNCATED
}
