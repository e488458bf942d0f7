package dev.warpwright.examples;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.WarpwrightException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/** The command line: finds the command, and turns every failure into one line and an exit code. */
@Command(
    name = Main.NAME,
    description = "Triages support tickets with an agent, in durable runs.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:nothing failed", "1:something failed", "2:wrong arguments"})
final class Main {
  static final String NAME = "warpwright-examples";

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Shows this help.")
  @SuppressWarnings("UnusedVariable") // picocli acts on it
  private boolean help;

  private Main() {}

  static void main(String[] args) {
    StandardOutput output = new StandardOutput();
    PrintWriter out = new PrintWriter(output, true, System.out.charset());
    PrintWriter err = new PrintWriter(System.err, true, System.err.charset());
    Console console = new Console(out, err);
    int exitCode = execute(console, args);
    out.flush();
    System.exit(exitCode == 0 && isLost(output, console) ? 1 : exitCode);
  }

  private static boolean isLost(StandardOutput output, Console console) {
    Optional<IOException> failure = output.failure();
    failure.ifPresent(
        lost -> console.error("Cannot write to standard output: " + lost.getMessage() + "."));
    return failure.isPresent();
  }

  static int execute(Console console, String... args) {
    return execute(console, commands(console), args);
  }

  /** Runs one of the commands; an error of the JVM is one line too. */
  static int execute(Console console, CommandLine commands, String... args) {
    try {
      return commands.execute(args);
    } catch (OutOfMemoryError e) {
      console.error("Out of memory (" + e.getMessage() + "); give Java more with -Xmx.");
      return 1;
    } catch (Error e) {
      console.error("Unexpected: " + e);
      return 1;
    }
  }

  private static CommandLine commands(Console console) {
    return new CommandLine(new Main())
        .addSubcommand(new TriageCommand(console))
        .addSubcommand(new WorkCommand(console))
        .addSubcommand(new ApproveCommand(console))
        .addSubcommand(new RunsCommand(console))
        .addSubcommand(new ShowCommand(console))
        .addSubcommand(new CancelCommand(console))
        .addSubcommand(new DenyCommand(console))
        .addSubcommand(new ReconcileCommand(console))
        .addSubcommand(new ResumeCommand(console))
        .addSubcommand(new ForkCommand(console))
        .addSubcommand(new ExportCommand(console))
        .addSubcommand(new ImportCommand(console))
        .addSubcommand(new StrandedCommand(console))
        .addSubcommand(new ReadmitCommand(console))
        .addSubcommand(new DeleteCommand(console))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setOut(console.out())
        .setErr(console.err())
        .setParameterExceptionHandler((wrong, _) -> wrongArguments(console, wrong))
        .setExecutionExceptionHandler((failure, _, _) -> failed(console, failure));
  }

  private static int wrongArguments(Console console, ParameterException wrong) {
    String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
    String message =
        String.valueOf(wrong.getMessage()).replaceFirst("^Error: ", "").replaceFirst("\\.?$", ".");
    console.error(message + " See: " + command + " --help");
    return 2;
  }

  private static int failed(Console console, Exception failure) {
    switch (failure) {
      case JobException told -> console.error(told.getMessage());
      case WarpwrightException told -> console.error(String.valueOf(told.getMessage()));
      case UncheckedIOException io -> console.error(io.getMessage() + " " + io.getCause());
      default -> console.error("Unexpected: " + failure);
    }
    return isWrongArgument(failure) ? 2 : 1;
  }

  private static boolean isWrongArgument(Exception failure) {
    return failure instanceof JobException.Usage
        || (failure instanceof WarpwrightException refused
            && refused.kind() == FailureKind.INVALID_CONFIGURATION);
  }
}
