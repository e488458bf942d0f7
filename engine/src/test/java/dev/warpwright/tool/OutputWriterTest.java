package dev.warpwright.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a tool gives back becomes JSON by what it is. */
class OutputWriterTest {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  enum Color {
    RED
  }

  record Page<T>(List<T> items, @Nullable String next) {}

  private record Hidden(int value) {}

  sealed interface Figure {}

  record Circle(double radius) implements Figure {}

  record Typed(String type) implements Figure {}

  private static String write(@Nullable Object value) {
    return JsonType.toJson(value, LOOKUP).text().replace('"', '\'');
  }

  private static String refusal(@Nullable Object value) {
    return String.valueOf(
        assertThrows(InvalidRequestException.class, () -> JsonType.toJson(value, LOOKUP))
            .getMessage());
  }

  @Test
  void scalarsAreWrittenAsTheyAre() {
    assertEquals("null", write(null));
    assertEquals("'a'", write("a"));
    assertEquals(
        "[true,1,2,3,4,0.1,0.5]", write(List.of(true, (byte) 1, (short) 2, 3, 4L, 0.1, .5f)));
    assertEquals("1.10", write(new BigDecimal("1.10")));
    assertEquals("'RED'", write(Color.RED));
    assertEquals("'1970-01-01T00:00:00Z'", write(Instant.EPOCH));
    assertEquals("'2026-01-31'", write(LocalDate.of(2026, 1, 31)));
    assertEquals("'PT1.5S'", write(Duration.ofMillis(1_500)));
    assertEquals("'00000000-0000-0001-0000-000000000002'", write(new UUID(1, 2)));
    assertEquals("{'a':1.0}", write(Json.parse("{\"a\": 1.0}")));
    assertEquals("['a',null]", write(List.of(Optional.of("a"), Optional.empty())));
  }

  @Test
  void collectionsKeepTheirOrder() {
    assertEquals("['b','a']", write(new LinkedHashSet<>(List.of("b", "a"))));
    assertEquals("['b',null]", write(Arrays.asList("b", null)));
    assertEquals("['b']", write(new String[] {"b"}));
    assertEquals("{'k':[1]}", write(Map.of("k", List.of(1))));
    assertEquals("{'RED':1}", write(Map.of(Color.RED, 1)));
  }

  @Test
  @Tag("A152")
  void packagePrivateRecordsAreReadThroughTheLookup() {
    assertEquals(
        "{'items':[{'value':1},{'value':2}],'next':null}",
        write(new Page<>(List.of(new Hidden(1), new Hidden(2)), null)));
    InvalidRequestException e =
        assertThrows(
            InvalidRequestException.class,
            () -> JsonType.toJson(List.of(new Hidden(1)), MethodHandles.publicLookup()));
    String message = String.valueOf(e.getMessage());
    assertTrue(message.contains("$[0] holds a record: "), message);
    assertTrue(message.contains("hand in MethodHandles.lookup()"), message);
  }

  @Test
  void aRecordOfASealedInterfaceStartsWithItsType() {
    assertEquals("{'type':'Circle','radius':1.0}", write(new Circle(1)));
    assertEquals("{'type':'mine'}", write(new Typed("mine")));
  }

  @Test
  void whatHasNoJsonIsRefusedWithItsPathAndClass() {
    assertTrue(
        refusal(Map.of("secret", new StringBuilder()))
            .contains("$[entry 1] is a java.lang.StringBuilder;"));
    assertTrue(refusal(List.of(1, 'c')).contains("$[1] is a java.lang.Character;"));
    assertTrue(refusal(new int[0]).contains("is a [I;"));
    assertTrue(refusal(Map.of(1, 2)).contains("has a key that is no string and no enum"));
    assertTrue(refusal(List.of(Double.NaN)).contains("$[0] must be within the range of a double"));
    assertTrue(refusal(Instant.MAX).contains("date-time"));
  }

  @Test
  void aStructureThatContainsItselfIsRefused() {
    List<Object> list = new ArrayList<>();
    list.add(list);
    assertTrue(refusal(list).endsWith("is nested deeper than 100 levels"));
  }

  @Test
  void manyRecordsResolveTheirClassOnce() {
    List<Hidden> many = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      many.add(new Hidden(i));
    }
    assertTrue(write(many).endsWith("{'value':99999}]"));
  }
}
