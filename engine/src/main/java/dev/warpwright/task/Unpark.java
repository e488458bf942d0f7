package dev.warpwright.task;

import java.util.concurrent.locks.LockSupport;

/** The action of an alarm that wakes a parked thread, with a name for whoever lists alarms. */
record Unpark(Thread thread) implements Runnable {
  @Override
  public void run() {
    LockSupport.unpark(thread);
  }
}
