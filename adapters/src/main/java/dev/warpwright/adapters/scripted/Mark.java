package dev.warpwright.adapters.scripted;

/** What an event of a stream is to the script; in this order, {@link #OTHER} aside. */
enum Mark {
  /** Nothing of the following. */
  OTHER,
  /** It carries a piece of the answer. */
  CHUNK,
  /** It says why the answer ended. */
  FINISH,
  /** Nothing follows it. */
  TERMINATOR
}
