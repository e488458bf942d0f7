package dev.warpwright.store.jdbc;

import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.RunRow.Ownership;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The journal on PostgreSQL: however many operations share a transaction, it takes the same few
 * statements, with the rows in arrays.
 *
 * <p>{@link #begin} locks, in this order, the worker's row and the rows of all runs that are
 * written to, the latter sorted, so that the journals of several processes cannot wait for each
 * other in a ring. What is judged then stays true until the commit. Writes are gathered and go to
 * the tables in {@link #send}. A run that does not exist yet cannot be locked: if another process
 * creates it at the same time, or claims its key, its row does not come back from the insert. Nor
 * does an event that the log has already, which the locks rule out as long as nobody writes to the
 * tables by hand.
 */
final class PostgresSession extends JournalSession {
  /**
   * The lock that fences: whoever raises the epoch locks the row {@code FOR UPDATE} and so waits
   * for the transactions of the old epoch, while a mere update of other columns does not.
   *
   * <p>The settings end with the transaction, since the connection is the program's. The plans of
   * prepared statements may date from when the tables were empty, and must use the indexes all the
   * same. A process that is frozen in the middle must not keep its locks.
   */
  private static final String FENCE =
      "SELECT epoch, set_config('enable_seqscan', 'off', true),"
          + " set_config('enable_hashjoin', 'off', true),"
          + " set_config('enable_mergejoin', 'off', true),"
          + " set_config('idle_in_transaction_session_timeout', '10s', true),"
          + " ";

  private static final String FENCE_END = " FROM ww_worker WHERE id = ? FOR KEY SHARE";

  /** What the server or the connection asks for stands, unless that would lose commits. */
  private static final String DURABLE =
      "CASE current_setting('synchronous_commit')"
          + " WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END";

  private static final String RELAXED = "set_config('synchronous_commit', 'off', true)";

  private static final String RUN_COLUMNS =
      "id, sequence, worker, owner, owner_epoch, updated_nanos";

  /** The inner lock keeps the planner from joining in another order than that of the array. */
  private static final String LOCK_RUNS =
      "SELECT wanted.ordinal, run.* FROM unnest(?::text[], ?::text[], ?::text[], ?::text[])"
          + " WITH ORDINALITY AS wanted (tenant, user_id, namespace, run_id, ordinal)"
          + " CROSS JOIN LATERAL (SELECT "
          + RUN_COLUMNS
          + " FROM ww_run r WHERE r.tenant = wanted.tenant AND r.user_id = wanted.user_id"
          + " AND r.namespace = wanted.namespace AND r.run_id = wanted.run_id"
          + " FOR NO KEY UPDATE) run";

  private static final String FIND_KEYS =
      "SELECT wanted.ordinal, r.run_id FROM unnest(?::text[], ?::text[], ?::text[], ?::text[])"
          + " WITH ORDINALITY AS wanted (tenant, user_id, namespace, key, ordinal)"
          + " JOIN ww_run r ON r.tenant = wanted.tenant AND r.user_id = wanted.user_id"
          + " AND r.namespace = wanted.namespace AND r.idempotency_key = wanted.key";

  private static final String INSERT_RUNS =
      "INSERT INTO ww_run (tenant, user_id, namespace, run_id, agent_id, idempotency_key, status,"
          + " sequence, worker, owner, owner_epoch, created_nanos, updated_nanos)"
          + " SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[],"
          + " ?::text[], ?::text[], ?::bigint[], ?::text[], ?::text[], ?::bigint[], ?::bigint[],"
          + " ?::bigint[])"
          + " ON CONFLICT DO NOTHING RETURNING id, tenant, user_id, namespace, run_id";

  /** A null status stays as it is. */
  private static final String WRITE =
      "WITH moved AS (UPDATE ww_run r SET sequence = x.sequence,"
          + " status = COALESCE(x.status, r.status), updated_nanos = x.updated_nanos,"
          + " worker = x.worker, owner = x.owner, owner_epoch = x.owner_epoch"
          + " FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::text[], ?::text[],"
          + " ?::bigint[])"
          + " AS x (id, sequence, status, updated_nanos, worker, owner, owner_epoch)"
          + " WHERE r.id = x.id)"
          + " INSERT INTO ww_event (run, sequence, append_id, type, version, writer, epoch,"
          + " time_nanos, codec, body)"
          + " SELECT * FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::int[],"
          + " ?::text[], ?::bigint[], ?::bigint[], ?::smallint[], ?::bytea[])"
          + " ON CONFLICT DO NOTHING RETURNING run, sequence";

  private static final String FIND_RUN =
      "SELECT r.id, r.sequence, r.worker, r.owner, r.owner_epoch, r.updated_nanos, w.epoch"
          + " FROM ww_run r LEFT JOIN ww_worker w ON w.id = r.worker"
          + " WHERE r.tenant = ? AND r.user_id = ? AND r.namespace = ? AND r.run_id = ?";

  private static final String EPOCHS = "SELECT id, epoch FROM ww_worker WHERE id = ANY (?)";
  private static final String LOCK_WORKER = "SELECT epoch FROM ww_worker WHERE id = ? FOR UPDATE";

  private static final Comparator<RunKey> ORDER =
      Comparator.comparing((RunKey run) -> run.scope().tenant())
          .thenComparing(run -> run.scope().user().orElse(""))
          .thenComparing(run -> run.scope().namespace().orElse(""))
          .thenComparing(RunKey::runId);

  private final Worker worker;
  private final PreparedStatement fence;
  private final PreparedStatement lockRuns;
  private final PreparedStatement insertRuns;
  private final PreparedStatement write;

  // Of the open transaction:
  private final Map<RunKey, Slot> slots = new HashMap<>();
  private final Map<ClaimedKey, RunKey> keys = new HashMap<>();
  private final List<Event> events = new ArrayList<>();
  private long provisionalId;

  /** A run as this transaction has it. */
  private static final class Slot {
    RunRow row;
    @Nullable String worker; // the owner's
    @Nullable RunStatus status; // null: as it was
    boolean changed;
    @Nullable Inserted inserted; // null: it was there

    Slot(RunRow row, @Nullable String worker) {
      this.row = row;
      this.worker = worker;
    }

    /** Notes that the owner's worker is another one that is open. */
    void ownedElsewhere(Set<Worker> open) {
      Writer owner = row.owner();
      if (owner != null && worker != null && open.contains(new Worker(worker, owner.epoch()))) {
        row = new RunRow(row.id(), row.sequence(), owner, Ownership.ELSEWHERE, row.updatedNanos());
      }
    }
  }

  private record Inserted(String agentId, @Nullable String key, long createdNanos) {}

  private record ClaimedKey(RunScope scope, String key) {}

  private record Event(long run, EventRow row, Writer writer, long appendId) {}

  /**
   * Prepares a connection.
   *
   * @param durable whether a commit is forced to the disk, also where the server does not ask for
   *     that
   */
  PostgresSession(Connection connection, Worker worker, boolean durable) throws SQLException {
    super(connection);
    this.worker = worker;
    this.fence = connection.prepareStatement(FENCE + (durable ? DURABLE : RELAXED) + FENCE_END);
    this.lockRuns = connection.prepareStatement(LOCK_RUNS);
    this.insertRuns = connection.prepareStatement(INSERT_RUNS);
    this.write = connection.prepareStatement(WRITE);
  }

  /**
   * Makes a store a worker. Waits for transactions of an earlier one of that name that are not
   * committed yet: what it wrote under its epoch is there when this returns.
   */
  static Worker register(Connection connection, String name, long startedNanos)
      throws SQLException {
    try (PreparedStatement first =
            connection.prepareStatement(
                "INSERT INTO ww_worker (id, epoch, pid, started_nanos) VALUES (?, 0, 0, 0)"
                    + " ON CONFLICT DO NOTHING");
        PreparedStatement raise =
            connection.prepareStatement(
                "UPDATE ww_worker SET epoch = epoch + 1, pid = ?, started_nanos = ? WHERE id = ?"
                    + " RETURNING epoch")) {
      first.setString(1, name);
      first.executeUpdate();
      lockWorker(connection, name);
      raise.setLong(1, ProcessHandle.current().pid());
      raise.setLong(2, startedNanos);
      raise.setString(3, name);
      try (ResultSet row = raise.executeQuery()) {
        row.next();
        return new Worker(name, row.getLong(1));
      }
    }
  }

  private static void lockWorker(Connection connection, String id) throws SQLException {
    try (PreparedStatement lock = connection.prepareStatement(LOCK_WORKER)) {
      lock.setString(1, id);
      lock.executeQuery().close();
    }
  }

  @Override
  long begin(List<Operation<?>> operations) throws SQLException {
    clear();
    fence.setString(1, worker.id());
    long epoch;
    try (ResultSet row = fence.executeQuery()) {
      epoch = row.next() ? row.getLong(1) : 0;
    }
    lockRuns(operations.stream().map(operation -> operation.run).distinct().sorted(ORDER).toList());
    findKeys(
        operations.stream()
            .flatMap(
                operation ->
                    operation.key().stream().map(key -> new ClaimedKey(operation.run.scope(), key)))
            .distinct()
            .toList());
    return epoch;
  }

  @Override
  void awaitEarlier() throws SQLException {
    lockWorker(connection, worker.id());
  }

  /** The store's own runs are known by the epoch that the fence has read. */
  private void lockRuns(List<RunKey> runs) throws SQLException {
    if (runs.isEmpty()) {
      return;
    }
    setIdentities(lockRuns, runs);
    Set<String> others = new HashSet<>();
    try (ResultSet row = lockRuns.executeQuery()) {
      while (row.next()) {
        String owner = row.getString(5);
        Writer writer = owner == null ? null : new Writer(owner, row.getLong(6));
        String at = row.getString(4);
        boolean here = writer != null && worker.equals(new Worker(at, writer.epoch()));
        if (at != null && !at.equals(worker.id())) {
          others.add(at);
        }
        RunRow run =
            new RunRow(
                row.getLong(2),
                row.getLong(3),
                writer,
                here ? Ownership.HERE : Ownership.NONE,
                row.getLong(7));
        slots.put(runs.get(row.getInt(1) - 1), new Slot(run, at));
      }
    }
    if (!others.isEmpty()) {
      Set<Worker> open = workers(others);
      slots.values().forEach(slot -> slot.ownedElsewhere(open));
    }
  }

  private Set<Worker> workers(Set<String> ids) throws SQLException {
    Set<Worker> workers = new HashSet<>();
    try (PreparedStatement select = connection.prepareStatement(EPOCHS)) {
      select.setArray(1, connection.createArrayOf("text", ids.toArray()));
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          workers.add(new Worker(row.getString(1), row.getLong(2)));
        }
      }
    }
    return workers;
  }

  private void findKeys(List<ClaimedKey> wanted) throws SQLException {
    if (wanted.isEmpty()) {
      return;
    }
    try (PreparedStatement find = connection.prepareStatement(FIND_KEYS)) {
      setScopes(find, wanted, ClaimedKey::scope);
      setTexts(find, 4, wanted, ClaimedKey::key);
      try (ResultSet row = find.executeQuery()) {
        while (row.next()) {
          ClaimedKey key = wanted.get(row.getInt(1) - 1);
          keys.put(key, new RunKey(key.scope(), row.getString(2)));
        }
      }
    }
  }

  /** Finds a run on a reader's connection. */
  static Optional<RunRow> findRun(Connection connection, RunKey run, Worker worker)
      throws SQLException {
    try (PreparedStatement find = connection.prepareStatement(FIND_RUN)) {
      find.setString(setScope(find, 0, run.scope()) + 1, run.runId());
      try (ResultSet row = find.executeQuery()) {
        if (!row.next()) {
          return Optional.empty();
        }
        String owner = row.getString(4);
        long epoch = row.getLong(5);
        Ownership ownership =
            owner == null || row.getLong(7) != epoch
                ? Ownership.NONE
                : worker.id().equals(row.getString(3)) ? Ownership.HERE : Ownership.ELSEWHERE;
        return Optional.of(
            new RunRow(
                row.getLong(1),
                row.getLong(2),
                owner == null ? null : new Writer(owner, epoch),
                ownership,
                row.getLong(6)));
      }
    }
  }

  @Override
  Optional<RunRow> findRun(RunKey run) {
    return Optional.ofNullable(slots.get(run)).map(slot -> slot.row);
  }

  private Slot slot(RunKey run) {
    return Objects.requireNonNull(slots.get(run), "slot");
  }

  @Override
  Optional<RunKey> findKey(RunScope scope, String idempotencyKey) {
    return Optional.ofNullable(keys.get(new ClaimedKey(scope, idempotencyKey)));
  }

  @Override
  long insertRun(
      RunKey run,
      String agentId,
      @Nullable String idempotencyKey,
      RunRow.Head head,
      @Nullable Writer owner) {
    long id = --provisionalId;
    RunRow row = new RunRow(id, head.sequence(), owner, ownership(owner), head.updatedNanos());
    Slot slot = new Slot(row, workerOf(owner));
    slot.status = head.status();
    slot.inserted = new Inserted(agentId, idempotencyKey, head.createdNanos());
    slots.put(run, slot);
    if (idempotencyKey != null) {
      keys.put(new ClaimedKey(run.scope(), idempotencyKey), run);
    }
    return id;
  }

  private static Ownership ownership(@Nullable Writer owner) {
    return owner == null ? Ownership.NONE : Ownership.HERE;
  }

  @Override
  void advance(RunKey run, RunRow row, long sequence, RunStatus status, long timeNanos) {
    Slot slot = slot(run);
    slot.row = new RunRow(row.id(), sequence, row.owner(), row.ownership(), timeNanos);
    slot.status = status;
    slot.changed = true;
  }

  @Override
  void setOwner(RunKey run, RunRow row, @Nullable Writer owner) {
    Slot slot = slot(run);
    slot.row = new RunRow(row.id(), row.sequence(), owner, ownership(owner), row.updatedNanos());
    slot.worker = workerOf(owner);
    slot.changed = true;
  }

  @Override
  void addEvent(long run, EventRow event, Writer writer, long appendId) {
    events.add(new Event(run, event, writer, appendId));
  }

  @Override
  Set<RunKey> send() throws SQLException {
    List<RunKey> created =
        slots.keySet().stream().filter(run -> slot(run).inserted != null).sorted(ORDER).toList();
    Map<Long, Long> ids = new HashMap<>(); // by provisional id
    Set<RunKey> lost = insert(created, ids);
    return lost.isEmpty() ? write(ids) : lost;
  }

  /** Writes the rows of new runs; returns those that another process was faster with. */
  private Set<RunKey> insert(List<RunKey> runs, Map<Long, Long> ids) throws SQLException {
    Set<RunKey> lost = new HashSet<>(runs);
    if (runs.isEmpty()) {
      return lost;
    }
    setIdentities(insertRuns, runs);
    setTexts(insertRuns, 5, runs, run -> inserted(run).agentId());
    setTexts(insertRuns, 6, runs, run -> inserted(run).key());
    setTexts(insertRuns, 7, runs, run -> status(slot(run)));
    setLongs(insertRuns, 8, runs, run -> slot(run).row.sequence());
    setTexts(insertRuns, 9, runs, run -> slot(run).worker);
    setTexts(insertRuns, 10, runs, run -> ownerName(slot(run)));
    setLongs(insertRuns, 11, runs, run -> ownerEpoch(slot(run)));
    setLongs(insertRuns, 12, runs, run -> inserted(run).createdNanos());
    setLongs(insertRuns, 13, runs, run -> slot(run).row.updatedNanos());
    try (ResultSet row = insertRuns.executeQuery()) {
      while (row.next()) {
        RunScope scope =
            new RunScope(row.getString(2), present(row.getString(3)), present(row.getString(4)));
        RunKey run = new RunKey(scope, row.getString(5));
        ids.put(slot(run).row.id(), row.getLong(1));
        lost.remove(run);
      }
    }
    return lost;
  }

  private static Optional<String> present(String text) {
    return text.isEmpty() ? Optional.empty() : Optional.of(text);
  }

  private Inserted inserted(RunKey run) {
    return Objects.requireNonNull(slot(run).inserted, "inserted");
  }

  private @Nullable String workerOf(@Nullable Writer owner) {
    return owner == null ? null : worker.id();
  }

  /** Moves the rows of runs on and writes all events; returns the runs that lack one. */
  private Set<RunKey> write(Map<Long, Long> ids) throws SQLException {
    List<Slot> changed =
        slots.values().stream().filter(slot -> slot.changed && slot.inserted == null).toList();
    if (changed.isEmpty() && events.isEmpty()) {
      return Set.of();
    }
    setLongs(write, 1, changed, slot -> slot.row.id());
    setLongs(write, 2, changed, slot -> slot.row.sequence());
    setTexts(write, 3, changed, PostgresSession::status);
    setLongs(write, 4, changed, slot -> slot.row.updatedNanos());
    setTexts(write, 5, changed, slot -> slot.worker);
    setTexts(write, 6, changed, PostgresSession::ownerName);
    setLongs(write, 7, changed, PostgresSession::ownerEpoch);
    setLongs(write, 8, events, event -> ids.getOrDefault(event.run(), event.run()));
    setLongs(write, 9, events, event -> event.row().sequence);
    setLongs(write, 10, events, Event::appendId);
    setTexts(write, 11, events, event -> event.row().type);
    setArray(write, 12, "int4", events.stream().map(event -> event.row().version).toArray());
    setTexts(write, 13, events, event -> event.writer().name());
    setLongs(write, 14, events, event -> event.writer().epoch());
    setLongs(write, 15, events, event -> event.row().timeNanos);
    setArray(write, 16, "int2", events.stream().map(event -> (short) event.row().codec).toArray());
    setArray(
        write, 17, "bytea", events.stream().map(event -> event.row().body).toArray(byte[][]::new));
    Set<Place> missing =
        events.stream()
            .map(
                event ->
                    new Place(ids.getOrDefault(event.run(), event.run()), event.row().sequence))
            .collect(Collectors.toCollection(HashSet::new));
    try (ResultSet row = write.executeQuery()) {
      while (row.next()) {
        missing.remove(new Place(row.getLong(1), row.getLong(2)));
      }
    }
    Set<Long> torn = missing.stream().map(Place::run).collect(Collectors.toSet());
    return slots.entrySet().stream()
        .filter(
            slot -> {
              long id = slot.getValue().row.id();
              return torn.contains(ids.getOrDefault(id, id));
            })
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /** Where an event stands. */
  private record Place(long run, long sequence) {}

  private static @Nullable String status(Slot slot) {
    return slot.status == null ? null : slot.status.name();
  }

  private static @Nullable String ownerName(Slot slot) {
    return slot.row.owner() == null ? null : slot.row.owner().name();
  }

  private static long ownerEpoch(Slot slot) {
    return slot.row.owner() == null ? 0 : slot.row.owner().epoch();
  }

  private void setIdentities(PreparedStatement statement, List<RunKey> runs) throws SQLException {
    setScopes(statement, runs, RunKey::scope);
    setTexts(statement, 4, runs, RunKey::runId);
  }

  private <T> void setScopes(PreparedStatement statement, List<T> rows, Function<T, RunScope> scope)
      throws SQLException {
    setTexts(statement, 1, rows, row -> scope.apply(row).tenant());
    setTexts(statement, 2, rows, row -> scope.apply(row).user().orElse(""));
    setTexts(statement, 3, rows, row -> scope.apply(row).namespace().orElse(""));
  }

  private <T> void setTexts(
      PreparedStatement statement, int column, List<T> rows, Function<T, @Nullable String> text)
      throws SQLException {
    @Nullable String[] texts = new String[rows.size()];
    for (int n = 0; n < texts.length; n++) {
      texts[n] = text.apply(rows.get(n));
    }
    setArray(statement, column, "text", texts);
  }

  private <T> void setLongs(
      PreparedStatement statement, int column, List<T> rows, ToLongFunction<T> number)
      throws SQLException {
    setArray(statement, column, "int8", rows.stream().mapToLong(number).boxed().toArray());
  }

  private void setArray(
      PreparedStatement statement, int column, String type, @Nullable Object[] values)
      throws SQLException {
    statement.setArray(column, connection.createArrayOf(type, values));
  }

  @Override
  void clear() {
    slots.clear();
    keys.clear();
    events.clear();
    provisionalId = 0;
  }

  /** A commit is on the disk before anybody sees it. */
  @Override
  void sync() {}

  @Override
  void retire() throws SQLException {
    lockWorker(connection, worker.id());
    try (PreparedStatement raise =
        connection.prepareStatement(
            "UPDATE ww_worker SET epoch = epoch + 1 WHERE id = ? AND epoch = ?")) {
      raise.setString(1, worker.id());
      raise.setLong(2, worker.epoch());
      raise.executeUpdate();
    }
    commit();
  }
}
