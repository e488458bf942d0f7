package dev.warpwright.bench;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A model that answers at once, from answers made beforehand, and asks for tools in each step until
 * the last. Which step it is, it sees by the conversation.
 */
public final class AskingModel implements LanguageModel {
  /** The tool that it asks for. */
  public static final String TOOL = "step";

  private static final Usage USAGE = Usage.reported(100, 20);
  private static final ModelResponse LAST =
      new ModelResponse(
          Message.assistant("All done."),
          new FinishReason(FinishReason.Kind.STOP, "stop"),
          USAGE,
          Optional.empty());

  private final int callsOfStep;
  private final List<ModelResponse> answers;

  /**
   * What the tool is given.
   *
   * @param number the step
   */
  public record Input(int number) {}

  /**
   * A model.
   *
   * @param steps how many steps ask for tools
   * @param callsOfStep how many calls each of them asks for
   */
  public AskingModel(int steps, int callsOfStep) {
    this.callsOfStep = callsOfStep;
    this.answers = IntStream.range(0, steps).mapToObj(step -> ask(step, callsOfStep)).toList();
  }

  private static ModelResponse ask(int step, int calls) {
    List<Part> parts =
        IntStream.range(0, calls)
            .<Part>mapToObj(
                call ->
                    new ToolCall(
                        "call-" + step + "-" + call,
                        TOOL,
                        Json.of(Map.of("number", step)),
                        Optional.empty()))
            .toList();
    return new ModelResponse(
        new Message(Role.ASSISTANT, parts),
        new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
        USAGE,
        Optional.empty());
  }

  @Override
  public ModelCapabilities capabilities() {
    return ModelCapabilities.TEXT_AND_TOOLS;
  }

  @Override
  public boolean honoursInterrupts() {
    return true;
  }

  @Override
  public ModelResponse generate(ModelCall call) {
    // A question, then an answer and its results for each step.
    int step = call.messages().size() / (1 + callsOfStep);
    return step < answers.size() ? answers.get(step) : LAST;
  }
}
