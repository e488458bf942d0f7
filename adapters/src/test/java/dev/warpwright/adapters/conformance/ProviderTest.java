package dev.warpwright.adapters.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelFile;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/** The providers that can be checked by their names. */
final class ProviderTest {
  static final List<Provider> ALL = Provider.ALL;

  private static Variables set(String... names) {
    Map<String, String> values =
        Set.of(names).stream().collect(Collectors.toMap(name -> name, _ -> "value"));
    return new Variables(values::get);
  }

  @Test
  void each_has_a_name_of_its_own_and_every_provider_of_the_file_is_there() {
    Set<String> ids = ALL.stream().map(Provider::id).collect(Collectors.toSet());
    assertEquals(ALL.size(), ids.size());
    assertEquals(
        new TreeSet<>(ModelFile.supplied().providers()),
        ALL.stream().map(Provider::models).collect(Collectors.toCollection(TreeSet::new)));
  }

  @ParameterizedTest
  @FieldSource("ALL")
  void the_model_that_is_asked_by_default_is_known(Provider provider) {
    ModelFile file = ModelFile.supplied();
    assertTrue(
        file.providers().contains(provider.models())
            && (provider.models().equals("azure") // which knows deployments, not models
                || file.facts(provider.models(), provider.model()).isPresent()),
        provider.id());
  }

  @ParameterizedTest
  @FieldSource("ALL")
  void it_opens_another_server_with_and_without_a_key(Provider provider) {
    URI url = URI.create("http://localhost:1");
    try (HttpAdapter open = provider.at(url).build();
        HttpAdapter keyed = provider.at(url).apiKey("k").build()) {
      assertTrue(open.toString().contains("localhost:1"), open.toString());
      assertEquals(open.toString(), keyed.toString());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "openai, OPENAI_API_KEY",
    "vertex, GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_LOCATION VERTEX_ACCESS_TOKEN",
    "vertex, GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_LOCATION GOOGLE_APPLICATION_CREDENTIALS",
    "bedrock, AWS_REGION AWS_BEARER_TOKEN_BEDROCK",
    "bedrock, AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY",
    "azure, AZURE_OPENAI_ENDPOINT AZURE_OPENAI_API_KEY",
    "ollama, UNRELATED",
  })
  void what_it_needs_lets_its_own_service_be_asked(String id, String names) {
    Provider provider = Provider.find(id).orElseThrow();
    Variables variables = set(names.split(" "));
    assertTrue(provider.blocked(true, provider.credentials(), variables).isEmpty());
  }
}
