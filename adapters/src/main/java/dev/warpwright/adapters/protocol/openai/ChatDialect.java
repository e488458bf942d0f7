package dev.warpwright.adapters.protocol.openai;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * How one vendor speaks Chat Completions, as far as it differs from OpenAI.
 *
 * @param path where a model is spoken to
 * @param reasoning how a model is asked to reason
 * @param privateReasoning which reasoning comes back, and has to be sent again
 * @param mostOutput the highest limit of output tokens that it takes
 * @param notWhileReasoning members of the request that it does not take while the model reasons
 * @param quirks what it does otherwise
 */
public record ChatDialect(
    ChatPath path,
    ReasoningStyle reasoning,
    PrivateReasoning privateReasoning,
    int mostOutput,
    Set<String> notWhileReasoning,
    Set<Quirk> quirks) {
  /** OpenAI itself, and most servers that are compatible with it. */
  public static final ChatDialect OPENAI =
      new ChatDialect(
          ChatPath.COMMON,
          ReasoningStyle.EFFORT,
          PrivateReasoning.NONE,
          Integer.MAX_VALUE,
          Set.of(),
          Set.of());

  /** Copies the sets. */
  public ChatDialect {
    notWhileReasoning = Set.copyOf(notWhileReasoning);
    quirks = Set.copyOf(quirks);
  }

  /**
   * Whether it has a quirk.
   *
   * @param quirk the quirk
   * @return true if it does
   */
  public boolean has(Quirk quirk) {
    return quirks.contains(quirk);
  }

  /**
   * The same at another path.
   *
   * @param other where a model is spoken to
   * @return a copy
   */
  public ChatDialect at(ChatPath other) {
    return new ChatDialect(
        other, reasoning, privateReasoning, mostOutput, notWhileReasoning, quirks);
  }

  /**
   * The same with another way to reason.
   *
   * @param style how a model is asked to reason
   * @param field which reasoning comes back
   * @return a copy
   */
  public ChatDialect reasoning(ReasoningStyle style, PrivateReasoning field) {
    return new ChatDialect(path, style, field, mostOutput, notWhileReasoning, quirks);
  }

  /**
   * The same with a bound of the output.
   *
   * @param tokens the highest limit of output tokens that it takes
   * @return a copy
   */
  public ChatDialect mostOutput(int tokens) {
    return new ChatDialect(path, reasoning, privateReasoning, tokens, notWhileReasoning, quirks);
  }

  /**
   * The same with members that it does not take while the model reasons.
   *
   * @param members names of members of the request
   * @return a copy
   */
  public ChatDialect notWhileReasoning(String... members) {
    return new ChatDialect(path, reasoning, privateReasoning, mostOutput, Set.of(members), quirks);
  }

  /**
   * The same with more quirks.
   *
   * @param more what it does otherwise
   * @return a copy
   */
  public ChatDialect with(Quirk... more) {
    EnumSet<Quirk> all = EnumSet.noneOf(Quirk.class);
    all.addAll(quirks);
    all.addAll(List.of(more));
    return new ChatDialect(path, reasoning, privateReasoning, mostOutput, notWhileReasoning, all);
  }
}
