package dev.warpwright;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.StreamEvent.Finish;
import dev.warpwright.StreamEvent.TextDelta;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Usage;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** Values of JSON texts that are not complete yet. */
final class PartialJsonTest {
  private static final String STRINGS = "ab\"\\\n\u0001é\uD83D\uDE00 {}[],:/";

  private static @Nullable Json after(PartialJson partial, String piece) {
    return partial.after(new TextDelta(piece));
  }

  /** The values of a text that comes character by character. */
  private static List<String> values(String text) {
    PartialJson partial = new PartialJson();
    List<String> values = new ArrayList<>();
    for (int i = 0; i < text.length(); i++) {
      Json value = after(partial, text.substring(i, i + 1));
      if (value != null) {
        values.add(value.text());
      }
    }
    return values;
  }

  @Test
  @Tag("R167")
  void a_value_grows_as_its_text_comes() {
    assertEquals(
        List.of(
            "{}",
            "{\"a\":\"\"}",
            "{\"a\":\"x\"}",
            "{\"a\":\"x\",\"b\":[]}",
            "{\"a\":\"x\",\"b\":[12]}",
            "{\"a\":\"x\",\"b\":[12,true]}"),
        values("{\"a\":\"x\",\"b\":[12,true ]}"));
  }

  @Test
  @Tag("R167")
  void a_value_that_has_not_changed_is_not_told_again() {
    PartialJson partial = new PartialJson();
    assertNotNull(after(partial, "{\"a\":1"));
    assertNull(after(partial, "23"));
    assertNull(after(partial, "4"));
    assertEquals("{\"a\":1234}", String.valueOf(after(partial, ", ").text()));
    assertNull(after(partial, " \n"));
    assertNull(after(partial, "\"key"));
    assertNull(after(partial, "\":"));
    assertNull(after(partial, " tru"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "Sure: {\"a\":1} and more | {\"a\":1}",
        "```json [1,2] ``` | [1,2]",
        "[1,2] [3] | [1,2]",
        "{\"a\":\"\\uD83D\\uDE00\"} | {\"a\":\"\uD83D\uDE00\"}"
      })
  void words_around_the_value_are_passed_over_and_it_is_the_first_that_counts(
      String text, String value) {
    assertEquals(Json.parse(value).text(), values(text).getLast());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"a\":1,}",
        "{,",
        "[1 2]",
        "[}",
        "{\"a\" 1}",
        "{1:2}",
        "[01]",
        "[-]",
        "[truth]",
        "[1e]",
        "{\"a\":1,\"a\":2}",
        "[\"\\x\"]",
        "[\"\\u12G4\"]",
        "[\"\t\"]",
        "[nul]",
        "[1,]"
      })
  void a_text_that_turns_out_to_be_no_json_has_no_more_values(String text) {
    PartialJson partial = new PartialJson();
    for (int i = 0; i < text.length(); i++) {
      after(partial, text.substring(i, i + 1));
    }
    assertNull(after(partial, ",1,2]}]} [1,2]"), "it goes on behind the fault");
  }

  @Test
  void deeper_than_a_value_may_be_there_are_no_more_values() {
    String deep = "[".repeat(StrictJson.MAX_DEPTH);
    assertEquals(StrictJson.MAX_DEPTH, values(deep).size());
    assertEquals(StrictJson.MAX_DEPTH, values(deep + "[[1,2],3]").size());
  }

  @Test
  @Tag("R167")
  void the_text_of_the_next_step_is_another_value() {
    PartialJson partial = new PartialJson();
    assertNotNull(after(partial, "{\"a\":\"b\\"));
    FinishReason stop = new FinishReason(FinishReason.Kind.STOP, "stop");
    assertNull(partial.after(new Finish(stop, Usage.ABSENT, false)));
    assertEquals("[1]", String.valueOf(after(partial, "[1]").text()));
  }

  @Test
  @Tag("R167")
  void every_prefix_of_a_json_text_has_a_value_that_the_whole_one_continues() {
    long base = System.nanoTime();
    for (int i = 0; i < 1_500; i++) {
      long seed = base + i;
      Random random = new Random(seed);
      String text = randomContainer(random, 0);
      try {
        checkAllPrefixes(text, random);
      } catch (Throwable thrown) {
        throw new AssertionError("seed " + seed + " text " + text, thrown);
      }
    }
  }

