package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "9007199254740993",
        "9223372036854775817",
        "1234567890.123456789",
        "0.10",
        "-1E+400",
        "{\"id\":2512292042121000001,\"text\":\"1234567890123456789\"}"
      })
  @Tag("Y28")
  @Tag("FR-N01")
  @Tag("FR-N03")
  void numbers_keep_every_digit(String text) {
    assertEquals(text, Json.parse(text).text());
    assertEquals(text, Json.of(Json.parse(text).value()).text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "{} {}",
        "[1,]",
        "{\"a\":1,\"a\":2}",
        "NaN",
        "1e99999999999",
        "\u0000",
        "'a'"
      })
  @Tag("Y29")
  void a_text_that_is_no_single_value_is_refused_without_its_content(String text) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> Json.parse("\"SECRET\"" + text + "x"));
    assertFalse(refused.getMessage().contains("SECRET"));
    assertThrows(InvalidRequestException.class, () -> Json.parse(text));
  }

  @Test
  @Tag("Y30")
  void a_hundred_levels_are_accepted_and_one_more_is_refused() {
    String deep = "[".repeat(100) + "]".repeat(100);
    assertEquals(deep, Json.parse(deep).text());
    assertThrows(InvalidRequestException.class, () -> Json.parse("[" + deep + "]"));
    assertThrows(InvalidRequestException.class, () -> Json.of(List.of(Json.parse(deep))));
    List<Object> cycle = new ArrayList<>();
    cycle.add(cycle);
    assertThrows(InvalidRequestException.class, () -> Json.of(cycle));
  }

  @Test
  @Tag("FR-U01")
  @Tag("A50")
  void unpaired_surrogates_are_replaced_where_a_value_is_made() {
    assertEquals("{\"\uFFFDk\":\"a\uFFFDb\"}", Json.of(Map.of("\uDC00k", "a\uD83Db")).text());
    assertEquals("\"a\uFFFDb\uD83C\uDF0D\"", Json.parse("\"a\\uD83Db\\uD83C\\uDF0D\"").text());
  }

  @Test
  void the_canonical_text_does_not_depend_on_the_order_of_members() {
    Json one = Json.parse("{\"b\":[1,{\"d\":1,\"c\":2}],\"a\":null}");
    Json other = Json.parse("{ \"a\": null, \"b\": [1, {\"c\": 2, \"d\": 1}] }");
    assertEquals("{\"a\":null,\"b\":[1,{\"c\":2,\"d\":1}]}", one.canonical());
    assertEquals(one.canonical(), other.canonical());
  }

  @Test
  void a_value_is_canonical_as_it_stands_exactly_if_every_object_of_it_is_sorted() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int n = 0; n < 2_000; n++) {
      Object sorted = nested(random, 3);
      Json value = Json.of(shuffled(sorted, random));
      assertEquals(Json.of(sorted).text(), value.canonical(), "seed " + seed);
      assertEquals(Json.of(sorted).text(), Json.parse(value.canonical()).canonical());
    }
  }

  /** A value whose maps are sorted. */
  private static Object nested(Random random, int depth) {
    int kind = depth == 0 ? 2 : random.nextInt(3);
    if (kind == 2) {
      return random.nextBoolean() ? random.nextInt(10) : "t" + random.nextInt(10);
    }
    List<Object> inner = new ArrayList<>();
    Map<String, Object> members = new TreeMap<>();
    for (int n = random.nextInt(4); n > 0; n--) {
      inner.add(nested(random, depth - 1));
      members.put("k" + random.nextInt(20), nested(random, depth - 1));
    }
    return kind == 0 ? inner : members;
  }

  private static Object shuffled(Object value, Random random) {
    return switch (value) {
      case List<?> list -> list.stream().map(each -> shuffled(each, random)).toList();
      case Map<?, ?> map -> {
        List<Object> keys = new ArrayList<>(map.keySet());
        Collections.shuffle(keys, random);
        Map<Object, Object> copy = new LinkedHashMap<>();
        keys.forEach(key -> copy.put(key, shuffled(map.get(key), random)));
        yield copy;
      }
      default -> value;
    };
  }

  @Test
  void plain_values_go_in_and_come_out() {
    Map<String, Object> value = Map.of("list", Arrays.asList(1, "two", true, null));
    assertEquals("{\"list\":[1,\"two\",true,null]}", Json.of(value).text());
    assertEquals(value, Json.of(value).value());
    assertThrows(InvalidRequestException.class, () -> Json.of(Double.NaN));
    assertThrows(InvalidRequestException.class, () -> Json.of(new Object()));
    assertThrows(InvalidRequestException.class, () -> Json.of(Map.of(1, 2)));
  }

  @Test
  void what_can_be_made_can_be_read() {
    Json longName = Json.of(Map.of("k".repeat(200_000), 1));
    assertEquals(longName, Json.parse(longName.text()));
    BigInteger widest = BigInteger.TEN.pow(999);
    assertEquals(widest, Json.parse(Json.of(widest).text()).value());
    assertThrows(InvalidRequestException.class, () -> Json.of(widest.multiply(widest)));
  }

  @Test
  void its_content_is_not_shown() {
    assertEquals("Json[8 characters]", Json.of("secret").toString());
  }
}
