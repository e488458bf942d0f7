package dev.warpwright.store.jdbc;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.Append;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.FlowEvent.SignalReceived;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.RunResumed;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.Signal;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One thing that the journal does inside a commit.
 *
 * <p>It judges before it writes, so that a refused one leaves nothing in the transaction that it
 * shares with its neighbours.
 */
abstract sealed class Operation<T extends @Nullable Object> {
  /** What it needs of the store's lease. */
  enum Needs {
    /** Nothing: it comes from outside, or gives back. */
    NOTHING,
    /** That the store can own runs. */
    LEASE,
    /** That the store still owns the run. */
    OWNERSHIP,
    /** That it will own the run for long enough to begin something. */
    TIME
  }

  final Pending<T> pending = new Pending<>();
  final List<RunKey> runs; // that it is about and knows of beforehand
  private @Nullable Verdict<T> verdict; // journal thread only

  private Operation(List<RunKey> runs) {
    this.runs = runs;
  }

  /** What it is about, for messages. */
  String subject() {
    return runs.size() == 1 ? "the run " + runs.getFirst() : "runs";
  }

  abstract Needs needs();

  /** Whether it may be about a run that another store drives. */
  abstract boolean mayMeetOthers();

  /** What it writes, for the bounds of the queue. */
  int events() {
    return 1;
  }

  long bytes() {
    return 0;
  }

  /**
   * Judges and writes, in the open transaction. Must be repeatable: a transaction that lost against
   * another process is rolled back and judged once more.
   */
  abstract Verdict<T> perform(JournalSession session) throws SQLException;

  /** The idempotency key that it is to claim. */
  Optional<String> key() {
    return Optional.empty();
  }

  /** Whether an earlier {@link #perform} whose commit failed took place all the same. */
  abstract Optional<Verdict<T>> lookUp(JournalSession session) throws SQLException;

  /**
   * What takes back the ownership that it was to gain, for when its caller cannot; that does
   * nothing if it did not gain it.
   */
  List<Release> handBack() {
    return List.of();
  }

  /** The run that nobody owns any more once it is done. */
  Optional<RunKey> frees() {
    return Optional.empty();
  }

  /** Performs it and keeps the verdict for {@link #acknowledge}. */
  final void judge(JournalSession session) throws SQLException {
    verdict = perform(session);
  }

  /** Keeps a verdict. */
  final void decide(Verdict<T> fate) {
    verdict = fate;
  }

  /** Keeps a refusal. */
  final void refuse(Supplier<? extends RuntimeException> reason) {
    verdict = new Verdict.Refused<>(reason);
  }

  /**
   * Whether its caller must not hear of it before it is durable. Who owns a run need not be: no
   * owner outlives the process.
   */
  boolean wrote() {
    return isDone();
  }

  /** Whether it was not refused and did not fail. */
  final boolean isDone() {
    return verdict instanceof Verdict.Done;
  }

  /** Tells the caller; false if it has gone. */
  final boolean acknowledge() {
    return pending.settle(Objects.requireNonNull(verdict, "verdict"));
  }

  /** Tells the caller that it failed. */
  final void fail(Supplier<? extends RuntimeException> reason) {
    pending.settle(new Verdict.Refused<>(reason));
  }

  private static <T extends @Nullable Object> Verdict<T> conflict(String message) {
    return refused(() -> new ConflictException(message, null, OperationTrace.NONE));
  }

  private static <T extends @Nullable Object> Verdict<T> noSuchRun(RunKey run) {
    return conflict("The run " + run + " does not exist in its scope.");
  }

  private static <T extends @Nullable Object> Optional<Verdict<T>> found(T value, boolean there) {
    return there ? Optional.of(new Verdict.Done<>(value)) : Optional.empty();
  }

  private static <T extends @Nullable Object> Verdict<T> refused(
      Supplier<? extends RuntimeException> reason) {
    return new Verdict.Refused<>(reason);
  }

  /** Of one run. */
  abstract static sealed class OfRun<T extends @Nullable Object> extends Operation<T> {
    final RunKey run;

