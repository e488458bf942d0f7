/**
 * The task tree: structured concurrency with deadlines on final JDK APIs.
 *
 * <p>{@link dev.warpwright.task.TaskTree} is the forest of one embedding; {@link
 * dev.warpwright.task.TaskScope} is one node of it, owned by the thread that opened it; its
 * children are virtual threads. How a child ended is a value, {@link dev.warpwright.task.Outcome}.
 * Every wait is bounded by a {@link dev.warpwright.task.Deadline} on an injected {@link
 * dev.warpwright.task.TimeSource}. Nothing in this package knows what the tasks do.
 */
package dev.warpwright.task;
