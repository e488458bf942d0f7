package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.CatalogEntry.Tier;
import dev.warpwright.cost.LongContext;
import dev.warpwright.cost.Pricing;
import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Money;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolHistory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a file of models is read, laid over another and asked. */
final class ModelFileTest {
  private static final String PRICE =
      """
      {"model": "m", "currency": "USD", "perMillion": {"input": "2"},
       "source": "https://example.com", "date": "2026-11-01"}\
      """;

  private static ModelFile read(String text) {
    return ModelFile.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static ModelFile file(String provider, String families, String prices) {
    return read(
        """
        {"format": 1, "version": "v1",
         "providers": {"%s": {"families": [%s], "prices": [%s]}}}\
        """
            .formatted(provider, families, prices));
  }

  private static String family(String globs, String capability) {
    return "{\"models\": [%s], \"capabilities\": [\"%s\"]}".formatted(globs, capability);
  }

  private static String refusal(Runnable reading) {
    InvalidRequestException refused = assertThrows(InvalidRequestException.class, reading::run);
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    return String.valueOf(refused.getMessage());
  }

  private static Capability only(ModelFile file, String modelId) {
    Set<Capability> supported = file.facts("p", modelId).orElseThrow().capabilities().supported();
    assertEquals(1, supported.size());
    return supported.iterator().next();
  }

  private static Money usd(String amount) {
    return Money.of(amount, "USD");
  }

  private static Money input(ModelFile file, String modelId) {
    return file.catalog().find(Target.of("p", modelId)).orElseThrow().rates().input().orElseThrow();
  }

  @Test
  @Tag("R389")
  void every_member_of_a_file_is_read() {
    ModelFile file =
        read(
            """
            {
              "format": 1,
              "version": "2026-11-30",
              "providers": {
                "p": {
                  "families": [
                    {
                      "models": ["m-*"],
                      "capabilities": ["tools", "vision"],
                      "toolHistory": "JSON",
                      "contextWindow": 400000,
                      "maxOutput": 128000,
                      "efforts": ["LOW", "MAX"],
                      "traits": ["REASONS_ALWAYS"]
                    }
                  ],
                  "prices": [
                    {
                      "model": "m-1",
                      "aliases": ["m-latest"],
                      "tier": "FAST",
                      "currency": "EUR",
                      "perMillion": {
                        "input": "2.5", "cachedInput": "0.25", "cacheWrite": "3.125", "output": "15"
                      },
                      "longContext": {
                        "threshold": 200000, "inputMultiplier": "2", "outputMultiplier": "1.5"
                      },
                      "source": "https://example.com/prices",
                      "date": "2026-11-01"
                    }
                  ]
                }
              }
            }
            """);
    assertEquals("2026-11-30", file.version());
    assertEquals(List.of("p"), file.providers());
    ModelFacts facts =
        new ModelFacts(
            ModelCapabilities.of(Capability.TOOLS, Capability.VISION).with(ToolHistory.JSON),
            OptionalLong.of(400_000),
            OptionalLong.of(128_000),
            Set.of(Effort.LOW, Effort.MAX),
            Set.of(ModelTrait.REASONS_ALWAYS));
    assertEquals(List.of(new ModelFamily(List.of("m-*"), facts)), file.families("p"));
    assertEquals(Optional.of(facts), file.facts("p", "m-1"));
    CatalogEntry entry = file.catalog().find(Target.of("p", "m-1")).orElseThrow();
    assertEquals(
        CatalogEntry.builder("p", "m-1")
            .aliases(Set.of("m-latest"))
            .tier(Tier.FAST)
            .input(Money.of("0.0025", "EUR"))
            .cachedInput(Money.of("0.00025", "EUR"))
            .cacheWrite(Money.of("0.003125", "EUR"))
            .output(Money.of("0.015", "EUR"))
            .longContext(200_000, new BigDecimal("2"), new BigDecimal("1.5"))
            .pricing(
                Pricing.of(
                    "2026-11-01", "EUR", "https://example.com/prices", LocalDate.of(2026, 11, 1)))
            .contextWindow(400_000)
            .maxOutput(128_000)
            .build(),
        entry);
  }

  @Test
  @Tag("R389")
  void a_rate_that_is_not_named_stays_absent() {
    CatalogEntry entry = file("p", "", PRICE).catalog().find(Target.of("p", "m")).orElseThrow();
    assertEquals(Optional.of(usd("0.002")), entry.rates().input());
    assertEquals(Optional.empty(), entry.rates().output());
    assertEquals(Optional.empty(), entry.rates().cachedInput());
    assertEquals(Optional.empty(), entry.tier());
    assertEquals(Optional.<LongContext>empty(), entry.longContext());
    assertEquals(OptionalLong.empty(), entry.contextWindow());
  }

  @ParameterizedTest
  @CsvSource({
    "0.003625, 0.000003625",
    "0.000001, 0.000000001",
    "0, 0",
    "2, 0.002",
    "2.50, 0.0025",
    "999999999.999999, 999999.999999999",
  })
  void a_price_of_a_million_tokens_is_exactly_a_thousandth_of_it_for_a_thousand(
      String perMillion, String per1k) {
    ModelFile file = file("p", "", PRICE.replace("\"2\"", "\"" + perMillion + "\""));
    assertEquals(usd(per1k), input(file, "m"));
  }

  @Test
  void a_provider_without_families_and_prices_is_known_and_empty() {
    ModelFile empty = read("{\"format\": 1, \"version\": \"v\", \"providers\": {\"p\": {}}}");
    assertEquals(List.of("p"), empty.providers());
    assertEquals(List.of(), empty.families("p"));
    assertEquals(List.of(), empty.families("other"));
    assertEquals(Optional.empty(), empty.facts("other", "m"));
    assertEquals(List.of(), empty.catalog().entries());
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "gpt-5, gpt-5, true",
        "gpt-5, gpt-5.1, false",
        "gpt-5, GPT-5, false",
        "gpt-5*, gpt-5, true",
        "gpt-5*, gpt-5.1-mini, true",
        "gpt-5*, my-gpt-5, false",
        "*opus*, anthropic.claude-opus-5, true",
        "*opus, claude-opus, true",
        "*opus, claude-opus-5, false",
        "a*b*c, abc, true",
        "a*b*c, a-b-b-c, true",
        "a*b*c, acb, false",
        "a*ab, ab, false",
        "a*ab, aab, true",
        "ab*bc, abc, false",
        "a*bb*b, abb, false",
        "a*bb*b, abbb, true",
        "*, anything at all, true",
        "a.c, abc, false",
      })
  void a_star_stands_for_any_characters_and_everything_else_for_itself(
      String glob, String modelId, boolean matches) {
    ModelFile file = file("p", family("\"" + glob + "\"", "tools"), "");
    assertEquals(matches, file.facts("p", modelId).isPresent());
  }

