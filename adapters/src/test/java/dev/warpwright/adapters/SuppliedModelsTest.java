package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.cost.CacheAssumption;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CatalogEntry.Tier;
import dev.warpwright.cost.Pricing;
import dev.warpwright.cost.UnknownCost;
import dev.warpwright.cost.Valuation;
import dev.warpwright.cost.ValuationPolicy;
import dev.warpwright.model.Capability;
import dev.warpwright.model.CostValuation;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Money;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.ReasoningAccounting;
import dev.warpwright.model.Target;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.Usage;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the file that this library brings says. */
final class SuppliedModelsTest {
  private static final ModelFile FILE = ModelFile.supplied();

  private static ModelFacts facts(String provider, String modelId) {
    return FILE.facts(provider, modelId).orElseThrow();
  }

  private static boolean can(String provider, String modelId, Capability capability) {
    return facts(provider, modelId).capabilities().has(capability);
  }

  private static Usage usage(long input, long cached, long output) {
    return new Usage(
        TokenCount.reported(input),
        TokenCount.reported(cached),
        TokenCount.reported(0),
        TokenCount.reported(output),
        TokenCount.reported(0),
        TokenCount.reported(input + output),
        Optional.empty());
  }

  @Test
  void it_is_read_once_and_named_by_the_day_of_its_data() {
    assertSame(FILE, ModelFile.supplied());
    assertEquals(FILE.version(), LocalDate.parse(FILE.version()).toString());
    assertEquals(FILE.version(), FILE.catalog().version());
  }

  @Test
  void it_knows_the_providers_that_have_an_adapter() {
    assertEquals(
        Set.of(
            "openai",
            "anthropic",
            "ollama",
            "gemini",
            "vertex",
            "deepseek",
            "qwen",
            "kimi",
            "xai",
            "meta",
            "zai",
            "openrouter",
            "azure",
            "bedrock"),
        Set.copyOf(FILE.providers()));
  }

  @Test
  @Tag("R389")
  void every_price_has_a_source_and_a_day_and_both_rates() {
    assertTrue(FILE.catalog().entries().size() >= 60);
    for (CatalogEntry entry : FILE.catalog().entries()) {
      Pricing pricing = entry.pricing().orElseThrow();
      assertTrue(pricing.source().orElseThrow().startsWith("https://"), entry.modelId());
      assertEquals(pricing.version(), pricing.asOf().orElseThrow().toString());
      assertTrue(entry.rates().input().orElseThrow().signum() > 0, entry.modelId());
      assertTrue(entry.rates().output().orElseThrow().signum() > 0, entry.modelId());
      assertTrue(entry.tier().isPresent(), entry.modelId());
    }
  }

