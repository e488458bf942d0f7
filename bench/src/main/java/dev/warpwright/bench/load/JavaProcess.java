package dev.warpwright.bench.load;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Another process with the class path of this one. */
public final class JavaProcess {
  private JavaProcess() {}

  /**
   * Describes it; what it writes to standard error is shown with that of this process.
   *
   * @param main its program
   * @param arguments what the program is given
   * @return what to start
   */
  public static ProcessBuilder of(Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  /**
   * Runs a process to its end.
   *
   * @param process what to start
   * @throws IOException if it cannot be started
   * @throws InterruptedException if this thread was interrupted; the process is ended then
   * @throws IllegalStateException if it failed
   */
  public static void run(ProcessBuilder process) throws IOException, InterruptedException {
    Process running = process.start();
    try {
      int status = running.waitFor();
      if (status != 0) {
        throw new IllegalStateException("A process failed with status " + status + ".");
      }
    } finally {
      running.destroy();
    }
  }
}