  @Test
  void the_pattern_that_prescribes_most_characters_wins() {
    ModelFile file =
        file(
            "p",
            String.join(
                ",",
                family("\"*\"", "streaming"),
                family("\"grok-4*-reasoning\"", "reasoning"),
                family("\"grok-4*-non-reasoning\"", "tools"),
                family("\"grok-*\"", "vision")),
            "");
    assertEquals(Capability.TOOLS, only(file, "grok-4.20-non-reasoning"));
    assertEquals(Capability.REASONING, only(file, "grok-4.20-reasoning"));
    assertEquals(Capability.VISION, only(file, "grok-3"));
    assertEquals(Capability.STREAMING, only(file, "other"));
  }

  @Test
  void of_patterns_that_prescribe_as_much_the_first_wins() {
    ModelFile file = file("p", family("\"*ab\"", "vision") + "," + family("\"ab*\"", "tools"), "");
    assertEquals(Capability.VISION, only(file, "ab"));
    assertEquals(Capability.TOOLS, only(file, "abc"));
  }

  @Test
  void a_file_over_another_is_asked_first_however_little_specific_it_is() {
    ModelFile own = file("p", family("\"gpt-*\"", "tools"), "");
    ModelFile other =
        file("p", family("\"gpt-5-mini\"", "vision") + "," + family("\"o3\"", "files"), "");
    ModelFile both = own.over(other);
    assertEquals(Capability.TOOLS, only(both, "gpt-5-mini"));
    assertEquals(Capability.FILES, only(both, "o3"));
    assertEquals(Capability.VISION, only(other.over(own), "gpt-5-mini"));
    assertEquals(3, both.families("p").size());
    assertEquals("v1 over v1", both.version());
    assertEquals("v1 over v1", both.catalog().version());
  }

