package dev.warpwright.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Commits that take place and get no answer, or are held up, when a test wants it. */
final class LostCommits {
  private final AtomicInteger toLose = new AtomicInteger();
  private volatile CountDownLatch reached = new CountDownLatch(0);
  private volatile CountDownLatch opened = new CountDownLatch(0);

  DataSource source(DataSource real) {
    return Interposed.source(
        real,
        connection ->
            Interposed.proxy(
                Connection.class,
                connection,
                (method, arguments) -> {
                  if (!method.equals("commit")) {
                    return Interposed.PASS;
                  }
                  reached.countDown();
                  opened.await();
                  boolean lost = toLose.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
                  connection.commit();
                  if (lost) {
                    throw new SQLException("The test loses the answer to a commit.");
                  }
                  return null;
                }));
  }

  /** Loses the answers to the next commits. */
  void lose(int commits) {
    toLose.set(commits);
  }

  /** Holds up the next commit, and those after it, until it is let go. */
  void hold() {
    opened = new CountDownLatch(1);
    reached = new CountDownLatch(1);
  }

  void awaitHeld() throws InterruptedException {
    reached.await();
  }

  void letGo() {
    opened.countDown();
  }
}
