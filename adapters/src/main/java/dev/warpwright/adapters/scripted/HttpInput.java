package dev.warpwright.adapters.scripted;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The reading half of a connection: request heads, bodies, and the client's end.
 *
 * <p>Used by the connection's thread only. The buffer is small because there may be ten thousand of
 * them; bodies are read past it.
 */
final class HttpInput {
  private static final int MAX_HEAD = 64 * 1024;
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

  private final Socket socket;
  private final InputStream in;
  private byte[] buffer = new byte[1_024];
  private int position;
  private int limit;

  HttpInput(Socket socket) throws IOException {
    this.socket = socket;
    this.in = socket.getInputStream();
  }

  /** Waits for the first byte of the next request; false if the client ends the connection. */
  boolean awaitRequest() throws IOException {
    return position < limit || fill();
  }

  private boolean fill() throws IOException {
    position = 0;
    limit = 0;
    int read = in.read(buffer);
    limit = Math.max(read, 0);
    return read > 0;
  }

  private int read() throws IOException {
    if (position == limit && !fill()) {
      throw new EOFException();
    }
    return buffer[position++] & 0xFF;
  }

  /** Reads a request line and its fields. */
  ServerRequest head() throws IOException, RefusedException {
    int[] budget = {MAX_HEAD};
    String line = line(budget);
    if (line.isEmpty()) {
      line = line(budget); // RFC 9112 2.2: one empty line before a request is ignored
    }
    String[] parts = line.split(" ", -1);
    if (parts.length != 3 || !TOKEN.matcher(parts[0]).matches() || parts[1].isEmpty()) {
      throw new RefusedException(400, "The request line cannot be understood.");
    }
    if (!parts[2].equals("HTTP/1.1") && !parts[2].equals("HTTP/1.0")) {
      throw new RefusedException(505, "This server speaks HTTP/1.1 only.");
    }
    Map<String, String> headers = new HashMap<>();
    for (String field = line(budget); !field.isEmpty(); field = line(budget)) {
      int colon = field.indexOf(':');
      if (colon < 1 || !TOKEN.matcher(field.substring(0, colon)).matches()) {
        throw new RefusedException(400, "A header field cannot be understood.");
      }
      headers.merge(
          field.substring(0, colon).toLowerCase(Locale.ROOT),
          field.substring(colon + 1).strip(),
          (first, more) -> first + ", " + more);
    }
    int minor = parts[2].equals("HTTP/1.1") ? 1 : 0;
    return new ServerRequest(parts[0], parts[1], minor, headers);
  }

  private String line(int[] budget) throws IOException, RefusedException {
    ByteArrayOutputStream line = new ByteArrayOutputStream(80);
    for (int next = read(); next != '\n'; next = read()) {
      if (--budget[0] < 0) {
        throw new RefusedException(431, "A request head has at most " + MAX_HEAD + " bytes.");
      }
      line.write(next);
    }
    String text = line.toString(StandardCharsets.ISO_8859_1);
    return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
  }

  /** Reads the body that a head announces. */
  byte[] body(ServerRequest head, int maxBytes) throws IOException, RefusedException {
    boolean counted = head.headers().containsKey("content-length");
    String coding = head.header("transfer-encoding").orElse("");
    if (!coding.isEmpty()) {
      if (counted || !coding.equalsIgnoreCase("chunked")) {
        throw new RefusedException(400, "The length of the body cannot be understood.");
      }
      return chunked(maxBytes);
    }
    if (!counted) {
      if (head.method().equals("POST")) {
        throw new RefusedException(411, "A POST needs a content-length or a chunked body.");
      }
      return new byte[0];
    }
    return exactly(length(head.header("content-length").orElse(""), 10, maxBytes));
  }

