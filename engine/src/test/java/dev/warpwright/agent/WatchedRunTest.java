package dev.warpwright.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.StreamEvent;
import dev.warpwright.StreamEvent.Finish;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.StreamEvent.ToolCalled;
import dev.warpwright.StreamEvent.ToolReturned;
import dev.warpwright.agent.AgentEvent.ApprovalRequest;
import dev.warpwright.agent.AgentEvent.ApprovalResolved;
import dev.warpwright.agent.AgentEvent.Failure;
import dev.warpwright.agent.AgentEvent.Output;
import dev.warpwright.agent.AgentEvent.RunFinish;
import dev.warpwright.agent.AgentEvent.RunStart;
import dev.warpwright.agent.AgentEvent.StepFinish;
import dev.warpwright.agent.AgentEvent.StepStart;
import dev.warpwright.agent.AgentEvent.ToolFinish;
import dev.warpwright.agent.AgentEvent.ToolStart;
import dev.warpwright.model.ToolResult;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEvent.ApprovalDecided;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.StepStarted;
import dev.warpwright.run.RunEvent.ToolFinished;
import dev.warpwright.run.RunEvent.ToolStarted;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever happens in a run: its log is that of a run that nobody watches, and its stream agrees.
 */
@Timeout(60)
final class WatchedRunTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  static List<Scenario> scenarios() {
    return Scenario.all();
  }

  private static Program program(Scenario scenario) {
    return Program.on(
        RunStore.inMemory(), FakeModel.of(scenario.answers()), FakeModel.of(scenario.spare()));
  }

  private static AgentRequest request(Agent agent) {
    return AgentRequest.builder(agent, "Do it.").runId("run-1").build();
  }

  private static ApprovalDecision[] decisions(Scenario scenario, AgentResult result) {
    return result.pendingApprovals().stream()
        .map(scenario.decide())
        .toArray(ApprovalDecision[]::new);
  }

  private static List<RunEvent> blocking(Scenario scenario) {
    Program program = program(scenario);
    Agent agent = scenario.agent(new World());
    AgentResult result = program.agents.run(request(agent));
    if (result.status() == RunStatus.WAITING_APPROVAL) {
      result = program.agents.resume(agent, RUN, decisions(scenario, result));
    }
    return program.events(result.run());
  }

  /** A run that was watched: what each of its streams showed, and how it was left. */
  private static final class Watched {
    final Program program;
    final List<List<AgentEvent>> streams = new ArrayList<>();
    AgentResult result;

    Watched(Scenario scenario) {
      program = program(scenario);
      Agent agent = scenario.agent(new World());
      result = read(program.agents.stream(request(agent)));
      if (result.status() == RunStatus.WAITING_APPROVAL) {
        result = read(program.agents.stream(agent, RUN, decisions(scenario, result)));
      }
    }

    private AgentResult read(AgentStream stream) {
      try (stream) {
        List<AgentEvent> events = new ArrayList<>();
        stream.forEach(events::add);
        streams.add(events);
        return stream.collect();
      }
    }

    <E extends AgentEvent> List<E> shown(Class<E> type) {
      return streams.stream()
          .flatMap(List::stream)
          .filter(type::isInstance)
          .map(type::cast)
          .toList();
    }

    <E extends StreamEvent> List<E> output(Class<E> type) {
      return shown(Output.class).stream()
          .map(Output::event)
          .filter(type::isInstance)
          .map(type::cast)
          .toList();
    }

    <E extends RunEvent> List<E> logged(Class<E> type) {
      return program.events(RUN).stream().filter(type::isInstance).map(type::cast).toList();
    }
  }

  /**
   * A log without what may differ between two runs: how attempts were measured, and in which order
   * tools that overlap came to their ends.
   */
  private static List<RunEvent> comparable(List<RunEvent> log) {
    List<RunEvent> comparable = new ArrayList<>();
    List<RunEvent> tools = new ArrayList<>();
    for (RunEvent event : log) {
      if (event instanceof ToolStarted || event instanceof ToolFinished) {
        tools.add(event);
        continue;
      }
      tools.sort(Comparator.comparing(RunEvent::toString));
      comparable.addAll(tools);
      tools.clear();
      comparable.add(
          switch (event) {
            case ModelResponded e ->
                new ModelResponded(
                    e.step(), e.target(), e.message(), e.finishReason(), e.usage(), List.of());
            case RunFailed e ->
                new RunFailed(e.kind(), e.message(), e.resumable(), e.step(), List.of());
            default -> event;
          });
    }
    return comparable;
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("R13")
  void the_log_is_the_same_as_that_of_a_run_that_nobody_watches(Scenario scenario) {
    assertEquals(
        comparable(blocking(scenario)), comparable(new Watched(scenario).program.events(RUN)));
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A138")
  @Tag("C8")
  void what_is_shown_is_what_is_in_the_log(Scenario scenario) {
    Watched run = new Watched(scenario);

    assertEquals(
        run.logged(StepStarted.class).stream().map(StepStarted::step).toList(),
        run.shown(StepStart.class).stream().map(StepStart::step).toList());
    assertEquals(
        run.logged(ApprovalRequested.class),
        run.shown(ApprovalRequest.class).stream().map(ApprovalRequest::request).toList());
    assertEquals(
        run.logged(ApprovalDecided.class),
        run.shown(ApprovalResolved.class).stream().map(ApprovalResolved::decision).toList());
    assertEquals(
        run.logged(ModelResponded.class).stream()
            .flatMap(answer -> answer.message().toolCalls().stream())
            .toList(),
        run.output(ToolCalled.class).stream().map(ToolCalled::call).toList());
    assertEquals(
        run.logged(ToolFinished.class).stream()
            .map(end -> new ToolResult(end.callId(), end.tool(), end.output(), end.error()))
            .toList(),
        run.output(ToolReturned.class).stream().map(ToolReturned::result).toList());
    assertEquals(
        run.logged(ToolFinished.class).stream()
            .map(end -> end.callId() + " " + end.executed() + " " + end.error())
            .toList(),
        run.shown(ToolFinish.class).stream()
            .map(end -> end.callId() + " " + end.executed() + " " + end.error())
            .toList());
    assertEquals(
        new TreeSet<>(
            run.logged(ToolStarted.class).stream()
                .map(begin -> begin.step() + begin.callId() + begin.attempt())
                .toList()),
        new TreeSet<>(
            run.shown(ToolStart.class).stream()
                .map(begin -> begin.step() + begin.call().id() + begin.attempt())
                .toList()));
    assertEquals(
        run.result.text(),
        String.join("", run.output(TextDelta.class).stream().map(TextDelta::text).toList()));
    assertEquals(
        run.logged(ModelResponded.class).stream().map(ModelResponded::usage).toList(),
        run.output(Finish.class).stream()
            .filter(finish -> !finish.last())
            .map(Finish::usage)
            .toList());
    assertEquals(
        run.result.status() == RunStatus.COMPLETED
            ? List.of(run.result.state().usage())
            : List.of(),
        run.output(Finish.class).stream().filter(Finish::last).map(Finish::usage).toList());
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A138")
  @Tag("A143")
  @Tag("R149")
  void the_events_stand_in_their_order_and_the_end_agrees_with_the_log(Scenario scenario) {
    Watched run = new Watched(scenario);
    int openStep = 0; // over all streams: an approval interrupts a step
    for (List<AgentEvent> stream : run.streams) {
      assertInstanceOf(RunStart.class, stream.getFirst());
      assertInstanceOf(RunFinish.class, stream.getLast());
      openStep = readInOrder(stream, openStep);
    }
    RunFinish finish = assertInstanceOf(RunFinish.class, run.streams.getLast().getLast());
    assertEquals(run.result.state(), finish.state());
    assertEquals(
        switch (finish.status()) {
          case COMPLETED -> "RunCompleted";
          case FAILED -> "RunFailed";
          default -> "?";
        },
        run.program.types(RUN).getLast());
  }

  /** Checks one stream; returns the step that is not finished at its end. */
  private static int readInOrder(List<AgentEvent> stream, int openStep) {
    int open = openStep;
    Set<String> running = new HashSet<>();
    for (int i = 0; i < stream.size(); i++) {
      switch (stream.get(i)) {
        case RunStart start -> assertEquals(0, i);
        case RunFinish finish -> assertEquals(stream.size() - 1, i);
        case Failure failure -> assertEquals(stream.size() - 2, i);
        case StepStart(int step) -> {
          assertEquals(0, open);
          open = step;
        }
        case StepFinish(int step) -> {
          assertEquals(open, step);
          assertEquals(Set.of(), running);
          open = 0;
        }
        case Output(Finish end) when end.last() -> {
          assertEquals(0, open);
          assertEquals(stream.size() - 2, i);
        }
        case Output output -> assertTrue(open > 0);
        case AgentEvent.Compaction compaction -> assertEquals(0, open);
        case ApprovalRequest request -> assertTrue(open > 0);
        case ApprovalResolved resolved -> assertTrue(open > 0);
        case ToolStart begin -> {
          assertEquals(open, begin.step());
          assertTrue(running.add(begin.call().id()));
        }
        case ToolFinish end -> {
          assertEquals(open, end.step());
          assertEquals(end.executed(), running.remove(end.callId()));
        }
      }
    }
    return open;
  }
}
