package dev.warpwright.store.jdbc;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.run.Append;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.Writer;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One thing that the journal does inside a commit.
 *
 * <p>It judges before it writes, so that a refused one leaves nothing in the transaction that it
 * shares with its neighbours.
 */
abstract sealed class Operation<T extends @Nullable Object> {
  final Pending<T> pending = new Pending<>();
  final RunKey run;
  private @Nullable Verdict<T> verdict; // journal thread only

  private Operation(RunKey run) {
    this.run = run;
  }

  /** What it writes, for the bounds of the queue. */
  abstract int events();

  abstract long bytes();

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
  Optional<Release> handBack() {
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
  final boolean wroteEvents() {
    return isDone()
        && (this instanceof Create || this instanceof AppendEvents || this instanceof Adopt);
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

  private static <T extends @Nullable Object> Verdict<T> refused(
      Supplier<? extends RuntimeException> reason) {
    return new Verdict.Refused<>(reason);
  }

  /** See {@code RunStore.create}. */
  static final class Create extends Operation<Claim> {
    private final NewRun request;
    private final Writer owner;
    private final EventRow started;
    private final long appendId;

    Create(NewRun request, Writer owner, long appendId) {
      super(request.run());
      this.request = request;
      this.owner = owner;
      this.started = EventRow.of(1, request.started(), Times.nanos(request.time()));
      this.appendId = appendId;
    }

    @Override
    Optional<String> key() {
      return request.started().idempotencyKey();
    }

    @Override
    int events() {
      return 1;
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
      String agent = request.started().agentId();
      long id =
          session.insertRun(
              run,
              agent,
              key,
              new RunRow.Head(1, RunStatus.RUNNING, started.timeNanos, started.timeNanos),
              owner);
      session.addEvent(id, started, owner, appendId);
      return new Verdict.Done<>(new Claim.Won(owner));
    }

    @Override
    Optional<Verdict<Claim>> lookUp(JournalSession session) throws SQLException {
      return session.isWritten(run, 1, appendId)
          ? Optional.of(new Verdict.Done<>(new Claim.Won(owner)))
          : Optional.empty();
    }

    @Override
    Optional<Release> handBack() {
      return Optional.of(new Release(run, owner));
    }
  }

  /** See {@code RunStore.adopt}. */
  static final class Adopt extends Operation<@Nullable Void> {
    private final RunStarted started;
    private final RunStatus status;
    private final List<EventRow> events;
    private final long appendId;
    private final long bytes;

    Adopt(List<LoggedEvent> log, RunStatus status, long appendId) {
      super(log.getFirst().run());
      this.started = (RunStarted) log.getFirst().event();
      this.status = status;
      this.events = log.stream().map(EventRow::of).toList();
      this.appendId = appendId;
      this.bytes = events.stream().mapToLong(EventRow::bytes).sum();
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
      RunRow.Head head =
          new RunRow.Head(
              events.size(), status, events.getFirst().timeNanos, events.getLast().timeNanos);
      long id = session.insertRun(run, started.agentId(), key, head, null);
      for (EventRow event : events) {
        session.addEvent(id, event, Objects.requireNonNull(event.writer), appendId);
      }
      return new Verdict.Done<>(null);
    }

    @Override
    Optional<Verdict<@Nullable Void>> lookUp(JournalSession session) throws SQLException {
      return session.isWritten(run, 1, appendId)
          ? Optional.of(new Verdict.Done<>(null))
          : Optional.empty();
    }
  }

  /** See {@code RunStore.append}. */
  static final class AppendEvents extends Operation<@Nullable Void> {
    private final Append append;
    private final List<EventRow> events;
    private final long timeNanos;
    private final long appendId;
    private final long bytes;

    AppendEvents(Append append, long appendId) {
      super(append.run());
      this.append = append;
      this.timeNanos = Times.nanos(append.time());
      this.appendId = appendId;
      long[] sequence = {append.expectedSequence()};
      this.events =
          append.events().stream()
              .map(event -> EventRow.of(++sequence[0], event, timeNanos))
              .toList();
      this.bytes = events.stream().mapToLong(EventRow::bytes).sum();
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
      session.advance(run, row, row.sequence() + events.size(), append.status(), timeNanos);
      for (EventRow event : events) {
        session.addEvent(row.id(), event, writer, appendId);
      }
      return new Verdict.Done<>(null);
    }

    @Override
    Optional<Verdict<@Nullable Void>> lookUp(JournalSession session) throws SQLException {
      return session.isWritten(run, append.expectedSequence() + 1, appendId)
          ? Optional.of(new Verdict.Done<>(null))
          : Optional.empty();
    }
  }

  /** See {@code RunStore.acquire}. */
  static final class Acquire extends Operation<Optional<Writer>> {
    private final Writer owner;

    Acquire(RunKey run, Writer owner) {
      super(run);
      this.owner = owner;
    }

    @Override
    int events() {
      return 1;
    }

    @Override
    long bytes() {
      return 0;
    }

    @Override
    Verdict<Optional<Writer>> perform(JournalSession session) throws SQLException {
      Optional<RunRow> row = session.findRun(run);
      if (row.isEmpty()) {
        return noSuchRun(run);
      }
      if (!row.get().isFree()) {
        return new Verdict.Done<>(Optional.empty());
      }
      session.setOwner(run, row.get(), owner);
      return new Verdict.Done<>(Optional.of(owner));
    }

    @Override
    Optional<Verdict<Optional<Writer>>> lookUp(JournalSession session) throws SQLException {
      Optional<RunRow> row = session.findRun(run);
      return row.isPresent() && owner.equals(row.get().owner())
          ? Optional.of(new Verdict.Done<>(Optional.of(owner)))
          : Optional.empty();
    }

    @Override
    Optional<Release> handBack() {
      return Optional.of(new Release(run, owner));
    }
  }

  /** See {@code RunStore.release}. */
  static final class Release extends Operation<@Nullable Void> {
    private final Writer owner;

    Release(RunKey run, Writer owner) {
      super(run);
      this.owner = owner;
    }

    @Override
    int events() {
      return 0;
    }

    @Override
    long bytes() {
      return 0;
    }

    @Override
    Verdict<@Nullable Void> perform(JournalSession session) throws SQLException {
      Optional<RunRow> row = session.findRun(run);
      if (row.isPresent() && owner.equals(row.get().owner())) {
        session.setOwner(run, row.get(), null);
      }
      return new Verdict.Done<>(null);
    }

    /** Repeating it does no harm: the next owner is another writer, also in this process. */
    @Override
    Optional<Verdict<@Nullable Void>> lookUp(JournalSession session) {
      return Optional.empty();
    }
  }
}
