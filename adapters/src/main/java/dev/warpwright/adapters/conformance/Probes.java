package dev.warpwright.adapters.conformance;

import dev.warpwright.model.Capability;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** What each check asks; {@link Judgement} says what that must bring. */
final class Probes {
  /** A limit that every protocol accepts and no answer to the question keeps within. */
  private static final int FEW_TOKENS = 16;

  private static final String NO_SUCH_MODEL = "warpwright-no-such-model";

  private Probes() {}

  static Verdict blocking(Session session) throws InterruptedException {
    Came came = session.generate(session.call(Question.BLOCKING));
    session.keepWhole(came);
    return Judgement.whole(came);
  }

  static Verdict streaming(Session session) throws InterruptedException {
    Came came = session.stream(session.call(Question.STREAMING));
    session.keepStreamed(came);
    return Judgement.streamed(came);
  }

  static Verdict usage(Session session) {
    return Judgement.usage(session.whole(), session.streamed());
  }

  static Verdict lengthLimit(Session session) throws InterruptedException {
    return Judgement.limited(session.generate(brief(session.call(Question.LENGTH_LIMIT))));
  }

  private static ModelCall.Builder brief(ModelCall.Builder call) {
    return call.maxTokens(OptionalInt.of(FEW_TOKENS));
  }

  static Verdict toolCall(Session session) throws InterruptedException {
    Asked asked = withTool(session, Question.TOOL_CALL, session::generate);
    Verdict verdict = Judgement.toolCall(asked.came(), asked.forced());
    if (verdict.isPassed()) {
      session.keepCalling(asked.came());
    }
    return verdict;
  }

  /** How a call is made. */
  @FunctionalInterface
  private interface Way {
    Came ask(ModelCall.Builder call) throws InterruptedException;
  }

  /** What came, and whether the request left the model no choice. */
  private record Asked(Came came, boolean forced) {}

  /**
   * Asks with one tool, which must be called if a request can say that: not every protocol can, and
   * not for every model.
   */
  private static Asked withTool(Session session, String question, Way way)
      throws InterruptedException {
    ModelCall.Builder call = session.call(question).tools(List.of(Cities.POPULATION));
    if (canForce(session)) {
      Came came = way.ask(call.toolChoice(ToolChoice.REQUIRED));
      if (!Judgement.isUnsent(came)) {
        return new Asked(came, true);
      }
    }
    return new Asked(way.ask(call.toolChoice(ToolChoice.AUTO)), false);
  }

  private static boolean canForce(Session session) {
    return session.capabilities().has(Capability.TOOL_CHOICE);
  }

  static Verdict toolResult(Session session) throws InterruptedException {
    Optional<ModelResponse> calling = session.calling();
    if (calling.isEmpty()) {
      return Verdict.skipped("there is no tool call to answer");
    }
    Message asked = calling.get().message();
    List<ToolResult> results =
        asked.toolCalls().stream()
            .map(call -> ToolResult.success(call, Json.of("75 000 people")))
            .toList();
    List<Message> history = List.of(Message.user(Question.TOOL_CALL), asked, Message.tool(results));
    return Judgement.toolResult(
        session.generate(session.call(history).tools(List.of(Cities.POPULATION))));
  }

  static Verdict toolChoice(Session session) throws InterruptedException {
    Came named =
        session.generate(
            session
                .call(Question.NAMED_TOOL)
                .tools(List.of(Cities.POPULATION, Cities.WEATHER))
                .toolChoice(ToolChoice.tool(Cities.WEATHER.name())));
    Came none =
        session.generate(
            session
                .call(Question.NO_TOOL)
                .tools(List.of(Cities.POPULATION))
                .toolChoice(ToolChoice.NONE));
    return Judgement.both(
        Judgement.namedTool(named, Cities.WEATHER.name()), Judgement.noTool(none));
  }

  static Verdict streamedToolCall(Session session) throws InterruptedException {
    Asked asked = withTool(session, Question.STREAMED_TOOL_CALL, session::stream);
    return Judgement.streamedToolCall(asked.came(), asked.forced());
  }

  static Verdict parallelToolCalls(Session session) throws InterruptedException {
    Asked asked = withTool(session, Question.PARALLEL_TOOL_CALLS, session::generate);
    return Judgement.parallelToolCalls(asked.came(), asked.forced());
  }

  static Verdict structuredOutput(Session session) throws InterruptedException {
    return Judgement.object(
        session.generate(
            session.call(Question.STRUCTURED_OUTPUT).output(Optional.of(Cities.SCHEMA))),
        Cities::cityFault);
  }

  static Verdict jsonMode(Session session) throws InterruptedException {
    return Judgement.object(
        session.generate(
            session.call(Question.JSON_MODE).output(Optional.of(new OutputFormat.JsonObject()))),
        Cities::objectFault);
  }

  static Verdict cancelWaiting(Session session) throws InterruptedException {
    return Judgement.cancelled(session.cancelWaiting(session.call(Question.CANCEL_WAITING)));
  }

  static Verdict cancelStream(Session session) throws InterruptedException {
    return Judgement.cancelled(session.cancelStream(session.call(Question.CANCEL_STREAM)));
  }

  static Verdict unknownModel(Session session) throws InterruptedException {
    StreamingModel unknown = session.settings().adapter().model(NO_SUCH_MODEL);
    Verdict whole =
        Judgement.unknownModel(session.generate(unknown, brief(session.call(Question.REFUSED))));
    if (!session.capabilities().has(Capability.STREAMING)) {
      return whole;
    }
    return Judgement.both(
        whole,
        Judgement.unknownModel(session.stream(unknown, brief(session.call(Question.REFUSED)))));
  }

  static Verdict wrongKey(Session session) throws InterruptedException {
    Optional<Settings.WrongKey> wrong = session.settings().wrongKey();
    if (wrong.isEmpty()) {
      return Verdict.skipped("the server is asked without a key");
    }
    StreamingModel refusing = wrong.get().adapter().model(session.settings().modelId());
    return Judgement.wrongKey(
        session.generate(refusing, brief(session.call(Question.REFUSED))), wrong.get().key());
  }

  static Verdict connections(Session session) {
    return Judgement.connections(session.settings().openExchanges());
  }
}
