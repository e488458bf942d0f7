package dev.warpwright.testing;

import dev.warpwright.task.TaskInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Draws live tasks, one a line, each below the one that it hangs on. */
final class LiveTree {
  private LiveTree() {}

  /**
   * The lines; none if there is no task. Parents come before their children, as they are listed.
   */
  static List<String> draw(List<TaskInfo> tasks) {
    List<String> lines = new ArrayList<>();
    Map<String, Integer> depths = new HashMap<>();
    for (TaskInfo task : tasks) {
      int above = task.parent().map(depths::get).orElse(-1);
      depths.put(task.path(), above + 1);
      lines.add("  ".repeat(above + 1) + line(task, above < 0 ? task.path() : task.name()));
    }
    if (!lines.isEmpty()) {
      lines.addFirst("live tasks: " + tasks.size());
    }
    return lines;
  }

  private static String line(TaskInfo task, String name) {
    return "%s \"%s\", %s, since %s, deadline %s"
        .formatted(task.kind(), name, task.state(), task.since(), task.deadline());
  }
}
