package dev.warpwright.run;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.Usage;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunSuspended;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What happened in a run and how long it took: a view for people, made from the log alone. Nothing
 * is run for it, and nothing is guessed: what has no end in the log has none here.
 *
 * {@snippet :
 * System.out.println(agents.runs().timeline(run));
 * }
 *
 * <p>Its text shows kinds, names, times and numbers. What models, tools and people said is there by
 * accessors only.
 *
 * @param run the run
 * @param status where it stands
 * @param start when it started
 * @param end when it ended for good; empty if it has not
 * @param entries what happened, by start
 */
public record Timeline(
    RunKey run, RunStatus status, Instant start, Optional<Instant> end, List<Entry> entries) {
  /** Copies the list. */
  public Timeline {
    entries = List.copyOf(entries);
  }

  /**
   * Makes the view of a log.
   *
   * @param log all events of a run, from the first on
   * @return the view
   * @throws InvalidRequestException if the log is empty or breaks a rule
   */
  public static Timeline of(List<LoggedEvent> log) {
    return new TimelineFold(log).timeline();
  }

  /** Something that has a time, and perhaps parts. */
  public sealed interface Entry {
    /**
     * When it began.
     *
     * @return the time of the event that says so
     */
    Instant start();

    /**
     * When it ended.
     *
     * @return the time of the event that says so; empty if there is none
     */
    Optional<Instant> end();

    /**
     * What it consists of.
     *
     * @return its parts, by start
     */
    default List<? extends Entry> parts() {
      return List.of();
    }

    /**
     * How long it took.
     *
     * @return the time from start to end; empty without an end
     */
    default Optional<Duration> duration() {
      return end().map(until -> Duration.between(start(), until));
    }
  }

  /** What is known of a tool call, or of one run of its tool. */
  public enum Outcome {
    /** It has not begun. */
    NOT_BEGUN,
    /** It began, and the log has no outcome: it is under way, or in doubt. */
    UNKNOWN,
    /** A child run answers it and has not ended. */
    UNDER_WAY,
    /** The tool ran and gave its output. */
    SUCCEEDED,
    /** The tool ran and failed. */
    FAILED,
    /** The tool did not run: the call was refused or denied, or that was found out afterwards. */
    NOT_EXECUTED
  }

  /**
   * One try of a step: a model call and the tools that it asked for. A step whose answer was lost,
   * or never came, is tried again under the same number.
   *
   * @param number the step, counted from 1 over all resumes
   * @param start when the model was asked
   * @param end when the answer was there and each of its calls had a result, or when the run ended
   *     before; empty if neither happened, as when the driver died
   * @param answered when the model's answer was written
   * @param target who answered
   * @param finishReason why the answer ended
   * @param usage the tokens, {@link Usage#ABSENT} without an answer
   * @param attempts the attempts, skips included
   * @param calls the tool calls of the answer, in order
   */
  public record Step(
      int number,
      Instant start,
      Optional<Instant> end,
      Optional<Instant> answered,
      Optional<Target> target,
      Optional<FinishReason> finishReason,
      Usage usage,
      List<Attempt> attempts,
      List<Call> calls)
      implements Entry {
    /** Copies the lists. */
    public Step {
      attempts = List.copyOf(attempts);
      calls = List.copyOf(calls);
    }

    @Override
    public List<Call> parts() {
      return calls;
    }

    /** Shows number, target, finish reason, tokens and how many attempts were made. */
    @Override
    public String toString() {
      return "step %d: %s%s, %d attempts"
          .formatted(
              number,
              target.map(Target::toString).orElse("no answer"),
              finishReason.map(reason -> ", " + reason.kind()).orElse("") + tokens(),
              attempts.stream().filter(Attempt::dispatched).count());
    }

    private String tokens() {
      return usage.equals(Usage.ABSENT)
          ? ""
          : ", %d + %d tokens".formatted(usage.input().tokens(), usage.output().tokens());
    }
  }

  /**
   * A tool call, from the answer that asked for it to its result.
   *
   * @param call what was asked for
   * @param start when the answer was written
   * @param end when the call had its result, or when the run ended without it
   * @param outcome what is known of it
   * @param result what the model was told, once it is known
   * @param approval the decision that it needed
   * @param tries the runs of the tool
   */
  public record Call(
      ToolCall call,
      Instant start,
      Optional<Instant> end,
      Outcome outcome,
      Optional<ToolResult> result,
      Optional<Approval> approval,
      List<Try> tries)
      implements Entry {
    /** Copies the list. */
    public Call {
      tries = List.copyOf(tries);
    }

    @Override
    public List<Entry> parts() {
      return Stream.<Entry>concat(approval.stream(), tries.stream()).toList();
    }

    /** Shows tool and outcome. */
    @Override
    public String toString() {
      return "call of " + call.name() + ": " + outcome;
    }
  }

  /**
   * A call that a flow made of its context, or a branch of one.
   *
   * @param position which call; see {@link FlowEvent}
   * @param kind what it is: {@code step}, {@code timer}, {@code signal}, {@code approval}, {@code
   *     child run}, {@code parallel}, {@code branch}, {@code version} or {@code observation}
   * @param name what the flow calls it
   * @param start when the log first had it
   * @param end when its result was there, or when the run ended without it
   * @param outcome what is known of it; UNKNOWN if it was stopped
   * @param parts the runs of a step, the request of an approval, the branches of a parallel, and in
   *     each of them its calls
   */
  public record FlowCall(
      String position,
      String kind,
      String name,
      Instant start,
      Optional<Instant> end,
      Outcome outcome,
      List<Entry> parts)
      implements Entry {
    /** Copies the list. */
    public FlowCall {
      parts = List.copyOf(parts);
    }

    /** Shows kind, name and outcome. */
    @Override
    public String toString() {
      return "%s %s: %s".formatted(kind, name, outcome);
    }
  }

  /**
   * That a call needed a decision.
   *
   * @param request what was asked
   * @param decision what was decided, once it is
   * @param start when it was asked for
   * @param end when it was decided
   */
  public record Approval(
      ApprovalRequested request,
      Optional<ApprovalDecided> decision,
      Instant start,
      Optional<Instant> end)
      implements Entry {
    /** Shows the decision. */
    @Override
    public String toString() {
      return "approval: "
          + decision.map(made -> made.approve() ? "approved" : "denied").orElse("not decided");
    }
  }

  /**
   * One run of a tool.
   *
   * @param attempt 1 for the first, then counting
   * @param effect the tool's effect class
   * @param start when its intent was written; of a PURE tool, which has none, its end less the time
   *     it took
   * @param end when its outcome was written, or decided
   * @param outcome what is known of it
   * @param took how long the tool itself ran, by its own process's clock
   * @param decidedBy who said what had become of it, if it was in doubt
   */
  public record Try(
      int attempt,
      EffectClass effect,
      Instant start,
      Optional<Instant> end,
      Outcome outcome,
      Optional<Duration> took,
      Optional<String> decidedBy)
      implements Entry {
    /** Shows attempt, effect class and outcome. */
    @Override
    public String toString() {
      return "try %d, %s: %s%s"
          .formatted(attempt, effect, outcome, decidedBy.isPresent() ? ", decided later" : "");
    }
  }

  /**
   * The run stopped and held nothing while it waited.
   *
   * @param suspension what it waited for
   * @param start when it stopped
   * @param end when somebody went on with it, or it was cancelled
   */
  public record Suspension(RunSuspended suspension, Instant start, Optional<Instant> end)
      implements Entry {
    /** Shows the reason and for how many it waited. */
    @Override
    public String toString() {
      return "suspended: %s of %d".formatted(suspension.reason(), suspension.awaited().size());
    }
  }

  /**
   * The run failed.
   *
   * @param failure how
   * @param start when
   * @param end when somebody went on with it, or it was cancelled; empty if neither happened
   */
  public record Failure(RunFailed failure, Instant start, Optional<Instant> end) implements Entry {
    /** Shows the kind of failure. */
    @Override
    public String toString() {
      return "failed: " + failure.kind() + (failure.resumable() ? ", resumable" : "");
    }
  }

  /**
   * A driver went on with the run.
   *
   * @param resumption why
   * @param driver who it is
   * @param idleSince when the event before was written: nobody is known to have driven the run
   *     since
   * @param start when it went on
   */
  public record Resumption(RunResumed resumption, Writer driver, Instant idleSince, Instant start)
      implements Entry {
    /** The same as its start. */
    @Override
    public Optional<Instant> end() {
      return Optional.of(start);
    }

    /** Shows cause and driver. */
    @Override
    public String toString() {
      return "resumed by %s, epoch %d: %s"
          .formatted(driver.name(), driver.epoch(), resumption.cause());
    }
  }

  /**
   * Somebody asked to cancel the run.
   *
   * @param request the request
   * @param start when it was written
   * @param end when the run was cancelled
   */
  public record Cancel(CancelRequested request, Instant start, Optional<Instant> end)
      implements Entry {
    /** Shows no reason; it may be private. */
    @Override
    public String toString() {
      return "cancel";
    }
  }

  /**
   * Any other event that stands for itself.
   *
   * @param event what happened
   * @param start when
   */
  public record Note(RunEvent event, Instant start) implements Entry {
    /** The same as its start. */
    @Override
    public Optional<Instant> end() {
      return Optional.of(start);
    }

    /** Shows the type of the event. */
    @Override
    public String toString() {
      return RunEventCodec.type(event);
    }
  }

  /** One line for each entry: since when, for how long, what; parts are indented. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    text.append("run ").append(run).append(": ").append(status);
    text.append(", started ").append(start);
    end.ifPresent(at -> text.append(", took ").append(seconds(Duration.between(start, at))));
    entries.forEach(entry -> print(entry, 1, text));
    return text.toString();
  }

  private void print(Entry entry, int depth, StringBuilder text) {
    text.append('\n').repeat("  ", depth);
    text.append('+').append(seconds(Duration.between(start, entry.start())));
    text.append(" (").append(entry.duration().map(Timeline::seconds).orElse("no end"));
    text.append(") ").append(entry);
    entry.parts().forEach(part -> print(part, depth + 1, text));
  }

  private static String seconds(Duration duration) {
    return "%d.%03d s".formatted(duration.toSeconds(), duration.toMillisPart());
  }
}
