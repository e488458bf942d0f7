package dev.warpwright.examples;

import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowContext;
import dev.warpwright.flow.FlowRequest;
import dev.warpwright.flow.Flows;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Worker;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.ManualTime;
import java.io.PrintStream;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Reminds people of what they want to do, until they say that it is done: a timer, then a signal
 * with a time limit, in a loop. A run that waits is a row in the store; a worker wakes it.
 *
 * <p>Time is moved by hand, so that four days take no time.
 */
final class Reminder {
  public record Task(String what, Instant at) {}

  private static final Duration DAY = Duration.ofDays(1);

  private final Flow<Task, String> reminder =
      Flow.of("reminder", Task.class, String.class, this::remind);

  private final PrintStream out;
  private final RunStore store;
  private final Outside outside;
  private final ManualTime time;
  private final Instant end;

  Reminder(PrintStream out, RunStore store, Outside outside, ManualTime time) {
    this.out = out;
    this.store = store;
    this.outside = outside;
    this.time = time;
    this.end = Instant.parse("2026-01-06T12:00:00Z");
  }

  static void main() {
    ManualTime time = new ManualTime(); // it is noon on 1 January 2026
    try (RunStore store = RunStore.inMemory(time)) {
      new Reminder(System.out, store, new Outside(), time).run();
    }
  }

  private String remind(FlowContext ctx, Task task) {
    ctx.sleepUntil(task.at());
    for (int reminders = 1; reminders <= 3; reminders++) {
      ctx.run("mail", step -> mail(step.idempotencyKey(), task.what()));
      Optional<String> answer = ctx.awaitSignal("done", String.class, DAY);
      if (answer.isPresent()) {
        return answer.get() + ", after " + reminders + " reminders";
      }
    }
    return "given up";
  }

  private void mail(String key, String what) {
    outside.once(key, time.now() + " mail: " + what + "!");
  }

  void run() {
    Flows flows = Flows.on(TaskTree.builder().time(time).build(), store);
    RunKey plants =
        start(flows, new Task("water the plants", Instant.parse("2026-01-02T06:00:00Z")));
    RunKey taxes = start(flows, new Task("do the taxes", Instant.parse("2026-01-02T18:00:00Z")));

    try (Worker worker =
        Worker.builder(store)
            .drives(flows.driver(reminder))
            .tasks(TaskTree.builder().time(time).build())
            .start()) {
      settle(worker);
      while (time.now().isBefore(end)) {
        time.advance(Duration.ofHours(6));
        settle(worker);
        if (outside.deeds().stream().filter(mail -> mail.contains("plants")).count() == 2
            && !isOver(plants)) {
          flows.signal(plants, "done", "they are wet", "the answer of the second mail");
          settle(worker);
        }
      }
    }
    outside.deeds().forEach(out::println);
    out.println("The plants: " + result(plants));
    out.println("The taxes: " + result(taxes));
  }

  private RunKey start(Flows flows, Task task) {
    return flows.enqueue(FlowRequest.builder(reminder, task).idempotencyKey(task.what()).build());
  }

  private static void settle(Worker worker) {
    if (!worker.awaitIdle(Duration.ofHours(1))) {
      throw new IllegalStateException("The worker was stopped.");
    }
  }

  private boolean isOver(RunKey run) {
    return state(run).status().isFinal();
  }

  private String result(RunKey run) {
    return String.valueOf(state(run).output().orElseThrow().value());
  }

  private RunState state(RunKey run) {
    return Runs.in(store, time).state(run).orElseThrow();
  }
}
