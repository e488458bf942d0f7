package dev.warpwright.mcp;

import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.task.TaskTree;
import java.io.IOException;

/** The standard streams of a process: each session has a process of its own. */
final class StdioTransport implements Transport {
  private final Child.Launcher launcher;
  private final TaskTree tasks;
  private final Answers answers;

  /**
   * Starts nothing.
   *
   * @param launcher starts the server
   * @param tasks starts what reads and writes the streams
   */
  StdioTransport(Child.Launcher launcher, TaskTree tasks) {
    this.launcher = launcher;
    this.tasks = tasks;
    this.answers = new Answers(tasks);
  }

  @Override
  public Session open() throws ExchangeException {
    Child child;
    try {
      child = launcher.start();
    } catch (IOException e) {
      throw ExchangeException.notActedOn(
          ProviderException.builder(Kind.CONNECT, "The tool server could not be started.")
              .cause(e)
              .build());
    }
    return StdioSession.begin(child, tasks, answers);
  }

  /** Nothing is shared. */
  @Override
  public void close() {}

  @Override
  public String toString() {
    return String.valueOf(launcher);
  }
}