  private static int length(String text, int radix, int maxBytes) throws RefusedException {
    try {
      if (!text.isEmpty() && Character.digit(text.charAt(0), radix) >= 0) {
        if (Long.parseLong(text, radix) <= maxBytes) {
          return Integer.parseInt(text, radix);
        }
        throw new RefusedException(413, "A body has at most " + maxBytes + " bytes here.");
      }
    } catch (NumberFormatException e) {
      // Refused below.
    }
    throw new RefusedException(400, "The length of the body cannot be understood.");
  }

  private byte[] chunked(int maxBytes) throws IOException, RefusedException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    int[] budget = {MAX_HEAD};
    while (true) {
      String line = line(budget);
      int extension = line.indexOf(';');
      String size = (extension < 0 ? line : line.substring(0, extension)).strip();
      int length = length(size, 16, maxBytes - body.size());
      if (length == 0) {
        break;
      }
      body.writeBytes(exactly(length));
      if (!line(budget).isEmpty()) {
        throw new RefusedException(400, "A chunk is longer than it says.");
      }
      budget[0] = MAX_HEAD; // the bound is on a line, not on the number of chunks
    }
    while (!line(budget).isEmpty()) {
      // Trailer fields say nothing to a model.
    }
    return body.toByteArray();
  }

  private byte[] exactly(int length) throws IOException {
    int buffered = Math.min(length, limit - position);
    byte[] first = Arrays.copyOfRange(buffer, position, position + buffered);
    position += buffered;
    if (buffered == length) {
      return first;
    }
    // Grows with what arrives, not with what is promised.
    byte[] rest = in.readNBytes(length - buffered);
    if (rest.length < length - buffered) {
      throw new EOFException();
    }
    byte[] all = Arrays.copyOf(first, length);
    System.arraycopy(rest, 0, all, buffered, rest.length);
    return all;
  }

  /**
   * Lets time pass while watching for the client's end. What the client sends meanwhile is kept.
   *
   * @return true if the client ended the connection before the time had passed
   */
  boolean endsWithin(long nanos) throws IOException, InterruptedException {
    long end = System.nanoTime() + nanos;
    try {
      for (long left = nanos; left > 0; left = end - System.nanoTime()) {
        if (!makeRoom()) {
          Thread.sleep(
              left / 1_000_000, (int) (left % 1_000_000)); // too much sent to go on watching
          return false;
        }
        socket.setSoTimeout((int) Math.min(Integer.MAX_VALUE, (left + 999_999) / 1_000_000));
        try {
          int read = in.read(buffer, limit, buffer.length - limit);
          if (read < 0) {
            return true;
          }
          limit += read;
        } catch (SocketTimeoutException e) {
          // The time has passed, or nearly: the condition of the loop tells.
        }
      }
      return false;
    } finally {
      if (!socket.isClosed()) {
        socket.setSoTimeout(0);
      }
    }
  }

  /**
   * Lets a pause pass.
   *
   * @throws EOFException if the client ended the connection before it had passed
   */
  void expectSilence(Duration pause) throws IOException, InterruptedException {
    if (pause.isPositive() && endsWithin(pause.toNanos())) {
      throw new EOFException();
    }
  }

  private boolean makeRoom() {
    if (limit == buffer.length && position > 0) {
      System.arraycopy(buffer, position, buffer, 0, limit - position);
      limit -= position;
      position = 0;
    }
    if (limit == buffer.length && buffer.length < MAX_HEAD) {
      buffer = Arrays.copyOf(buffer, 2 * buffer.length);
    }
    return limit < buffer.length;
  }

  /** Reads and forgets until the client ends the connection. */
  void discardToEnd() throws IOException {
    while (fill()) {
      // Nothing that a client says now is answered.
    }
  }

  /** Reads and forgets for a while, so that a client can take in a response before the close. */
  void linger() throws IOException {
    socket.shutdownOutput();
    socket.setSoTimeout(1_000);
    for (int rest = 256; rest > 0 && fill(); rest--) {
      // Bounded in bytes by the buffer, in time by the socket.
    }
  }
}
