package dev.warpwright.bench.durable;

import dev.dbos.transact.DBOS;
import dev.dbos.transact.config.DBOSConfig;
import dev.dbos.transact.workflow.Workflow;
import java.util.Objects;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The peer: DBOS Transact for Java, as it comes, with its own pool of ten connections. Its
 * workflows run on virtual threads too.
 */
final class Dbos implements AutoCloseable {
  private final DBOS dbos;
  private final Steps steps;

  /** The workflow. */
  interface Steps {
    /** Takes every step. */
    void take();
  }

  /** A workflow of so many steps that do nothing. */
  private static final class TrivialSteps implements Steps {
    private final DBOS dbos;
    private final int count;
    private final Runnable step;

    TrivialSteps(DBOS dbos, int count, Runnable step) {
      this.dbos = dbos;
      this.count = count;
      this.step = step;
    }

    @Override
    @Workflow
    public void take() {
      for (int n = 0; n < count; n++) {
        dbos.runStep(
            () -> {
              step.run();
              return "done";
            },
            "step");
      }
    }
  }

  /**
   * Launches it.
   *
   * @param url an empty database
   * @param count how many steps a workflow has
   * @param step what a step does
   */
  Dbos(String url, int count, Runnable step) {
    PGSimpleDataSource parsed = PostgresServer.source(url);
    this.dbos =
        new DBOS(
            DBOSConfig.defaults("bench")
                .withDatabaseUrl(url)
                .withDbUser(parsed.getUser())
                .withDbPassword(Objects.requireNonNullElse(parsed.getPassword(), "")));
    this.steps = dbos.registerProxy(Steps.class, new TrivialSteps(dbos, count, step));
    dbos.launch();
  }

  /** Runs one workflow to its end. */
  void run() throws Exception {
    dbos.startWorkflow(steps::take).getResult();
  }

  @Override
  public void close() {
    dbos.close();
  }
}
