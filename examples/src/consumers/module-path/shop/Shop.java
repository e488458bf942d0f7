package shop;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.adapters.scripted.ScriptedAnswer;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.RunStore;
import dev.warpwright.store.jdbc.JdbcRunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.atomic.AtomicInteger;

/** Asks a question and runs an agent with a tool whose input is a record of this package alone. */
final class Shop {
  private static final AtomicInteger LOOK_UPS = new AtomicInteger();

  record Order(String id) {}

  private Shop() {}

  public static void main(String[] args) {
    ScriptedModel model =
        ScriptedModel.builder()
            .when(call -> call.tools().isEmpty(), ScriptedAnswer.text("Good morning."))
            .when(Shop::toolHasRun, ScriptedAnswer.text("It is on its way."))
            .otherwise(ScriptedAnswer.tool("look_up", Json.parse("{\"id\": \"A-17\"}")))
            .build();
    Route route = Route.of(Target.of("scripted", "model"));
    Tool lookUp =
        Tool.builder(
                "look_up",
                "Looks an order up.",
                Order.class,
                MethodHandles.lookup(),
                EffectClass.PURE,
                (order, context) -> {
                  LOOK_UPS.incrementAndGet();
                  return new Order(order.id());
                })
            .build();
    Agent agent = Agent.builder("shop", route).tools(lookUp).build();
    AgentRequest question =
        AgentRequest.builder(agent, "Where is A-17?").idempotencyKey("A-17").build();
    try (Gateway gateway = Gateway.builder().adapter("scripted", model).build();
        RunStore store = JdbcRunStore.open("jdbc:h2:async:" + args[0])) {
      String greeting = gateway.generate(GenerateRequest.builder(route, "Hello.").build()).text();
      String answer = Agents.on(gateway, store).run(question).orThrow().text();
      System.out.printf(
          "%s: %s %s calls: %d, look-ups: %d, JUnit: %b%n",
          Shop.class.getModule(), greeting, answer, model.calls(), LOOK_UPS.get(), hasJUnit());
    }
  }

  private static boolean hasJUnit() {
    return ModuleLayer.boot().findModule("org.junit.jupiter.api").isPresent();
  }

  private static boolean toolHasRun(ModelCall call) {
    return call.messages().getLast().role() == Role.TOOL;
  }
}
