package dev.warpwright.store.jdbc;

import dev.warpwright.run.Append;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Writer;
import dev.warpwright.store.jdbc.RunRow.Ownership;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.ToIntFunction;
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
  /** Stands for no time in an array of primitive numbers. */
  private static final long NEVER = Long.MIN_VALUE + 1;

  /** How often, and after what time, a worker is looked at that somebody else may be ending. */
  private static final int MAX_ROUNDS = 5;

  private static final long ROUND_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

  /** What it takes at most to free some runs of a store whose lease has ended. */
  private static final long MOMENT_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  private static final String RUN_COLUMNS =
      "id, sequence, status, due_nanos, updated_nanos, worker, owner, owner_epoch, claims, problem,"
          + " signals";

  /**
   * Fences and locks in one round trip. Whoever raises the epoch locks the worker's row {@code FOR
   * UPDATE} and so waits for the transactions of the old epoch, while a mere update of other
   * columns does not. The inner lock keeps the planner from joining the runs in another order than
   * that of the array.
   */
  private static final String BEGIN =
      "WITH fence AS MATERIALIZED"
          + " (SELECT epoch, incarnation FROM ww_worker WHERE id = ? FOR KEY SHARE)"
          + " SELECT fence.epoch, fence.incarnation, run.* FROM fence LEFT JOIN"
          + " (SELECT wanted.ordinal, found.* FROM"
          + " unnest(?::text[], ?::text[], ?::text[], ?::text[])"
          + " WITH ORDINALITY AS wanted (tenant, user_id, namespace, run_id, ordinal)"
          + " CROSS JOIN LATERAL (SELECT "
          + RUN_COLUMNS
          + " FROM ww_run r WHERE r.tenant = wanted.tenant AND r.user_id = wanted.user_id"
          + " AND r.namespace = wanted.namespace AND r.run_id = wanted.run_id"
          + " FOR NO KEY UPDATE) found) run ON TRUE";

  private static final String FIND_KEYS =
      "SELECT wanted.ordinal, r.run_id FROM unnest(?::text[], ?::text[], ?::text[], ?::text[])"
          + " WITH ORDINALITY AS wanted (tenant, user_id, namespace, key, ordinal)"
          + " JOIN ww_run r ON r.tenant = wanted.tenant AND r.user_id = wanted.user_id"
          + " AND r.namespace = wanted.namespace AND r.idempotency_key = wanted.key";

  /** Runs that this transaction has are left out: what it will write is not in the table yet. */
  private static final String DUE =
      "SELECT run.* FROM unnest(?::text[]) AS wanted (agent_id) CROSS JOIN LATERAL (SELECT "
          + RUN_COLUMNS
          + ", tenant, user_id, namespace, run_id, agent_id FROM ww_run r"
          + " WHERE r.agent_id = wanted.agent_id AND r.ready_nanos <= "
          + LeaseTable.NOW_NANOS
          + " AND r.id <> ALL (?::bigint[]) ORDER BY r.ready_nanos, r.run_id LIMIT ?"
          + " FOR NO KEY UPDATE SKIP LOCKED) run ORDER BY run.due_nanos, run.run_id LIMIT ?";

  /**
   * In how long a run becomes due, or another store's lease ends, which may leave runs that are;
   * those of one that has ended are being freed, and looked for again in a moment.
   */
  private static final String NEXT_DUE =
      "SELECT LEAST(MIN(run.ready_nanos) - "
          + LeaseTable.NOW_NANOS
          + ", (SELECT MIN(CASE WHEN NOT freed OR lease_until < "
          + LeaseTable.NOW_MILLIS
          + " THEN "
          + MOMENT_NANOS
          + " ELSE (lease_until - "
          + LeaseTable.NOW_MILLIS
          + " + 1) * 1000000 END) FROM ww_worker"
          + " WHERE NOT freed OR (id <> ? AND lease_until IS NOT NULL)))"
          + " FROM unnest(?::text[]) AS wanted (agent_id) CROSS JOIN LATERAL"
          + " (SELECT r.ready_nanos FROM ww_run r"
          + " WHERE r.agent_id = wanted.agent_id AND r.ready_nanos > "
          + LeaseTable.NOW_NANOS
          + " ORDER BY r.ready_nanos, r.run_id LIMIT 1) run";

  private static final String STRANDED =
      "SELECT "
          + ListQuery.COLUMNS
          + " FROM ww_run r WHERE r.tenant = ? AND r.user_id = ? AND r.namespace = ?"
          + " AND r.worker IS NULL AND r.due_nanos IS NOT NULL AND r.due_nanos <= "
          + LeaseTable.NOW_NANOS
          + " AND (r.claims >= "
          + RunStore.MAX_CLAIMS
          + " OR NOT EXISTS (SELECT 1 FROM ww_worker_agent a JOIN ww_worker w ON w.id = a.worker"
          + " WHERE a.agent_id = r.agent_id AND w.lease_until >= "
          + LeaseTable.NOW_MILLIS
          + ")) ORDER BY r.due_nanos, r.run_id LIMIT ?";

  /** Fences too, by an epoch that is null if that was done before. */
  private static final String INSERT_RUNS =
      "WITH fence AS MATERIALIZED (SELECT 1 FROM ww_worker WHERE id = ? AND epoch = COALESCE(?,"
          + " epoch) FOR KEY SHARE) INSERT INTO ww_run (tenant, user_id, namespace, run_id,"
          + " agent_id, idempotency_key, status, sequence, due_nanos, worker, owner, owner_epoch,"
          + " created_nanos, updated_nanos, claims, problem, signals, parent_run_id)"
          + " SELECT x.tenant, x.user_id,"
          + " x.namespace, x.run_id, x.agent_id, x.key, x.status, x.sequence, NULLIF(x.due_nanos, "
          + NEVER
          + "), x.worker, x.owner, x.owner_epoch, x.created_nanos, x.updated_nanos, x.claims,"
          + " x.problem, x.signals, x.parent FROM fence CROSS JOIN unnest(?::text[], ?::text[],"
          + " ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[],"
          + " ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::int[], ?::text[],"
          + " ?::text[], ?::text[]) AS x (tenant, user_id, namespace, run_id, agent_id, key,"
          + " status, sequence, due_nanos, worker, owner, owner_epoch, created_nanos,"
          + " updated_nanos, claims, problem, signals, parent) ON CONFLICT DO NOTHING RETURNING id,"
          + " tenant, user_id, namespace, run_id";

  private static final String EVENT_COLUMNS =
      "run, sequence, append_id, type, version, writer, epoch, time_nanos, codec, body";

  private static final String EVENT_ARRAYS =
      "unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::text[], ?::int[], ?::text[], ?::bigint[],"
          + " ?::bigint[], ?::int[], ?::bytea[])";

  private static final String WRITE =
      "WITH moved AS (UPDATE ww_run r SET sequence = x.sequence, status = x.status,"
          + " due_nanos = NULLIF(x.due_nanos, "
          + NEVER
          + "), updated_nanos = x.updated_nanos, worker = x.worker, owner = x.owner,"
          + " owner_epoch = x.owner_epoch, claims = x.claims, problem = x.problem,"
          + " signals = x.signals"
          + " FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::bigint[],"
          + " ?::text[], ?::text[], ?::bigint[], ?::int[], ?::text[], ?::text[])"
          + " AS x (id, sequence, status, due_nanos, updated_nanos, worker, owner, owner_epoch,"
          + " claims, problem, signals) WHERE r.id = x.id)"
          + " INSERT INTO ww_event ("
          + EVENT_COLUMNS
          + ") SELECT * FROM "
          + EVENT_ARRAYS
          + " ON CONFLICT DO NOTHING RETURNING run, sequence";

  /**
   * Fences, judges, moves the runs on and writes their events in one round trip. What is compared
   * with the worker is hidden from the planner, which would else take an index of it.
   */
  private static final String ADVANCE =
      "WITH fence AS MATERIALIZED"
          + " (SELECT 1 FROM ww_worker WHERE id = ? AND epoch = ? FOR KEY SHARE),"
          + " moved AS (UPDATE ww_run r SET sequence = x.sequence, status = x.status,"
          + " due_nanos = NULLIF(x.due_nanos, "
          + NEVER
          + "), updated_nanos = x.time_nanos, claims = 0, problem = NULL, signals = NULL,"
          + " worker = CASE WHEN x.freed = 0 THEN r.worker END,"
          + " owner = CASE WHEN x.freed = 0 THEN r.owner END,"
          + " owner_epoch = CASE WHEN x.freed = 0 THEN r.owner_epoch ELSE 0 END"
          + " FROM fence CROSS JOIN unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::text[],"
          + " ?::bigint[], ?::bigint[], ?::text[], ?::int[])"
          + " AS x (id, expected, sequence, status, due_nanos, time_nanos, owner, freed)"
          + " WHERE r.id = x.id AND r.sequence = x.expected AND r.updated_nanos <= x.time_nanos"
          + " AND r.owner = x.owner AND (r.worker = ? AND r.owner_epoch = ?) IS TRUE"
          + " RETURNING r.id),"
          + " added AS (INSERT INTO ww_event ("
          + EVENT_COLUMNS
          + ") SELECT e.* FROM "
          + EVENT_ARRAYS
          + " AS e ("
          + EVENT_COLUMNS
          + ") WHERE (e.run IN (SELECT id FROM moved)) IS TRUE)"
          + " SELECT id FROM moved";

  private static final String INSERT_METADATA =
      "INSERT INTO ww_run_metadata (run, name, note)"
          + " SELECT * FROM unnest(?::bigint[], ?::text[], ?::text[])";

  private static final String DELETE =
      "WITH events AS (DELETE FROM ww_event WHERE run = ANY (?)),"
          + " metadata AS (DELETE FROM ww_run_metadata WHERE run = ANY (?)),"
          + " signals AS (DELETE FROM ww_signal WHERE run = ANY (?))"
          + " DELETE FROM ww_run WHERE id = ANY (?)";

  private static final String FIND_RUN =
      "SELECT r.id, r.sequence, r.status, r.due_nanos, r.updated_nanos, r.worker, r.owner,"
          + " r.owner_epoch, r.claims, r.problem, r.signals,"
          + " w.epoch = r.owner_epoch AND (w.lease_until IS NULL OR w.lease_until >= "
          + LeaseTable.NOW_MILLIS
          + ") FROM ww_run r LEFT JOIN ww_worker w ON w.id = r.worker"
          + " WHERE r.tenant = ? AND r.user_id = ? AND r.namespace = ? AND r.run_id = ?";

  private static final String WORKERS =
      "SELECT id, epoch, incarnation, lease_until < "
          + LeaseTable.NOW_MILLIS
          + " FROM ww_worker WHERE id = ANY (?)";

  private static final String UNIQUE_VIOLATION = "23505";

  private static final Comparator<RunKey> ORDER =
      Comparator.comparing((RunKey run) -> run.scope().tenant())
          .thenComparing(run -> run.scope().user().orElse(""))
          .thenComparing(run -> run.scope().namespace().orElse(""))
          .thenComparing(RunKey::runId);

  private final PostgresSettings settings;
  private final PreparedStatement begin;
  private final PreparedStatement insertRuns;
  private final PreparedStatement write;
  private final PreparedStatement advance;

  /**
   * The internal ids of runs that this store drives. An id is never given to another run, so that
   * what is wrong here costs a round trip, no more.
   */
  private final Map<RunKey, Long> driven = new HashMap<>();

  private Worker driver; // of those runs

  // Of the open transaction:
  private final Map<RunKey, Slot> slots = new HashMap<>();
  private final Map<ClaimedKey, RunKey> keys = new HashMap<>();
  private final List<Event> events = new ArrayList<>();
  private final List<Note> notes = new ArrayList<>();
  private final Set<Long> deleted = new HashSet<>();
  private long provisionalId;
  private boolean unseen; // whether nothing was read or locked of it

  /** A run as this transaction has it. */
  private static final class Slot {
    RunRow row;
    @Nullable String worker; // the owner's
    boolean changed;
    RunRow.@Nullable Origin inserted; // null: it was there

    Slot(RunRow row, @Nullable String worker) {
      this.row = row;
      this.worker = worker;
    }

    boolean isOf(Worker other) {
      Writer owner = row.owner();
      return owner != null && worker != null && other.isOwner(worker, owner.epoch());
    }
  }

  private record ClaimedKey(RunScope scope, String key) {}

  private record Event(long run, EventRow row, Writer writer, long appendId) {}

  private record Note(long run, String name, String value) {}

  PostgresSession(Connection connection, Worker worker, PostgresSettings settings)
      throws SQLException {
    super(connection, worker);
    this.settings = settings;
    this.begin = connection.prepareStatement(BEGIN);
    this.insertRuns = connection.prepareStatement(INSERT_RUNS);
    this.write = connection.prepareStatement(WRITE);
    this.advance = connection.prepareStatement(ADVANCE);
    this.driver = worker;
  }

  @Override
  Fence begin(List<Operation<?>> operations) throws SQLException {
    clear();
    Fence fence =
        lockRuns(
            operations.stream()
                .flatMap(operation -> operation.runs.stream())
                .distinct()
                .sorted(ORDER)
                .toList());
    findKeys(
        operations.stream()
            .flatMap(
                operation ->
                    operation.key().stream()
                        .map(key -> new ClaimedKey(operation.runs.getFirst().scope(), key)))
            .distinct()
            .toList());
    return fence;
  }

  @Override
  List<Operation.AppendEvents> advance(List<Operation.AppendEvents> appends) throws SQLException {
    clear();
    List<Advance> known = new ArrayList<>(appends.size());
    for (Operation.AppendEvents append : appends) {
      Long run = driven().get(append.run);
      if (run != null) {
        known.add(new Advance(run, append));
      }
    }
    if (known.isEmpty()) {
      return List.of();
    }
    known.sort(Comparator.comparingLong(Advance::run));
    for (Advance each : known) {
      for (EventRow event : each.append.events) {
        addEvent(each.run, event, each.request().writer(), each.append.appendId);
      }
    }
    advance.setString(1, worker().id());
    advance.setLong(2, worker().epoch());
    setLongs(advance, 3, known, Advance::run);
    setLongs(advance, 4, known, each -> each.request().expectedSequence());
    setLongs(advance, 5, known, each -> each.append.events.getLast().sequence);
    setTexts(advance, 6, known, each -> each.request().standing().status().name());
    setLongs(
        advance, 7, known, each -> each.request().standing().due().map(Times::nanos).orElse(NEVER));
    setLongs(advance, 8, known, each -> each.append.timeNanos);
    setTexts(advance, 9, known, each -> each.request().writer().name());
    setInts(advance, 10, known, each -> each.request().handsBack() ? 1 : 0);
    advance.setString(11, worker().id());
    advance.setLong(12, worker().epoch());
    setEvents(advance, 13, Map.of());
    events.clear();
    return readAdvanced(known);
  }

  @Override
  boolean beginUnseen() {
    clear();
    unseen = true;
    return true;
  }

  /** An append to a run whose internal id is known. */
  private record Advance(long run, Operation.AppendEvents append) {
    Append request() {
      return append.append;
    }
  }

  private List<Operation.AppendEvents> readAdvanced(List<Advance> appends) throws SQLException {
    Set<Long> moved = new HashSet<>();
    try (ResultSet row = advance.executeQuery()) {
      while (row.next()) {
        moved.add(row.getLong(1));
      }
    } catch (SQLException e) {
      if (!UNIQUE_VIOLATION.equals(e.getSQLState())) {
        throw e;
      }
      connection.rollback(); // a log has an event that its row does not know of
    }
    List<Operation.AppendEvents> written = new ArrayList<>(moved.size());
    for (Advance each : appends) {
      if (moved.contains(each.run)) {
        written.add(each.append);
        if (each.request().handsBack()) {
          driven().remove(each.append.run);
        }
      }
    }
    return written;
  }

  private Map<RunKey, Long> driven() {
    if (!driver.equals(worker())) {
      driven.clear();
      driver = worker();
    }
    return driven;
  }

  /** Keeps which runs the transaction leaves with this store. */
  private void noteDriven(Map<Long, Long> ids) {
    slots.forEach(
        (run, slot) -> {
          if (slot.row.ownership() == Ownership.HERE) {
            driven().put(run, ids.getOrDefault(slot.row.id(), slot.row.id()));
          } else {
            driven().remove(run);
          }
        });
  }

  @Override
  void awaitEarlier() throws SQLException {
    LeaseTable.lock(connection, worker().id());
  }

  /** The store's own runs are known by the epoch that the fence has read. */
  private Fence lockRuns(List<RunKey> runs) throws SQLException {
    begin.setString(1, worker().id());
    setScopes(begin, 2, runs, RunKey::scope);
    setTexts(begin, 5, runs, RunKey::runId);
    Fence fence = new Fence(0, false);
    Set<String> others = new HashSet<>();
    try (ResultSet row = begin.executeQuery()) {
      while (row.next()) {
        fence = new Fence(row.getLong(1), row.getLong(2) == worker().incarnation());
        int ordinal = row.getInt(3);
        if (ordinal > 0) {
          Slot slot = readSlot(row, 4);
          slots.put(runs.get(ordinal - 1), slot);
          if (slot.worker != null && !slot.worker.equals(worker().id())) {
            others.add(slot.worker);
          }
        }
      }
    }
    if (!others.isEmpty()) {
      for (Worker open : openOf(others)) {
        slots.values().stream()
            .filter(slot -> slot.isOf(open))
            .forEach(slot -> slot.row = slot.row.withOwnership(Ownership.ELSEWHERE));
      }
    }
    return fence;
  }

  /** Reads a run, the first of whose columns is at an index. */
  private Slot readSlot(ResultSet row, int column) throws SQLException {
    String at = row.getString(column + 5);
    RunRow run = readRun(row, column);
    Slot slot = new Slot(run, at);
    if (slot.isOf(worker())) {
      slot.row = run.withOwnership(Ownership.HERE);
    }
    return slot;
  }

  private static RunRow readRun(ResultSet row, int column) throws SQLException {
    String owner = row.getString(column + 6);
    return new RunRow(
        row.getLong(column),
        row.getLong(column + 1),
        RunStatus.valueOf(row.getString(column + 2)),
        row.getObject(column + 3, Long.class),
        row.getString(column + 10),
        row.getLong(column + 4),
        owner == null ? null : new Writer(owner, row.getLong(column + 7)),
        Ownership.NONE,
        row.getInt(column + 8),
        row.getString(column + 9));
  }

  /**
   * Other workers that are open; those whose lease has run out are ended here. One that is locked
   * may be writing its last, or is just being ended by somebody else, which is waited for a moment.
   */
  private List<Worker> openOf(Set<String> ids) throws SQLException {
    for (int round = 1; ; round++) {
      List<String> lapsed = new ArrayList<>();
      List<Worker> open = workers(ids, lapsed);
      if (lapsed.isEmpty()) {
        return open;
      }
      List<String> ended = LeaseTable.reap(connection, lapsed);
      if (ended.size() == lapsed.size() || round == MAX_ROUNDS) {
        open.removeIf(worker -> ended.contains(worker.id()));
        return open;
      }
      LockSupport.parkNanos(ROUND_NANOS);
    }
  }

  private List<Worker> workers(Set<String> ids, List<String> lapsed) throws SQLException {
    List<Worker> workers = new ArrayList<>();
    try (PreparedStatement select = connection.prepareStatement(WORKERS)) {
      select.setArray(1, connection.createArrayOf("text", ids.toArray()));
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          workers.add(new Worker(row.getString(1), row.getLong(2), row.getLong(3)));
          if (row.getBoolean(4)) {
            lapsed.add(row.getString(1));
          }
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
      setScopes(find, 1, wanted, ClaimedKey::scope);
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
        RunRow found = readRun(row, 1);
        Ownership ownership =
            worker.id().equals(row.getString(6)) ? Ownership.HERE : Ownership.ELSEWHERE;
        return Optional.of(row.getBoolean(12) ? found.withOwnership(ownership) : found);
      }
    }
  }

  @Override
  Optional<RunRow> findRun(RunKey run) {
    return Optional.ofNullable(slots.get(run)).map(slot -> slot.row);
  }

  @Override
  boolean isOwnedBy(RunKey run, Writer owner) throws SQLException {
    return findRun(connection, run, worker()).filter(row -> owner.equals(row.owner())).isPresent();
  }

  @Override
  List<Due> findDue(Set<String> agentIds, int limit, long nowNanos) throws SQLException {
    List<Due> due = new ArrayList<>();
    try (PreparedStatement find = connection.prepareStatement(DUE)) {
      find.setArray(1, connection.createArrayOf("text", agentIds.toArray()));
      find.setObject(2, slots.values().stream().mapToLong(slot -> slot.row.id()).toArray());
      find.setInt(3, limit);
      find.setInt(4, limit);
      try (ResultSet row = find.executeQuery()) {
        while (row.next()) {
          RunKey run = ListQuery.readKey(row, 12);
          Slot slot = readSlot(row, 1);
          slots.put(run, slot);
          due.add(new Due(run, row.getString(16), slot.row));
        }
      }
    }
    return due;
  }

  /** How the database finds them; for tests. */
  static String duePlan(Connection connection, Set<String> agentIds, int limit)
      throws SQLException {
    StringBuilder plan = new StringBuilder();
    try (PreparedStatement explain = connection.prepareStatement("EXPLAIN " + DUE)) {
      explain.setArray(1, connection.createArrayOf("text", agentIds.toArray()));
      explain.setObject(2, new long[0]);
      explain.setInt(3, limit);
      explain.setInt(4, limit);
      try (ResultSet row = explain.executeQuery()) {
        while (row.next()) {
          plan.append(row.getString(1)).append('\n');
        }
      }
    }
    return plan.toString();
  }

  @Override
  Optional<Duration> nextDue(Set<String> agentIds, long nowNanos) throws SQLException {
    try (PreparedStatement find = connection.prepareStatement(NEXT_DUE)) {
      find.setString(1, worker().id());
      find.setArray(2, connection.createArrayOf("text", agentIds.toArray()));
      try (ResultSet row = find.executeQuery()) {
        row.next();
        return Optional.ofNullable(row.getObject(1, Long.class)).map(Duration::ofNanos);
      }
    }
  }

  /** Lists on a reader's connection what nobody drives. */
  static List<RunSummary> stranded(Connection connection, RunScope scope, int limit)
      throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(STRANDED)) {
      select.setInt(setScope(select, 0, scope) + 1, limit);
      return ListQuery.read(select, scope);
    }
  }

  private Slot slot(RunKey run) {
    return Objects.requireNonNull(slots.get(run), "slot");
  }

  @Override
  Optional<RunKey> findKey(RunScope scope, String idempotencyKey) {
    return Optional.ofNullable(keys.get(new ClaimedKey(scope, idempotencyKey)));
  }

  @Override
  long insertRun(RunKey run, RunRow.Origin origin, RunRow row) {
    long id = --provisionalId;
    Slot slot = new Slot(row.withId(id), workerOf(row));
    slot.inserted = origin;
    slots.put(run, slot);
    if (origin.idempotencyKey() != null) {
      keys.put(new ClaimedKey(run.scope(), origin.idempotencyKey()), run);
    }
    origin
        .metadata()
        .forEach(
            (name, value) -> {
              if (isSearchable(name, value)) {
                notes.add(new Note(id, name, value));
              }
            });
    return id;
  }

  @Override
  void update(RunKey run, RunRow before, RunRow after) {
    Slot slot = slot(run);
    slot.row = after;
    if (after.ownership() == Ownership.HERE || after.owner() == null) {
      slot.worker = workerOf(after); // else it stays with its owner's, also if that is gone
    }
    slot.changed = true;
  }

  /** Runs are due by the clock of the database. */
  @Override
  long nowNanos(long atCaller) throws SQLException {
    try (PreparedStatement select = connection.prepareStatement("SELECT " + LeaseTable.NOW_NANOS);
        ResultSet row = select.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  /** What this transaction has of it will not be sent. */
  @Override
  void delete(RunKey run, RunRow row) {
    deleted.add(row.id());
    slots.remove(run);
    driven.remove(run);
    keys.values().remove(run);
  }

  @Override
  void addEvent(long run, EventRow event, Writer writer, long appendId) {
    events.add(new Event(run, event, writer, appendId));
  }

  @Override
  Set<RunKey> send() throws SQLException {
    sendDeleted();
    List<RunKey> created =
        slots.keySet().stream()
            .filter(run -> slot(run).inserted != null)
            .sorted(Comparator.comparing(this::keyOf).thenComparing(ORDER))
            .toList();
    Map<Long, Long> ids = new HashMap<>(); // by provisional id
    Set<RunKey> lost = insert(created, ids);
    if (!lost.isEmpty()) {
      return lost;
    }
    note(ids);
    Set<RunKey> torn = write(ids);
    noteDriven(ids);
    return torn;
  }

  private void sendDeleted() throws SQLException {
    if (deleted.isEmpty()) {
      return;
    }
    events.removeIf(event -> deleted.contains(event.run()));
    notes.removeIf(note -> deleted.contains(note.run()));
    long[] ids = deleted.stream().mapToLong(Long::longValue).toArray();
    try (PreparedStatement delete = connection.prepareStatement(DELETE)) {
      for (int column = 1; column <= 4; column++) {
        delete.setObject(column, ids);
      }
      delete.executeUpdate();
    }
  }

  private void note(Map<Long, Long> ids) throws SQLException {
    if (notes.isEmpty()) {
      return;
    }
    try (PreparedStatement insert = connection.prepareStatement(INSERT_METADATA)) {
      setLongs(insert, 1, notes, note -> Objects.requireNonNull(ids.get(note.run())));
      setTexts(insert, 2, notes, Note::name);
      setTexts(insert, 3, notes, Note::value);
      insert.executeUpdate();
    }
  }

  /** Writes the rows of new runs; returns those that another process was faster with. */
  private Set<RunKey> insert(List<RunKey> runs, Map<Long, Long> ids) throws SQLException {
    Set<RunKey> lost = new HashSet<>(runs);
    if (runs.isEmpty()) {
      return lost;
    }
    List<Slot> rows = runs.stream().map(this::slot).toList();
    insertRuns.setString(1, worker().id());
    insertRuns.setObject(2, unseen ? worker().epoch() : null, Types.BIGINT);
    setScopes(insertRuns, 3, runs, RunKey::scope);
    setTexts(insertRuns, 6, runs, RunKey::runId);
    setTexts(insertRuns, 7, rows, slot -> origin(slot).agentId());
    setTexts(insertRuns, 8, rows, slot -> origin(slot).idempotencyKey());
    setTexts(insertRuns, 9, rows, slot -> slot.row.status().name());
    setLongs(insertRuns, 10, rows, slot -> slot.row.sequence());
    setLongs(insertRuns, 11, rows, PostgresSession::dueNanos);
    setTexts(insertRuns, 12, rows, slot -> slot.worker);
    setTexts(insertRuns, 13, rows, PostgresSession::ownerName);
    setLongs(insertRuns, 14, rows, PostgresSession::ownerEpoch);
    setLongs(insertRuns, 15, rows, slot -> origin(slot).createdNanos());
    setLongs(insertRuns, 16, rows, slot -> slot.row.updatedNanos());
    setInts(insertRuns, 17, rows, slot -> slot.row.claims());
    setTexts(insertRuns, 18, rows, slot -> slot.row.problem());
    setTexts(insertRuns, 19, rows, slot -> slot.row.signals());
    setTexts(insertRuns, 20, rows, slot -> origin(slot).parent());
    try (ResultSet row = insertRuns.executeQuery()) {
      while (row.next()) {
        RunKey run = ListQuery.readKey(row, 2);
        ids.put(slot(run).row.id(), row.getLong(1));
        lost.remove(run);
      }
    }
    return lost;
  }

  /** Two stores that claim the same keys insert them in one order, and never wait in a ring. */
  private String keyOf(RunKey created) {
    return Objects.requireNonNullElse(origin(slot(created)).idempotencyKey(), "");
  }

  private static RunRow.Origin origin(Slot slot) {
    return Objects.requireNonNull(slot.inserted, "inserted");
  }

  private @Nullable String workerOf(RunRow row) {
    return row.owner() == null ? null : worker().id();
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
    setTexts(write, 3, changed, slot -> slot.row.status().name());
    setLongs(write, 4, changed, PostgresSession::dueNanos);
    setLongs(write, 5, changed, slot -> slot.row.updatedNanos());
    setTexts(write, 6, changed, slot -> slot.worker);
    setTexts(write, 7, changed, PostgresSession::ownerName);
    setLongs(write, 8, changed, PostgresSession::ownerEpoch);
    setInts(write, 9, changed, slot -> slot.row.claims());
    setTexts(write, 10, changed, slot -> slot.row.problem());
    setTexts(write, 11, changed, slot -> slot.row.signals());
    setEvents(write, 12, ids);
    Set<Place> missing = new HashSet<>();
    for (Event event : events) {
      missing.add(new Place(ids.getOrDefault(event.run(), event.run()), event.row().sequence));
    }
    try (ResultSet row = write.executeQuery()) {
      while (row.next()) {
        missing.remove(new Place(row.getLong(1), row.getLong(2)));
      }
    }
    return missing.isEmpty() ? Set.of() : torn(missing, ids);
  }

  /** Sets the columns of all events, the first of which is at an index. */
  private void setEvents(PreparedStatement statement, int column, Map<Long, Long> ids)
      throws SQLException {
    setLongs(statement, column, events, event -> ids.getOrDefault(event.run(), event.run()));
    setLongs(statement, column + 1, events, event -> event.row().sequence);
    setLongs(statement, column + 2, events, Event::appendId);
    setTexts(statement, column + 3, events, event -> event.row().type);
    setInts(statement, column + 4, events, event -> event.row().version);
    setTexts(statement, column + 5, events, event -> event.writer().name());
    setLongs(statement, column + 6, events, event -> event.writer().epoch());
    setLongs(statement, column + 7, events, event -> event.row().timeNanos);
    setInts(statement, column + 8, events, event -> event.row().codec);
    byte[][] bodies = events.stream().map(event -> event.row().body).toArray(byte[][]::new);
    statement.setArray(column + 9, connection.createArrayOf("bytea", bodies));
  }

  private Set<RunKey> torn(Set<Place> missing, Map<Long, Long> ids) {
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

  private static long dueNanos(Slot slot) {
    Long due = slot.row.dueNanos();
    return due == null ? NEVER : due;
  }

  private static @Nullable String ownerName(Slot slot) {
    return slot.row.owner() == null ? null : slot.row.owner().name();
  }

  private static long ownerEpoch(Slot slot) {
    return slot.row.owner() == null ? 0 : slot.row.owner().epoch();
  }

  private <T> void setScopes(
      PreparedStatement statement, int column, List<T> rows, Function<T, RunScope> scope)
      throws SQLException {
    setTexts(statement, column, rows, row -> scope.apply(row).tenant());
    setTexts(statement, column + 1, rows, row -> scope.apply(row).user().orElse(""));
    setTexts(statement, column + 2, rows, row -> scope.apply(row).namespace().orElse(""));
  }

  private <T> void setTexts(
      PreparedStatement statement, int column, List<T> rows, Function<T, @Nullable String> text)
      throws SQLException {
    @Nullable String[] texts = new String[rows.size()];
    for (int n = 0; n < texts.length; n++) {
      texts[n] = text.apply(rows.get(n));
    }
    statement.setArray(column, connection.createArrayOf("text", texts));
  }

  /** Arrays of primitive numbers go as bytes, boxed ones as text. */
  private static <T> void setLongs(
      PreparedStatement statement, int column, List<T> rows, ToLongFunction<T> number)
      throws SQLException {
    long[] numbers = new long[rows.size()];
    for (int n = 0; n < numbers.length; n++) {
      numbers[n] = number.applyAsLong(rows.get(n));
    }
    statement.setObject(column, numbers);
  }

  private static <T> void setInts(
      PreparedStatement statement, int column, List<T> rows, ToIntFunction<T> number)
      throws SQLException {
    int[] numbers = new int[rows.size()];
    for (int n = 0; n < numbers.length; n++) {
      numbers[n] = number.applyAsInt(rows.get(n));
    }
    statement.setObject(column, numbers);
  }

  @Override
  void clear() {
    slots.clear();
    keys.clear();
    events.clear();
    notes.clear();
    deleted.clear();
    provisionalId = 0;
    unseen = false;
  }

  /** A commit is on the disk before anybody sees it. */
  @Override
  void sync() {}

  @Override
  void retire(Worker worker) throws SQLException {
    LeaseTable.retire(connection, worker);
    commit();
  }

  @Override
  public void close() throws SQLException {
    try {
      settings.restore(connection);
    } finally {
      super.close();
    }
  }
}
