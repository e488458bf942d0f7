package dev.warpwright.run;

import dev.warpwright.model.Conversation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.RunStarted.ForkedFrom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Cuts a run off from another one: the log of the fork is that of the other run up to an event,
 * under a new id.
 *
 * <p>A run is cut off where nothing of it is under way that belongs to it alone: no model call, no
 * tool call, no child run, no approval, no effect of unknown outcome. What is recorded up to there
 * is reused; every key that is made behind that point is made from the new id. A step that may be
 * repeated, a timer and a wait for a signal do no harm: the fork makes them its own.
 */
final class Fork {
  static final String RULE =
      "a fork replaces a last message of the user or of tools by one that fits, where no call is"
          + " open";

  /** How often a fork may be forked again: each adds a level to the first event. */
  static final int MAX_FORKS = 16;

  private Fork() {}

  /** What the forks in a run's past change behind an event of it, the earliest first. */
  static List<ForkedFrom> at(RunStarted started, long sequence) {
    return started.forkedFrom().isEmpty()
        ? List.of()
        : started
            .forkedFrom()
            .get()
            .all()
            .filter(fork -> fork.sequence() == sequence)
            .toList()
            .reversed();
  }

  /** The conversation as the fork has it; empty if what it changes does not fit. */
  static Optional<Conversation> change(Conversation messages, ForkedFrom fork) {
    Conversation changed = messages;
    if (fork.replaced().isPresent()) {
      Message replaced = fork.replaced().get();
      if (messages.isEmpty() || !fits(replaced, messages.getLast())) {
        return Optional.empty();
      }
      List<Message> others = new ArrayList<>(messages.subList(0, messages.size() - 1));
      others.add(replaced);
      changed = Conversation.of(others);
    }
    if (fork.added().filter(message -> message.role() != Role.USER).isPresent()) {
      return Optional.empty();
    }
    return Optional.of(fork.added().map(changed::plus).orElse(changed));
  }

  private static boolean fits(Message replaced, Message last) {
    return replaced.role() == last.role()
        && switch (last.role()) {
          case USER -> true;
          case TOOL -> calls(replaced).equals(calls(last));
          case SYSTEM, ASSISTANT -> false;
        };
  }

  private static List<String> calls(Message results) {
    return results.parts().stream().map(Fork::call).toList();
  }

  private static String call(Part part) {
    return part instanceof ToolResult result ? result.callId() + " " + result.toolName() : "";
  }

  /**
   * The log of a fork.
   *
   * @param source the whole log of the other run
   * @param at the last event that the fork has of it
   * @param run the fork
   * @throws InvalidRequestException if the run cannot be cut off there; the message names the
   *     nearest sequences at which it can
   */
  static List<LoggedEvent> of(
      List<LoggedEvent> source, long at, ForkChanges changes, RunKey run, Instant now) {
    LoggedEvent first = source.getFirst();
    if (at < 1 || at > source.size()) {
      throw refused(
          "The sequence at which run %s is forked must be between 1 and %d, but is %d."
              .formatted(first.run(), source.size(), at));
    }
    if (first.raw().isPresent()) {
      throw refused(
          "Run %s was begun by a newer Warpwright, whose words this one would lose; fork it there."
              .formatted(first.run()));
    }
    requireAllowed(source, at);
    List<LoggedEvent> fork = new ArrayList<>(Math.toIntExact(at));
    fork.add(
        new LoggedEvent(
            run,
            1,
            first.writer(),
            first.time(),
            started(first.run(), (RunStarted) first.event(), at, changes, now)));
    for (LoggedEvent event : source.subList(1, Math.toIntExact(at))) {
      fork.add(
          new LoggedEvent(
              run, event.sequence(), event.writer(), event.time(), event.event(), event.raw()));
    }
    requireFits(RunState.of(fork));
    return fork;
  }

