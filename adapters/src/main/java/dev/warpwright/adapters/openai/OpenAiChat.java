package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.StreamingModel;
import java.util.function.Function;

/**
 * The OpenAI Chat Completions protocol: OpenAI itself and every server that speaks it.
 *
 * <pre>{@code
 * var openAi = OpenAiChat.builder().apiKey(key).build();
 * var local = OpenAiChat.builder().baseUrl(URI.create("http://localhost:8000/v1")).build();
 * }</pre>
 *
 * <p>Its models also tell their answer while it comes ({@link StreamingModel}), with usage asked
 * for. Reasoning that a compatible server shows ({@code reasoning_content} or {@code reasoning}) is
 * told then, and is no part of the answer. One event may have 1 048 576 characters.
 *
 * <p>Calls block and set no time limit of their own beyond the connect timeout: an interrupt of the
 * calling thread closes the connection and ends the call. Nothing is retried and no redirect is
 * followed. Cleartext {@code http://} always uses HTTP/1.1. An answer may have 128 MiB, the
 * arguments of one tool call 1 MiB; more is a PROTOCOL failure.
 *
 * <p>How calls fail: see {@link dev.warpwright.model.ProviderException.Kind}. An error object with
 * status 200 counts as its embedded status; an input longer than the context window is recognised
 * by code, and for compatible servers that send none by a closed table of whole messages.
 *
 * <p>Thread-safe; one instance serves any number of calls. {@link #close()} aborts open calls
 * without waiting, and leaves a client alone that the program supplied.
 */
public final class OpenAiChat extends OpenAiAdapter {
  private OpenAiChat(Connection connection, Function<String, ModelCapabilities> capabilities) {
    super(connection, capabilities);
  }

  /**
   * Begins an adapter.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  @Override
  public StreamingModel model(String modelId) {
    return new ChatModel(modelId);
  }

  private final class ChatModel extends Model {
    ChatModel(String modelId) {
      super(modelId);
    }

    @Override
    public ModelResponse generate(ModelCall call) throws InterruptedException {
      return connection.post(
          "/chat/completions",
          ChatRequest.body(modelId, call),
          answer -> ChatResponse.read(connection.failures(), call, answer));
    }

    @Override
    public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
      Failures failures = connection.failures();
      return connection.stream(
          "/chat/completions",
          ChatRequest.streamed(modelId, call),
          EventStream.of(failures, events, headers -> new ChatStream(failures, call, headers)));
    }
  }

  /** Collects what an {@link OpenAiChat} needs; not thread-safe. */
  public static final class Builder extends OpenAiBuilder<Builder> {
    private Builder() {}

    @Override
    Builder self() {
      return this;
    }

    /**
     * Makes the adapter; contacts nothing.
     *
     * @return the adapter
     * @throws dev.warpwright.model.InvalidRequestException if a value breaks its rule; the message
     *     says what to do and shows no secret
     */
    public OpenAiChat build() {
      return new OpenAiChat(connect(), capabilities());
    }
  }
}