  @Test
  void a_file_over_another_brings_and_keeps_providers() {
    ModelFile both =
        file("q", family("\"m\"", "tools"), "").over(file("p", family("\"m\"", "vision"), ""));
    assertEquals(List.of("q", "p"), both.providers());
    assertEquals(Capability.VISION, only(both, "m"));
    assertTrue(both.facts("q", "m").isPresent());
  }

  @Test
  @Tag("R237")
  void a_model_that_a_file_prices_has_no_other_price_under_any_of_its_names() {
    ModelFile other =
        file(
            "p",
            "",
            PRICE.replace("\"m\",", "\"m\", \"aliases\": [\"m-a\", \"m-b\"],")
                + ","
                + PRICE.replace("\"m\",", "\"n\", \"aliases\": [\"n-a\", \"n-b\"],"));
    ModelFile own =
        file(
            "p",
            "",
            PRICE.replace("\"m\",", "\"m\", \"aliases\": [\"n-a\"],").replace("\"2\"", "\"7\""));
    ModelFile both = own.over(other);
    assertEquals(usd("0.007"), input(both, "m"));
    assertEquals(usd("0.007"), input(both, "n-a"));
    assertEquals(usd("0.002"), input(both, "n"));
    assertEquals(usd("0.002"), input(both, "n-b"));
    assertEquals(Optional.empty(), both.catalog().find(Target.of("p", "m-a")));
    assertEquals(2, both.catalog().entries().size());
  }

