package dev.warpwright.adapters.wire;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.ModelFacts;
import dev.warpwright.adapters.ModelTrait;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.google.Gemini;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.ToolChoice;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

final class FamilyRulesTest {
  private static ModelFacts facts(Set<Effort> efforts, ModelTrait... traits) {
    return new ModelFacts(
        ModelCapabilities.TEXT,
        OptionalLong.empty(),
        OptionalLong.empty(),
        efforts,
        Set.of(traits));
  }

  private static ModelCall.Builder call() {
    return ModelCall.builder(List.of(Message.user("Hi")));
  }

  private static ModelCall asking(Reasoning reasoning) {
    return call().reasoning(Optional.of(reasoning)).build();
  }

  private static String refusal(ModelCall call, ModelFacts facts) {
    ProviderException refused =
        assertThrows(
            ProviderException.class,
            () -> {
              FamilyRules.check(call, facts);
              FamilyRules.checkChoice(call, facts);
            });
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
    return String.valueOf(refused.getMessage());
  }

  @ParameterizedTest
  @CsvSource({"LOW, true", "HIGH, true", "MEDIUM, false", "NONE, false"})
  @Tag("FR-Q11")
  void an_effort_must_be_one_that_the_family_takes(Effort effort, boolean taken) {
    ModelFacts facts = facts(Set.of(Effort.LOW, Effort.HIGH));
    ModelCall call = asking(Reasoning.effort(effort));
    if (taken) {
      assertDoesNotThrow(() -> FamilyRules.check(call, facts));
    } else {
      assertEquals(
          "The effort of reasoning must be one of [LOW, HIGH] for this model, but is "
              + effort
              + ".",
          refusal(call, facts));
    }
  }

  @Test
  void any_effort_goes_to_a_family_of_which_none_is_known() {
    for (Effort effort : Effort.values()) {
      FamilyRules.check(asking(Reasoning.effort(effort)), facts(Set.of()));
    }
  }

  @Test
  @Tag("FR-Q11")
  void what_a_family_does_not_take_is_refused() {
    assertEquals(
        "This model always reasons: the effort NONE cannot be asked for; leave it out.",
        refusal(asking(Reasoning.effort(Effort.NONE)), facts(Set.of(), ModelTrait.REASONS_ALWAYS)));
    assertEquals(
        "This model takes a budget of tokens for reasoning, not an effort.",
        refusal(
            asking(Reasoning.effort(Effort.LOW)), facts(Set.of(), ModelTrait.NO_REASONING_EFFORT)));
    assertEquals(
        "This model takes an effort of reasoning, not a budget of tokens.",
        refusal(asking(Reasoning.budget(2_000)), facts(Set.of(), ModelTrait.NO_REASONING_BUDGET)));
    assertEquals(
        "This model's sampling is fixed: leave out temperature.",
        refusal(
            call().temperature(OptionalDouble.of(0.5)).build(),
            facts(Set.of(), ModelTrait.FIXED_SAMPLING)));
    assertEquals(
        "This model cannot be made to call a tool: the tool choice must be AUTO or NONE.",
        refusal(
            call().toolChoice(ToolChoice.REQUIRED).build(),
            facts(Set.of(), ModelTrait.NO_REQUIRED_TOOL)));
  }

  @Test
  void what_a_family_takes_is_sent() {
    FamilyRules.check(
        asking(Reasoning.effort(Effort.NONE)),
        facts(Set.of(), ModelTrait.NO_REASONING_EFFORT)); // off is no effort
    FamilyRules.check(
        asking(Reasoning.effort(Effort.LOW)),
        facts(Set.of(), ModelTrait.REASONS_ALWAYS, ModelTrait.NO_REASONING_BUDGET));
    FamilyRules.checkChoice(
        call().toolChoice(ToolChoice.NONE).build(), facts(Set.of(), ModelTrait.NO_REQUIRED_TOOL));
  }

  static List<AdapterBuilder<?>> builders() {
    return Arrays.asList(
        OpenAi.builder().apiKey("k"),
        Anthropic.builder().apiKey("k"),
        Gemini.builder().apiKey("k"));
  }

  /** The supplied file knows these families; nothing may be sent, and nothing is. */
  @ParameterizedTest
  @MethodSource("builders")
  @Tag("FR-Q11")
  void an_adapter_keeps_the_rules_of_the_file_whole_and_streamed(AdapterBuilder<?> builder) {
    try (HttpAdapter adapter = builder.build()) {
      String name = adapter.toString();
      StreamingModel model =
          adapter.model(
              name.startsWith("OpenAi")
                  ? "gpt-6-astra"
                  : name.startsWith("Anthropic") ? "claude-opus-5-5" : "gemini-4-argon");
      ModelCall call = asking(Reasoning.effort(Effort.NONE));
      for (var end :
          List.of(
              assertThrows(ProviderException.class, () -> model.generate(call)),
              assertThrows(ProviderException.class, () -> model.stream(call, event -> {})))) {
        assertEquals(ProviderException.Kind.UNSUPPORTED, end.kind());
      }
    }
  }
}
