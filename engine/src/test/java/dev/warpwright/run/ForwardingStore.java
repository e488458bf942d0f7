package dev.warpwright.run;

import dev.warpwright.task.Deadline;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

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
  public void adopt(List<LoggedEvent> log, Standing standing, Deadline deadline) {
    store.adopt(log, standing, deadline);
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
  public Optional<Writer> borrow(RunKey run, Deadline deadline) {
    return store.borrow(run, deadline);
  }

  @Override
  public DueRuns acquireDue(Set<String> agentIds, int limit, Deadline deadline) {
    return store.acquireDue(agentIds, limit, deadline);
  }

  @Override
  public void announce(Set<String> agentIds, Deadline deadline) {
    store.announce(agentIds, deadline);
  }

  @Override
  public void release(RunKey run, Writer owner, Optional<String> problem) {
    store.release(run, owner, problem);
  }

  @Override
  public void readmit(RunKey run, Deadline deadline) {
    store.readmit(run, deadline);
  }

  @Override
  public boolean signal(RunKey run, Signal signal, Deadline deadline) {
    return store.signal(run, signal, deadline);
  }

  @Override
  public List<Signal> signals(RunKey run, Deadline deadline) {
    return store.signals(run, deadline);
  }

  @Override
  public List<RunSummary> stranded(RunScope scope, int limit, Deadline deadline) {
    return store.stranded(scope, limit, deadline);
  }

  @Override
  public boolean delete(RunKey run, Deadline deadline) {
    return store.delete(run, deadline);
  }

  @Override
  public int deleteExpired(Instant before, Set<RunStatus> statuses, int limit, Deadline deadline) {
    return store.deleteExpired(before, statuses, limit, deadline);
  }

  @Override
  public boolean awaitRelease(RunKey run, Deadline deadline) throws InterruptedException {
    return store.awaitRelease(run, deadline);
  }

  @Override
  public Watch watch(RunKey run, RunListener listener) {
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