    private OfRun(RunKey run) {
      super(List.of(run));
      this.run = run;
    }

    /** Of one run, which other runs of its scope may have to do with. */
    private OfRun(RunKey run, Collection<String> others) {
      super(others.isEmpty() ? List.of(run) : and(run, others));
      this.run = run;
    }

    private static List<RunKey> and(RunKey run, Collection<String> others) {
      return Stream.concat(Stream.of(run), others.stream().map(id -> new RunKey(run.scope(), id)))
          .toList();
    }

    @Override
    String subject() {
      return "the run " + run;
    }

    /** Whether a child run has ended that the run awaits. */
    final boolean hasAwaitedEnd(JournalSession session, Standing standing) throws SQLException {
      for (String child : standing.children()) {
        Optional<RunRow> found = session.findRun(new RunKey(run.scope(), child));
        if (found.isPresent() && found.get().standing().hasEnded()) {
          return true;
        }
      }
      return false;
    }

    /** Makes a parent due that awaits the end of this run. */
    final void tellParent(JournalSession session, Optional<String> parentId, long timeNanos)
        throws SQLException {
      if (parentId.isEmpty()) {
        return;
      }
      RunKey parent = new RunKey(run.scope(), parentId.get());
      Optional<RunRow> found = session.findRun(parent);
      if (found.isPresent() && found.get().standing().children().contains(run.runId())) {
        session.update(parent, found.get(), found.get().dueAt(session.nowNanos(timeNanos)));
      }
    }
  }

  /** See {@code RunStore.create}. */
  static final class Create extends OfRun<Claim> {
    private final NewRun request;
    private final String name;
    private final EventRow started;
    private final long appendId;
    private @Nullable Writer owner; // journal thread only

    Create(NewRun request, String name, long appendId) {
      super(request.run());
      this.request = request;
      this.name = name;
      this.started = EventRow.of(1, request.started(), Times.nanos(request.time()));
      this.appendId = appendId;
    }

    @Override
    Needs needs() {
      return Needs.LEASE;
    }

    @Override
    boolean mayMeetOthers() {
      return false;
    }

    @Override
    Optional<String> key() {
      return request.started().idempotencyKey();
    }

    @Override
    long bytes() {
      return started.bytes();
    }

    @Override
    Verdict<Claim> perform(JournalSession session) throws SQLException {
      String key = key().orElse(null);
      if (key != null) {
        Optional<RunKey> taken = session.findKey(run.scope(), key);
        if (taken.isPresent()) {
          return new Verdict.Done<>(new Claim.Taken(taken.get()));
        }
      }
      if (session.findRun(run).isPresent()) {
        return conflict("The run " + run + " exists already in its scope.");
      }
      Writer won = session.writer(name);
      owner = won;
      Standing standing = Standing.due(RunStatus.RUNNING, request.time());
      long id =
          session.insertRun(
              run,
              origin(request.started(), started.timeNanos),
              RunRow.created(1, standing, started.timeNanos, won));
      session.addEvent(id, started, won, appendId);
      return new Verdict.Done<>(new Claim.Won(won));
    }

    @Override
    Optional<Verdict<Claim>> lookUp(JournalSession session) throws SQLException {
      return owner == null
          ? Optional.empty()
          : found(new Claim.Won(owner), session.isWritten(run, 1, appendId));
    }

    @Override
    List<Release> handBack() {
      return owner == null ? List.of() : List.of(new Release(run, owner));
    }
  }

  private static RunRow.Origin origin(RunStarted started, long createdNanos) {
    return new RunRow.Origin(
        started.drivenBy(),
        started.idempotencyKey().orElse(null),
        started.childOf().orElse(null),
        createdNanos,
        started.metadata());
  }

  /** See {@code RunStore.adopt}. */
  static final class Adopt extends OfRun<@Nullable Void> {
    private final RunStarted started;
    private final Standing standing;
    private final List<EventRow> events;
    private final long appendId;
    private final long bytes;

