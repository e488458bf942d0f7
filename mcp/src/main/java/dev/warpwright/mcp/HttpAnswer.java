package dev.warpwright.mcp;

import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.http.StreamExchange;
import dev.warpwright.adapters.wire.Frame;
import dev.warpwright.adapters.wire.Framing;
import dev.warpwright.adapters.wire.FramingException;
import dev.warpwright.mcp.Incoming.Reply;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * Reads the answer to one request: a message, or events each of which is one, up to the reply. Used
 * by the calling thread only.
 */
final class HttpAnswer implements StreamExchange.Body<Reply> {
  /** The longest message that is no event, in bytes; as long as an event may be. */
  private static final int MAX_BYTES = 1_048_576;

  private final long id;
  private final HttpHeaders headers;
  private final Failures failures;
  private final Consumer<Incoming.Request> asked;
  private final @Nullable Framing events; // else it is one message
  private final ByteArrayOutputStream message = new ByteArrayOutputStream();
  private @Nullable Reply reply;

  /**
   * Begins an answer.
   *
   * @param id which request it answers
   * @param headers the response's headers
   * @param failures how it fails
   * @param asked is told what the server wants meanwhile
   */
  HttpAnswer(long id, HttpHeaders headers, Failures failures, Consumer<Incoming.Request> asked) {
    this.id = id;
    this.headers = headers;
    this.failures = failures;
    this.asked = asked;
    boolean streamed =
        headers
            .firstValue("content-type")
            .map(type -> type.strip().toLowerCase(Locale.ROOT).startsWith("text/event-stream"))
            .orElse(false);
    this.events = streamed ? Framing.events() : null;
  }

  @Override
  public boolean read(byte[] bytes, int length) {
    if (events == null) {
      if (message.size() + length > MAX_BYTES) {
        throw failures.protocol("is longer than the bound of " + MAX_BYTES + " bytes.", headers);
      }
      message.write(bytes, 0, length);
      return true;
    }
    try {
      events.feed(bytes, length);
      Frame event = events.next();
      while (event != null && reply == null) {
        take(event.data());
        event = events.next();
      }
    } catch (FramingException e) {
      throw failures.protocol("is no stream of events within the bounds.", headers);
    }
    return reply == null;
  }

  @Override
  public Reply end() {
    if (reply == null) {
      takeLast();
    }
    Reply got = reply;
    if (got == null) {
      throw failures.protocol("ended without a reply to the request.", headers);
    }
    return got;
  }

  private void takeLast() {
    if (events == null) {
      if (message.size() > 0) {
        take(message.toString(StandardCharsets.UTF_8));
      }
      return;
    }
    try {
      Frame event = events.last();
      if (event != null) {
        take(event.data());
      }
    } catch (FramingException e) {
      throw failures.protocol("is no stream of events within the bounds.", headers);
    }
  }

  /** A reply to another request is passed over. */
  private void take(String text) {
    try {
      for (Incoming incoming : Incoming.read(text)) {
        if (incoming instanceof Incoming.Request request) {
          asked.accept(request);
        } else if (reply == null && incoming instanceof Reply came && came.id() == id) {
          reply = came;
        }
      }
    } catch (JacksonException _) { // whose text may quote the content
      throw failures.protocol("holds a message that is no JSON that is accepted.", headers);
    }
  }
}
