package dev.warpwright.adapters.google;

import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.adapters.protocol.anthropic.MessagesModel;
import dev.warpwright.adapters.protocol.anthropic.MessagesService;
import dev.warpwright.adapters.protocol.anthropic.Thinking;
import dev.warpwright.adapters.protocol.openai.ChatDialect;
import dev.warpwright.adapters.protocol.openai.ChatModel;
import dev.warpwright.adapters.protocol.openai.Quirk;
import dev.warpwright.model.StreamingModel;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** Whose models Vertex offers, and in which protocol and under which path each is spoken to. */
enum Publisher {
  GOOGLE("google") {
    @Override
    StreamingModel named(Connection connection, String name, ModelFacts facts) {
      return name.startsWith(GEMINI)
          ? GeminiModel.of(connection, "/publishers/google/models/", name, facts)
          : compatible(connection, name, facts, ChatDialect.OPENAI); // Gemma
    }
  },

  ANTHROPIC("anthropic") {
    @Override
    StreamingModel named(Connection connection, String name, ModelFacts facts) {
      MessagesService service =
          new MessagesService(
              path(name) + ":rawPredict",
              path(name) + ":streamRawPredict",
              Optional.of("vertex-2023-10-16"));
      return new MessagesModel(service, connection, name, facts, new Thinking.Unset());
    }
  },

  MISTRAL("mistralai") {
    @Override
    StreamingModel named(Connection connection, String name, ModelFacts facts) {
      return raw(connection, name, facts, Quirk.REQUIRED_IS_ANY);
    }
  },

  AI21("ai21") {
    @Override
    StreamingModel named(Connection connection, String name, ModelFacts facts) {
      return raw(connection, name, facts);
    }
  },

  /** Its open models take a choice of tools only as it says. */
  OPENAI("openai") {
    @Override
    StreamingModel named(Connection connection, String name, ModelFacts facts) {
      return compatible(
          connection, name, facts, ChatDialect.OPENAI.with(Quirk.CHOICE_IS_AUTO_OR_NONE));
    }
  },

  XAI("xai"),
  META("meta"),
  DEEPSEEK("deepseek-ai"),
  QWEN("qwen"),
  ZAI("zai-org"),
  MOONSHOT("moonshotai"),
  MINIMAX("minimaxai");

  private static final String GEMINI = "gemini";

  private final String id;

  Publisher(String id) {
    this.id = id;
  }

  /**
   * The model of an id.
   *
   * @param connection the way to Vertex
   * @param modelId {@code publisher/name}; without a publisher it is Google's
   * @param facts what is known of it
   * @throws dev.warpwright.model.InvalidRequestException if the publisher is not known, or the name
   *     cannot be part of a path
   */
  static StreamingModel model(Connection connection, String modelId, ModelFacts facts) {
    int slash = modelId.indexOf('/');
    String id = slash < 0 ? GOOGLE.id : modelId.substring(0, slash);
    String name = modelId.substring(slash + 1);
    if (!name.matches("[A-Za-z0-9._@:-]{1,200}")) {
      throw Refusal.configuration(
          "A model id of Vertex must be publisher/name, or the name of a model of Google's, of"
              + " letters, digits and . _ @ : -, but is \""
              + modelId
              + "\".");
    }
    for (Publisher publisher : values()) {
      if (publisher.id.equals(id)) {
        return publisher.named(connection, name, facts);
      }
    }
    throw Refusal.configuration(
        "The publisher of a model of Vertex must be one of %s, but is \"%s\"."
            .formatted(
                Arrays.stream(values()).map(known -> known.id).collect(Collectors.joining(", ")),
                id));
  }

  /** An id of Gemini without the publisher, which may be left out. */
  static String plain(String modelId) {
    String google = GOOGLE.id + "/";
    return modelId.startsWith(google + GEMINI) ? modelId.substring(google.length()) : modelId;
  }

  /** By default in Chat Completions, at the endpoint that all such models share. */
  StreamingModel named(Connection connection, String name, ModelFacts facts) {
    return compatible(connection, name, facts, ChatDialect.OPENAI);
  }

  final StreamingModel compatible(
      Connection connection, String name, ModelFacts facts, ChatDialect dialect) {
    return new ChatModel(
        connection,
        id + "/" + name,
        facts,
        dialect.at((modelId, streamed) -> "/endpoints/openapi/chat/completions"));
  }

  /** In Chat Completions too, at an endpoint of the model's own. */
  final StreamingModel raw(Connection connection, String name, ModelFacts facts, Quirk... quirks) {
    return new ChatModel(
        connection,
        name,
        facts,
        ChatDialect.OPENAI
            .at(
                (modelId, streamed) ->
                    path(modelId) + (streamed ? ":streamRawPredict" : ":rawPredict"))
            .with(Quirk.NO_STREAM_OPTIONS)
            .with(quirks));
  }

  final String path(String name) {
    return "/publishers/" + id + "/models/" + name;
  }
}
