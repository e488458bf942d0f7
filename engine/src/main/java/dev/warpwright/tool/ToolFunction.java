package dev.warpwright.tool;

import org.jspecify.annotations.Nullable;

/**
 * What a tool does.
 *
 * @param <I> the input: a record, or {@code Json} under a given schema
 */
@FunctionalInterface
public interface ToolFunction<I> {
  /**
   * Runs the tool on a virtual thread of its own.
   *
   * <p>The thread is interrupted when the tool's time is over or the caller cancels; a tool that
   * ignores that is left behind and its result is discarded.
   *
   * @param input the input, checked against the schema
   * @param context the call
   * @return the output: a record, {@code Json}, text, number, boolean, collection or map of such,
   *     or null
   * @throws Exception a {@link ToolException} with a text for the model, an {@link
   *     OutcomeUnknownException} if it is not known whether the tool has acted, or anything else,
   *     which says that the call failed
   */
  @Nullable Object call(I input, ToolContext context) throws Exception;
}
