package dev.warpwright.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStates;
import dev.warpwright.run.RunStore;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Logs as runs write them fold the same in one go, event by event, and after being stored. */
final class RecordedLogTest {
  static List<Scenario> scenarios() {
    return Scenario.all();
  }

  private static List<LoggedEvent> record(Scenario scenario) {
    Program program =
        Program.on(
            RunStore.inMemory(), FakeModel.of(scenario.answers()), FakeModel.of(scenario.spare()));
    AgentResult result =
        program.agents.run(AgentRequest.builder(scenario.agent(new World()), "Do it.").build());
    return program.log(result.run());
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A2")
  @Tag("A6")
  void every_prefix_of_a_log_has_one_state(Scenario scenario) {
    List<LoggedEvent> log = record(scenario);

    RunState state = RunStates.foldStepwise(log);

    assertEquals(RunStates.view(RunState.of(log)), RunStates.view(state));
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A2")
  void a_stored_log_has_the_state_of_the_log_as_it_was_written(Scenario scenario) {
    List<LoggedEvent> log = record(scenario);
    List<LoggedEvent> stored = new ArrayList<>();
    for (LoggedEvent logged : log) {
      var event =
          RunEventCodec.decode(
              RunEventCodec.type(logged.event()),
              RunEventCodec.version(logged.event()),
              RunEventCodec.encode(logged.event()));
      stored.add(
          new LoggedEvent(logged.run(), logged.sequence(), logged.writer(), logged.time(), event));
    }

    assertEquals(RunStates.view(RunState.of(log)), RunStates.view(RunState.of(stored)));
  }

  @ParameterizedTest
  @MethodSource("scenarios")
  @Tag("A6")
  void a_log_in_which_an_event_is_missing_or_stands_twice_is_refused(Scenario scenario) {
    List<LoggedEvent> log = record(scenario);
    for (int i = 0; i < log.size(); i++) {
      List<LoggedEvent> torn = new ArrayList<>(log);
      torn.remove(i);
      if (i < log.size() - 1) {
        assertThrows(InvalidRequestException.class, () -> RunState.of(torn));
      }
      List<LoggedEvent> twice = new ArrayList<>(log);
      twice.add(i, log.get(i));
      assertThrows(InvalidRequestException.class, () -> RunState.of(twice));
    }
  }
}
