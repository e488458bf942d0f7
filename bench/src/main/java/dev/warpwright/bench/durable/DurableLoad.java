package dev.warpwright.bench.durable;

import dev.warpwright.bench.durable.LoadOptions.What;
import dev.warpwright.bench.load.Environment;
import dev.warpwright.bench.load.Load;
import dev.warpwright.bench.load.Meter;
import dev.warpwright.bench.load.Rounds;
import dev.warpwright.bench.report.Question;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * How many durable steps a second there are, and how far that is from what the database can do and
 * from a peer: all in one run, on one machine, each measurement in a fresh database.
 *
 * <ul>
 *   <li>{@code agents}: agents with a model that answers at once and trivial tools, so many at the
 *       same time, each caller one after the other. A step is a model's answer and a tool's
 *       outcome, both durable; {@code PURE} tools have no intent in the log, {@code ONCE} tools
 *       have. The ratio is to the peer's steps, once counted in steps, once in outcomes.
 *   <li>{@code flows}: flows of trivial steps, each one outcome; {@code LOGGED} steps have an
 *       intent besides. The ratio is to the peer's steps.
 *   <li>{@code appends}: one event at a time on the store's port. The ratio is to {@code raw} of
 *       the same rows.
 *   <li>{@code raw}: the fenced batch insert on one connection, with group commit and nothing else;
 *       with the row of the run or without.
 *   <li>{@code dbos}: workflows of DBOS Transact for Java, their steps trivial. A step is one
 *       outcome.
 * </ul>
 */
@Question(
    place = 16,
    value = "How many durable steps are there in a second?",
    by = "what",
    baseline = "dbos")
public final class DurableLoad {
  static final String DBOS_VARIANT = "steps";

  private final LoadOptions options;
  private final Servers servers;
  private Figures figures = new Figures(); // of the round

  private DurableLoad(LoadOptions options, Servers servers) {
    this.options = options;
    this.servers = servers;
  }

  /**
   * Measures and prints.
   *
   * @param arguments see the usage, which {@code --help} prints
   * @throws Exception if a measurement failed
   */
  public static void main(String[] arguments) throws Exception {
    LoadOptions options;
    try {
      options = LoadOptions.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.err.println(LoadOptions.USAGE);
      System.exit(2);
      return;
    }
    try (Servers servers = new Servers()) {
      new DurableLoad(options, servers).run();
    }
  }

  private void run() throws Exception {
    List<Figures> rounds = new ArrayList<>();
    while (rounds.size() < options.rounds()) {
      figures = new Figures();
      round();
      rounds.add(figures);
      System.out.println();
      System.out.print(figures.table());
    }
    if (options.json().isPresent()) {
      Rounds.write(
          options.json().get(),
          DurableLoad.class,
          environment(),
          rounds.stream().map(Figures::toMaps).toList());
    }
  }

  private void round() throws Exception {
    for (int callers : options.callers()) {
      for (What what : options.what().reversed()) { // what is compared with, first
        switch (what) {
          case DBOS -> dbos(callers);
          case RAW -> raw(callers);
          case APPENDS -> appends(callers);
          case FLOWS -> flows(callers);
          case AGENTS -> agents(callers);
        }
      }
    }
  }

  private Map<String, String> environment() throws IOException, SQLException {
    Map<String, String> environment = Environment.here();
    environment.put("steps of a run", String.valueOf(options.steps()));
    environment.put("seconds", String.valueOf(options.seconds()));
    if (servers.isStarted()) {
      environment.put("postgres", servers.postgres().describe());
    }
    return environment;
  }

  private void agents(int callers) throws Exception {
    for (StoreKind kind : options.stores()) {
      for (EffectClass effect : List.of(EffectClass.PURE, EffectClass.ONCE)) {
        Meter meter = new Meter();
        try (Database database = Database.fresh(kind, servers);
            RunStore store = database.open();
            TrivialAgent trivial = TrivialAgent.of(options.steps(), effect, meter::unit)) {
          measure(
              new Subject(What.AGENTS, effect.toString(), database, callers),
              meter,
              number -> repeating(kind, store, trivial::on, trivial::run));
        }
      }
    }
  }

