package dev.warpwright.agent;

import dev.warpwright.run.Append;
import dev.warpwright.run.ForwardingStore;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Deadline;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** A store that tells when somebody begins to wait for a run, and what is appended. */
class WaitingStore extends ForwardingStore {
  final CountDownLatch waiting = new CountDownLatch(1);
  private final Consumer<Append> beforeAppend;

  WaitingStore(RunStore store) {
    this(store, append -> {});
  }

  WaitingStore(RunStore store, Consumer<Append> beforeAppend) {
    super(store);
    this.beforeAppend = beforeAppend;
  }

  @Override
  public void append(Append append, Deadline deadline) {
    beforeAppend.accept(append);
    super.append(append, deadline);
  }

  @Override
  public boolean awaitRelease(RunKey run, Deadline deadline) throws InterruptedException {
    waiting.countDown();
    return super.awaitRelease(run, deadline);
  }
}
