package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedModel;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.flow.Branch;
import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowContext;
import dev.warpwright.flow.FlowRequest;
import dev.warpwright.flow.FlowResult;
import dev.warpwright.flow.Flows;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.RunStore;
import java.io.PrintStream;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Several agents write a report: researchers work side by side, a writer puts together what they
 * found, and a critic sends it back until it is good, three times at most. Each agent has a run of
 * its own, so that an answer which was paid for is never asked for again.
 */
final class ResearchReport {
  public record Question(String topic, List<String> aspects) {}

  public record Review(boolean good, String advice) {}

  private static final Route ROUTE = Route.of(Target.of("scripted", "model"));

  private static final Agent RESEARCHER =
      Agent.builder("researcher", ROUTE).instructions("State what is known, in a line.").build();
  private static final Agent WRITER =
      Agent.builder("writer", ROUTE).instructions("Write a short report.").build();
  private static final Agent CRITIC =
      Agent.builder("critic", ROUTE)
          .instructions("Say whether the report is good, and else what to mend.")
          .output(Review.class)
          .build();

  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
              { "when": { "user": "^speed of tea" }, "answer": { "text": "Tea is quick." } },
              { "when": { "user": "^price of tea" }, "answer": { "text": "Tea is cheap." } },
              { "when": { "user": "^taste of tea" }, "answer": { "text": "Tea is good." } },
              { "when": { "user": "^Mend" }, "answer": {
                  "text": "Tea is quick (5 min), cheap and good." } },
              { "when": { "user": "^Write" }, "answer": { "text": "Tea is quick, cheap, good." } },
              { "when": { "user": "5 min" }, "answer": {
                  "text": "{\\"good\\": true, \\"advice\\": \\"\\"}" } },
              { "when": {}, "answer": {
                  "text": "{\\"good\\": false, \\"advice\\": \\"Say how quick.\\"}" } } ] }
          """);

  private final Flow<Question, String> report =
      Flow.of("report", Question.class, String.class, this::report);

  private final PrintStream out;
  private final RunStore store;
  private final Outside outside;

  ResearchReport(PrintStream out, RunStore store, Outside outside) {
    this.out = out;
    this.store = store;
    this.outside = outside;
  }

  static void main() {
    try (RunStore store = RunStore.inMemory()) {
      new ResearchReport(System.out, store, new Outside()).run();
    }
  }

  private String report(FlowContext ctx, Question question) throws Exception {
    List<String> findings = ctx.parallel("research", branches(question));
    String draft = ctx.agent(WRITER, "Write: " + String.join(" ", findings)).text();

    for (int round = 1; round <= 3; round++) {
      Review review = ctx.agent(CRITIC, draft).output(Review.class);
      if (review.good()) {
        break;
      }
      draft = ctx.agent(WRITER, "Mend \"" + draft + "\": " + review.advice()).text();
    }

    String published = draft;
    ctx.run("publish", step -> outside.once(step.idempotencyKey(), "published: " + published));
    return published;
  }

  private static List<Branch<String>> branches(Question question) {
    return question.aspects().stream()
        .<Branch<String>>map(
            aspect -> ctx -> ctx.agent(RESEARCHER, aspect + " of " + question.topic()).text())
        .toList();
  }

  void run() {
    Question question = new Question("tea", List.of("speed", "price", "taste"));
    try (Gateway gateway =
        Gateway.builder().adapter("scripted", ScriptedModel.of(SCRIPT)).build()) {
      Flows flows = Flows.on(Agents.on(gateway, store));

      FlowResult<String> result =
          flows.run(FlowRequest.builder(report, question).idempotencyKey("tea").build());

      out.println(result.orThrow());
      result.state().children().stream()
          .map(child -> child.started().agentId())
          .collect(Collectors.groupingBy(id -> id, TreeMap::new, Collectors.counting()))
          .forEach((agent, runs) -> out.println("- " + runs + " runs of " + agent));
    }
    outside.deeds().forEach(out::println);
  }
}
