package dev.warpwright.adapters.conformance;

import dev.warpwright.adapters.AdapterBuilder;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A provider that can be checked by its name.
 *
 * @param id the name on the command line
 * @param keyVariable the variable that holds the credential for the provider's own service
 * @param model a cheap model of that service
 * @param builder begins an adapter
 */
record Provider(String id, String keyVariable, String model, Supplier<AdapterBuilder<?>> builder) {
  /** All of them: to add one, add a row. */
  static final List<Provider> ALL =
      List.of(
          new Provider("openai", "OPENAI_API_KEY", "gpt-4.1-nano", OpenAi::builder),
          new Provider(
              "openai-responses",
              "OPENAI_API_KEY",
              "gpt-4.1-nano",
              () -> OpenAi.builder().api(Api.RESPONSES)),
          new Provider("anthropic", "ANTHROPIC_API_KEY", "claude-haiku-4-5", Anthropic::builder));

  static Optional<Provider> find(String id) {
    return ALL.stream().filter(provider -> provider.id.equals(id)).findFirst();
  }

  /** The names, for messages. */
  static String ids() {
    return ALL.stream().map(Provider::id).collect(Collectors.joining(", "));
  }
}
