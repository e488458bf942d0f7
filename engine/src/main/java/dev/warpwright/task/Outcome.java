package dev.warpwright.task;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a task ended for the scope that started it. A task has exactly one outcome, and it never
 * changes: what a task does after it was given up is discarded.
 *
 * <pre>{@code
 * return switch (scope.call("attempt", "attempt 1 openai/gpt", deadline, () -> model.ask(q))) {
 *   case Success(var answer) -> answer;
 *   case Failure(var cause) -> throw failed(cause);
 *   case TimedOut(var abandoned) -> throw late();
 *   case Cancelled(var reason, var abandoned) -> throw cancelled(reason);
 * };
 * }</pre>
 *
 * @param <T> the type of the task's value; may be nullable
 */
public sealed interface Outcome<T extends @Nullable Object> {

  /**
   * The task returned a value before anything asked it to stop.
   *
   * @param value what it returned, null if the task may return null
   * @param <T> the type of the task's value
   */
  record Success<T extends @Nullable Object>(T value) implements Outcome<T> {}

  /**
   * The task threw before anything asked it to stop.
   *
   * @param cause what it threw, {@link Error}s included
   * @param <T> the type of the task's value
   */
  record Failure<T extends @Nullable Object>(Throwable cause) implements Outcome<T> {
    /**
     * A failure.
     *
     * @param cause what the task threw
     */
    public Failure {
      Objects.requireNonNull(cause, "cause");
    }
  }

  /**
   * The task's deadline came first, or the task was not started because it had passed. A value that
   * the task still returned in the grace is discarded.
   *
   * @param abandoned true if the task ignored its interrupt for the whole grace and was left behind
   * @param <T> the type of the task's value
   */
  record TimedOut<T extends @Nullable Object>(boolean abandoned) implements Outcome<T> {}

  /**
   * The task was cancelled, or was not started because its scope had been. A value that the task
   * still returned in the grace is discarded.
   *
   * @param reason why, as given to {@link TaskScope#cancel}, or what the scope itself found: the
   *     owner was interrupted, a sibling failed, the scope was closed
   * @param abandoned true if the task ignored its interrupt for the whole grace and was left behind
   * @param <T> the type of the task's value
   */
  record Cancelled<T extends @Nullable Object>(String reason, boolean abandoned)
      implements Outcome<T> {
    /**
     * A cancellation.
     *
     * @param reason why
     * @param abandoned whether the task was left behind
     */
    public Cancelled {
      Objects.requireNonNull(reason, "reason");
    }
  }
}