  private void flows(int callers) throws Exception {
    for (StoreKind kind : options.stores()) {
      for (TrivialFlow.Intent intent : TrivialFlow.Intent.values()) {
        Meter meter = new Meter();
        try (Database database = Database.fresh(kind, servers);
            RunStore store = database.open()) {
          TrivialFlow trivial = new TrivialFlow(options.steps(), intent, meter::unit);
          measure(
              new Subject(What.FLOWS, intent.toString(), database, callers),
              meter,
              number -> repeating(kind, store, trivial::on, trivial::run));
        }
      }
    }
  }

  /**
   * A caller that begins one run after the other. A store in memory keeps what has ended: there, it
   * takes a new one before that costs anything.
   */
  private static <R> Load.Call repeating(
      StoreKind kind, RunStore store, Function<RunStore, R> opened, Consumer<R> run) {
    return new Load.Call() {
      private static final int MAX_RUNS = 100;
      private int runs;
      private R runner = opened.apply(store);

      @Override
      public void once() {
        if (kind == StoreKind.MEMORY && runs++ % MAX_RUNS == 0) {
          runner = opened.apply(RunStore.inMemory());
        }
        run.accept(runner);
      }
    };
  }

  private void appends(int callers) throws Exception {
    for (StoreKind kind : options.stores()) {
      Meter meter = new Meter();
      try (Database database = Database.fresh(kind, servers);
          RunStore store = database.open()) {
        measure(
            new Subject(What.APPENDS, "", database, callers),
            meter,
            number -> Appends.caller(store, meter, number));
      }
    }
  }

  private void raw(int callers) throws Exception {
    for (StoreKind kind : options.stores()) {
      if (kind == StoreKind.MEMORY) {
        continue;
      }
      for (RawLog.Rows rows : RawLog.Rows.values()) {
        Meter meter = new Meter();
        try (Database database = Database.fresh(kind, servers)) {
          List<Long> runs = RawLog.createRuns(database, callers);
          try (RawLog raw = RawLog.open(database, rows);
              GroupCommit<RawLog.Row> log = new GroupCommit<>(raw)) {
            measure(
                new Subject(What.RAW, rows.toString(), database, callers),
                meter,
                number -> RawLog.caller(log, runs.get(number), meter));
          }
        }
      }
    }
  }

  private void dbos(int callers) throws Exception {
    if (!options.stores().contains(StoreKind.POSTGRES)) {
      return;
    }
    Meter meter = new Meter();
    try (Database database = Database.fresh(StoreKind.POSTGRES, servers);
        Dbos dbos = new Dbos(database.url(), options.steps(), meter::unit)) {
      measure(new Subject(What.DBOS, DBOS_VARIANT, database, callers), meter, number -> dbos::run);
    }
  }

  /** A step of an agent is the outcome of a tool and that of the model call which asked for it. */
  private double outcomesPerUnit(What what) {
    return what == What.AGENTS ? (2.0 * options.steps() + 1) / options.steps() : 1;
  }

  private record Subject(What what, String variant, Database database, int callers) {}

  private void measure(Subject subject, Meter meter, Load.Caller work) throws Exception {
    Load.Outcome<Database.Counters> outcome =
        options.load().run(subject.callers(), meter, work, subject.database()::counters);
    Database.Counters counted = outcome.after().since(outcome.before());
    Figure figure =
        new Figure(
            subject.what(),
            subject.variant(),
            subject.database().kind(),
            subject.callers(),
            outcome.perSecond(),
            outcomesPerUnit(subject.what()),
            outcome.p50(),
            outcome.p99(),
            perUnit(counted.commits(), outcome.units()),
            perUnit(counted.walBytes(), outcome.units()));
    figures.add(figure);
    System.out.printf(
        "%s %s %s, %d callers: %.0f/s%n",
        figure.what(), figure.variant(), figure.store(), figure.callers(), figure.perSecond());
  }

  private static OptionalDouble perUnit(OptionalLong count, long units) {
    return count.isPresent() && units > 0
        ? OptionalDouble.of(count.getAsLong() / (double) units)
        : OptionalDouble.empty();
  }
}
