package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Older messages of a long run are replaced by a summary, durably, before the model is asked. */
@Timeout(60)
final class CompactionTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final String MARK = "[Compacted prior conversation]\n";

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final List<ModelCall> calls = new CopyOnWriteArrayList<>();
  private final List<Compactor.Source> sources = new CopyOnWriteArrayList<>();

  private Compactor noting(String summary) {
    return source -> {
      sources.add(source);
      return Compactor.Summary.of(summary);
    };
  }

  /** A model that asks for a tool so many times and then answers, whatever it is sent. */
  private FakeModel working(int steps) {
    FakeModel.Answer next =
        call -> {
          calls.add(call);
          int made = calls.size();
          return made <= steps
              ? FakeModel.saying("Step " + made + ". ", call("c" + made, "look", "order " + made))
                  .give(call)
              : FakeModel.text("Done.").give(call);
        };
    return FakeModel.of(IntStream.range(0, 50).mapToObj(i -> next).toList());
  }

  private Agent.Builder agent(Compaction compaction) {
    return Agent.builder("agent", Program.ROUTE)
        .instructions("You work.")
        .tools(world.tool("look", EffectClass.PURE).build())
        .maxSteps(20)
        .compaction(compaction);
  }

  private static AgentResult run(Program program, Agent agent) {
    return program.agents.run(AgentRequest.builder(agent, "Do it.").runId("run-1").build());
  }

  private static <T> List<T> events(Program program, Class<T> type) {
    return program.events(RUN).stream().filter(type::isInstance).map(type::cast).toList();
  }

  @Test
  @Tag("A68")
  @Tag("A69")
  @Tag("A71")
  @Tag("A72")
  @Tag("C41")
  void the_middle_becomes_one_message_in_the_log_before_the_model_is_asked() {
    Program program = Program.on(store, working(3));
    Agent agent =
        agent(Compaction.by(noting("She wants it.")).withMaxMessages(6).withKeepRecentMessages(2))
            .build();

    AgentResult result = run(program, agent);

    // system, user, then two messages a step: 8 before step 4
    assertEquals(RunStatus.COMPLETED, result.status());
    ContextCompacted compacted = events(program, ContextCompacted.class).getFirst();
    assertEquals(4, compacted.beforeStep());
    assertEquals(List.of(ContextCompacted.Reason.MAX_MESSAGES), compacted.reasons());
    assertEquals(8, compacted.messagesBefore());
    assertEquals(4, compacted.messagesAfter());
    assertTrue(compacted.tokensAfter() < compacted.tokensBefore());
    List<Message> sent = calls.getLast().messages();
    assertEquals(
        List.of(Role.SYSTEM, Role.ASSISTANT, Role.ASSISTANT, Role.TOOL),
        sent.stream().map(Message::role).toList());
    assertEquals("You work.", sent.getFirst().text());
    assertEquals(MARK + "She wants it.", sent.get(1).text());
    assertEquals("c3", sent.get(2).toolCalls().getFirst().id());
    assertEquals(4, events(program, StepStarted.class).getLast().messageCount());
    List<String> types = program.types(RUN);
    assertEquals(
        List.of("ToolFinished", "ContextCompacted", "StepStarted"),
        types.subList(
            types.indexOf("ContextCompacted") - 1, types.indexOf("ContextCompacted") + 2));
    assertEquals(1, sources.size());
    assertEquals(5, sources.getFirst().messages().size());
    assertEquals("Do it.", sources.getFirst().messages().getFirst().text());
    assertEquals("Step 1. Step 2. Step 3. Done.", result.text());
    assertEquals(RunState.of(result.log()).messages(), result.state().messages());
  }

  @Test
  @Tag("A68")
  void it_is_off_without_a_limit_and_where_an_invocation_switches_it_off() {
    Program program = Program.on(store, working(4));
    assertEquals(
        RunStatus.COMPLETED, run(program, agent(Compaction.by(noting("x"))).build()).status());
    Agent limited = agent(Compaction.by(noting("x")).withMaxMessages(4)).build();
    Invocation off = Invocation.builder().withoutCompaction().build();
    calls.clear();

    AgentResult result =
        program.agents.run(AgentRequest.builder(limited, "Do it.").invocation(off).build());

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(List.of(), sources);
    assertEquals(10, calls.getLast().messages().size());
  }

  @Test
  @Tag("A69")
  void what_stays_never_begins_with_a_result_and_an_older_summary_is_summed_up_again() {
    Program program = Program.on(store, working(9));
    Agent agent =
        agent(Compaction.by(noting("So far.")).withMaxMessages(7).withKeepRecentMessages(3))
            .build();

    AgentResult result = run(program, agent);

    assertEquals(RunStatus.COMPLETED, result.status());
    assertTrue(sources.size() > 1, sources.toString());
    for (ModelCall call : calls) {
      assertTrue(call.messages().size() <= 7, call.toString());
      List<Message> sent = call.messages();
      for (int i = 0; i < sent.size(); i++) {
        if (sent.get(i).role() == Role.TOOL) {
          assertFalse(sent.get(i - 1).toolCalls().isEmpty(), "a result stands behind its call");
        }
      }
    }
    assertEquals(MARK + "So far.", sources.getLast().messages().getFirst().text());
    assertEquals(sources.size(), result.state().compactions().size());
  }

  @Test
  @Tag("A68")
  @Tag("A70")
  void tokens_are_a_quarter_of_the_bytes_of_the_json() {
    Program program = Program.on(store, working(1));
    List<Message> conversation =
        List.of(
            Message.user("ä".repeat(4_000)), Message.assistant("Well."), Message.user("Go on."));
    Agent agent =
        agent(
                Compaction.by(noting("Short."))
                    .withMaxEstimatedInputTokens(1_999)
                    .withKeepRecentMessages(1))
            .build();

    AgentResult result =
        program.agents.run(AgentRequest.builder(agent, conversation).runId("run-1").build());

    assertEquals(RunStatus.COMPLETED, result.status());
    ContextCompacted compacted = events(program, ContextCompacted.class).getFirst();
    assertEquals(List.of(ContextCompacted.Reason.MAX_ESTIMATED_INPUT_TOKENS), compacted.reasons());
    assertEquals(1, compacted.beforeStep());
    assertTrue(compacted.tokensBefore() > 2_000 && compacted.tokensBefore() < 2_100);
    assertEquals(
        List.of(MARK + "Short.", "Go on."),
        calls.getFirst().messages().subList(1, 3).stream().map(Message::text).toList());
  }

  @Test
  @Tag("A70")
  void a_conversation_that_does_not_come_within_the_limits_fails_the_run() {
    List<Compaction> hopeless =
        List.of(
            Compaction.by(noting("x".repeat(9_000)))
                .withMaxMessages(4)
                .withKeepRecentMessages(1), // more than before
            Compaction.by(noting("x")).withMaxEstimatedInputTokens(1), // what stays is too much
            Compaction.by(noting("x")).withMaxMessages(3).withKeepRecentMessages(1), // a pair stays
            Compaction.by(noting(" ")).withMaxMessages(4).withKeepRecentMessages(1));
    for (Compaction compaction : hopeless) {
      calls.clear();
      RunStore fresh = RunStore.inMemory();
      Program program = Program.on(fresh, working(6));
      AgentResult result = run(program, agent(compaction).build());

      assertEquals(RunStatus.FAILED, result.status(), compaction.toString());
      RunFailed failure = result.state().failure().orElseThrow();
      assertEquals(FailureKind.LIMIT, failure.kind());
      assertTrue(failure.message().contains("The compaction of"), failure.message());
      assertFalse(failure.message().contains("xxx"), "no content");
      assertEquals(List.of(), events(program, ContextCompacted.class));
    }
  }

  @Test
  @Tag("A71")
  void a_crash_before_the_summary_is_stored_repeats_the_work_under_the_same_key() {
    Agent agent =
        agent(Compaction.by(noting("So far.")).withMaxMessages(4).withKeepRecentMessages(2))
            .build();
    // create; start; answer; outcome with start; answer; outcome; then the compaction before step 3
    MortalStore mortal = MortalStore.dyingAt(7, false, store);
    FakeModel model = working(2);
    var _ = assertThrows(MortalStore.Crash.class, () -> run(Program.on(mortal, model), agent));
    mortal.bury();
    assertEquals(1, sources.size());
    assertEquals(2, calls.size());

    Program program = Program.on(store, model);
    AgentResult done = program.agents.resume(agent, RUN);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(2, sources.size());
    assertEquals(sources.getFirst(), withoutTime(sources.getLast(), sources.getFirst()));
    ContextCompacted stored = events(program, ContextCompacted.class).getFirst();
    assertEquals(sources.getFirst().key(), stored.recordId());
    assertTrue(stored.recordId().startsWith("run-1:compaction_"), stored.recordId());
    assertEquals(3, calls.size(), "no answer was asked for twice");
  }

  private static Compactor.Source withoutTime(Compactor.Source source, Compactor.Source like) {
    return new Compactor.Source(
        source.key(), source.messages(), like.remaining(), source.budgetScope());
  }

  @Test
  @Tag("A71")
  void each_compaction_has_its_own_key() {
    Program program = Program.on(store, working(6));

    run(
        program,
        agent(Compaction.by(noting("So far.")).withMaxMessages(4).withKeepRecentMessages(2))
            .build());

    assertNotEquals(sources.getFirst().key(), sources.get(1).key());
  }

  @Test
  @Tag("A68")
  void nothing_is_compacted_while_an_approval_is_pending() {
    Tool refund = world.tool("look", EffectClass.ONCE).requiresApproval().build();
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(refund)
            .compaction(
                Compaction.by(noting("So far.")).withMaxMessages(2).withKeepRecentMessages(1))
            .build();
    Program program = Program.on(store, working(1));
    List<Message> two = List.of(Message.user("Do it."), Message.user("Now."));
    AgentResult waiting =
        program.agents.run(AgentRequest.builder(agent, two).runId("run-1").build());
    assertEquals(RunStatus.WAITING_APPROVAL, waiting.status());
    assertEquals(3, waiting.state().messages().size());
    assertEquals(List.of(), sources);

    AgentResult result =
        program.agents.resume(
            agent,
            RUN,
            ApprovalDecision.deny(waiting.pendingApprovals().getFirst().requestId(), "no"));

    assertEquals(FailureKind.LIMIT, result.state().failure().orElseThrow().kind());
    assertEquals(List.of(), sources, "what has no room for a pair is not paid for");
  }

  @Test
  void a_model_may_sum_up_and_what_that_takes_counts_for_the_run() {
    List<ModelCall> asked = new ArrayList<>();
    FakeModel summarizer =
        FakeModel.of(
            call -> {
              asked.add(call);
              return FakeModel.text("They talked.").give(call);
            });
    Program program =
        Program.having(
            store, working(2), summarizer, gateway -> gateway.costAccounting(Prices.accounting()));
    Compactor compactor = Compactor.by(program.gateway, Route.of(Program.SPARE));
    Agent agent =
        agent(Compaction.by(compactor).withMaxMessages(4).withKeepRecentMessages(2))
            .policy(RunPolicy.NONE.withBudget(RunBudget.builder().maxOutputTokens(1_000).build()))
            .build();

    AgentResult result = run(program, agent);

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(1, asked.size());
    assertTrue(asked.getFirst().messages().getLast().text().contains("order 1"));
    assertEquals(40, result.state().usage().input().tokens(), "three steps and a summary");
    assertEquals(1, events(program, ContextCompacted.class).getFirst().attempts().size());
    assertTrue(
        result.cost().orElseThrow().unknownReasons().contains("model-not-in-catalog"),
        "its cost counts, and is not known");
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A76")
  void a_budget_that_is_used_up_pays_for_no_summary() {
    Program program = Program.on(store, working(3));
    Agent agent =
        agent(Compaction.by(noting("So far.")).withMaxMessages(4).withKeepRecentMessages(2))
            .policy(RunPolicy.NONE.withBudget(RunBudget.builder().maxOutputTokens(10).build()))
            .build();

    AgentResult result = run(program, agent);

    assertEquals(FailureKind.LIMIT, result.state().failure().orElseThrow().kind());
    assertEquals(List.of(), sources);
  }

  @Test
  void a_stream_tells_of_it() {
    Program program =
        Program.on(store, working(2).declaring(Capability.STREAMING, Capability.TOOLS));
    Agent agent =
        agent(Compaction.by(noting("So far.")).withMaxMessages(4).withKeepRecentMessages(2))
            .build();
    List<AgentEvent> shown = new ArrayList<>();
    try (AgentStream stream =
        program.agents.stream(AgentRequest.builder(agent, "Do it.").runId("run-1").build())) {
      stream.forEach(shown::add);
    }

    assertEquals(
        List.of(new AgentEvent.Compaction(3, 6, 4)),
        shown.stream().filter(AgentEvent.Compaction.class::isInstance).toList());
  }

  @Test
  void what_only_a_provider_understands_is_not_shown_to_the_model_that_sums_up() {
    Message thought =
        new Message(
            Role.ASSISTANT,
            List.of(
                ProviderState.of("anthropic-messages", "m", Json.of("sealed thought")),
                new Part.Text("Hm.")));

    assertFalse(Transcript.text(List.of(thought)).contains("sealed"));
    assertTrue(
        Transcript.tokens(List.of(thought)) > Transcript.tokens(List.of(Message.assistant("Hm."))));
  }

  @Test
  @Tag("A68")
  void the_limits_are_held_to_their_bounds() {
    Compaction none = Compaction.by(noting("x"));
    assertEquals(8, none.keepRecentMessages());
    for (Executable wrong :
        List.<Executable>of(
            () -> none.withMaxMessages(1),
            () -> none.withMaxEstimatedInputTokens(0),
            () -> none.withKeepRecentMessages(0))) {
      assertThrows(InvalidRequestException.class, wrong);
    }
    assertEquals(Optional.empty(), CompactionPlan.of(none, List.of(Message.user("x"))));
  }
}
