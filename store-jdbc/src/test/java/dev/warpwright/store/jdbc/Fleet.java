package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.Json;
import dev.warpwright.run.CallState;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ToolReconciled.Verdict;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.tool.EffectClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Three {@linkplain ToolWorker workers} on one PostgreSQL, which drive runs while one of them is
 * killed, or frozen for twice its lease, every now and then.
 *
 * <p>In the end all are killed, a person says of each call in doubt what the world shows, fresh
 * workers finish, and every log and every effect is looked at.
 */
final class Fleet implements AutoCloseable {
  /** What is done to a worker. */
  enum Harm {
    KILL,
    FREEZE
  }

  private static final int WORKERS = 3;
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  private final Ordeal ordeal;
  private final Harm harm;
  private final String url;
  private final Path world;
  private final Duration lease;
  private final Duration pause; // between blows, on average
  private final JdbcRunStore store;
  private final Gateway gateway = ToolWorker.gateway();
  private final Agents agents;
  private final List<ChildJvm> workers = new ArrayList<>();
  private final List<String> names = new ArrayList<>();
  private final List<RunKey> runs = new ArrayList<>();
  private int started;
  private int decided;

  private Fleet(Ordeal ordeal, Harm harm, String url, Path world, Duration lease, Duration pause) {
    this.ordeal = ordeal;
    this.harm = harm;
    this.url = url;
    this.world = world;
    this.lease = lease;
    this.pause = pause;
    this.store = Databases.builder(url).owner("client").open();
    this.agents = Agents.on(gateway, store);
  }

  /** Queues so many runs over a time in which workers suffer, and sees them all to their end. */
  static void drive(
      Ordeal ordeal,
      Harm harm,
      String url,
      Path world,
      int runs,
      Duration time,
      Duration lease,
      Duration pause)
      throws Exception {
    try (Fleet fleet = new Fleet(ordeal, harm, url, world, lease, pause)) {
      assertTrue(ordeal.nextRound());
      fleet.suffer(runs, time);
      fleet.finish();
      fleet.check();
    }
  }

  private void suffer(int wanted, Duration time) throws Exception {
    for (int n = 0; n < WORKERS; n++) {
      workers.add(start("worker-" + ++started));
      names.add("worker-" + started);
    }
    Agent agent = ToolWorker.agent(world);
    long begin = System.nanoTime();
    long nextBlow = begin + pause.toNanos();
    for (long now = begin; now - begin < time.toNanos(); now = System.nanoTime()) {
      long due = Math.min(wanted, 1 + wanted * (now - begin) * 10 / (time.toNanos() * 9));
      while (runs.size() < due) {
        runs.add(agents.enqueue(AgentRequest.builder(agent, "Do all of it.").build()));
      }
      if (now - nextBlow > 0) {
        int victim = ordeal.random.nextInt(WORKERS);
        if (harm == Harm.KILL) {
          kill(victim);
        } else {
          workers.get(victim).freeze();
          Pause.millis(lease.multipliedBy(2).toMillis());
          workers.get(victim).thaw();
        }
        ordeal.blow();
        nextBlow =
            System.nanoTime() + pause.toNanos() / 2 + ordeal.random.nextLong(pause.toNanos());
      }
      Pause.millis(20);
    }
    while (runs.size() < wanted) {
      runs.add(agents.enqueue(AgentRequest.builder(agent, "Do all of it.").build()));
    }
  }

  /** The next one has the same name, and its runs at once, or another one. */
  private void kill(int victim) throws IOException {
    workers.get(victim).close();
    if (ordeal.random.nextBoolean()) {
      names.set(victim, "worker-" + ++started);
    }
    workers.set(victim, start(names.get(victim)));
  }

  private ChildJvm start(String name) throws IOException {
    return ChildJvm.start(
        ToolWorker.class, url, name, world.toString(), String.valueOf(lease.toMillis()));
  }

  /** Until every run has ended: while nobody is alive who might still act, a person decides. */
  private void finish() throws Exception {
    long begin = System.nanoTime();
    while (count("status <> 'COMPLETED'") > 0) {
      for (ChildJvm worker : workers) {
        worker.close();
      }
      workers.clear();
      decide();
      for (int n = 0; n < WORKERS; n++) {
        workers.add(start("finisher-" + ++started));
      }
      while (count("status <> 'COMPLETED'") > Runs.in(store).inDoubt(RunScope.DEFAULT).size()) {
        assertEquals(0, count("status IN ('FAILED', 'CANCELLED', 'TIMED_OUT')"), ordeal.here());
        assertTrue(
            System.nanoTime() - begin < PATIENCE.toNanos(),
            () -> "runs do not end: " + standing() + ", " + ordeal.here());
        Pause.millis(100);
      }
    }
  }

