package dev.warpwright.run;

import dev.warpwright.task.Deadline;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** A store that hands everything on to another one. */
public class ForwardingStore implements RunStore {
  private final RunStore store;

  protected ForwardingStore(RunStore store) {
    this.store = store;
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
