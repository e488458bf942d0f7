package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.ollama.Ollama;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.model.ProviderAdapter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Which of the supplied models declare to end at an interrupt: those in which no code of the
 * program takes part. That they do end is what the contracts and the matrix of cancels show.
 */
final class InterruptDeclarationTest {
  private static final URI SERVER = URI.create("http://127.0.0.1:9/v1");

  private static boolean declares(ProviderAdapter adapter, String modelId) {
    try (adapter) {
      return adapter.model(modelId).honoursInterrupts();
    }
  }

  @Test
  @Tag("R371")
  void a_model_behind_a_client_and_a_key_of_ours_declares_it() {
    assertTrue(declares(OpenAi.builder().baseUrl(SERVER).apiKey("key").build(), "gpt-5"));
    assertTrue(declares(Anthropic.builder().baseUrl(SERVER).apiKey("key").build(), "claude"));
    assertTrue(declares(Ollama.builder().baseUrl(SERVER).build(), "llama3"));
  }

  @Test
  @Tag("R121")
  void a_lent_client_a_source_of_tokens_and_a_resolver_may_do_what_they_like() {
    assertFalse(
        declares(
            OpenAi.builder()
                .baseUrl(SERVER)
                .tokens(
                    () -> {
                      throw new IOException();
                    })
                .build(),
            "gpt-5"));
    try (HttpClient client = HttpClient.newHttpClient()) {
      assertFalse(
          declares(
              OpenAi.builder().baseUrl(SERVER).apiKey("key").httpClient(client).build(), "gpt-5"));
    }
    assertFalse(
        declares(
            OpenAi.builder()
                .baseUrl(URI.create("https://models.example.com/v1"))
                .apiKey("key")
                .publicHostsOnly()
                .build(),
            "gpt-5"));
  }

  @Test
  @Tag("R121")
  void a_scripted_model_declares_it_if_no_lambda_speaks_for_it() {
    assertTrue(ScriptedModel.answering("Hello.").honoursInterrupts());
    assertTrue(ScriptedModel.answering("Hello.").model("any").honoursInterrupts());
    assertFalse(ScriptedModel.answering(call -> ScriptedAnswer.text("Hello.")).honoursInterrupts());
    assertFalse(
        ScriptedModel.builder()
            .when(call -> call.tools().isEmpty(), ScriptedAnswer.text("Hello."))
            .build()
            .honoursInterrupts());
  }
}
