package dev.warpwright.adapters.scripted;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * The body of a streamed response: what is written goes out at once, each write as one chunk of the
 * transfer and one write of the socket, unless the script dribbles it. Used by the connection's
 * thread only.
 */
final class StreamBody {
  private static final byte[] LAST_CHUNK = "0\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1);

  /** The size of a chunk that then does not come. */
  private static final byte[] PROMISE = "1\r\n".getBytes(StandardCharsets.ISO_8859_1);

  private final OutputStream out;
  private final HttpInput in;
  private final boolean chunked;
  private final Optional<WireForm.Dribble> dribble;
  private final long limit;

  private byte[] parcel = new byte[0]; // what is too little to go out yet
  private boolean dribbled; // whether a parcel has gone out
  private long sent;

  /**
   * Makes a body.
   *
   * @param chunked false for a client of HTTP/1.0: the end of the connection is then the end
   * @param limit how many bytes it has at most
   */
  StreamBody(
      OutputStream out,
      HttpInput in,
      boolean chunked,
      Optional<WireForm.Dribble> dribble,
      long limit) {
    this.out = out;
    this.in = in;
    this.chunked = chunked;
    this.dribble = dribble;
    this.limit = limit;
  }

  /** Whether so many bytes have gone out that no more may. */
  boolean full() {
    return sent >= limit;
  }

  /**
   * Writes bytes, as far as the limit allows.
   *
   * @return whether it allowed all of them
   */
  boolean write(byte[] bytes) throws IOException, InterruptedException {
    boolean whole = bytes.length <= limit - sent - parcel.length;
    if (dribble.isEmpty()) {
      send(bytes, 0, bytes.length);
      return whole;
    }
    byte[] all = new byte[parcel.length + bytes.length];
    System.arraycopy(parcel, 0, all, 0, parcel.length);
    System.arraycopy(bytes, 0, all, parcel.length, bytes.length);
    int size = dribble.get().bytes();
    int at = 0;
    for (; all.length - at >= size && !full(); at += size) {
      pause(dribble.get());
      send(all, at, size);
    }
    parcel = Arrays.copyOfRange(all, at, all.length);
    return whole;
  }

  /** Sends what was held back. */
  void flush() throws IOException, InterruptedException {
    if (parcel.length > 0 && dribble.isPresent() && !full()) {
      pause(dribble.get());
      send(parcel, 0, parcel.length);
      parcel = new byte[0];
    }
  }

  private void pause(WireForm.Dribble form) throws IOException, InterruptedException {
    if (dribbled) {
      in.expectSilence(form.pause());
    }
    dribbled = true;
  }

  private void send(byte[] bytes, int from, int wanted) throws IOException {
    int length = (int) Math.min(wanted, limit - sent);
    if (length == 0) {
      return;
    }
    sent += length;
    byte[] size = size(length);
    byte[] all = new byte[size.length + length + (chunked ? 2 : 0)];
    System.arraycopy(size, 0, all, 0, size.length);
    System.arraycopy(bytes, from, all, size.length, length);
    if (chunked) {
      all[all.length - 2] = '\r';
      all[all.length - 1] = '\n';
    }
    out.write(all);
  }

  private byte[] size(int length) {
    String line = chunked ? Integer.toHexString(length) + "\r\n" : "";
    return line.getBytes(StandardCharsets.ISO_8859_1);
  }

  /** Ends it in order. */
  void end() throws IOException {
    if (chunked) {
      out.write(LAST_CHUNK);
    }
  }

  /** Announces a chunk that will not come. */
  void promise() throws IOException {
    if (chunked) {
      out.write(PROMISE);
    }
  }
}
