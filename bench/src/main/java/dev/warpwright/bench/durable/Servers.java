package dev.warpwright.bench.durable;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The database servers of a program, started when first asked for. Not thread-safe. */
final class Servers implements AutoCloseable {
  private @Nullable PostgresServer postgres;

  PostgresServer postgres() throws IOException {
    PostgresServer running = postgres;
    if (running == null) {
      running = PostgresServer.start();
      postgres = running;
    }
    return running;
  }

  boolean isStarted() {
    return postgres != null;
  }

  @Override
  public void close() throws IOException {
    if (postgres != null) {
      postgres.close();
    }
  }
}