    Adopt(List<LoggedEvent> log, Standing standing, long appendId) {
      super(
          log.getFirst().run(),
          Stream.concat(
                  parent((RunStarted) log.getFirst().event(), standing).stream(),
                  standing.children().stream())
              .toList());
      this.started = (RunStarted) log.getFirst().event();
      this.standing = standing;
      this.events = log.stream().map(EventRow::of).toList();
      this.appendId = appendId;
      this.bytes = events.stream().mapToLong(EventRow::bytes).sum();
    }

    /** The run that may await that this one has ended. */
    private static Optional<String> parent(RunStarted started, Standing standing) {
      return standing.hasEnded() ? started.childOf() : Optional.empty();
    }

    @Override
    Needs needs() {
      return Needs.NOTHING;
    }

    @Override
    boolean mayMeetOthers() {
      return runs.size() > 1;
    }

    @Override
    Optional<String> key() {
      return started.idempotencyKey();
    }

    @Override
    int events() {
      return events.size();
    }

    @Override
    long bytes() {
      return bytes;
    }

    @Override
    Verdict<@Nullable Void> perform(JournalSession session) throws SQLException {
      String key = key().orElse(null);
      Optional<RunKey> taken = key == null ? Optional.empty() : session.findKey(run.scope(), key);
      if (taken.isPresent()) {
        return conflict(
            "The run %s cannot be taken in: its key belongs to run %s."
                .formatted(run, taken.get()));
      }
      if (session.findRun(run).isPresent()) {
        return conflict("The run " + run + " exists already in its scope.");
      }
      long lastNanos = events.getLast().timeNanos;
      Standing found =
          hasAwaitedEnd(session, standing) ? standing.dueAt(Times.instant(lastNanos)) : standing;
      long id =
          session.insertRun(
              run,
              origin(started, events.getFirst().timeNanos),
              RunRow.created(events.size(), found, lastNanos, null));
      for (EventRow event : events) {
        session.addEvent(id, event, Objects.requireNonNull(event.writer), appendId);
      }
      tellParent(session, parent(started, standing), lastNanos);
      return new Verdict.Done<>(null);
    }

    @Override
    Optional<Verdict<@Nullable Void>> lookUp(JournalSession session) throws SQLException {
      return found(null, session.isWritten(run, 1, appendId));
    }
  }

  /** See {@code RunStore.append}. */
  static final class AppendEvents extends OfRun<@Nullable Void> {
    final Append append;
    final List<EventRow> events;
    final long timeNanos;
    final long appendId;
    private final long bytes;
    private final boolean plain;

    AppendEvents(Append append, long appendId) {
      super(append.run(), others(append));
      this.append = append;
      this.timeNanos = Times.nanos(append.time());
      this.appendId = appendId;
      List<EventRow> rows = new ArrayList<>(append.events().size());
      long size = 0;
      for (RunEvent event : append.events()) {
        EventRow row = EventRow.of(append.expectedSequence() + rows.size() + 1, event, timeNanos);
        rows.add(row);
        size += row.bytes();
      }
      this.events = List.copyOf(rows);
      this.bytes = size;
      this.plain =
          isProgress()
              && append.standing().signals().isEmpty()
              && runs.size() == 1
              && append.events().stream().noneMatch(SignalReceived.class::isInstance);
    }

    /** The other runs that it has to do with. */
    private static List<String> others(Append append) {
      Set<String> children = append.standing().children();
      if (append.parent().isEmpty() && append.continuedAs().isEmpty() && children.isEmpty()) {
        return List.of();
      }
      List<String> others = new ArrayList<>(children);
      append.parent().ifPresent(others::add);
      append.continuedAs().ifPresent(others::add);
      return others;
    }

    @Override
    Needs needs() {
      if (!append.writer().isOwner()) {
        return Needs.NOTHING;
      }
      return append.events().stream()
              .anyMatch(event -> event instanceof StepStarted || event instanceof ToolStarted)
          ? Needs.TIME
          : Needs.OWNERSHIP;
    }