  private static void checkAllPrefixes(String text, Random random) throws Exception {
    JsonNode whole = StrictJson.read(text);
    PartialJson byCharacter = new PartialJson();
    PartialJson byPiece = new PartialJson();
    Json last = null;
    Json lastOfPieces = null;
    int begin = 0;
    for (int i = 0; i < text.length(); i++) {
      Json value = after(byCharacter, text.substring(i, i + 1));
      if (value != null) {
        assertTrue(isBeginning(StrictJson.read(value.text()), whole), value.text());
        last = value;
      }
      if (random.nextInt(4) == 0 || i == text.length() - 1) {
        Json ofPiece = after(byPiece, text.substring(begin, i + 1));
        begin = i + 1;
        lastOfPieces = ofPiece == null ? lastOfPieces : ofPiece;
        assertEquals(last, lastOfPieces, "it matters how the text is cut");
      }
    }
    assertEquals(Json.parse(text), last);
  }

  /** Whether a value is another one up to a place in its text, with what is open there closed. */
  private static boolean isBeginning(JsonNode part, JsonNode whole) {
    if (part.isString() && whole.isString()) {
      return whole.stringValue().startsWith(part.stringValue());
    }
    if (part.isArray() && whole.isArray()) {
      if (part.size() > whole.size()) {
        return false;
      }
      for (int i = 0; i < part.size(); i++) {
        boolean last = i == part.size() - 1;
        if (last ? !isBeginning(part.get(i), whole.get(i)) : !part.get(i).equals(whole.get(i))) {
          return false;
        }
      }
      return true;
    }
    if (part.isObject() && whole.isObject()) {
      Iterator<Map.Entry<String, JsonNode>> members = whole.properties().iterator();
      int left = part.size();
      for (Map.Entry<String, JsonNode> member : part.properties()) {
        Map.Entry<String, JsonNode> same = members.next();
        boolean last = --left == 0;
        if (!member.getKey().equals(same.getKey())
            || (last
                ? !isBeginning(member.getValue(), same.getValue())
                : !member.getValue().equals(same.getValue()))) {
          return false;
        }
      }
      return true;
    }
    return part.equals(whole);
  }

  private static String randomContainer(Random random, int depth) {
    int size = random.nextInt(4);
    List<String> parts = new ArrayList<>();
    boolean object = random.nextBoolean();
    for (int i = 0; i < size; i++) {
      String value = randomValue(random, depth + 1);
      parts.add(
          object
              ? space(random) + randomString(random, "k" + i) + space(random) + ":" + value
              : value);
    }
    String inner = String.join(",", parts);
    return (object ? "{" : "[") + inner + space(random) + (object ? "}" : "]");
  }

  private static String randomValue(Random random, int depth) {
    String value =
        switch (random.nextInt(depth > 4 ? 4 : 6)) {
          case 0 -> randomString(random, "");
          case 1 -> List.of("true", "false", "null").get(random.nextInt(3));
          case 2 ->
              List.of("0", "-12", "3.50", "1e9", "-2.5E-3", "9007199254740993")
                  .get(random.nextInt(6));
          case 3 -> String.valueOf(random.nextLong());
          default -> randomContainer(random, depth);
        };
    return space(random) + value + space(random);
  }

  private static String space(Random random) {
    return List.of("", "", "", " ", "\n\t", "\r\n  ").get(random.nextInt(6));
  }

  /** A string with escapes, whole pairs of surrogates among them in both notations. */
  private static String randomString(Random random, String begin) {
    StringBuilder string = new StringBuilder("\"").append(begin);
    int length = random.nextInt(6);
    for (int i = 0; i < length; i++) {
      switch (random.nextInt(6)) {
        case 0 -> string.append("\\uD83D\\uDE00");
        case 1 -> string.append("\uD83D\uDE00");
        case 2 -> string.append("\\u00e9");
        case 3 ->
            string.append(
                List.of("\\n", "\\\"", "\\\\", "\\/", "\\t", "\\b").get(random.nextInt(6)));
        default -> {
          char c = STRINGS.charAt(random.nextInt(STRINGS.length()));
          string.append(c < ' ' || c == '"' || c == '\\' || Character.isSurrogate(c) ? 'x' : c);
        }
      }
    }
    return string.append('"').toString();
  }

  @Test
  void whatever_comes_nothing_is_thrown() {
    long base = System.nanoTime();
    String alphabet = "{}[]\",:\\ truefalsn0123456789-+.eE\n\u0000\uD83D\uDE00\u2028u";
    for (int i = 0; i < 20_000; i++) {
      Random random = new Random(base + i);
      StringBuilder text = new StringBuilder(random.nextBoolean() ? "{\"" : "[");
      int length = random.nextInt(40);
      for (int k = 0; k < length; k++) {
        text.append(
            random.nextInt(20) == 0
                ? (char) random.nextInt(0x10000)
                : alphabet.charAt(random.nextInt(alphabet.length())));
      }
      try {
        for (String value : values(text.toString())) {
          Json.parse(value);
        }
      } catch (RuntimeException thrown) {
        throw new AssertionError("seed " + (base + i) + " text " + text, thrown);
      }
    }
  }
}
