package dev.warpwright.adapters.protocol.openai;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.http.Answer;
import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Failures;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import java.net.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Tag;
import tools.jackson.databind.JsonNode;

/**
 * Random answers, read and replayed, whole and with parts missing or moved: whatever happened to
 * them, no item of reasoning stands before another item than it stood before when it came.
 */
@Tag("FR-Q01")
final class ReasoningPairsTest {
  private static final HttpHeaders NO_HEADERS = HttpHeaders.of(Map.of(), (name, value) -> true);
  private static final Failures FAILURES =
      new Failures(OpenAiErrors.TABLE, InstantSource.system(), Authorization.NONE);

  /** An item whose JSON holds its number, which is the same in the answer and in the replay. */
  private static String item(Random random, int number) {
    return switch (random.nextInt(7)) {
      case 0, 1 ->
          "{\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"n%d.\"}"
              .formatted(number);
      case 2 -> "{\"type\":\"web_search_call\",\"id\":\"n%d.\"}".formatted(number);
      case 3 ->
          "{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"n%d.\"}]}"
              .formatted(number);
      case 4 ->
          "{\"type\":\"function_call\",\"call_id\":\"n%d.\",\"name\":\"f\",\"arguments\":\"{}\"}"
              .formatted(number);
      case 5 -> "{\"type\":\"message\",\"content\":[]}";
      default -> "{\"type\":\"reasoning\",\"id\":\"n%d.\",\"summary\":[]}".formatted(number);
    };
  }

  private static List<Part> read(List<String> items) {
    byte[] body =
        ("{\"status\":\"completed\",\"output\":[" + String.join(",", items) + "]}")
            .getBytes(StandardCharsets.UTF_8);
    return new ResponsesReader(FAILURES, "m", ModelCall.builder(List.of()).build())
        .read(new Answer(StrictJson.readDocument(body), body, NO_HEADERS))
        .message()
        .parts();
  }

  /** The replay as numbers of items. */
  private static List<Integer> replay(List<Part> parts) {
    Message message = new Message(Role.ASSISTANT, parts);
    byte[] body = Requests.responses("m", ModelCall.builder(List.of(message)).build(), false);
    List<Integer> numbers = new ArrayList<>();
    for (JsonNode item : StrictJson.readDocument(body).path("input")) {
      if (item.has("content")) {
        item.path("content").forEach(text -> numbers.add(number(text)));
      } else {
        numbers.add(number(item));
      }
    }
    return numbers;
  }

  private static int number(JsonNode item) {
    String text = item.toString();
    int start = text.indexOf("\"n") + 2;
    while (!Character.isDigit(text.charAt(start))) {
      start = text.indexOf("\"n", start) + 2;
    }
    return Integer.parseInt(text.substring(start, text.indexOf('.', start)));
  }

  private static boolean isReasoning(List<String> items, int number) {
    return items.get(number).contains("\"reasoning\"");
  }

  private static void assertPairs(List<String> items, List<Integer> replayed) {
    for (int i = 0; i < replayed.size(); i++) {
      if (isReasoning(items, replayed.get(i))) {
        assertTrue(i + 1 < replayed.size(), "nothing follows " + replayed.get(i));
        assertEquals(replayed.get(i) + 1, replayed.get(i + 1));
      }
    }
  }

  private static List<Integer> said(List<String> items) {
    return Stream.iterate(0, i -> i < items.size(), i -> i + 1)
        .filter(i -> items.get(i).contains("output_text") || items.get(i).contains("call_id"))
        .toList();
  }

  @RepeatedTest(500)
  void no_item_of_reasoning_is_replayed_before_another_than_its_own(RepetitionInfo info) {
    long seed = 4_711L + info.getCurrentRepetition();
    Random random = new Random(seed);
    List<String> items = new ArrayList<>();
    for (int i = random.nextInt(12); i >= 0; i--) {
      items.add(item(random, items.size()));
    }
    String run = "seed " + seed + ": " + items;
    List<Part> parts = new ArrayList<>(read(items));
    List<Integer> whole = replay(parts);
    assertEquals(whole.stream().sorted().toList(), whole, run);
    assertTrue(whole.containsAll(said(items)), run);
    try {
      assertPairs(items, whole);
      while (!parts.isEmpty()) {
        if (random.nextBoolean()) {
          parts.remove(random.nextInt(parts.size()));
        } else {
          Collections.swap(parts, random.nextInt(parts.size()), random.nextInt(parts.size()));
        }
        assertPairs(items, replay(parts));
      }
    } catch (AssertionError e) {
      throw new AssertionError(run, e);
    }
  }

  @RepeatedTest(100)
  void every_pair_that_can_be_replayed_is(RepetitionInfo info) {
    long seed = 42L + info.getCurrentRepetition();
    Random random = new Random(seed);
    List<String> items = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      String item = item(random, i);
      while (item.contains("\"content\":[]") || item.contains("\"id\":\"n%d.\",\"s".formatted(i))) {
        item = item(random, i);
      }
      items.add(item);
    }
    items.add("{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"n8.\"}]}");
    List<Part> parts = read(items);
    assertEquals(Stream.iterate(0, i -> i < 9, i -> i + 1).toList(), replay(parts), "seed " + seed);
    assertTrue(
        parts.stream().allMatch(part -> !part.toString().contains("encrypted")), "seed " + seed);
    assertEquals(
        parts.stream().filter(ProviderState.class::isInstance).count() > 0,
        items.stream().anyMatch(item -> !item.contains("output_text") && !item.contains("call_id")),
        "seed " + seed);
  }
}