    @Override
    boolean mayMeetOthers() {
      return !append.writer().isOwner() || runs.size() > 1;
    }

    @Override
    int events() {
      return events.size();
    }

    @Override
    long bytes() {
      return bytes;
    }

    @Override
    Verdict<@Nullable Void> perform(JournalSession session) throws SQLException {
      Optional<RunRow> found = session.findRun(run);
      if (found.isEmpty()) {
        return noSuchRun(run);
      }
      RunRow row = found.get();
      Writer writer = append.writer();
      if (writer.isOwner() && !row.isDrivenBy(writer)) {
        return conflict(
            "The writer %s lost the run %s: it is owned by %s now; nothing was written."
                .formatted(writer, run, row.isFree() ? "nobody" : row.owner()));
      }
      if (append.expectedSequence() != row.sequence()) {
        return conflict(
            "The run %s stands at sequence %d, not at the expected %d; nothing was written."
                .formatted(run, row.sequence(), append.expectedSequence()));
      }
      if (timeNanos < row.updatedNanos()) {
        return refused(
            () ->
                new InvalidRequestException(
                    FailureKind.INVALID_REQUEST,
                    "The time %s of an append to the run %s is before that of its last event, %s."
                        .formatted(append.time(), run, Times.instant(row.updatedNanos()))));
      }
      Optional<Standing> standing = receiveSignals(session, row);
      if (standing.isPresent() && hasAwaitedEnd(session, append.standing())) {
        standing = Optional.of(standing.get().dueAt(append.time()));
      }
      if (standing.isEmpty()) {
        return conflict(
            "A signal of the run " + run + " is not there or was consumed; nothing was written.");
      }
      session.update(run, row, row.advanced(append, standing.get(), timeNanos, isProgress()));
      for (EventRow event : events) {
        session.addEvent(row.id(), event, writer, appendId);
      }
      tellParent(session, append.parent(), timeNanos);
      if (append.continuedAs().isPresent()) {
        handOver(session, row, new RunKey(run.scope(), append.continuedAs().get()));
      }
      return new Verdict.Done<>(null);
    }

    /** The signals that the run has not received are those of the next one. */
    private void handOver(JournalSession session, RunRow row, RunKey next) throws SQLException {
      Optional<RunRow> found = session.findRun(next);
      if (found.isEmpty() || found.get().isUnsent() || found.get().status().isFinal()) {
        return;
      }
      boolean awaited = false;
      for (Map.Entry<String, String> signal : session.unreadSignals(row.id()).entrySet()) {
        if (!session.hasSignal(found.get().id(), signal.getKey())) {
          session.moveSignal(row.id(), found.get().id(), signal.getKey());
          awaited |= found.get().standing().signals().contains(signal.getValue());
        }
      }
      if (awaited) {
        session.update(next, found.get(), found.get().dueAt(session.nowNanos(timeNanos)));
      }
    }

    /** Consumes what it receives; empty if that is not there. What it awaits may be there. */
    private Optional<Standing> receiveSignals(JournalSession session, RunRow row)
        throws SQLException {
      Standing standing = append.standing();
      List<String> received =
          append.events().stream()
              .filter(SignalReceived.class::isInstance)
              .map(event -> ((SignalReceived) event).signalId())
              .toList();
      if (received.isEmpty() && standing.signals().isEmpty()) {
        return Optional.of(standing);
      }
      Map<String, String> unread = session.unreadSignals(row.id());
      for (String signalId : received) {
        if (unread.remove(signalId) == null) {
          return Optional.empty();
        }
      }
      for (String signalId : received) {
        session.consumeSignal(row.id(), signalId);
      }
      boolean there = unread.values().stream().anyMatch(standing.signals()::contains);
      return Optional.of(there ? standing.dueAt(append.time()) : standing);
    }

    @Override
    Optional<RunKey> frees() {
      return append.handsBack() ? Optional.of(run) : Optional.empty();
    }