  @Test
  void every_model_that_has_a_price_is_known_by_all_of_its_names() {
    for (CatalogEntry entry : FILE.catalog().entries()) {
      assertTrue(FILE.facts(entry.provider(), entry.modelId()).isPresent(), entry.modelId());
      for (String alias : entry.aliases()) {
        assertTrue(FILE.facts(entry.provider(), alias).isPresent(), alias);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"openai", "anthropic", "gemini", "qwen", "kimi", "xai", "meta", "zai", "bedrock"})
  void a_provider_of_its_own_models_has_a_price_in_each_tier(String provider) {
    Set<Tier> priced =
        FILE.catalog().entries().stream()
            .filter(entry -> entry.provider().equals(provider))
            .map(entry -> entry.tier().orElseThrow())
            .collect(Collectors.toSet());
    assertEquals(EnumSet.allOf(Tier.class), priced);
  }

  @Test
  void what_has_tools_streams_and_what_can_be_told_to_call_them_has_tools() {
    for (String provider : FILE.providers()) {
      for (ModelFamily family : FILE.families(provider)) {
        ModelCapabilities can = family.facts().capabilities();
        assertTrue(can.has(Capability.STREAMING), family.toString());
        if (can.has(Capability.TOOL_CHOICE) || can.has(Capability.PARALLEL_TOOL_CALLS)) {
          assertTrue(can.has(Capability.TOOLS), family.toString());
        }
        if (can.toolHistory() != ToolHistory.NONE) {
          assertTrue(can.has(Capability.TOOLS), family.toString());
        }
        if (!family.facts().efforts().isEmpty()) {
          assertTrue(can.has(Capability.REASONING), family.toString());
          assertFalse(family.facts().has(ModelTrait.NO_REASONING_EFFORT), family.toString());
        }
        if (family.facts().has(ModelTrait.REASONS_ALWAYS)) {
          assertFalse(family.facts().efforts().contains(Effort.NONE), family.toString());
        }
      }
    }
  }

  @Test
  @Tag("Y50")
  void only_those_declare_a_tool_history_whose_protocol_has_one() {
    Set<String> json = Set.of("openai", "azure", "deepseek", "qwen");
    for (String provider : FILE.providers()) {
      for (ModelFamily family : FILE.families(provider)) {
        ToolHistory declared = family.facts().capabilities().toolHistory();
        boolean claude = family.models().stream().anyMatch(m -> m.startsWith("anthropic/claude-"));
        switch (declared) {
          case JSON -> assertTrue(json.contains(provider), family.toString());
          case NATIVE ->
              assertTrue(
                  Set.of("anthropic", "bedrock").contains(provider)
                      || (provider.equals("vertex") && claude),
                  family.toString());
          case NONE ->
              assertFalse(
                  Set.of("openai", "anthropic", "bedrock").contains(provider), family.toString());
        }
      }
    }
    assertEquals(
        ToolHistory.NATIVE,
        facts("vertex", "anthropic/claude-opus-5-5").capabilities().toolHistory());
  }

  @ParameterizedTest
  @CsvSource({
    "deepseek, deepseek-reasoner, NONE",
    "deepseek, deepseek-chat, JSON",
    "deepseek, deepseek-v4-pro, JSON",
    "qwen, qwq-plus, NONE",
    "qwen, qvq-max, NONE",
    "qwen, qwen3-next-80b-a3b-thinking, NONE",
    "qwen, qwen3-vl-235b-a22b-thinking, NONE",
    "qwen, qwen3.8-max, NONE",
    "qwen, qwen4-max, JSON",
    "qwen, qwen-plus, JSON",
  })
  @Tag("R201")
  void models_that_only_think_take_no_tool_history(
      String provider, String modelId, ToolHistory expected) {
    ModelFacts facts = facts(provider, modelId);
    assertEquals(expected, facts.capabilities().toolHistory());
    assertEquals(expected == ToolHistory.NONE, facts.has(ModelTrait.REASONS_ALWAYS));
  }

  @ParameterizedTest
  @ValueSource(strings = {"qwq-plus", "qvq-max", "qwen-omni-turbo", "qwen3-omni-flash"})
  @Tag("FR-Q11")
  void qwen_models_that_only_stream_say_so(String modelId) {
    assertTrue(facts("qwen", modelId).has(ModelTrait.STREAMS_ONLY));
    assertFalse(facts("qwen", "qwen4-max").has(ModelTrait.STREAMS_ONLY));
  }

  @ParameterizedTest
  @CsvSource({
    "meta, muse-spark-1.3",
    "meta, muse-wonder-1.0",
    "zai, glm-5.3",
    "zai, glm-5.3-flash",
    "zai, glm-4.7",
    "ollama, qwen3:8b",
    "vertex, openai/gpt-oss-120b-maas",
  })
  void where_a_tool_choice_is_not_taken_none_is_declared(String provider, String modelId) {
    assertTrue(can(provider, modelId, Capability.TOOLS));
    assertFalse(can(provider, modelId, Capability.TOOL_CHOICE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gpt-5.5-pro",
        "gpt-5.4-pro-2026-03-05",
        "gpt-5-pro",
        "gpt-5.3-codex",
        "gpt-5.1-codex-max",
        "o3-pro",
        "o1-pro"
      })
  void openai_models_that_only_speak_responses_say_so(String modelId) {
    assertTrue(facts("openai", modelId).has(ModelTrait.RESPONSES_ONLY));
    assertFalse(facts("openai", "gpt-5.5").has(ModelTrait.RESPONSES_ONLY));
  }

  @ParameterizedTest
  @CsvSource({
    "gpt-6.2-sol, LOW MEDIUM HIGH MAX, true",
    "gpt-6-luna, NONE LOW MEDIUM HIGH MAX, false",
    "gpt-5-mini, MINIMAL LOW MEDIUM HIGH, true",
    "gpt-5-pro, HIGH, true",
    "o4-mini, LOW MEDIUM HIGH, true",
    "gpt-4.1, '', false",
  })
  void openai_models_have_their_own_efforts(String modelId, String efforts, boolean always) {
    Set<Effort> expected =
        efforts.isEmpty()
            ? Set.of()
            : List.of(efforts.split(" ")).stream().map(Effort::valueOf).collect(Collectors.toSet());
    assertEquals(expected, facts("openai", modelId).efforts());
    assertEquals(always, facts("openai", modelId).has(ModelTrait.REASONS_ALWAYS));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "anthropic.claude-opus-5-5",
        "us.anthropic.claude-opus-5-5",
        "global.anthropic.claude-opus-5-5",
        "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-opus-5-5",
      })
  void a_model_of_bedrock_is_known_by_every_form_of_its_id(String modelId) {
    assertTrue(facts("bedrock", modelId).has(ModelTrait.NO_REQUIRED_TOOL));
    assertEquals(1_000_000, facts("bedrock", modelId).contextWindow().orElseThrow());
  }

  @Test
  void a_call_is_valued_exactly_with_its_prices() {
    CostValuation valuation =
        Valuation.of(
            usage(300_000, 100_000, 1_000),
            Target.of("openai", "gpt-6.2-sol"),
            FILE.catalog(),
            new ValuationPolicy(
                CacheAssumption.UNKNOWN,
                Optional.of(ReasoningAccounting.INCLUDED),
                UnknownCost.REJECT));
    assertEquals(CostValuation.Status.KNOWN, valuation.status());
    assertEquals(Optional.of(Money.of("0.835", "USD")), valuation.amount());
    assertTrue(valuation.longContext());
    assertEquals(FILE.version(), valuation.catalogVersion());
    assertTrue(valuation.source().orElseThrow().startsWith("https://developers.openai.com/"));
  }

  @Test
  @Tag("R237")
  void a_model_is_found_by_its_alias() {
    assertEquals(
        "gpt-5.6-sol", FILE.catalog().find(Target.of("openai", "gpt-5.6")).orElseThrow().modelId());
  }

  @Test
  void what_a_program_declares_leaves_efforts_and_rules_as_they_are_known() {
    ModelFacts known = facts("openai", "gpt-5-pro");
    assertEquals(
        known.with(ModelCapabilities.TEXT),
        OpenAi.builder()
            .capabilities(id -> ModelCapabilities.TEXT)
            .facts("openai", ModelCapabilities.TEXT_AND_TOOLS)
            .apply("gpt-5-pro"));
    assertTrue(known.has(ModelTrait.RESPONSES_ONLY));
  }

  @Test
  void an_adapter_knows_what_the_file_knows_of_its_vendors_models() {
    try (HttpAdapter openAi = OpenAi.builder().apiKey("k").build();
        HttpAdapter anthropic = Anthropic.builder().apiKey("k").build()) {
      assertEquals(
          facts("openai", "gpt-6.2-sol").capabilities(),
          openAi.model("gpt-6.2-sol").capabilities());
      assertEquals(
          facts("anthropic", "claude-opus-5-5").capabilities(),
          anthropic.model("claude-opus-5-5").capabilities());
    }
  }

  @Test
  void a_model_that_no_file_knows_takes_text_and_tools() {
    try (HttpAdapter openAi = OpenAi.builder().apiKey("k").build();
        HttpAdapter anthropic = Anthropic.builder().apiKey("k").build()) {
      assertEquals(
          ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON),
          openAi.model("nobody-knows").capabilities());
      assertEquals(
          ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.NATIVE),
          anthropic.model("nobody-knows").capabilities());
    }
  }

  @Test
  void what_a_program_declares_counts_before_what_the_file_knows() {
    try (HttpAdapter openAi =
        OpenAi.builder().apiKey("k").capabilities(id -> ModelCapabilities.TEXT).build()) {
      assertEquals(ModelCapabilities.TEXT, openAi.model("gpt-6.2-sol").capabilities());
    }
  }

  @Test
  void an_adapter_can_be_given_another_file() {
    ModelFile own =
        ModelFile.read(
            new ByteArrayInputStream(
                """
                {"format": 1, "version": "own", "providers": {"openai": {"families": [
                  {"models": ["house-model"], "capabilities": ["vision"]}]}}}\
                """
                    .getBytes(StandardCharsets.UTF_8)));
    try (HttpAdapter openAi = OpenAi.builder().apiKey("k").models(own).build()) {
      assertEquals(
          ModelCapabilities.of(Capability.VISION), openAi.model("house-model").capabilities());
      assertEquals(
          ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON),
          openAi.model("gpt-6.2-sol").capabilities());
    }
  }
}
