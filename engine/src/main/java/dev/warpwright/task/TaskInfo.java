package dev.warpwright.task;

import java.time.Instant;
import java.util.Optional;

/**
 * One node of the task tree as it was when somebody asked.
 *
 * @param path its place in the tree, the names from the root down joined by {@code /}; also the
 *     name of a task's thread
 * @param name its own name, the last part of the path (which may itself contain a {@code /})
 * @param kind what it is to the code that started it, such as {@code attempt} or {@code tool}
 * @param since when it started, on the wall clock
 * @param deadline the earliest deadline that applies to it
 * @param state {@code RUNNING}, {@code CANCELLED} or {@code ABANDONED}
 * @param parent the path of the node it hangs on; empty for a root and a detached task. An
 *     abandoned task keeps naming the scope that started it, which may be gone
 */
public record TaskInfo(
    String path,
    String name,
    String kind,
    Instant since,
    Deadline deadline,
    TaskState state,
    Optional<String> parent) {}
