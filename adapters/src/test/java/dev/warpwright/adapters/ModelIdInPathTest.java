package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.bedrock.Bedrock;
import dev.warpwright.adapters.google.Gemini;
import dev.warpwright.adapters.google.Vertex;
import dev.warpwright.adapters.http.RawServer;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.openai.Vendor;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A model's id that is part of a path stays one segment of it, whatever it holds. */
@Timeout(60)
final class ModelIdInPathTest {
  private static final ModelCall HI = ModelCall.builder(List.of(Message.user("Hi"))).build();

  private static HttpAdapter adapter(String provider, URI base) {
    return switch (provider) {
      case "bedrock" -> Bedrock.builder("us-east-1").baseUrl(base).build();
      case "gemini" -> Gemini.builder().baseUrl(base).build();
      case "vertex" -> Vertex.builder("p", "us-central1").baseUrl(base).build();
      default -> OpenAi.builder(Vendor.azure(base, "2024-10-21")).apiKey("k").build();
    };
  }

  @ParameterizedTest
  @CsvSource({
    "bedrock, ..",
    "bedrock, .",
    "bedrock, ''",
    "bedrock, ' '",
    "gemini, ..",
    "gemini, models/..",
    "gemini, ''",
    "gemini, a/../b",
    "vertex, anthropic/../x",
    "vertex, a%2e",
    "vertex, ''",
    "azure, ..",
    "azure, .",
    "azure, ''"
  })
  void an_id_that_would_be_another_path_is_refused(String provider, String id) {
    try (HttpAdapter adapter = adapter(provider, URI.create("http://localhost:1"))) {
      assertThrows(InvalidRequestException.class, () -> adapter.model(id));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "bedrock, %2e%2e, /model/%252e%252e/converse",
    "bedrock, a/../b, /model/a%2F..%2Fb/converse",
    "bedrock, a?b#c, /model/a%3Fb%23c/converse",
    "gemini, %2e%2e, /models/%252e%252e:generateContent",
    "gemini, a b, /models/a%20b:generateContent",
    "azure, %2e%2e," + " /openai/deployments/%252e%252e/chat/completions?api-version=2024-10-21",
    "azure, a/../b?x,"
        + " /openai/deployments/a%2F..%2Fb%3Fx/chat/completions?api-version=2024-10-21"
  })
  void any_other_is_encoded_once(String provider, String id, String path) throws IOException {
    try (RawServer server =
            new RawServer(
                connection -> connection.write("HTTP/1.1 404 Gone\r\nContent-Length: 0\r\n\r\n"));
        HttpAdapter adapter = adapter(provider, server.uri())) {
      ProviderException failure =
          assertThrows(ProviderException.class, () -> adapter.model(id).generate(HI));
      assertEquals(404, failure.status());
      String request = server.requests().getFirst();
      assertTrue(request.startsWith("POST " + path + " HTTP/1.1\r\n"), request);
    }
  }

  @Test
  void a_project_is_no_other_path_either() {
    assertThrows(InvalidRequestException.class, () -> Vertex.builder("..", "us-central1"));
  }
}
