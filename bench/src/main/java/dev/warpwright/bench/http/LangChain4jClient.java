package dev.warpwright.bench.http;

import dev.langchain4j.data.message.ChatMessage;
import dev.langchain4j.data.message.SystemMessage;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.http.client.jdk.JdkHttpClientBuilder;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.openai.OpenAiChatModel;
import dev.langchain4j.model.openai.OpenAiStreamingChatModel;
import java.net.URI;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** LangChain4j's models of OpenAI over the JDK's client, on virtual threads and without HTTP/2. */
final class LangChain4jClient implements ChatClient {
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final OpenAiChatModel model;
  private final OpenAiStreamingChatModel streaming;

  LangChain4jClient(URI base) {
    this.model =
        OpenAiChatModel.builder()
            .httpClientBuilder(transport())
            .baseUrl(base.toString())
            .apiKey(Clients.KEY)
            .modelName(Clients.TARGET.modelId())
            .timeout(Clients.PATIENCE)
            .build();
    this.streaming =
        OpenAiStreamingChatModel.builder()
            .httpClientBuilder(transport())
            .baseUrl(base.toString())
            .apiKey(Clients.KEY)
            .modelName(Clients.TARGET.modelId())
            .timeout(Clients.PATIENCE)
            .build();
  }

  private JdkHttpClientBuilder transport() {
    return new JdkHttpClientBuilder().httpClientBuilder(JdkClient.httpClient().executor(executor));
  }

  private static List<ChatMessage> messages(String question) {
    return List.of(SystemMessage.from(Dialogue.SYSTEM), UserMessage.from(question));
  }

  @Override
  public String ask(String question) {
    return model.chat(messages(question)).aiMessage().text();
  }

  @Override
  public String stream(String question, Runnable atEach) throws Exception {
    CompletableFuture<String> whole = new CompletableFuture<>();
    streaming.chat(
        messages(question),
        new StreamingChatResponseHandler() {
          @Override
          public void onPartialResponse(String piece) {
            atEach.run();
          }

          @Override
          public void onCompleteResponse(ChatResponse response) {
            whole.complete(response.aiMessage().text());
          }

          @Override
          public void onError(Throwable error) {
            whole.completeExceptionally(error);
          }
        });
    return whole.get();
  }

  @Override
  public void close() {
    executor.close();
  }
}
