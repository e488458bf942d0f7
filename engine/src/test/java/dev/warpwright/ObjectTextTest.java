package dev.warpwright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a model writes around an object. */
@Tag("R162")
final class ObjectTextTest {
  private static final Optional<Json> OBJECT = Optional.of(Json.parse("{\"a\":1}"));

  @ParameterizedTest
  @Tag("FR-H01")
  @ValueSource(
      strings = {
        "```json\n{\"a\":1}\n```",
        "```\n{\"a\":1}\n```",
        "  ```JSON\r\n{\"a\" : 1}\r\n```\n\n",
        "Here it is:\n```json\n{\"a\":1}\n```\nAnything else?",
      })
  void one_code_fence_around_the_value_is_passed_over(String text) {
    assertEquals(OBJECT, ObjectText.tolerant(text).value());
    assertEquals(Optional.empty(), ObjectText.exact(text).value());
  }

  @ParameterizedTest
  @Tag("FR-H03")
  @ValueSource(
      strings = {
        "Sure: {\"a\":1} done",
        "{\"a\":1}.",
        "See [the note], [nullable] and {braces}: {\"a\":1} [",
        "It is 3 or \"4\", {\"a\":1}",
        "\n{\"a\":1}\n",
      })
  void words_before_and_after_one_value_are_passed_over(String text) {
    assertEquals(OBJECT, ObjectText.tolerant(text).value());
  }

  @ParameterizedTest
  @Tag("FR-H03")
  @ValueSource(
      strings = {
        "{\"a\":1} {\"a\":1}",
        "{\"a\":1}{\"a\":2}",
        "First {\"a\":1}, then [2].",
        "```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```",
      })
  void two_values_are_an_error(String text) {
    assertEquals("It holds more than one JSON value.", ObjectText.tolerant(text).fault());
    assertEquals(Optional.empty(), ObjectText.tolerant(text).value());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no",
        "{\"a\":1",
        "{\"outer\": {\"a\":1}, oops",
        "{\"name\": Alps, \"next\": {\"a\":1}}",
        "[1, 2 and {\"a\":1}",
        "{\"a\":1,\"a\":2}",
        "Sure: {\"a\":01}",
        "{'a':1}",
        "{\"a\":1e99999999999}",
      })
  void what_is_no_value_is_an_error_and_a_broken_one_gives_no_smaller_one(String text) {
    ObjectText.Found found = ObjectText.tolerant(text);

    assertEquals(Optional.empty(), found.value());
    assertFalse(found.fault().isEmpty());
  }

  @Test
  void a_value_may_be_a_list_or_a_text() {
    assertEquals(
        Optional.of(Json.parse("[{\"a\":1},2]")),
        ObjectText.tolerant("Sure: [{\"a\":1}, 2]!").value());
    assertEquals(Optional.of(Json.of("`x`")), ObjectText.tolerant("```json\n\"`x`\"\n```").value());
    assertEquals(
        Optional.of(Json.parse("{\"code\":\"```\\n}{\"}")),
        ObjectText.tolerant("Look: {\"code\":\"```\\n}{\"}").value());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"[", "{", "{\"a\":", "{x", "[ ", "[true", "[1,", "[1,[2],", "```", "{\"", "[\"\\"})
  @Timeout(60) // far more than it takes; quadratic work would take hours
  void hostile_texts_of_any_length_are_given_up(String piece) {
    assertEquals(
        Optional.empty(), ObjectText.tolerant(piece.repeat(10_000_000 / piece.length())).value());
  }

  @Test
  void any_value_is_found_again_among_words() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 2_000; round++) {
      Json value = Json.of(java.util.Map.of("a", randomText(random), "b", random.nextInt()));
      String words = randomText(random).replaceAll("[\\[{`]", "-");
      String text = words + value.text() + words;

      assertEquals(Optional.of(value), ObjectText.tolerant(text).value(), "seed " + seed);
    }
  }

  /** {@code -Dwarpwright.fuzz=} says how many rounds. */
  @Test
  void a_damaged_text_is_a_value_or_a_fault_and_nothing_else() {
    long seed = Long.getLong("warpwright.fuzz.seed", System.nanoTime());
    int rounds = Integer.getInteger("warpwright.fuzz", 4_000);
    for (int round = 0; round < rounds; round++) {
      Random random = new Random(seed + round);
      StringBuilder text = new StringBuilder("Sure: ```json\n{\"a\":[1,2.5e3,\"\\u00e9\"]}\n``` ");
      for (int i = random.nextInt(20); i > 0; i--) {
        int at = random.nextInt(text.length());
        switch (random.nextInt(3)) {
          case 0 -> text.insert(at, randomText(random));
          case 1 -> text.deleteCharAt(at).append(' ');
          default -> text.setCharAt(at, (char) random.nextInt(0x10000));
        }
      }
      String damaged = text.toString();
      String again = "-Dwarpwright.fuzz=1 -Dwarpwright.fuzz.seed=" + (seed + round);
      for (ObjectText.Found found :
          List.of(ObjectText.exact(damaged), ObjectText.tolerant(damaged))) {
        assertEquals(found.value().isEmpty(), !found.fault().isEmpty(), again);
        found.value().ifPresent(value -> assertEquals(value, Json.parse(value.text()), again));
      }
    }
  }

  private static String randomText(Random random) {
    String alphabet = "{}[]\"\\`:, \n1aé\u2028";
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  @Test
  void a_fault_tells_the_place_and_no_content() {
    String fault = ObjectText.exact("{\"secret\": oops}").fault();

    assertTrue(fault.contains("line 1, column"), fault);
    assertFalse(fault.contains("oops") || fault.contains("secret"), fault);
  }
}
