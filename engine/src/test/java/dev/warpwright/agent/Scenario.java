package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.ended;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;

import dev.warpwright.agent.FakeModel.Answer;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Route;
import dev.warpwright.model.ToolCall;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.util.List;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/**
 * A run that is always the same.
 *
 * @param name what happens in it
 * @param tools the agent's tools, which act on the given world
 * @param options what else the agent is
 * @param answers what the first target answers
 * @param spare what the second target answers
 * @param decide what a person decides on a request for approval
 */
record Scenario(
    String name,
    Function<World, List<Tool>> tools,
    UnaryOperator<Agent.Builder> options,
    List<Answer> answers,
    List<Answer> spare,
    Function<ApprovalRequested, ApprovalDecision> decide) {

  static List<Scenario> all() {
    return List.of(
        of("no tool", world -> List.of(), text("Hello.")),
        of(
            "a PURE tool",
            world -> List.of(world.tool("look", EffectClass.PURE).build()),
            saying("Looking. ", call("c1", "look", "o1")),
            text("Found.")),
        of(
            "an IDEMPOTENT tool",
            world -> List.of(world.tool("note", EffectClass.IDEMPOTENT).build()),
            calls(call("c1", "note", "o1")),
            text("Noted.")),
        of(
            "a ONCE tool with a reconciler",
            world -> List.of(world.reconciled("refund").build()),
            calls(call("c1", "refund", "o1")),
            text("Refunded.")),
        of(
            "a ONCE tool without a reconciler",
            world -> List.of(world.tool("refund", EffectClass.ONCE).build()),
            calls(call("c1", "refund", "o1")),
            text("Refunded.")),
        of(
                "ONCE tools with and without a reconciler, one after the other",
                world ->
                    List.of(
                        world.reconciled("refund").build(),
                        world.tool("reply", EffectClass.ONCE).build()),
                calls(call("c1", "refund", "o1"), call("c2", "reply", "o1")),
                text("Done."))
            .with(builder -> builder.toolExecution(ToolExecution.DEFAULT.sequential())),
        of(
            "three steps whose calls have the same id",
            world ->
                List.of(
                    world.reconciled("refund").build(),
                    world.tool("note", EffectClass.IDEMPOTENT).build()),
            saying("First. ", call("c1", "refund", "o1")),
            saying("Second. ", call("c1", "refund", "o1")),
            saying("Third. ", call("c1", "note", "o1")),
            text("Done.")),
        of(
            "a parallel batch of all effect classes",
            Scenario::everything,
            calls(
                call("c1", "look", "o1"),
                call("c2", "note", "o1"),
                call("c3", "refund", "o1"),
                call("c4", "refund", "o2")),
            text("Done.")),
        of(
                "a batch that runs one by one",
                Scenario::everything,
                calls(
                    call("c1", "refund", "o1"),
                    call("c2", "note", "o1"),
                    call("c3", "look", "o1"),
                    call("c4", "refund", "o2")),
                text("Done."))
            .with(builder -> builder.toolExecution(ToolExecution.DEFAULT.withMaxConcurrency(1))),
        of(
            "an approval in the middle",
            world ->
                List.of(
                    world.reconciled("refund").requiresApproval().build(),
                    world.tool("note", EffectClass.IDEMPOTENT).build()),
            calls(call("c1", "note", "o1"), call("c2", "refund", "o1")),
            text("Done.")),
        of(
                "a denied approval",
                world -> List.of(world.reconciled("refund").requiresApproval().build()),
                calls(call("c1", "refund", "o1")),
                text("Not refunded."))
            .deciding(request -> ApprovalDecision.deny(request.requestId(), "too much").by("ann"))
            .with(builder -> builder.maxToolErrors(0)),
        of(
            "a tool error of each class",
            world ->
                List.of(
                    World.failing("look", EffectClass.PURE),
                    World.failing("note", EffectClass.IDEMPOTENT),
                    World.failing("refund", EffectClass.ONCE)),
            calls(call("c1", "look", "o1"), call("c2", "note", "o1"), call("c3", "refund", "o1")),
            text("Nothing worked.")),
        of(
                "more tool errors than the agent allows",
                world -> List.of(World.failing("look", EffectClass.PURE)),
                calls(call("c1", "look", "o1"), call("c2", "look", "o1")),
                text("Never asked."))
            .with(builder -> builder.maxToolErrors(1)),
        of(
            "calls that cannot be used beside one that can",
            world -> List.of(world.reconciled("refund").build()),
            calls(
                call("c1", "nothing", "o1"),
                call("c2", "refund", "o1"),
                ToolCall.malformed("c3", "refund", "{oops")),
            text("Done.")),
        of(
                "a call that cannot be used, of an agent that fails over it",
                world -> List.of(world.reconciled("refund").build()),
                calls(call("c1", "refund", "o1"), call("c2", "nothing", "o1")))
            .with(builder -> builder.invalidInput(InvalidInput.FAIL)),
        of(
            "an answer that is cut off",
            world -> List.of(world.reconciled("refund").build()),
            ended(FinishReason.Kind.LENGTH, "I will", call("c1", "refund", "o1"))),
        of(
                "more steps than the agent allows",
                world -> List.of(world.reconciled("refund").build()),
                calls(call("c1", "refund", "o1")),
                text("Never asked."))
            .with(builder -> builder.maxSteps(1)),
        fallback());
  }

  private static List<Tool> everything(World world) {
    return List.of(
        world.tool("look", EffectClass.PURE).build(),
        world.tool("note", EffectClass.IDEMPOTENT).build(),
        world.reconciled("refund").build());
  }

  private static Scenario fallback() {
    return new Scenario(
        "a fallback",
        world -> List.of(world.reconciled("refund").build()),
        UnaryOperator.identity(),
        List.of(status(503), status(503)),
        List.of(calls(call("c1", "refund", "o1")), text("Refunded.")),
        request -> ApprovalDecision.approve(request.requestId()));
  }

  private static Scenario of(String name, Function<World, List<Tool>> tools, Answer... answers) {
    return new Scenario(
        name,
        tools,
        UnaryOperator.identity(),
        List.of(answers),
        List.of(),
        request -> ApprovalDecision.approve(request.requestId()));
  }

  private Scenario with(UnaryOperator<Agent.Builder> more) {
    return new Scenario(name, tools, more, answers, spare, decide);
  }

  private Scenario deciding(Function<ApprovalRequested, ApprovalDecision> decision) {
    return new Scenario(name, tools, options, answers, spare, decision);
  }

  Agent agent(World world) {
    Route route = spare.isEmpty() ? Program.ROUTE : Route.of(Program.TARGET, Program.SPARE);
    return options.apply(Agent.builder("agent", route).tools(tools.apply(world))).build();
  }

  @Override
  public String toString() {
    return name;
  }
}
