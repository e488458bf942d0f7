package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.StoreException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.Writer;
import dev.warpwright.task.TimeSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Commits on H2 in memory. */
final class H2CommitTest extends CommitContract {
  @Override
  String database() {
    return Databases.inMemory();
  }

  @Test
  @Tag("A121")
  void a_connection_that_cannot_be_prepared_is_given_back() throws Exception {
    String url = reopen(TimeSource.system(), Duration.ofSeconds(30));
    RunKey run = run(1);
    Writer owner = create(run);
    try (Connection other = Databases.connect(url);
        Statement statement = other.createStatement()) {
      statement.execute("ALTER TABLE ww_run RENAME TO ww_hidden");
      for (int n = 0; n < 5; n++) {
        assertThrows(StoreException.class, () -> store.append(append(run, 1, owner), soon()));
      }
      statement.execute("ALTER TABLE ww_hidden RENAME TO ww_run");
      store.append(append(run, 1, owner), soon());

      try (ResultSet sessions =
          statement.executeQuery("SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS")) {
        sessions.next();
        assertEquals(2, sessions.getInt(1), "this one and the journal's");
      }
    }
  }
}