  @Test
  void the_same_name_at_another_provider_keeps_its_price() {
    ModelFile both = file("q", "", PRICE.replace("\"2\"", "\"7\"")).over(file("p", "", PRICE));
    assertEquals(usd("0.002"), input(both, "m"));
    assertEquals(2, both.catalog().entries().size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          []  | A model file must be an object, but is [].
          {}  | A model file must have the member "format", but has not.
          {"format":2} | format in a model file must be 1, but is 2.
          {"format":"1"} | format in a model file must be a whole number, but is "1".
          {"format":1,"version":" ","providers":{}} | version in a model file must be a text that is not blank, but is " ".
          {"format":1,"version":"v"} | A model file must have the member "providers", but has not.
          {"format":1,"version":"v","providers":[]} | providers in a model file must be an object, but is [].
          {"format":1,"version":"v","provider":{}} | provider in a model file must be one of the members format, version, providers here, but is not.
          {"format":1,"version":"v","providers":{"Open AI":{}}} | providers.Open AI in a model file: A provider id must match [a-z0-9][a-z0-9-]{0,63}, but "Open AI" does not.
          {"format":1,"version":"v","providers":{"p":{"models":[]}}} | providers.p.models in a model file must be one of the members families, prices here, but is not.
          {"format":1,"version":"v","providers":{"p":{"prices":{}}}} | providers.p.prices in a model file must be a list, but is {}.
          {"format":1,"format":1} | A model file must be one JSON value without repeated members, but line 1 is not.
          {"format":1} {} | A model file must be one JSON value without repeated members, but line 1 is not.
          """)
  void a_file_that_breaks_the_form_is_refused_with_the_place(String text, String message) {
    assertEquals(message, refusal(() -> read(text)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"capabilities":[]} | providers.p.families[0] in a model file must have the member "models", but has not.
          {"models":["m"]} | providers.p.families[0] in a model file must have the member "capabilities", but has not.
          {"models":[],"capabilities":[]} | providers.p.families[0].models in a model file must name a model, but is [].
          {"models":["m",""],"capabilities":[]} | providers.p.families[0].models[1] in a model file must be a text that is not blank, but is "".
          {"models":["m","m"],"capabilities":[]} | providers.p.families[0].models[1] in a model file must be named once, and is at providers.p.families[0].models[0], but is "m".
          {"models":["m"],"capabilities":["tools","tools"]} | providers.p.families[0].capabilities[1] in a model file must be named once, but is "tools".
          {"models":["m"],"capabilities":["TOOLS"]} | providers.p.families[0].capabilities[0] in a model file must be one of streaming, tools, toolChoice, parallelToolCalls, structuredOutput, jsonMode, vision, files, audioInput, reasoning, but is "TOOLS".
          {"models":["m"],"capabilities":[],"toolHistory":"json"} | providers.p.families[0].toolHistory in a model file must be one of NONE, NATIVE, JSON, but is "json".
          {"models":["m"],"capabilities":[],"contextWindow":0} | providers.p.families[0].contextWindow in a model file must be 1 or more, but is 0.
          {"models":["m"],"capabilities":[],"maxOutput":1.5} | providers.p.families[0].maxOutput in a model file must be a whole number, but is 1.5.
          {"models":["m"],"capabilities":[],"efforts":["XHIGH"]} | providers.p.families[0].efforts[0] in a model file must be one of NONE, MINIMAL, LOW, MEDIUM, HIGH, MAX, but is "XHIGH".
          {"models":["m"],"capabilities":[],"efforts":"LOW"} | providers.p.families[0].efforts in a model file must be a list, but is "LOW".
          {"models":["m"],"capabilities":[],"vision":true} | providers.p.families[0].vision in a model file must be one of the members models, capabilities, toolHistory, contextWindow, maxOutput, efforts, traits here, but is not.
          """)
  void a_family_that_breaks_a_rule_is_refused_with_the_place(String family, String message) {
    assertEquals(message, refusal(() -> file("p", family, "")));
  }

  @Test
  void an_unknown_trait_is_refused_and_the_known_ones_are_named() {
    String message =
        refusal(
            () -> file("p", "{\"models\":[\"m\"],\"capabilities\":[],\"traits\":[\"SLOW\"]}", ""));
    assertTrue(
        message.startsWith(
            "providers.p.families[0].traits[0] in a model file must be one of RESPONSES_ONLY, "),
        message);
    assertTrue(message.endsWith(", but is \"SLOW\"."), message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "source": "https://example.com", | | providers.p.prices[0] in a model file must have the member "source", but has not.
          , "date": "2026-11-01" | | providers.p.prices[0] in a model file must have the member "date", but has not.
          2026-11-01 | 2026-11-31 | providers.p.prices[0].date in a model file must be a day such as "2026-11-30", but is "2026-11-31".
          "USD" | "usd" | providers.p.prices[0].currency in a model file: A currency must be three capital letters, but is "usd".
          "2" | 2 | providers.p.prices[0].perMillion.input in a model file must be a price such as "2.5" with at most 6 decimals, but is 2.
          "2" | "0.0000001" | providers.p.prices[0].perMillion.input in a model file must be a price such as "2.5" with at most 6 decimals, but is "0.0000001".
          "2" | "-1" | providers.p.prices[0].perMillion.input in a model file must be a price such as "2.5" with at most 6 decimals, but is "-1".
          "2" | "1e3" | providers.p.prices[0].perMillion.input in a model file must be a price such as "2.5" with at most 6 decimals, but is "1e3".
          "input" | "inputs" | providers.p.prices[0].perMillion.inputs in a model file must be one of the members input, cachedInput, cacheWrite, output here, but is not.
          "model": "m" | "model": "m\\n" | providers.p.prices[0].model in a model file: modelId must not contain control characters, but contains U+000A.
          "model": "m" | "model": "m", "tier": "BEST" | providers.p.prices[0].tier in a model file must be one of FLAGSHIP, STANDARD, FAST, but is "BEST".
          "model": "m" | "model": "m", "aliases": ["m"] | providers.p.prices[0].aliases[0] in a model file must be named once, and is at providers.p.prices[0].model, but is "m".
          "model": "m" | "model": "m", "longContext": {"threshold": -1, "inputMultiplier": "2", "outputMultiplier": "2"} | providers.p.prices[0].longContext in a model file: A long-context threshold must be 0 or more, but is -1.
          "model": "m" | "model": "m", "longContext": {"threshold": 1, "inputMultiplier": "0", "outputMultiplier": "2"} | providers.p.prices[0].longContext in a model file: The long-context input multiplier must be more than 0 and at most 1000 with at most 9 decimals, but is 0.
          "model": "m" | "model": "m", "longContext": {"threshold": 1, "inputMultiplier": 2, "outputMultiplier": "2"} | providers.p.prices[0].longContext.inputMultiplier in a model file must be a multiplier such as "1.5" with at most 9 decimals, but is 2.
          """)
  void a_price_that_breaks_a_rule_is_refused_with_the_place(
      String valid, String broken, String message) {
    String price = PRICE.replace(valid, broken == null ? "" : broken);
    assertFalse(price.equals(PRICE), "nothing was broken");
    assertEquals(message, refusal(() -> file("p", "", price)));
  }

  @Test
  @Tag("R237")
  void a_model_is_priced_once() {
    assertEquals(
        "providers.p.prices[1].model in a model file must be named once, and is at"
            + " providers.p.prices[0].model, but is \"m\".",
        refusal(() -> file("p", "", PRICE + "," + PRICE)));
  }

  @Test
  void a_refusal_shows_no_more_than_the_beginning_of_a_value() {
    String message = refusal(() -> file("p", "", "\"" + "x".repeat(10_000) + "\\u0007\""));
    assertTrue(message.length() < 300, message);
    assertTrue(
        message.startsWith("providers.p.prices[0] in a model file must be an object, but is"));
  }

  @Test
  void a_file_has_at_most_four_mebibytes() {
    String start = "{\"format\": 1, \"version\": \"v\", \"providers\": {}}";
    int room = ModelFile.MAX_BYTES - start.length();
    assertEquals("v", read(start + " ".repeat(room)).version());
    assertEquals(
        "A model file must have at most 4194304 bytes, but has more.",
        refusal(() -> read(start + " ".repeat(room + 1))));
  }

  @Test
  void a_file_is_utf_8() {
    byte[] latin1 = "{\"version\": \"é\"}".getBytes(StandardCharsets.ISO_8859_1);
    assertEquals(
        "A model file must be UTF-8, but is not.",
        refusal(() -> ModelFile.read(new ByteArrayInputStream(latin1))));
  }

  @Test
  void a_file_is_read_from_a_path(@TempDir Path folder) throws IOException {
    Path path = folder.resolve("models.json");
    assertEquals(
        "A model file must be readable, but reading it failed with NoSuchFileException.",
        refusal(() -> ModelFile.read(path)));
    Files.writeString(path, "{\"format\": 1, \"version\": \"v\", \"providers\": {}}");
    assertEquals("v", ModelFile.read(path).version());
  }

  @Test
  void a_stream_that_fails_is_a_refusal_that_keeps_why() {
    IOException broken = new IOException("disk");
    InputStream stream =
        new InputStream() {
          @Override
          public int read() throws IOException {
            throw broken;
          }

          @Override
          public int read(byte[] bytes, int from, int length) throws IOException {
            throw broken;
          }
        };
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> ModelFile.read(stream));
    assertSame(broken, refused.getSuppressed()[0]);
  }

  @ParameterizedTest
  @ValueSource(strings = {"p", "other"})
  void its_text_says_how_much_it_knows(String provider) {
    assertEquals("ModelFile[v1, 1 providers, 1 prices]", file(provider, "", PRICE).toString());
  }
}
