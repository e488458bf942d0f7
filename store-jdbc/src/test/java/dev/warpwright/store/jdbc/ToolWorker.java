package dev.warpwright.store.jdbc;

import dev.warpwright.Gateway;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.run.Worker;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Reconciler.Finding;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolContext;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A process that drives the runs of one agent until it is killed. The agent calls a pure tool, an
 * idempotent one, one that acts once and can be asked whether it did, and one that cannot; the
 * world, in which they act, is a file to which each effect adds a line.
 *
 * <p>Arguments: the URL, the name of the worker, the file, the milliseconds of the lease.
 */
final class ToolWorker {
  static final String AGENT = "torture";
  static final int ONCE_CALLS = 2; // of a run

  private static final Target TARGET = Target.of("none", "instant");
  private static final List<String> TOOLS = List.of("look", "note", "charge", "send");
  private static final int MAX_PAUSE_MILLIS = 8;
  private static final int MAX_RUNS = 24;

  private ToolWorker() {}

  public static void main(String[] arguments) throws InterruptedException {
    JdbcRunStore store =
        Databases.builder(arguments[0])
            .owner(arguments[1])
            .lease(Duration.ofMillis(Long.parseLong(arguments[3])))
            .open();
    Agents agents = Agents.on(gateway(), store);
    Worker worker =
        Worker.builder(store)
            .drives(agents.driver(agent(Path.of(arguments[2]))))
            .maxRuns(MAX_RUNS)
            .tasks(agents.tasks())
            .start();
    System.out.println("open");
    Thread.currentThread().join();
    worker.close();
  }

  static Gateway gateway() {
    return Gateway.builder().adapter(TARGET.provider(), id -> new Model()).build();
  }

  /** What a tool is given. */
  public record Input(int number) {}

  static Agent agent(Path world) {
    return Agent.builder(AGENT, Route.of(TARGET))
        .tools(
            Tool.builder(
                    "look",
                    "Looks.",
                    Input.class,
                    MethodHandles.lookup(),
                    EffectClass.PURE,
                    (input, context) -> "seen")
                .build(),
            acting("note", EffectClass.IDEMPOTENT, world).build(),
            acting("charge", EffectClass.ONCE, world)
                .reconciler((key, input) -> find(world, key))
                .build(),
            acting("send", EffectClass.ONCE, world).build())
        .maxSteps(TOOLS.size() + 1)
        .build();
  }

  private static Tool.Builder<Input> acting(String name, EffectClass effect, Path world) {
    return Tool.builder(
        name,
        "Acts.",
        Input.class,
        MethodHandles.lookup(),
        effect,
        (input, context) -> act(name, world, context));
  }

  /** One line, which the system adds whole; some time passes on both sides of it. */
  private static String act(String tool, Path world, ToolContext context) throws IOException {
    Pause.millis(ThreadLocalRandom.current().nextInt(MAX_PAUSE_MILLIS));
    String line = tool + " " + context.idempotencyKey() + "\n";
    Files.write(
        world,
        line.getBytes(StandardCharsets.UTF_8),
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND);
    Pause.millis(ThreadLocalRandom.current().nextInt(MAX_PAUSE_MILLIS));
    return "done";
  }

  /** That there is no line proves nothing: a process that is frozen may still write it. */
  private static Finding find(Path world, String key) throws IOException {
    return Files.exists(world) && Files.readString(world).contains("charge " + key + "\n")
        ? new Finding.Executed(Json.of("done"))
        : new Finding.Unknown();
  }

  /** Asks for one tool after the other; which is next, it sees by the conversation. */
  private static final class Model implements LanguageModel {
    private static final Usage USAGE = Usage.reported(100, 20);

    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT_AND_TOOLS;
    }

    @Override
    public ModelResponse generate(ModelCall call) {
      int step = call.messages().size() / 2; // a question, then an answer and a result for each
      if (step == TOOLS.size()) {
        return new ModelResponse(
            Message.assistant("All done."),
            new FinishReason(FinishReason.Kind.STOP, "stop"),
            USAGE,
            Optional.empty());
      }
      ToolCall next =
          new ToolCall(
              "call-" + step, TOOLS.get(step), Json.of(Map.of("number", step)), Optional.empty());
      return new ModelResponse(
          new Message(Role.ASSISTANT, List.of(next)),
          new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
          USAGE,
          Optional.empty());
    }
  }
}
