package dev.warpwright.adapters.conformance;

import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;

/** What came of a call. */
sealed interface Came {
  /**
   * An answer.
   *
   * @param response the whole of it
   * @param told what was told before; nothing if it was not streamed
   */
  record Answer(ModelResponse response, Told told) implements Came {}

  /** A failure in the form that adapters have for it. */
  record Failed(ProviderException failure) implements Came {}

  /** A failure in another form. */
  record Broken(Throwable cause) implements Came {}

  /**
   * Nothing in time.
   *
   * @param abandoned whether the call went on in spite of its interrupt
   */
  record Late(boolean abandoned) implements Came {}
}
