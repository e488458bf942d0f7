package dev.warpwright.adapters.openai;

import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.wire.EventStream;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import java.util.function.Function;

/**
 * The OpenAI Responses protocol: OpenAI's models that reason, and servers that speak it.
 *
 * <pre>{@code
 * var openAi =
 *     OpenAiResponses.builder()
 *         .fromEnvironment()
 *         .capabilities(
 *             modelId ->
 *                 ModelCapabilities.TEXT_AND_TOOLS
 *                     .with(Capability.REASONING)
 *                     .with(ToolHistory.JSON))
 *         .build();
 * }</pre>
 *
 * <p>Nothing is stored at the provider: every call carries the whole conversation, with {@code
 * store} false. What a model reasons comes back encrypted, if the call asks for reasoning or the
 * model is declared to have {@link Capability#REASONING}. It is kept in the answer as {@link
 * dev.warpwright.model.ProviderState}, in its place and byte for byte, and replayed to the same
 * model only, together with the text or call that followed it.
 *
 * <p>Its models also tell their answer while it comes ({@link StreamingModel}): text, and what of
 * the reasoning the request asks to be shown, such as a summary. One event may have 1 048 576
 * characters, and the last one repeats the whole answer.
 *
 * <p>Tools that OpenAI runs itself are asked for with the provider options of a request: their
 * {@code tools} stand before those of the call. What became of such tools is private state too. A
 * failure behind which one may have acted has the kind TOOL_CALL and is never repeated: one with
 * such a call in its answer, or, where no answer came or one broke off, one of a request that
 * offered such a tool. Searching and drawing count as without effects.
 *
 * <p>Calls block and set no time limit of their own beyond the connect timeout: an interrupt of the
 * calling thread closes the connection and ends the call. Nothing is retried and no redirect is
 * followed. Cleartext {@code http://} always uses HTTP/1.1. An answer may have 128 MiB, the
 * arguments of one tool call 1 MiB; more is a PROTOCOL failure. How calls fail: see {@link
 * dev.warpwright.model.ProviderException.Kind}. An answer that failed counts as the status that its
 * code stands for.
 *
 * <p>Thread-safe; one instance serves any number of calls. {@link #close()} aborts open calls
 * without waiting, and leaves a client alone that the program supplied. Source of the format:
 * OpenAI's API reference.
 */
public final class OpenAiResponses extends OpenAiAdapter {
  private OpenAiResponses(Connection connection, Function<String, ModelCapabilities> capabilities) {
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
    return new ResponsesModel(modelId);
  }

  private final class ResponsesModel extends Model {
    ResponsesModel(String modelId) {
      super(modelId);
    }

    @Override
    public boolean mayAct(ModelCall call) {
      return HostedTools.mayAct(call);
    }

    @Override
    public ModelResponse generate(ModelCall call) throws InterruptedException {
      byte[] body = ResponsesRequest.body(modelId, call, reasons());
      try {
        return connection.post("/responses", body, reader(call));
      } catch (ProviderException e) {
        throw judged(e, call, new OutputItems());
      }
    }

    @Override
    public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
      byte[] body = ResponsesRequest.streamed(modelId, call, reasons());
      ResponsesReader reader = reader(call);
      OutputItems shown = new OutputItems();
      try {
        return connection.stream(
            "/responses",
            body,
            EventStream.of(
                connection.failures(),
                events,
                headers -> new ResponsesStream(reader, headers, shown)));
      } catch (ProviderException e) {
        throw judged(e, call, shown);
      }
    }

    private boolean reasons() {
      return capabilities().has(Capability.REASONING);
    }

    private ResponsesReader reader(ModelCall call) {
      return new ResponsesReader(connection.failures(), modelId, call);
    }

    /** A failure must not repeat what the provider's own tools may have done already. */
    private ProviderException judged(ProviderException e, ModelCall call, OutputItems shown) {
      boolean mayHaveActed =
          switch (e.kind()) {
            case PROVIDER_EVENT, CONTEXT_LENGTH, TOOL_CALL -> false; // the reader has decided
            case READ, PROTOCOL, HTTP_STATUS, CONNECT, TIMEOUT, OTHER ->
                HostedTools.mayHaveActed(shown.output()) || HostedTools.mayHaveActed(call, e);
          };
      return mayHaveActed ? connection.failures().hostedTool(e, true) : e;
    }
  }

  /** Collects what an {@link OpenAiResponses} needs; not thread-safe. */
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
    public OpenAiResponses build() {
      return new OpenAiResponses(connect(), capabilities());
    }
  }
}