    /** Whether it is an owner's progress that has nothing to do with signals, as nearly all are. */
    boolean isPlain() {
      return plain;
    }

    private boolean isProgress() {
      return append.writer().isOwner()
          && !append.events().stream().allMatch(RunResumed.class::isInstance);
    }

    @Override
    Optional<Verdict<@Nullable Void>> lookUp(JournalSession session) throws SQLException {
      return found(null, session.isWritten(run, append.expectedSequence() + 1, appendId));
    }
  }

  /** See {@code RunStore.acquire} and {@code RunStore.borrow}. */
  static final class Acquire extends OfRun<Optional<Writer>> {
    private final String name;
    private final boolean toDrive;
    private @Nullable Writer owner; // journal thread only

    Acquire(RunKey run, String name, boolean toDrive) {
      super(run);
      this.name = name;
      this.toDrive = toDrive;
    }

    @Override
    Needs needs() {
      return Needs.LEASE;
    }

    @Override
    boolean mayMeetOthers() {
      return true;
    }

    @Override
    boolean wrote() {
      return false;
    }

    @Override
    Verdict<Optional<Writer>> perform(JournalSession session) throws SQLException {
      Optional<RunRow> found = session.findRun(run);
      if (found.isEmpty()) {
        return noSuchRun(run);
      }
      RunRow row = found.get();
      if (!row.isFree()) {
        return new Verdict.Done<>(Optional.empty());
      }
      if (toDrive && row.isQuarantined()) {
        return conflict(
            "The run %s is quarantined: it was taken up %d times without progress. Look at what the"
                    .formatted(run, row.claims())
                + " list says of it, then readmit it.");
      }
      Writer writer = session.writer(name);
      owner = writer;
      session.update(run, row, toDrive ? row.claimedBy(writer) : row.borrowedBy(writer));
      return new Verdict.Done<>(Optional.of(writer));
    }

    @Override
    Optional<Verdict<Optional<Writer>>> lookUp(JournalSession session) throws SQLException {
      return owner == null
          ? Optional.empty()
          : found(Optional.of(owner), session.isOwnedBy(run, owner));
    }

    @Override
    List<Release> handBack() {
      return owner == null ? List.of() : List.of(new Release(run, owner));
    }
  }

  /** See {@code RunStore.acquireDue}. */
  static final class AcquireDue extends Operation<DueRuns> {
    private final Set<String> agentIds;
    private final int limit;
    private final long nowNanos;
    private final Supplier<String> names;
    private DueRuns due = new DueRuns(List.of(), Optional.empty()); // journal thread only

    /** Where the database has no clock of its own, {@code nowNanos} is what time it is. */
    AcquireDue(Set<String> agentIds, int limit, long nowNanos, Supplier<String> names) {
      super(List.of());
      this.agentIds = agentIds;
      this.limit = limit;
      this.nowNanos = nowNanos;
      this.names = names;
    }

    @Override
    Needs needs() {
      return Needs.LEASE;
    }

    @Override
    boolean mayMeetOthers() {
      return false;
    }

    @Override
    boolean wrote() {
      return false;
    }

    @Override
    String subject() {
      return "the runs that are due";
    }

    @Override
    Verdict<DueRuns> perform(JournalSession session) throws SQLException {
      List<DueRuns.Taken> taken = new ArrayList<>();
      for (JournalSession.Due found : session.findDue(agentIds, limit, nowNanos)) {
        Writer owner = session.writer(names.get());
        session.update(found.run(), found.row(), found.row().claimedBy(owner));
        taken.add(new DueRuns.Taken(found.run(), found.agentId(), owner));
      }
      boolean moreDue = taken.size() == limit; // which is reason enough to ask again
      due = new DueRuns(taken, moreDue ? Optional.empty() : session.nextDue(agentIds, nowNanos));
      return new Verdict.Done<>(due);
    }

