package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.http.StreamExchange;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * Reads one streamed answer from bytes to its end: what all protocols share. How bytes become
 * events, a {@link Framing} says, and what an event means, a {@link StreamReader}.
 *
 * <p>Whatever came without showing output is told as one sign of life for each piece that the
 * network brought.
 */
public final class EventStream implements StreamExchange.Body<ModelResponse> {
  private static final String DONE = "[DONE]";

  /** What is kept of a body that is no stream of events, in bytes. */
  private static final int MAX_DOCUMENT_BYTES = 64 * 1024;

  private final Failures failures;
  private final HttpHeaders headers;
  private final StreamReader reader;
  private final Teller out;
  private final Framing events;
  private @Nullable ByteArrayOutputStream document; // of a body that is no stream of events
  private boolean begun;
  private boolean terminated;

  private EventStream(
      Failures failures,
      HttpHeaders headers,
      Framing framing,
      StreamReader reader,
      StreamingModel.Events told) {
    this.failures = failures;
    this.events = framing;
    this.headers = headers;
    this.reader = reader;
    this.out = new Teller(told);
  }

  /**
   * Reads the answer of one call, which comes as server-sent events.
   *
   * @param failures how it fails
   * @param events is told what comes
   * @param protocol makes the protocol's reader for an answer with these headers
   * @return to be given to {@link dev.warpwright.adapters.http.Connection#stream}
   */
  public static StreamExchange.Opening<ModelResponse> of(
      Failures failures,
      StreamingModel.Events events,
      Function<HttpHeaders, StreamReader> protocol) {
    return of(failures, events, Framing::events, protocol);
  }

  /**
   * Reads the answer of one call, which comes as lines of JSON.
   *
   * @param failures how it fails
   * @param events is told what comes
   * @param protocol makes the protocol's reader for an answer with these headers
   * @return to be given to {@link dev.warpwright.adapters.http.Connection#stream}
   */
  public static StreamExchange.Opening<ModelResponse> ofLines(
      Failures failures,
      StreamingModel.Events events,
      Function<HttpHeaders, StreamReader> protocol) {
    return of(failures, events, Framing::lines, protocol);
  }

  /**
   * Reads the answer of one call.
   *
   * @param failures how it fails
   * @param events is told what comes
   * @param framing cuts the bytes of one answer into events
   * @param protocol makes the protocol's reader for an answer with these headers
   * @return to be given to {@link dev.warpwright.adapters.http.Connection#stream}
   */
  public static StreamExchange.Opening<ModelResponse> of(
      Failures failures,
      StreamingModel.Events events,
      Supplier<Framing> framing,
      Function<HttpHeaders, StreamReader> protocol) {
    return headers ->
        new EventStream(failures, headers, framing.get(), protocol.apply(headers), events);
  }

  @Override
  public boolean read(byte[] bytes, int length) throws InterruptedException {
    for (int i = 0; i < length && !begun; i++) {
      if (!isSpace(bytes[i])) { // which may stand before a document, and says nothing in a stream
        begun = true;
        document = events.isDocument(bytes[i]) ? new ByteArrayOutputStream() : null;
      }
    }
    if (document != null) {
      document.write(bytes, 0, Math.min(length, MAX_DOCUMENT_BYTES - document.size()));
      return document.size() < MAX_DOCUMENT_BYTES;
    }
    boolean came;
    try {
      came = readEvents(bytes, length);
    } catch (RuntimeException e) {
      throw failure(e);
    }
    if (came) {
      out.alive();
    }
    return !terminated;
  }

  /** Whether anything came that is a sign of life. */
  private static boolean isSpace(byte b) {
    return b == ' ' || b == '\n' || b == '\r' || b == '\t';
  }

  private boolean readEvents(byte[] bytes, int length) throws InterruptedException {
    boolean came = false;
    events.feed(bytes, length);
    Frame event = events.next();
    while (event != null) {
      came = true;
      read(event, "holds an event that is no JSON that is accepted.");
      event = terminated ? null : events.next();
    }
    return events.takeAlive() || came;
  }

  private void read(Frame event, String otherwise) throws InterruptedException {
    String data = event.data();
    if (data.strip().equals(DONE)) {
      terminated = true;
      return;
    }
    JsonNode json = json(data);
    StreamEvent read = new StreamEvent(event.name(), data, json);
    Optional<ErrorObject> error =
        isError(event.name(), json)
            ? Optional.of(ErrorObject.of(data.getBytes(StandardCharsets.UTF_8)))
            : ErrorObject.in(json);
    if (error.isPresent()) {
      throw reader.failed(failures.event(error.get(), headers), read);
    }
    if (json.isMissingNode()) {
      throw failures.protocol(otherwise, headers);
    }
    terminated = !reader.read(read, out);
  }

  private static JsonNode json(String data) {
    try {
      return StrictJson.readDocument(data);
    } catch (RuntimeException _) { // its text may quote the content
      return MissingNode.getInstance();
    }
  }

  private static boolean isError(String name, JsonNode json) {
    return name.equals(Frame.ERROR) || json.path("type").asString("").equals(Frame.ERROR);
  }

  @Override
  public ModelResponse end() throws InterruptedException {
    if (document != null) {
      throw failures.otherBody(document.toByteArray(), "is no stream of events.", headers);
    }
    try {
      Frame last = terminated ? null : events.last();
      if (last != null) {
        read(last, "breaks off in the middle of an event.");
      }
      return reader.end().orElseThrow(this::unfinished);
    } catch (RuntimeException e) {
      throw failure(e);
    }
  }

  private ProviderException unfinished() {
    return out.hasToldOutput()
        ? failures.protocol("ended without saying that it is finished.", headers)
        : failures.noEvents(headers);
  }

  private RuntimeException failure(RuntimeException exception) {
    if (exception instanceof FramingException framing) {
      return failures.protocol(framing.what(), headers);
    }
    return out.threw() ? exception : failures.misunderstood(exception, headers);
  }
}
