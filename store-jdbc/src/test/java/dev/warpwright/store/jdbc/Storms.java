package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.store.jdbc.CommitHook.Boundary;
import dev.warpwright.store.jdbc.CuttingProxy.Cut;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.postgresql.ds.PGSimpleDataSource;

/** What befalls a store and its callers while they append. */
final class Storms {
  private static final int CALLERS = 16;
  private static final int INTERRUPTS = 2_000; // of a round
  private static final int CUTS = 20; // of a round
  private static final int MAX_APPENDS = 100; // between two blows

  private Storms() {}

  /** Interrupts callers all the time: every call ends well, and the store still works. */
  static void interrupt(Ordeal ordeal, CrashRounds.Fresh fresh) throws Exception {
    while (ordeal.nextRound()) {
      Acknowledged acknowledged = new Acknowledged();
      Thread.Builder threads = ordeal.round() % 2 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
      try (JdbcRunStore store = Databases.builder(fresh.url()).open()) {
        try (AppendLoad load = AppendLoad.start(store, CALLERS, acknowledged, threads)) {
          for (int n = 0; n < INTERRUPTS; n++) {
            load.interruptOne(ordeal.random);
            ordeal.blow();
            if (n % 20 == 0) {
              load.await(1);
            }
          }
          load.await(CALLERS);
          assertEquals(0, load.unknown(), () -> "calls without an answer, " + ordeal.here());
        }
        acknowledged.check(store, ordeal.here());
      }
      ordeal.acknowledged(acknowledged.events());
    }
  }

  /** Cuts the store's connection around its commits: on the way there, on the way back, late. */
  static void cut(Ordeal ordeal, CrashRounds.Fresh fresh) throws Exception {
    long unknown = 0;
    while (ordeal.nextRound()) {
      String url = fresh.url();
      PGSimpleDataSource source = PostgresServer.source(url);
      int port = source.getPortNumbers()[0];
      AtomicReference<Cut> next = new AtomicReference<>();
      Acknowledged acknowledged = new Acknowledged();
      try (CuttingProxy proxy =
          new CuttingProxy(source.getServerNames()[0], port == 0 ? 5432 : port)) {
        proxy.deliver(); // what is delayed comes when the connection has gone
        source.setServerNames(new String[] {"127.0.0.1"});
        source.setPortNumbers(new int[] {proxy.port()});
        source.setSslMode("disable");
        CommitHook hook =
            boundary -> {
              if (boundary == Boundary.BEFORE_COMMIT) {
                Cut cut = next.getAndSet(null);
                if (cut != null) {
                  proxy.cut(cut);
                }
              }
            };
        try (JdbcRunStore store =
            JdbcRunStore.builder(source).owner("store").commitHook(hook).open()) {
          try (AppendLoad load =
              AppendLoad.start(store, CALLERS, acknowledged, Thread.ofVirtual())) {
            for (int n = 0; n < CUTS; n++) {
              load.await(1 + ordeal.random.nextInt(MAX_APPENDS));
              next.set(List.of(Cut.values()).get(ordeal.random.nextInt(Cut.values().length)));
              ordeal.blow();
            }
            load.await(CALLERS);
            unknown += load.unknown();
          }
          acknowledged.check(store, ordeal.here());
        }
      }
      ordeal.acknowledged(acknowledged.events());
    }
    ordeal.remark(unknown + " of unknown fate, which the log told");
  }

  /** Stops the server at once, or ends its backends; it recovers, and the store goes on. */
  static void stop(Ordeal ordeal) throws Exception {
    try (StoppedPostgres server = StoppedPostgres.start();
        JdbcRunStore store = Databases.builder(server.url()).open()) {
      Acknowledged acknowledged = new Acknowledged();
      int stops = 0;
      try (AppendLoad load = AppendLoad.start(store, CALLERS, acknowledged, Thread.ofVirtual())) {
        while (ordeal.nextRound()) {
          load.await(1 + ordeal.random.nextInt(MAX_APPENDS));
          if (ordeal.round() % 3 == 1) {
            server.stopAndStart();
            stops++;
          } else {
            PostgresServer.terminateOthers(server.url());
          }
          ordeal.blow();
          load.await(CALLERS);
        }
      }
      acknowledged.check(store, ordeal.here());
      ordeal.acknowledged(acknowledged.events());
      ordeal.remark(stops + " stops of the server");
    }
  }
}
