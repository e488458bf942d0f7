package dev.warpwright.store.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** A data source whose connections a test changes or watches on the way to the driver. */
final class Interposed {
  private Interposed() {}

  /** What is done with a connection before the store gets it. */
  @FunctionalInterface
  interface Change {
    Connection apply(Connection connection) throws SQLException;
  }

  /** What stands in for a call; returns {@link #PASS} for one that it does not touch. */
  @FunctionalInterface
  interface Call {
    Object answer(String method, Object[] arguments) throws Throwable;
  }

  static final Object PASS = new Object();

  static DataSource source(DataSource real, Change change) {
    return proxy(
        DataSource.class,
        real,
        (method, arguments) ->
            method.equals("getConnection") ? change.apply(real.getConnection()) : PASS);
  }

  /** A data source on which each statement is another one. */
  static DataSource rewriting(DataSource real, UnaryOperator<String> sql) {
    return source(
        real,
        connection ->
            proxy(
                Connection.class,
                connection,
                (method, arguments) ->
                    switch (method) {
                      case "prepareStatement" ->
                          connection.prepareStatement(sql.apply((String) arguments[0]));
                      case "createStatement" -> rewriting(connection.createStatement(), sql);
                      default -> PASS;
                    }));
  }

  private static Statement rewriting(Statement statement, UnaryOperator<String> sql) {
    return proxy(
        Statement.class,
        statement,
        (method, arguments) ->
            method.equals("executeQuery")
                ? statement.executeQuery(sql.apply((String) arguments[0]))
                : PASS);
  }

  static <T> T proxy(Class<T> type, T real, Call call) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) -> {
              Object answer = call.answer(method.getName(), arguments);
              if (answer != PASS) {
                return answer;
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
