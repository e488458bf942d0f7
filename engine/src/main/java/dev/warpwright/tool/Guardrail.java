package dev.warpwright.tool;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.GuardrailException;
import dev.warpwright.model.GuardrailStage;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ToolCall;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A rule of the program that stops a run, or a call of a tool outside one, when it sees what it
 * must not see.
 *
 * {@snippet :
 * Guardrail noCardNumbers =
 *     Guardrail.of("card-numbers", view -> CARD.matcher(view.text()).find()
 *         ? Guardrail.Verdict.trigger("a card number") : Guardrail.Verdict.PASS);
 * }
 *
 * <p>It fails closed: one that throws, or gives no verdict, counts as triggered. It is asked on a
 * task of the operation and interrupted at its deadline, or at the timeout of the tool whose output
 * it looks at. Thread-safe as long as its rule is.
 *
 * @param id names it in the log, 1 to 64 characters of {@code [A-Za-z0-9_.-]}
 * @param rule what it looks for
 */
public record Guardrail(String id, Rule rule) {
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

  /** Checks the id. */
  public Guardrail {
    if (!ID.matcher(id).matches()) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "A guardrail's id must match [A-Za-z0-9_.-]{1,64}, but \"" + id + "\" does not.");
    }
    Objects.requireNonNull(rule, "rule");
  }

  /**
   * A guardrail.
   *
   * @param id names it in the log, 1 to 64 characters of {@code [A-Za-z0-9_.-]}
   * @param rule what it looks for
   * @return the guardrail
   */
  public static Guardrail of(String id, Rule rule) {
    return new Guardrail(id, rule);
  }

  /** Says whether something must not pass. */
  @FunctionalInterface
  public interface Rule {
    /**
     * Looks at something.
     *
     * @param view what there is to see
     * @return the verdict
     * @throws Exception if it cannot tell, which counts as triggered
     */
    Verdict check(View view) throws Exception;
  }

  /**
   * What a guardrail sees: copies, so that nothing it does to them has an effect.
   *
   * @param stage what it looks at
   * @param caller the run's id, agent, metadata and context
   * @param messages the conversation so far at INPUT and OUTPUT, the final answer included; empty
   *     for a tool
   * @param call the call, with the input as the model wrote it, at TOOL_INPUT and TOOL_OUTPUT
   * @param output the joined text of all answers at OUTPUT; what the tool's function returned,
   *     before it became JSON, at TOOL_OUTPUT; null at the other stages
   */
  public record View(
      GuardrailStage stage,
      ToolCaller caller,
      List<Message> messages,
      Optional<ToolCall> call,
      @Nullable Object output) {
    /** Copies the list. */
    public View {
      messages = List.copyOf(messages);
    }

    /**
     * What there is to read at this stage, in one text.
     *
     * @return the texts of all messages at INPUT, a line each; the input's JSON at TOOL_INPUT; the
     *     output as text at the others
     */
    public String text() {
      return switch (stage) {
        case INPUT -> String.join("\n", messages.stream().map(Message::text).toList());
        case TOOL_INPUT -> call.orElseThrow().input().text();
        case OUTPUT, TOOL_OUTPUT -> String.valueOf(output);
      };
    }

    /** Shows the stage and the run; all else may be private. */
    @Override
    public String toString() {
      return "View[" + stage + ", " + caller.operationId() + "]";
    }
  }

  /**
   * What a guardrail says.
   *
   * @param triggered whether it must not pass
   * @param reason why, for the log; at most 1024 characters
   * @param metadata notes for the log; at most 16
   */
  public record Verdict(boolean triggered, Optional<String> reason, Map<String, String> metadata) {
    /** Nothing to object to. */
    public static final Verdict PASS = new Verdict(false, Optional.empty(), Map.of());

    private static final int MAX_TEXT = 1024;
    private static final int MAX_NOTES = 16;

    /** Checks the bounds and copies the map. */
    public Verdict {
      metadata = Map.copyOf(metadata);
      if (metadata.size() > MAX_NOTES) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "A guardrail's metadata must have at most %d notes, but has %d."
                .formatted(MAX_NOTES, metadata.size()));
      }
      reason.ifPresent(text -> requireShort("reason", text));
      metadata.forEach(
          (name, note) -> {
            requireShort("metadata", name);
            requireShort("metadata", note);
          });
    }

    private static void requireShort(String what, String text) {
      if (text.length() > MAX_TEXT) {
        throw new InvalidRequestException(
            FailureKind.INVALID_REQUEST,
            "A guardrail's %s must have at most %d characters, but has %d."
                .formatted(what, MAX_TEXT, text.length()));
      }
    }

    /**
     * It must not pass.
     *
     * @param reason why, for the log
     * @return the verdict
     */
    public static Verdict trigger(String reason) {
      return new Verdict(true, Optional.of(reason), Map.of());
    }

    /**
     * The same verdict with notes.
     *
     * @param notes for the log
     * @return a copy
     */
    public Verdict with(Map<String, String> notes) {
      return new Verdict(triggered, reason, notes);
    }

    /** Shows the verdict, not why. */
    @Override
    public String toString() {
      return triggered ? "Verdict[triggered]" : "Verdict[passes]";
    }
  }

  /**
   * Guardrails in the order in which they are asked.
   *
   * @param guardrails the guardrails
   * @return a copy
   * @throws InvalidRequestException if two have the same id
   */
  public static List<Guardrail> inOrder(Collection<Guardrail> guardrails) {
    Set<String> ids = new HashSet<>();
    for (Guardrail guardrail : guardrails) {
      if (!ids.add(guardrail.id)) {
        throw new InvalidRequestException(
            FailureKind.INVALID_CONFIGURATION,
            "Two guardrails have the id \"" + guardrail.id + "\"; an id stands for one guardrail.");
      }
    }
    return List.copyOf(guardrails);
  }

  /**
   * Asks guardrails in order on the calling thread, until one triggers.
   *
   * @param guardrails the guardrails
   * @param view what they look at
   * @param trace the operation so far
   * @throws GuardrailException by the first that triggers or fails
   */
  public static void requirePass(List<Guardrail> guardrails, View view, OperationTrace trace) {
    for (Guardrail guardrail : guardrails) {
      guardrail.requirePass(view, trace);
    }
  }

  private void requirePass(View view, OperationTrace trace) {
    Verdict verdict;
    try {
      verdict = Objects.requireNonNull(rule.check(view), "verdict");
    } catch (Exception e) {
      Optional<String> reason = Optional.of("The guardrail threw " + e.getClass().getName() + ".");
      throw new GuardrailException(view.stage(), id, reason, Map.of(), trace);
    }
    if (verdict.triggered()) {
      throw new GuardrailException(view.stage(), id, verdict.reason(), verdict.metadata(), trace);
    }
  }

  /** Shows the id. */
  @Override
  public String toString() {
    return "Guardrail[" + id + "]";
  }
}