  private long count(String condition) throws SQLException {
    return Databases.execute(
        url, "SELECT COUNT(*) FROM ww_run WHERE agent_id = 'torture' AND " + condition);
  }

  private String standing() {
    try {
      Map<String, Long> counts = new HashMap<>();
      for (RunStatus status : RunStatus.values()) {
        counts.put(status.name(), count("status = '" + status + "'"));
      }
      counts.put(
          "quarantined", (long) store.stranded(RunScope.DEFAULT, 1000, Acknowledged.soon()).size());
      return counts.toString();
    } catch (SQLException e) {
      return e.toString();
    }
  }

  /** A run that is decided is due, and goes on with the next worker. */
  private void decide() throws IOException {
    Runs all = Runs.in(store);
    Map<String, Integer> effects = effects();
    for (List<RunState> page = all.inDoubt(RunScope.DEFAULT);
        !page.isEmpty();
        page = all.inDoubt(RunScope.DEFAULT)) {
      for (RunState state : page) {
        for (CallState call : state.inDoubt()) {
          String key = call.started().orElseThrow().key();
          boolean done = effects.containsKey(key);
          var _ =
              all.reconcile(
                  state.run(),
                  new RunEvent.ToolReconciled(
                      call.call().id(),
                      key,
                      done ? Verdict.SUCCEEDED : Verdict.NOT_EXECUTED,
                      done ? Optional.of(Json.of("done")) : Optional.empty(),
                      "ann"));
          decided++;
        }
      }
    }
  }

  /** How often the world saw the effect of each key. */
  private Map<String, Integer> effects() throws IOException {
    Map<String, Integer> effects = new HashMap<>();
    if (Files.exists(world)) {
      for (String line : Files.readAllLines(world)) {
        effects.merge(line.substring(line.indexOf(' ') + 1), 1, Integer::sum);
      }
    }
    return effects;
  }

  private void check() throws IOException {
    Map<String, Integer> effects = effects();
    int once = 0;
    int late = 0;
    for (RunKey run : runs) {
      List<LoggedEvent> log = store.load(run, 1, Acknowledged.soon());
      assertEquals(RunStatus.COMPLETED, RunState.of(log).status(), () -> run + ordeal.here());
      ordeal.acknowledged(log.size());
      late += late(log);
      Map<String, EffectClass> keys = new HashMap<>();
      for (LoggedEvent logged : log) {
        if (logged.event() instanceof RunEvent.ToolStarted tool) {
          keys.put(tool.key(), tool.effect());
        }
      }
      for (Map.Entry<String, EffectClass> key : keys.entrySet()) {
        Integer seen = effects.remove(key.getKey());
        if (key.getValue() == EffectClass.ONCE) {
          once++;
          ordeal.lost(seen == null ? 1 : 0);
          ordeal.duplicates(seen == null ? 0 : seen - 1);
        }
      }
    }
    ordeal.remark(runs.size() + " runs, " + once + " effects that must be once");
    ordeal.remark(decided + " decided by a person");
    ordeal.remark(late + " late events");
    assertEquals(ToolWorker.ONCE_CALLS * runs.size(), once, ordeal.here());
    assertEquals(Map.of(), effects, () -> "effects of no run, " + ordeal.here());
    assertEquals(0, ordeal.lost(), () -> "effects that are missing, " + ordeal.here());
    assertEquals(0, ordeal.duplicates(), () -> "effects twice, " + ordeal.here());
    assertEquals(0, late, () -> "events of who had lost the run, " + ordeal.here());
    assertEquals(runs.size(), new HashSet<>(runs).size());
  }

  /** Events of an owner after those of a later one; each ownership has a writer of its own. */
  private static int late(List<LoggedEvent> log) {
    int late = 0;
    Set<Writer> gone = new HashSet<>();
    Map<String, Long> epochs = new HashMap<>();
    Writer owner = null;
    for (LoggedEvent logged : log) {
      Writer writer = logged.writer();
      if (!writer.isOwner() || writer.equals(owner)) {
        continue;
      }
      String worker = writer.name().substring(0, writer.name().lastIndexOf('#'));
      boolean older = epochs.merge(worker, writer.epoch(), Math::max) > writer.epoch();
      if (older || gone.contains(writer)) {
        late++;
      }
      if (owner != null) {
        gone.add(owner);
      }
      owner = writer;
    }
    return late;
  }

  @Override
  public void close() throws IOException {
    for (ChildJvm worker : workers) {
      worker.thaw();
      worker.close();
    }
    store.close();
    gateway.close();
  }
}