    @Override
    Optional<Verdict<DueRuns>> lookUp(JournalSession session) throws SQLException {
      if (due.taken().isEmpty()) {
        return Optional.empty();
      }
      DueRuns.Taken first = due.taken().getFirst();
      return found(due, session.isOwnedBy(first.run(), first.owner()));
    }

    @Override
    List<Release> handBack() {
      return due.taken().stream().map(taken -> new Release(taken.run(), taken.owner())).toList();
    }
  }

  /** See {@code RunStore.release}. */
  static final class Release extends OfRun<@Nullable Void> {
    private static final int MAX_PROBLEM = 1_000;

    private final Writer owner;
    private final Optional<String> problem;

    Release(RunKey run, Writer owner) {
      this(run, owner, Optional.empty());
    }

    Release(RunKey run, Writer owner, Optional<String> problem) {
      super(run);
      this.owner = owner;
      this.problem = problem.map(Release::storable);
    }

    /** A release must not fail for what is said of it. */
    private static String storable(String text) {
      return text.substring(0, Math.min(text.length(), MAX_PROBLEM)).replace('\0', ' ');
    }

    @Override
    Needs needs() {
      return Needs.NOTHING;
    }

    @Override
    boolean mayMeetOthers() {
      return false;
    }

    @Override
    boolean wrote() {
      return false;
    }

    @Override
    int events() {
      return 0;
    }

    @Override
    Optional<RunKey> frees() {
      return Optional.of(run);
    }

    @Override
    Verdict<@Nullable Void> perform(JournalSession session) throws SQLException {
      Optional<RunRow> row = session.findRun(run);
      if (row.isPresent() && owner.equals(row.get().owner())) {
        session.update(run, row.get(), row.get().released(problem));
      }
      return new Verdict.Done<>(null);
    }

    /** Repeating it does no harm: the next owner is another writer, also in this process. */
    @Override
    Optional<Verdict<@Nullable Void>> lookUp(JournalSession session) {
      return Optional.empty();
    }
  }

  /** See {@code RunStore.signal}. */
  static final class SendSignal extends OfRun<Boolean> {
    private final Signal signal;
    private final long nowNanos;
    private boolean sent; // journal thread only

    SendSignal(RunKey run, Signal signal, long nowNanos) {
      super(run);
      this.signal = signal;
      this.nowNanos = nowNanos;
    }

    @Override
    Needs needs() {
      return Needs.NOTHING;
    }

    @Override
    boolean mayMeetOthers() {
      return true;
    }

    @Override
    long bytes() {
      return signal.value().text().length();
    }

    @Override
    Verdict<Boolean> perform(JournalSession session) throws SQLException {
      sent = false;
      Optional<RunRow> found = session.findRun(run);
      if (found.isEmpty() || found.get().isUnsent()) {
        return noSuchRun(run);
      }
      RunRow row = found.get();
      if (session.hasSignal(row.id(), signal.id())) {
        return new Verdict.Done<>(false);
      }
      if (row.status().isFinal()) {
        return conflict("The run " + run + " has ended; it takes no signal.");
      }
      session.addSignal(row.id(), signal);
      if (row.standing().signals().contains(signal.name())) {
        session.update(run, row, row.dueAt(session.nowNanos(nowNanos)));
      }
      sent = true;
      return new Verdict.Done<>(true);
    }

    @Override
    Optional<Verdict<Boolean>> lookUp(JournalSession session) throws SQLException {
      Optional<RunRow> row = session.findRun(run);
      return found(true, sent && row.isPresent() && session.hasSignal(row.get().id(), signal.id()));
    }
  }

  /** See {@code RunStore.readmit}. */
  static final class Readmit extends OfRun<@Nullable Void> {
    Readmit(RunKey run) {
      super(run);
    }

    @Override
    Needs needs() {
      return Needs.NOTHING;
    }

    @Override
    boolean mayMeetOthers() {
      return true;
    }

    @Override
    Verdict<@Nullable Void> perform(JournalSession session) throws SQLException {
      Optional<RunRow> row = session.findRun(run);
      if (row.isEmpty()) {
        return noSuchRun(run);
      }
      if (row.get().isQuarantined()) {
        session.update(run, row.get(), row.get().readmitted());
      }
      return new Verdict.Done<>(null);
    }

