package dev.warpwright.bench.http;

import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.http.StreamResponse;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import java.net.URI;

/** OpenAI's own client, over OkHttp, with as many connections kept as there are callers. */
final class OfficialClient implements ChatClient {
  private final OpenAIClient client;

  OfficialClient(URI base, int callers) {
    this.client =
        OpenAIOkHttpClient.builder()
            .baseUrl(base.toString())
            .apiKey(Clients.KEY)
            .timeout(Clients.PATIENCE)
            .maxIdleConnections(callers)
            .keepAliveDuration(Clients.PATIENCE)
            .build();
  }

  private static ChatCompletionCreateParams params(String question) {
    return ChatCompletionCreateParams.builder()
        .model(Clients.TARGET.modelId())
        .addSystemMessage(Dialogue.SYSTEM)
        .addUserMessage(question)
        .build();
  }

  @Override
  public String ask(String question) {
    ChatCompletion completion = client.chat().completions().create(params(question));
    return completion.choices().getFirst().message().content().orElse("");
  }

  @Override
  public String stream(String question, Runnable atEach) {
    StringBuilder text = new StringBuilder();
    try (StreamResponse<ChatCompletionChunk> response =
        client.chat().completions().createStreaming(params(question))) {
      response.stream()
          .flatMap(chunk -> chunk.choices().stream())
          .flatMap(choice -> choice.delta().content().stream())
          .filter(piece -> !piece.isEmpty())
          .forEach(
              piece -> {
                text.append(piece);
                atEach.run();
              });
    }
    return text.toString();
  }

  @Override
  public void close() {
    client.close();
  }
}
