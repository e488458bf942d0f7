package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.model.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("R379")
class FaultScheduleTest {
  private static List<Integer> hits(String fault, int requests) {
    FaultSchedule schedule = new FaultSchedule(Talk.faulty(fault).faults());
    return IntStream.rangeClosed(1, requests)
        .filter(n -> schedule.arrive(said("n" + n)).fault().isPresent())
        .boxed()
        .toList();
  }

  private static Conversation said(String text) {
    return Conversation.of("m-1", List.of(Message.user(text)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          "every": 4                           | [4, 8, 12]
          "every": 4, "from": 3                | [3, 7, 11]
          "every": 4, "from": 3, "times": 2    | [3, 7]
          "from": 10                           | [10, 11, 12]
          "from": 5, "times": 1                | [5]
          "times": 2                           | [1, 2]
          "times": 2, "when": {"user":"n[5-9]"} | [5, 6]
          "every": 2, "when": {"user":"n[5-9]"} | [6, 8]
          """)
  void aFaultAppliesToTheRequestsThatItCounts(String selection, String expected) {
    assertEquals(expected, hits("{ " + selection + ", \"stall\": true }", 12).toString());
  }

  @Test
  void withoutASelectionItAppliesToEveryRequest() {
    assertEquals(List.of(1, 2, 3), hits("{ \"stall\": true }", 3));
  }

  @Test
  void theFirstThatAppliesWinsAndTheOthersCountOn() {
    FaultSchedule schedule =
        new FaultSchedule(
            Talk.faulty("{ \"every\": 2, \"status\": 503 }, { \"every\": 3, \"stall\": true }")
                .faults());
    List<String> places = new ArrayList<>();
    for (int i = 1; i <= 6; i++) {
      places.add(schedule.arrive(said("a")).fault().map(FaultRule::place).orElse("-"));
    }
    assertEquals(List.of("-", "faults[0]", "faults[1]", "faults[0]", "-", "faults[0]"), places);
  }

  @Test
  void requestsAreNumberedFromOne() {
    FaultSchedule schedule = new FaultSchedule(List.of());
    assertEquals(1, schedule.arrive(said("a")).number());
    assertEquals(2, schedule.arrive(said("a")).number());
  }
}