  private static void requireAllowed(List<LoggedEvent> source, long at) {
    Optional<String> why = Optional.empty();
    OptionalLong below = OptionalLong.empty();
    OptionalLong above = OptionalLong.empty();
    RunState state = RunState.of(source.subList(0, 1));
    while (true) {
      long sequence = state.sequence();
      Optional<String> underWay = underWay(state);
      if (sequence == at) {
        why = underWay;
      } else if (underWay.isEmpty() && sequence < at) {
        below = OptionalLong.of(sequence);
      } else if (underWay.isEmpty()) {
        above = OptionalLong.of(sequence);
      }
      boolean known = sequence >= at && (why.isEmpty() || above.isPresent());
      if (known || sequence == source.size()) {
        break;
      }
      state.apply(source.get(Math.toIntExact(sequence)));
    }
    if (why.isPresent()) {
      throw refused(
          "Run %s cannot be forked at sequence %d: there %s. The nearest sequence below at which it"
                  .formatted(state.run(), at, why.get())
              + " can be is %s, above %s.".formatted(shown(below), shown(above)));
    }
  }

  private static String shown(OptionalLong sequence) {
    return sequence.isPresent() ? String.valueOf(sequence.getAsLong()) : "none";
  }

  /** What of a run keeps it from being cut off where it stands. */
  private static Optional<String> underWay(RunState state) {
    if (state.isTerminal() || state.failure().isPresent()) {
      return Optional.of("it had ended");
    }
    if (state.cancellation().isPresent()) {
      return Optional.of("it was to be cancelled");
    }
    if (state.guardrail().isPresent()) {
      return Optional.of("a guardrail had ended it");
    }
    if (!state.needingVerdicts().isEmpty() || state.status() == RunStatus.NEEDS_RECONCILIATION) {
      return Optional.of("the outcome of an effect was unknown");
    }
    if (!state.calls().isEmpty()) {
      return Optional.of("calls of tools were open");
    }
    if (state.nextStep() == state.step()) {
      return Optional.of("a model call was under way");
    }
    if (!state.pendingApprovals().isEmpty()) {
      return Optional.of("it waited for an approval");
    }
    if (state.hasUnsentAnswer()) {
      return Optional.of("the answer to a provider's request for approval was to be sent");
    }
    return state.flow().filter(FlowJournal::hasOpenChild).isPresent()
        ? Optional.of("a child run was under way")
        : Optional.empty();
  }

  private static RunStarted started(
      RunKey source, RunStarted before, long at, ForkChanges changes, Instant now) {
    if (before.input().isPresent()
        && (changes.replaced().isPresent()
            || changes.added().isPresent()
            || changes.targets().isPresent())) {
      throw refused(
          "Run %s is one of a flow, which has no messages and no targets that a fork could change."
              .formatted(source));
    }
    Optional<ForkedFrom> earlier = before.forkedFrom().flatMap(fork -> upTo(fork, at));
    if (earlier.stream().flatMap(ForkedFrom::all).count() >= MAX_FORKS) {
      throw refused(
          "Run %s was forked %d times in a row, which is the most.".formatted(source, MAX_FORKS));
    }
    return new RunStarted(
        before.agentId(),
        before.agentVersion(),
        before.fingerprint(),
        Optional.empty(),
        before.messages(),
        before.maxSteps(),
        changes.targets().orElse(before.targets()),
        before.metadata(),
        changes.maxStateBytes().or(before::maxStateBytes),
        before.imported(),
        before.binding(),
        before.input(),
        before.handoff().isPresent() ? before.parent() : Optional.empty(),
        before.handoff(),
        before.life().map(Fork::anew),
        Optional.of(
            new ForkedFrom(source.runId(), at, now, changes.replaced(), changes.added(), earlier)));
  }

  /** As long as the other run had, from now on; that one alone goes on from an earlier run. */
  private static RunStarted.Life anew(RunStarted.Life life) {
    return new RunStarted.Life(life.timeout(), life.cancels(), Optional.empty());
  }

  /** The latest of the cuts that is not behind a sequence. */
  private static Optional<ForkedFrom> upTo(ForkedFrom fork, long at) {
    return fork.all().filter(each -> each.sequence() <= at).findFirst();
  }

  private static void requireFits(RunState fork) {
    if (fork.bytes() > fork.maxBytes()) {
      throw new LimitExceededException(
          "The state of the fork may hold %d bytes (maxStateBytes), but would hold %d; nothing was"
                  .formatted(fork.maxBytes(), fork.bytes())
              + " written.",
          null,
          OperationTrace.NONE);
    }
  }

  private static InvalidRequestException refused(String message) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
  }
}
