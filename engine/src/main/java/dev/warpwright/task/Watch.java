package dev.warpwright.task;

import org.jspecify.annotations.Nullable;

/**
 * Holds a detached task, for which nobody waits, to its deadline: interrupts it then, and lists it
 * as abandoned after the grace.
 *
 * <p>At most one alarm is armed at a time, and none once the task has ended: {@link #end} cancels
 * the alarm that it finds, and whoever arms one looks afterwards whether the task has ended
 * meanwhile.
 */
final class Watch implements Runnable {
  private final Task<?> task;
  private volatile @Nullable Alarm alarm;

  Watch(Task<?> task) {
    this.task = task;
  }

  /** Begins to watch. Before the task starts. */
  void begin() {
    arm(task.deadline);
  }

  /** Ends the watch. After the task has ended. */
  void end() {
    Alarm armed = alarm;
    if (armed != null) {
      armed.cancel();
    }
  }

  /**
   * The alarm. An interrupt may close the channel that the task reads, which is foreign code, so it
   * does not happen on the timer's thread; giving the task up is short and does.
   */
  @Override
  public void run() {
    if (task.currentState() == TaskState.RUNNING) {
      Thread.ofVirtual().name(task.path() + " timeout").start(this::enforce);
    } else {
      enforce();
    }
  }

  @Override
  public String toString() {
    return "Watch[" + task + "]";
  }

  private void enforce() {
    Deadline next = task.enforce();
    if (!next.isNever()) {
      arm(next);
    }
  }

  private void arm(Deadline at) {
    alarm = at.alarm(this);
    if (task.hasEnded()) {
      end();
    }
  }
}
