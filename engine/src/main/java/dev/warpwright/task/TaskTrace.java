package dev.warpwright.task;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One node of the tree of what ran, and what ran below it: the record of a scope that was {@link
 * TaskTree#openRecorded opened as recorded}.
 *
 * <p>An immutable value; what runs on after it was made does not change it. It holds names, times
 * and ends, never a value, a message of a failure or a reason of a cancel. {@link #toString()} is
 * the whole tree as text, one line a node:
 *
 * <pre>
 * generate-17 (operation) 1.25 s CLOSED
 *   attempt 1 openai/gpt (attempt) 1.00 s TIMED_OUT, abandoned
 *   attempt 2 local/llama (attempt) 251 ms SUCCEEDED
 * </pre>
 *
 * <p>Two traces are equal if they say the same. The trace of what has ended is worked out when it
 * is first read. Safe for use by any thread.
 */
public final class TaskTrace {

  /** So many nodes are recorded at most, the scope that was opened as recorded among them. */
  public static final int MAX_NODES = 1_000;

  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  private final Recorder.@Nullable Kept record; // of what changes no more; null: the facts are here
  private volatile @Nullable Facts facts; // two who read at once may both make them, and alike

  /** What a trace says; its components are described at the accessors of the trace. */
  record Facts(
      String name,
      String kind,
      Instant since,
      Duration duration,
      End end,
      List<TaskTrace> children,
      int omitted) {
    Facts {
      Objects.requireNonNull(name, "name");
      Objects.requireNonNull(kind, "kind");
      Objects.requireNonNull(since, "since");
      Objects.requireNonNull(duration, "duration");
      Objects.requireNonNull(end, "end");
      children = List.copyOf(children);
    }
  }

  /**
   * A node.
   *
   * @param name its own name
   * @param kind its kind
   * @param since when it started
   * @param duration how long it took
   * @param end how it ended
   * @param children the nodes below; copied
   * @param omitted how many more there were
   */
  public TaskTrace(
      String name,
      String kind,
      Instant since,
      Duration duration,
      End end,
      List<TaskTrace> children,
      int omitted) {
    this(new Facts(name, kind, since, duration, end, children, omitted));
  }

  TaskTrace(Facts facts) {
    this.record = null;
    this.facts = facts;
  }

  /** The trace of a node that changes no more, with all that is below it. */
  TaskTrace(Recorder.Kept record) {
    this.record = record;
  }

  private Facts facts() {
    Facts known = facts;
    if (known == null) {
      known = Objects.requireNonNull(record, "record").facts();
      facts = known;
    }
    return known;
  }

  /**
   * Its own name, the last part of its path.
   *
   * @return the name
   */
  public String name() {
    return facts().name;
  }

  /**
   * What it is to the code that started it, such as {@code attempt} or {@code tool}.
   *
   * @return the kind
   */
  public String kind() {
    return facts().kind;
  }

  /**
   * When it started, on the wall clock. The wall clock is read once a second at most; a step of it
   * in the last second before the start is not seen.
   *
   * @return the instant
   */
  public Instant since() {
    return facts().since;
  }

  /**
   * How long it took until its end, and of an abandoned task until it was given up; so far, while
   * it runs.
   *
   * @return zero or more
   */
  public Duration duration() {
    return record == null ? facts().duration : record.duration(); // without making all the others
  }

  /**
   * How it ended.
   *
   * @return the end
   */
  public End end() {
    return facts().end;
  }

  /**
   * What was started directly in it, in the order of the starts: under a scope its tasks, those
   * included that were not run because it was too late for them, and the scopes that its owner
   * opened in it; under a task the scopes that it opened.
   *
   * @return an unmodifiable list
   */
  public List<TaskTrace> children() {
    return facts().children;
  }

  /**
   * How many nodes below this one are in no list of children, because the recording had reached its
   * bound of {@value #MAX_NODES} nodes.
   *
   * @return zero or more
   */
  public int omitted() {
    return facts().omitted;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof TaskTrace that && facts().equals(that.facts());
  }

  @Override
  public int hashCode() {
    return facts().hashCode();
  }

  /** How a node ended: a task as its {@link Outcome} says, a scope by being closed. */
  public sealed interface End {

    /** It had not ended when the trace was made. */
    record Running() implements End {}

    /** The task returned a value. */
    record Succeeded() implements End {}

    /**
     * The task threw.
     *
     * @param type the name of the class of what it threw
     */
    record Failed(String type) implements End {
      /**
       * A failure.
       *
       * @param type the name of the class of what the task threw
       */
      public Failed {
        Objects.requireNonNull(type, "type");
      }
    }

    /**
     * The deadline of the task came first.
     *
     * @param abandoned true if it was left behind, and may have run on
     */
    record TimedOut(boolean abandoned) implements End {}

    /**
     * The task was cancelled.
     *
     * @param abandoned true if it was left behind, and may have run on
     */
    record Cancelled(boolean abandoned) implements End {}

    /**
     * The scope was closed.
     *
     * @param cancelled whether it had been cancelled before
     */
    record Closed(boolean cancelled) implements End {}
  }

  /** The tree as text, with two more spaces in front of each level and no line break at its end. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    append(text, 0);
    return text.toString();
  }

  private void append(StringBuilder text, int depth) {
    Facts node = facts();
    text.repeat(' ', 2 * depth)
        .append(oneLine(node.name))
        .append(" (")
        .append(oneLine(node.kind))
        .append(") ")
        .append(readable(node.duration))
        .append(' ')
        .append(readable(node.end));
    for (TaskTrace child : node.children) {
      text.append('\n');
      child.append(text, depth + 1);
    }
    if (node.omitted > 0) {
      text.append('\n')
          .repeat(' ', 2 * depth + 2)
          .append("and ")
          .append(node.omitted)
          .append(" more");
    }
  }

  /** A line break in a name would forge a node. */
  private static String oneLine(String name) {
    return CONTROL.matcher(name).replaceAll("?");
  }

  private static String readable(End end) {
    return switch (end) {
      case End.Running() -> "RUNNING";
      case End.Succeeded() -> "SUCCEEDED";
      case End.Failed(String type) -> "FAILED " + type;
      case End.TimedOut(boolean abandoned) -> "TIMED_OUT" + (abandoned ? ", abandoned" : "");
      case End.Cancelled(boolean abandoned) -> "CANCELLED" + (abandoned ? ", abandoned" : "");
      case End.Closed(boolean cancelled) -> "CLOSED" + (cancelled ? ", cancelled" : "");
    };
  }

  /** Three digits in the unit that leaves one to three of them before the point. */
  private static String readable(Duration duration) {
    double number = duration.toNanos();
    String unit = "ns";
    for (String larger : List.of("µs", "ms", "s")) {
      if (number >= 999.5) {
        number /= 1000;
        unit = larger;
      }
    }
    int decimals = unit.equals("ns") || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
    return String.format(Locale.ROOT, "%." + decimals + "f %s", number, unit);
  }
}
