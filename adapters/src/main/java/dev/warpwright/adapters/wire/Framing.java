package dev.warpwright.adapters.wire;

import org.jspecify.annotations.Nullable;

/**
 * Cuts the bytes of a stream into frames, wherever the network has cut them. Pure; used by one
 * thread.
 *
 * <pre>{@code
 * framing.feed(bytes, length);
 * for (Frame frame = framing.next(); frame != null; frame = framing.next()) {
 *   …
 * }
 * }</pre>
 */
public interface Framing {
  /**
   * The framing of server-sent events. An event and a line have at most 1 048 576 characters each.
   *
   * @return one for one stream
   */
  static Framing events() {
    return new SseReader();
  }

  /**
   * The framing of newline-delimited JSON. A line has at most 1 048 576 characters.
   *
   * @return one for one stream
   */
  static Framing lines() {
    return new NdjsonReader();
  }

  /**
   * Takes the next bytes.
   *
   * @param bytes a buffer that stays as it is until {@link #next()} has returned null
   * @param length how many bytes of it count
   */
  void feed(byte[] bytes, int length);

  /**
   * The next frame.
   *
   * @return it, or null if more bytes are needed
   * @throws FramingException if it breaks a rule of the framing or crosses a bound
   */
  @Nullable Frame next();

  /**
   * The frame that has no end behind it when the stream ends. Whether it is complete, its data must
   * tell.
   *
   * @return it, or null if there is none
   * @throws FramingException if it breaks a rule of the framing or crosses a bound
   */
  @Nullable Frame last();

  /**
   * Whether something that is no frame, but shows that the server lives, has come since this was
   * asked.
   *
   * @return false, unless the framing knows of such a thing
   */
  default boolean takeAlive() {
    return false;
  }

  /**
   * Whether a body that begins so is no stream at all, but one JSON value: an error object whose
   * content type is wrong or missing.
   *
   * @param first the body's first byte
   * @return false by default
   */
  default boolean isDocument(byte first) {
    return false;
  }
}