    /** Repeating it does no harm. */
    @Override
    Optional<Verdict<@Nullable Void>> lookUp(JournalSession session) {
      return Optional.empty();
    }
  }

  /** See {@code RunStore.announce}. */
  static final class Announce extends Operation<@Nullable Void> {
    private final Set<String> agentIds;

    Announce(Set<String> agentIds) {
      super(List.of());
      this.agentIds = agentIds;
    }

    @Override
    Needs needs() {
      return Needs.NOTHING;
    }

    @Override
    boolean mayMeetOthers() {
      return false;
    }

    @Override
    boolean wrote() {
      return false;
    }

    @Override
    String subject() {
      return "the list of agents";
    }

    @Override
    Verdict<@Nullable Void> perform(JournalSession session) throws SQLException {
      session.announce(agentIds);
      return new Verdict.Done<>(null);
    }

    /** Repeating it does no harm. */
    @Override
    Optional<Verdict<@Nullable Void>> lookUp(JournalSession session) {
      return Optional.empty();
    }
  }

  /** See {@code RunStore.delete}. */
  static final class Delete extends OfRun<Boolean> {
    private long deleted; // the internal id, 0 if there was none; journal thread only

    Delete(RunKey run) {
      super(run);
    }

    @Override
    Needs needs() {
      return Needs.NOTHING;
    }

    @Override
    boolean mayMeetOthers() {
      return true;
    }

    @Override
    Verdict<Boolean> perform(JournalSession session) throws SQLException {
      Optional<RunRow> found = session.findRun(run);
      deleted = found.map(RunRow::id).orElse(0L);
      if (found.isEmpty()) {
        return new Verdict.Done<>(false);
      }
      RunRow row = found.get();
      if (!row.isFree()) {
        return conflict("The run " + run + " is being driven; it was not deleted.");
      }
      if (row.status() == RunStatus.NEEDS_RECONCILIATION) {
        return conflict(
            "The run " + run + " waits for a verdict on a tool; decide it, then delete the run.");
      }
      session.delete(run, row);
      return new Verdict.Done<>(true);
    }

    @Override
    Optional<Verdict<Boolean>> lookUp(JournalSession session) throws SQLException {
      Optional<RunRow> found = session.findRun(run);
      return found(true, deleted != 0 && (found.isEmpty() || found.get().id() != deleted));
    }
  }

  /** Some of the runs of {@code RunStore.deleteExpired}; how many were deleted. */
  static final class DeleteExpired extends Operation<Integer> {
    private final long beforeNanos;
    private final Set<RunStatus> statuses;
    private int deleted; // journal thread only

    DeleteExpired(List<RunKey> runs, long beforeNanos, Set<RunStatus> statuses) {
      super(runs);
      this.beforeNanos = beforeNanos;
      this.statuses = statuses;
    }

    @Override
    Needs needs() {
      return Needs.NOTHING;
    }

    @Override
    boolean mayMeetOthers() {
      return true;
    }

    @Override
    Verdict<Integer> perform(JournalSession session) throws SQLException {
      deleted = 0;
      for (RunKey run : runs) {
        Optional<RunRow> row = session.findRun(run);
        if (row.isPresent() && isExpired(row.get())) {
          session.delete(run, row.get());
          deleted++;
        }
      }
      return new Verdict.Done<>(deleted);
    }

    private boolean isExpired(RunRow row) {
      return row.isFree() && statuses.contains(row.status()) && row.updatedNanos() < beforeNanos;
    }

    @Override
    Optional<Verdict<Integer>> lookUp(JournalSession session) throws SQLException {
      for (RunKey run : runs) {
        Optional<RunRow> row = session.findRun(run);
        if (row.isPresent() && isExpired(row.get())) {
          return Optional.empty();
        }
      }
      return Optional.of(new Verdict.Done<>(deleted));
    }
  }
}
