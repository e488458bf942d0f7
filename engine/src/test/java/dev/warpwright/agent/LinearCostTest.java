package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ToolCall;
import dev.warpwright.run.Append;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.DueRuns;
import dev.warpwright.run.ForwardingStore;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStates;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a step of a long run costs is counted: messages that are copied, writes, and loads. */
@Timeout(60)
final class LinearCostTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final int TOOL_STEPS = 30;
  private static final int SHORT = 11; // steps of a log that is not worth to be kept

  private final World world = new World();
  private final RunStore kept = RunStore.inMemory();
  private final Counting store = new Counting(kept);

  /** A store that counts, and shows what is appended. */
  private static final class Counting extends ForwardingStore {
    final List<String> appends = new ArrayList<>();
    int loaded; // events
    int acquired;
    Consumer<Append> before = append -> {};
    Consumer<Append> after = append -> {};

    Counting(RunStore store) {
      super(store);
    }

    @Override
    public void append(Append append, Deadline deadline) {
      before.accept(append);
      super.append(append, deadline);
      appends.add(
          String.join(
              " ", append.events().stream().map(each -> each.getClass().getSimpleName()).toList()));
      after.accept(append);
    }

    @Override
    public List<LoggedEvent> load(RunKey run, long fromSequence, Deadline deadline) {
      List<LoggedEvent> events = super.load(run, fromSequence, deadline);
      loaded += events.size();
      return events;
    }

    @Override
    public Optional<Writer> acquire(RunKey run, Deadline deadline) {
      acquired++;
      return super.acquire(run, deadline);
    }
  }

  private static FakeModel.Answer[] answers(String tool, List<ModelCall> asked) {
    List<FakeModel.Answer> answers = new ArrayList<>();
    for (int step = 1; step <= TOOL_STEPS; step++) {
      FakeModel.Answer answer = calls(call("c" + step, tool, "o" + step));
      answers.add(
          call -> {
            asked.add(call);
            return answer.give(call);
          });
    }
    answers.add(text("Done."));
    return answers.toArray(FakeModel.Answer[]::new);
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").build();
  }

  private static Agent.Builder agent(Tool... tools) {
    return Agent.builder("agent", Program.ROUTE).tools(tools).maxSteps(100);
  }

  @Test
  @Tag("A114")
  void each_call_of_a_model_shares_the_messages_of_the_calls_before_it() {
    List<ModelCall> asked = new ArrayList<>();
    Program program = Program.on(store, FakeModel.of(answers("note", asked)));

    AgentResult result =
        program.agents.run(request(agent(world.tool("note", EffectClass.PURE).build()).build()));

    assertEquals(RunStatus.COMPLETED, result.status());
    List<Message> whole = result.state().messages();
    assertEquals(TOOL_STEPS, asked.size());
    for (int i = 0; i < asked.size(); i++) {
      List<Message> seen = asked.get(i).messages();
      assertEquals(whole.subList(0, 1 + 2 * i), seen, "it stays what it was");
      assertTrue(((Conversation) whole).continues((Conversation) seen), "and is no copy");
    }
    program.assertNothingIsLeft();
  }

  @ParameterizedTest
  @EnumSource(EffectClass.class)
  @Tag("A114")
  void a_step_with_a_tool_costs_two_writes(EffectClass effect) {
    Program program = Program.on(store, FakeModel.of(answers("note", new ArrayList<>())));

    var _ = program.agents.run(request(agent(world.tool("note", effect).build()).build()));

    boolean pure = effect == EffectClass.PURE;
    List<String> expected = new ArrayList<>();
    String begin = "StepStarted";
    String bound = "RouteBound ";
    for (int step = 1; step <= TOOL_STEPS; step++) {
      expected.add(begin);
      expected.add(bound + "ModelResponded" + (pure ? "" : " ToolStarted"));
      begin = (pure ? "ToolStarted " : "") + "ToolFinished StepStarted";
      bound = "";
    }
    expected.add(begin);
    expected.add("ModelResponded RunCompleted");
    assertEquals(expected, store.appends);
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A54")
  @Tag("A114")
  void an_outcome_shares_a_write_with_the_intent_of_the_next_tool_but_never_with_its_own() {
    ToolCall[] three = {call("c1", "pay", "o1"), call("c2", "look", "o2"), call("c3", "pay", "o3")};
    Program program = Program.on(store, FakeModel.of(calls(three), text("Done.")).sequential());
    Tool look =
        Tool.of(
            "look",
            "Looks.",
            World.Order.class,
            EffectClass.PURE,
            (input, context) -> {
              assertEquals(
                  1, program.events(RUN).stream().filter(ToolFinished.class::isInstance).count());
              return "seen";
            });

    AgentResult result =
        program.agents.run(
            request(agent(world.tool("pay", EffectClass.ONCE).build(), look).build()));

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(
        List.of(
            "StepStarted",
            "RouteBound ModelResponded ToolStarted",
            "ToolFinished", // a tool runs next, which needs no intent
            "ToolStarted ToolFinished ToolStarted",
            "ToolFinished StepStarted",
            "ModelResponded RunCompleted"),
        store.appends);
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A54")
  void an_outcome_is_durable_at_once_while_another_tool_is_at_work() {
    CountDownLatch durable = new CountDownLatch(1);
    store.after =
        append -> {
          if (append.events().stream().anyMatch(ToolFinished.class::isInstance)) {
            durable.countDown();
          }
        };
    Tool slow =
        Tool.of(
            "slow",
            "Waits.",
            World.Order.class,
            EffectClass.ONCE,
            (input, context) -> {
              durable.await();
              return "done";
            });
    Program program =
        Program.on(
            store,
            FakeModel.of(calls(call("c1", "slow", "o1"), call("c2", "pay", "o2")), text("Done.")));

    AgentResult result =
        program.agents.run(
            request(agent(slow, world.tool("pay", EffectClass.ONCE).build()).build()));

    assertEquals(RunStatus.COMPLETED, result.status());
    assertEquals(List.of("ToolFinished", "ToolFinished StepStarted"), store.appends.subList(2, 4));
    program.assertNothingIsLeft();
  }

  @Test
  @Tag("A127")
  @Tag("A136")
  void a_cancel_that_meets_an_outcome_keeps_it_and_lets_no_step_begin() {
    store.before =
        append -> {
          if (append.events().stream().anyMatch(ToolFinished.class::isInstance)
              && append.writer().isOwner()) {
            store.before = each -> {};
            var _ = Runs.in(kept).cancel(RUN, "not needed");
          }
        };
    Program program =
        Program.on(
            store,
            FakeModel.of(
                calls(call("c1", "pay", "o1")),
                call -> {
                  throw new AssertionError("asked after the cancel");
                }));

    AgentResult result =
        program.agents.run(request(agent(world.tool("pay", EffectClass.ONCE).build()).build()));

    assertEquals(RunStatus.CANCELLED, result.status());
    List<String> types = program.types(RUN);
    assertEquals(
        List.of("ToolStarted", "CancelRequested", "ToolFinished", "RunCancelled"),
        types.subList(types.size() - 4, types.size()));
    assertEquals(program.log(RUN), result.log());
    program.assertNothingIsLeft();
  }

  private AgentResult waiting(Program program, Agent agent) {
    AgentResult result = program.agents.run(request(agent));
    assertEquals(RunStatus.WAITING_APPROVAL, result.status());
    return result;
  }

  private Agent asking() {
    return agent(world.tool("pay", EffectClass.ONCE).requiresApproval(input -> true).build())
        .build();
  }

  @Test
  void a_resume_in_another_process_loads_each_event_once_and_the_last_one_again() {
    AgentResult before =
        waiting(Program.on(store, FakeModel.of(calls(call("c1", "pay", "o1")))), asking());
    String request = before.pendingApprovals().getFirst().requestId();
    Program program =
        Program.on(store, FakeModel.of(calls(call("c1", "pay", "o1")), text("Done.")));
    store.loaded = 0;

    AgentResult after = program.agents.resume(asking(), RUN, ApprovalDecision.approve(request));

    assertEquals(RunStatus.COMPLETED, after.status());
    assertEquals(before.log().size() + 1, store.loaded);
    program.assertNothingIsLeft();
  }

  private static String asked(AgentResult left) {
    return left.pendingApprovals().getFirst().requestId();
  }

  /** The run waits after each step; how many events each resume has loaded. */
  private List<Integer> resumed(Program program, Agents agents) {
    AgentResult left = agents.run(request(asking()));
    List<Integer> loaded = new ArrayList<>();
    while (left.status() == RunStatus.WAITING_APPROVAL) {
      store.loaded = 0;
      left = agents.resume(asking(), RUN, ApprovalDecision.approve(asked(left)));
      loaded.add(store.loaded);
      assertEquals(kept.load(RUN, 1, Deadline.never()), left.log());
      assertEquals(
          RunStates.view(RunState.of(kept.load(RUN, 1, Deadline.never()))),
          RunStates.view(left.state()));
    }
    assertEquals(RunStatus.COMPLETED, left.status());
    assertEquals(TOOL_STEPS, loaded.size());
    program.assertNothingIsLeft();
    return loaded;
  }

  @Test
  @Tag("A115")
  void each_resume_loads_the_last_event_and_what_is_new_however_long_the_run_is() {
    Program program = Program.on(store, FakeModel.of(answers("pay", new ArrayList<>())));

    List<Integer> loaded = resumed(program, program.agents);

    assertEquals(
        Collections.nCopies(TOOL_STEPS - SHORT, 2),
        loaded.subList(SHORT, TOOL_STEPS),
        "the last one, before and after it is owned");
    assertTrue(loaded.stream().allMatch(events -> events <= 64 + 1), "a short log whole");
  }

  @Test
  @Tag("A115")
  void without_a_cache_each_resume_loads_the_whole_log() {
    Program program = Program.on(store, FakeModel.of(answers("pay", new ArrayList<>())));
    Agents agents = Agents.builder(program.gateway).store(store).foldCache(0).build();

    List<Integer> loaded = resumed(program, agents);

    int perStep = loaded.get(1) - loaded.get(0);
    assertTrue(perStep > 0);
    for (int n = 0; n < TOOL_STEPS; n++) {
      assertEquals(loaded.getFirst() + n * perStep, loaded.get(n), "resume " + n);
    }
  }

  @Test
  @Tag("A115")
  void a_worker_loads_only_what_is_new_of_a_run_that_this_process_has_left() {
    Program program = Program.on(store, FakeModel.of(answers("pay", new ArrayList<>())));
    Agent agent = asking();
    AgentResult left = program.agents.run(request(agent));
    while (left.log().size() < 64) {
      left = program.agents.resume(agent, RUN, ApprovalDecision.approve(asked(left)));
    }
    var _ = Runs.in(kept, program.time).decide(RUN, ApprovalDecision.approve(asked(left)));
    DueRuns.Taken taken = kept.acquireDue(Set.of("agent"), 1, Deadline.never()).taken().getFirst();
    store.loaded = 0;

    program.agents.driver(agent).drive(taken, new Cancellation());

    assertEquals(2, store.loaded, "the last one that it knew, and the decision");
    assertEquals(left.state().step() + 1, RunState.of(program.log(RUN)).step());
    program.assertNothingIsLeft();
  }

  @Test
  void another_agent_is_refused_before_the_run_is_taken_up() {
    Program program =
        Program.on(store, FakeModel.of(calls(call("c1", "pay", "o1")), text("Done.")));
    Agent agent = asking();
    String request = waiting(program, agent).pendingApprovals().getFirst().requestId();
    List<RunEvent> before = program.events(RUN);
    Agent other = Agent.builder("other", Program.ROUTE).build();
    Agent elsewhere = Agent.builder("agent", dev.warpwright.model.Route.of(Program.SPARE)).build();

    for (Agent wrong : List.of(other, elsewhere)) {
      assertThrows(
          ConflictException.class,
          () -> program.agents.resume(wrong, RUN, ApprovalDecision.approve(request)));
    }

    assertEquals(before, program.events(RUN));
    assertEquals(0, store.acquired, "so that it does not count as taken up without progress");
    AgentResult after = program.agents.resume(agent, RUN, ApprovalDecision.approve(request));
    assertEquals(RunStatus.COMPLETED, after.status());
    program.assertNothingIsLeft();
  }
}
