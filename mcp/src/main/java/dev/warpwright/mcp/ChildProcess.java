package dev.warpwright.mcp;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How the process of a server is started.
 *
 * <p>It inherits only those variables of the environment that programs need to find their files:
 * the others hold this program's keys. Its standard error is not read, so nothing has to drain it.
 *
 * @param command program and arguments
 * @param environment more variables
 * @param directory where it runs; without one, where this program does
 * @param showErrors whether its standard error is this program's; else it is discarded
 */
record ChildProcess(
    List<String> command,
    Map<String, String> environment,
    @Nullable Path directory,
    boolean showErrors)
    implements Child.Launcher {
  private static final long PATIENCE_MILLIS = 1_000;

  private static final Set<String> INHERITED =
      Set.of(
          "APPDATA",
          "COMSPEC",
          "HOME",
          "HOMEDRIVE",
          "HOMEPATH",
          "LANG",
          "LC_ALL",
          "LC_CTYPE",
          "LOCALAPPDATA",
          "LOGNAME",
          "PATH",
          "PATHEXT",
          "PROGRAMDATA",
          "PROGRAMFILES",
          "SHELL",
          "SYSTEMDRIVE",
          "SYSTEMROOT",
          "TEMP",
          "TMP",
          "TMPDIR",
          "TZ",
          "USER",
          "USERNAME",
          "USERPROFILE");

  @Override
  public Child start() throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    keepHarmless(builder.environment());
    builder.environment().putAll(environment);
    if (directory != null) {
      builder.directory(directory.toFile());
    }
    builder.redirectError(
        showErrors ? ProcessBuilder.Redirect.INHERIT : ProcessBuilder.Redirect.DISCARD);
    Process process = builder.start();
    return new Child(process.getInputStream(), process.getOutputStream(), new Ending(process));
  }

  /** Takes out of an environment what a server need not have. */
  static void keepHarmless(Map<String, String> variables) {
    variables.keySet().removeIf(name -> !INHERITED.contains(name.toUpperCase(Locale.ROOT)));
  }

  private record Ending(Process process) implements Child.End {
    @Override
    public void gently() {
      try {
        if (process.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
          return;
        }
        process.destroy();
        if (process.waitFor(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
          return;
        }
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
      now();
    }

    /** Descendants first: one that lives on would keep the pipe open that is read. */
    @Override
    public void now() {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** Shows the program, not its arguments, which may hold a secret. */
  @Override
  public String toString() {
    return command.getFirst();
  }
}
