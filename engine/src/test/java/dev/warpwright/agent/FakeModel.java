package dev.warpwright.agent;

import dev.warpwright.model.Capability;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntConsumer;
import java.util.regex.Pattern;

/**
 * A provider whose models give a fixed list of answers: a conversation with n answers in it gets
 * answer n. So a call that is made again after a crash is answered as it was before.
 */
public final class FakeModel implements ProviderAdapter, StreamingModel {
  /** What the model does when it is asked. */
  @FunctionalInterface
  public interface Answer {
    ModelResponse give(ModelCall call) throws InterruptedException;

    /** Tells the text of the answer word by word. */
    default ModelResponse tell(ModelCall call, StreamingModel.Events events)
        throws InterruptedException {
      ModelResponse response = give(call);
      for (String word : BEHIND_SPACES.splitAsStream(response.message().text()).toList()) {
        events.tell(new ModelEvent.Text(word));
      }
      return response;
    }
  }

  /** What the model does when it is asked to stream. */
  @FunctionalInterface
  public interface Telling {
    ModelResponse tell(ModelCall call, StreamingModel.Events events) throws InterruptedException;
  }

  private static final Pattern BEHIND_SPACES = Pattern.compile("(?<= )");

  private final List<Answer> answers;
  private final ModelCapabilities capabilities;
  private final IntConsumer onAsk;
  private final List<Integer> asked = new CopyOnWriteArrayList<>();

  private FakeModel(List<Answer> answers, ModelCapabilities capabilities, IntConsumer onAsk) {
    this.answers = List.copyOf(answers);
    this.capabilities = capabilities;
    this.onAsk = onAsk;
  }

  public static FakeModel of(Answer... answers) {
    return of(List.of(answers));
  }

  public static FakeModel of(List<Answer> answers) {
    return new FakeModel(answers, ModelCapabilities.TEXT_AND_TOOLS, index -> {});
  }

  /** The same answers from a model that does not declare parallel tool calls. */
  public FakeModel sequential() {
    return new FakeModel(
        answers, ModelCapabilities.of(Capability.TOOLS, Capability.TOOL_CHOICE), onAsk);
  }

  /** The same answers from a model that declares exactly these. */
  public FakeModel declaring(Capability... capabilities) {
    return new FakeModel(answers, ModelCapabilities.of(capabilities), onAsk);
  }

  /** The same answers from a model that takes tool calls of an earlier conversation so. */
  public FakeModel taking(ToolHistory form) {
    return new FakeModel(answers, capabilities.with(form), onAsk);
  }

  /** Tells which answer is asked for, before it is given. */
  public FakeModel onAsk(IntConsumer listener) {
    return new FakeModel(answers, capabilities, listener);
  }

  public static Answer text(String text) {
    return call -> response(FinishReason.Kind.STOP, List.of(new Part.Text(text)));
  }

  public static Answer calls(ToolCall... calls) {
    return saying("", calls);
  }

  public static Answer saying(String text, ToolCall... calls) {
    return ended(FinishReason.Kind.TOOL_CALLS, text, calls);
  }

  public static Answer ended(FinishReason.Kind finish, String text, ToolCall... calls) {
    List<Part> parts = new ArrayList<>();
    if (!text.isEmpty()) {
      parts.add(new Part.Text(text));
    }
    parts.addAll(List.of(calls));
    return call -> response(finish, parts);
  }

  public static Answer status(int status) {
    return call -> {
      throw ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "HTTP " + status)
          .status(status)
          .build();
    };
  }

  /** Only for streams, which it tells by itself what comes. */
  public static Answer telling(Telling telling) {
    return new Answer() {
      @Override
      public ModelResponse give(ModelCall call) {
        throw new AssertionError("not asked to stream");
      }

      @Override
      public ModelResponse tell(ModelCall call, StreamingModel.Events events)
          throws InterruptedException {
        return telling.tell(call, events);
      }
    };
  }

  /** A stream that breaks after this text. */
  public static Answer breaking(String text) {
    return telling(
        (call, events) -> {
          events.tell(new ModelEvent.Text(text));
          throw ProviderException.builder(ProviderException.Kind.READ, "The connection broke.")
              .build();
        });
  }

  public static ToolCall call(String id, String tool, String order) {
    return new ToolCall(id, tool, Json.parse("{\"order\":\"" + order + "\"}"));
  }

  private static ModelResponse response(FinishReason.Kind finish, List<Part> parts) {
    return new ModelResponse(
        new Message(Role.ASSISTANT, parts),
        new FinishReason(finish, finish.name()),
        Usage.reported(10, 5),
        Optional.empty());
  }

  /** The numbers of the answers that were asked for, in order, from 0. */
  public List<Integer> asked() {
    return List.copyOf(asked);
  }

  @Override
  public LanguageModel model(String modelId) {
    return this;
  }

  @Override
  public ModelCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public ModelResponse generate(ModelCall call) throws InterruptedException {
    return next(call).give(call);
  }

  @Override
  public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
    return next(call).tell(call, events);
  }

  private Answer next(ModelCall call) {
    int index = (int) call.messages().stream().filter(m -> m.role() == Role.ASSISTANT).count();
    onAsk.accept(index);
    asked.add(index);
    return answers.get(index);
  }
}
