import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.RunStore;
import dev.warpwright.store.jdbc.JdbcRunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.concurrent.atomic.AtomicInteger;

/** Asks a question and runs an agent with a tool, on the class path. */
public final class Orders {
  private static final AtomicInteger LOOK_UPS = new AtomicInteger();

  /** What the tool takes; public, so that it needs no lookup. */
  public record Order(String id) {}

  private Orders() {}

  public static void main(String[] args) {
    ScriptedModel model =
        ScriptedModel.of(
            Script.parse(
                """
                { "rules": [
                    { "when": { "user": "Hello" }, "answer": { "text": "Good morning." } },
                    { "when": { "turn": 0, "user": "Where is (?<id>\\\\S+)\\\\?" },
                      "answer": { "tools": [ { "name": "look_up", "input": { "id": "${id}" } } ] } },
                    { "when": { "result": { "tool": "look_up", "output": "A-17" } },
                      "answer": { "text": "It is on its way." } } ] }
                """));
    Route route = Route.of(Target.of("scripted", "model"));
    Tool lookUp =
        Tool.of(
            "look_up",
            "Looks an order up.",
            Order.class,
            EffectClass.PURE,
            (order, context) -> {
              LOOK_UPS.incrementAndGet();
              return order;
            });
    Agent agent = Agent.builder("orders", route).tools(lookUp).build();
    AgentRequest question =
        AgentRequest.builder(agent, "Where is A-17?").idempotencyKey("A-17").build();
    try (Gateway gateway = Gateway.builder().adapter("scripted", model).build();
        RunStore store = JdbcRunStore.open("jdbc:h2:async:" + args[0])) {
      String greeting = gateway.generate(GenerateRequest.builder(route, "Hello.").build()).text();
      String answer = Agents.on(gateway, store).run(question).orThrow().text();
      System.out.printf(
          "%s %s calls: %d, look-ups: %d, JUnit: %b%n",
          greeting, answer, model.calls(), LOOK_UPS.get(), hasJUnit());
    }
  }

  private static boolean hasJUnit() {
    return ClassLoader.getSystemResource("org/junit/jupiter/api/Test.class") != null;
  }
}
