package dev.warpwright.mcp;

import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ErrorTable;
import dev.warpwright.task.TaskTree;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Streamable HTTP: each message is a request of its own to the one URL of the server. */
final class HttpTransport implements Transport {
  /** Servers say what went wrong in words only. */
  static final ErrorTable ERRORS =
      new ErrorTable("The tool server", "x-request-id", Map.of(), Set.of(), List.of());

  private final Connection connection;
  private final String path;
  private final TaskTree tasks;
  private final Answers answers;

  /**
   * Contacts nothing.
   *
   * @param connection the way to the server; closed with this
   * @param path what stands behind the connection's base URL: nothing, or a slash
   * @param tasks starts what is sent beside a call
   */
  HttpTransport(Connection connection, String path, TaskTree tasks) {
    this.connection = connection;
    this.path = path;
    this.tasks = tasks;
    this.answers = new Answers(tasks);
  }

  @Override
  public Session open() {
    return new HttpSession(connection, path, tasks, answers);
  }

  @Override
  public void close() {
    connection.close();
  }

  @Override
  public String toString() {
    return connection + path;
  }
}
