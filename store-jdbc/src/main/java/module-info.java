import org.jspecify.annotations.NullMarked;

/** The run store in a database: H2 in a file, or PostgreSQL. */
@NullMarked
@SuppressWarnings("requires-automatic") // H2 and Flyway have no module descriptor
module dev.warpwright.store.jdbc {
  requires com.h2database;
  requires flyway.core;
  requires org.slf4j;
  requires static org.jspecify;
  requires transitive dev.warpwright.engine;
  requires transitive java.sql;

  exports dev.warpwright.store.jdbc;
}
