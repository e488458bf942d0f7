package dev.warpwright.agent;

import dev.warpwright.run.Append;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

/** A store that tells when somebody begins to wait for a run, and what is appended. */
class WaitingStore implements RunStore {
  final CountDownLatch waiting = new CountDownLatch(1);
  private final RunStore store;
  private final Consumer<Append> beforeAppend;

  WaitingStore(RunStore store) {
    this(store, append -> {});
  }

  WaitingStore(RunStore store, Consumer<Append> beforeAppend) {
    this.store = store;
    this.beforeAppend = beforeAppend;
  }

  @Override
  public Claim create(NewRun run, Deadline deadline) {
    return store.create(run, deadline);
  }

  @Override
  public List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline) {
    return store.load(run, fromSequence, deadline);
  }

  @Override
  public void adopt(List<LoggedEvent> log, RunStatus status, Deadline deadline) {
    store.adopt(log, status, deadline);
  }

  @Override
  public void append(Append append, Deadline deadline) {
    beforeAppend.accept(append);
    store.append(append, deadline);
  }

  @Override
  public Optional<Writer> acquire(RunKey run, Deadline deadline) {
    return store.acquire(run, deadline);
  }

  @Override
  public void release(RunKey run, Writer owner) {
    store.release(run, owner);
  }

  @Override
  public boolean awaitRelease(RunKey run, Deadline deadline) throws InterruptedException {
    waiting.countDown();
    return store.awaitRelease(run, deadline);
  }

  @Override
  public Watch watch(RunKey run, Consumer<? super List<RunEvent>> listener) {
    return store.watch(run, listener);
  }

  @Override
  public Optional<RunKey> find(RunScope scope, String idempotencyKey, Deadline deadline) {
    return store.find(scope, idempotencyKey, deadline);
  }

  @Override
  public List<RunSummary> list(RunQuery query, Deadline deadline) {
    return store.list(query, deadline);
  }

  @Override
  public void close() {
    store.close();
  }
}
