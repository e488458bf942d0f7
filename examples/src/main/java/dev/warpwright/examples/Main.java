package dev.warpwright.examples;

import dev.warpwright.task.DummyTask;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Dummy: prints its options. */
@Command(name = "warpwright-examples", subcommands = Main.Triage.class)
final class Main {
  private Main() {}

  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).addSubcommand("approve", new Triage()).execute(args));
  }

  @Command(name = "triage")
  static final class Triage implements Runnable {
    @Option(names = "--input")
    String input = "";

    @Option(names = "--out")
    String out = "";

    @Option(names = "--db")
    String db = "";

    @Option(names = "--all")
    boolean all;

    @Override
    public void run() {
      try {
        DummyTask.run(() -> System.out.println(input + " " + out + " " + db + " " + all));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
