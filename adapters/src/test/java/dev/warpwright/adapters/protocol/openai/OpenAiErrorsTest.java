package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.ErrorObject;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.ProviderException.Kind;
import java.net.http.HttpHeaders;
import java.time.InstantSource;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class OpenAiErrorsTest {
  private static final HttpHeaders NO_HEADERS = HttpHeaders.of(Map.of(), (name, value) -> true);

  private static Kind kind(String message, String code) {
    var error =
        StrictJson.mapper()
            .createObjectNode()
            .set(
                "error",
                StrictJson.mapper().createObjectNode().put("message", message).put("code", code));
    return new Failures(OpenAiErrors.TABLE, InstantSource.system(), Authorization.NONE)
        .event(ErrorObject.in(error).orElseThrow(), NO_HEADERS)
        .kind();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "The input (90 tokens) is longer than the model's context length (80 tokens).",
        "the input (131,073 tokens) is longer than the model’s context length (131,072 tokens)",
        "tokens in request more than max tokens allowed",
        "Requested token count exceeds the model's maximum context length of 80 tokens",
        "Requested token count exceeds the model's maximum context length of 131072 tokens. You"
            + " requested a total of 135000 tokens: 134000 from the input and 1000 for the output.",
        "Your input exceeds the context window of this model",
        "Your input exceeds the context window of this model. Please adjust your input and try"
            + " again.",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in"
            + " 9000 tokens. Please reduce the length of the messages.",
        "This model's maximum context length is 4096 tokens. However, your request has 5000 input"
            + " tokens. Please reduce the length of the input messages.",
        "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens"
            + " (112946 in the messages, 10000 in the completion). Please reduce the length.",
        "The prompt (total length 5000) is too long to fit into the model (context length 4096).",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make"
            + " sure that `max_model_len` is no smaller than the number of text tokens.",
        "request (33056 tokens) exceeds the available context size (32768 tokens), try increasing"
            + " it",
        "the request exceeds the available context size. try increasing the context size or enable"
            + " context shift",
        "prompt is too long: 200001 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum"
            + " context length"
      })
  @Tag("Y38")
  @Tag("FR-R11")
  @Tag("FR-X09")
  void a_whole_message_of_the_closed_table_is_a_context_overflow(String message) {
    assertEquals(Kind.CONTEXT_LENGTH, kind(message, "server_error"));
    assertEquals(Kind.CONTEXT_LENGTH, kind(message, "400"));
    assertEquals(Kind.CONTEXT_LENGTH, kind(message, null));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
        "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context"
            + " length is 4096 tokens and your request has 100 input tokens (5000 > 4096 - 100).",
        "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens"
            + " (568 in the messages, 6048 in the completion). Please reduce the length of the"
            + " messages or completion.",
        "output limit exceeded",
        "context length",
        "The context window is full",
        "Invalid 'messages[0].content': string too long",
        "Rate limit reached: Limit 6000 tokens per min, requested 10000 tokens",
        "Bad value 'Your input exceeds the context window of this model'",
        "prompt is too long",
        "the request exceeds the available memory"
      })
  @Tag("Y38")
  @Tag("FR-R11")
  void an_output_limit_or_a_word_about_context_is_none(String message) {
    assertEquals(Kind.PROVIDER_EVENT, kind(message, "server_error"));
    assertEquals(Kind.PROVIDER_EVENT, kind(message, null));
  }

  @ParameterizedTest
  @ValueSource(strings = {"429", "401", "404", "insufficient_quota", "rate_limit_exceeded"})
  @Tag("Y38")
  @Tag("R86")
  void a_form_turns_no_other_structured_failure_into_an_overflow(String code) {
    assertEquals(
        Kind.PROVIDER_EVENT, kind("Your input exceeds the context window of this model", code));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "context_length_exceeded",
        "context_window_exceeded",
        "request_too_large",
        "exceed_context_size_error"
      })
  @Tag("Y38")
  void a_structured_code_needs_no_words(String code) {
    assertEquals(Kind.CONTEXT_LENGTH, kind("", code));
  }
}
