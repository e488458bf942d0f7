package dev.warpwright.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Json;
import java.lang.classfile.Signature;
import java.lang.classfile.Signature.ClassTypeSig;
import java.lang.classfile.Signature.TypeArg;
import java.lang.constant.ClassDesc;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The typed reader accepts exactly what the derived schema accepts: random record types and random
 * values, judged by the reader and by the schema library on the schema's text.
 *
 * <p>Left out are the values that only the reader refuses, which {@link JsonType} names: numbers
 * beyond its bounds, leap seconds, offsets beyond ±18:00, tenths of nanoseconds, and what a
 * constructor refuses.
 */
class JsonTypeEquivalenceTest {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
  private static final int TYPES = 150;
  private static final int VALUES = 120;

  /** Values at the borders of every rule, valid for some types and not for others. */
  private static final List<String> BORDERS =
      List.of(
          "null",
          "true",
          "false",
          "0",
          "-0",
          "1",
          "1.0",
          "1.5",
          "-1",
          "127",
          "128",
          "-129",
          "32768",
          "2147483647",
          "2147483648",
          "-2147483649",
          "9223372036854775807",
          "9223372036854775808",
          "-9223372036854775809",
          "1e2",
          "1e18",
          "1e19",
          "1e30",
          "1e-30",
          "100000000000000000000",
          "3.0000000000000000000000000000000000001",
          "\"\"",
          "\"x\"",
          "\"RED\"",
          "\"red\"",
          "\"1\"",
          "\"true\"",
          "\"1970-01-01T00:00:00Z\"",
          "\"2024-02-30T00:00:00Z\"",
          "\"2024-02-29\"",
          "\"2023-02-29\"",
          "\"2024-1-1\"",
          "\"2024-01-01T25:00:00Z\"",
          "\"2024-01-01T00:00Z\"",
          "\"2024-01-01 00:00:00Z\"",
          "\"2024-01-01T00:00:00.123+05:30\"",
          "\"2024-01-01T00:00:00\"",
          "\"PT1S\"",
          "\"P1D\"",
          "\"P\"",
          "\"PT\"",
          "\"P1M\"",
          "\"-PT0.5S\"",
          "\"P1DT\"",
          "\"PT1H1S\"",
          "\"00000000-0000-0000-0000-00000000000A\"",
          "\"0-0-0-0-0\"",
          "[]",
          "[1]",
          "[1,1.0]",
          "[\"a\",\"a\"]",
          "[null]",
          "{}",
          "{\"type\":\"Circle\"}",
          "{\"type\":\"Square\",\"side\":1}",
          "{\"type\":\"Square\",\"side\":1,\"x\":1}",
          "{\"type\":1}",
          "{\"type\":\" Circle\",\"radius\":1}",
          "{\"a\":1}",
          "{\"value\":1}",
          "{\"value\":1,\"children\":[{\"value\":2,\"children\":[]}]}",
          "\"\uD83D\uDE80\"");

  enum Color {
    RED,
    GREEN
  }

  sealed interface Figure {}

  record Circle(double radius, Optional<Color> color) implements Figure {}

  record Square(int side) implements Figure {}

  record Both(Figure first, @NotRequired @Nullable Figure second) implements Figure {}

  record Tree(int value, List<Tree> children) {}

  /** A type with a generator of valid values, as plain Java. */
  private record Kind(ClassDesc erased, Signature signature, Supplier<@Nullable Object> valid) {}

  /** One random type and its values; everything comes from the seed. */
  private static final class Generator {
    private final Random random;

    Generator(long seed) {
      random = new Random(seed);
    }

    private <T> T pick(List<T> from) {
      return from.get(random.nextInt(from.size()));
    }

    Kind kind(int depth) {
      return switch (random.nextInt(depth > 0 ? 28 : 22)) {
        case 0, 1 -> simple(String.class, () -> pick(List.of("", "a", "\uD83D\uDE80", "日本")));
        case 2 -> primitive("Z", random::nextBoolean);
        case 3 -> primitive("B", () -> (byte) random.nextInt());
        case 4 -> primitive("S", () -> (short) random.nextInt());
        case 5 -> primitive("I", random::nextInt);
        case 6 -> primitive("J", random::nextLong);
        case 7 -> primitive("D", random::nextDouble);
        case 8 -> primitive("F", random::nextFloat);
        case 9 -> simple(Integer.class, () -> new BigDecimal(random.nextInt() + ".0"));
        case 10 -> simple(Long.class, random::nextLong);
        case 11 -> simple(BigInteger.class, () -> new BigInteger(200, random));
        case 12 -> simple(BigDecimal.class, () -> new BigDecimal(new BigInteger(90, random), 40));
        case 13 -> simple(Color.class, () -> pick(List.of("RED", "GREEN")));
        case 14 -> simple(Instant.class, () -> Instant.ofEpochSecond(random.nextInt()).toString());
        case 15 -> simple(LocalDate.class, () -> LocalDate.ofEpochDay(random.nextInt(99_999)) + "");
        case 16 -> simple(Duration.class, () -> Duration.ofNanos(random.nextLong() >>> 1) + "");
        case 17 -> simple(UUID.class, () -> new UUID(random.nextLong(), random.nextLong()) + "");
        case 18 -> simple(Json.class, () -> Json.parse(pick(BORDERS)));
        case 19 -> simple(Tree.class, () -> tree(3));
        case 20 -> simple(Figure.class, () -> figure(3));
        case 21 -> simple(Circle.class, () -> Map.of("radius", 1));
        case 22, 23 -> {
          Kind element = boxed(depth - 1);
          yield generic(List.class, List.of(element), () -> several(element.valid));
        }
        case 24 -> {
          Kind value = boxed(depth - 1);
          yield generic(
              Map.class,
              List.of(simple(String.class, () -> ""), value),
              () -> {
                Map<String, @Nullable Object> map = new LinkedHashMap<>();
                several(value.valid).forEach(v -> map.put("k" + map.size(), v));
                return map;
              });
        }
        case 25 ->
            generic(
                Set.class,
                List.of(simple(Integer.class, () -> 0)),
                () -> several(() -> random.nextInt(30)).stream().distinct().toList());
        default -> record(depth - 1);
      };
    }

    /** A kind that can stand as a type argument. */
    private Kind boxed(int depth) {
      Kind kind = kind(depth);
      while (kind.erased.isPrimitive()) {
        kind = kind(depth);
      }
      return kind;
    }

    private List<@Nullable Object> several(Supplier<@Nullable Object> element) {
      List<@Nullable Object> elements = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        elements.add(element.get());
      }
      return elements;
    }

    private Map<String, Object> tree(int depth) {
      List<Object> children = new ArrayList<>();
      for (int i = depth > 0 ? random.nextInt(3) : 0; i > 0; i--) {
        children.add(tree(depth - 1));
      }
      return Map.of("value", random.nextInt(), "children", children);
    }

    private Map<String, Object> figure(int depth) {
      return switch (random.nextInt(depth > 0 ? 3 : 2)) {
        case 0 -> Map.of("type", "Circle", "radius", random.nextDouble(), "color", "RED");
        case 1 -> Map.of("type", "Square", "side", random.nextInt());
        default -> Map.of("type", "Both", "first", figure(depth - 1));
      };
    }

    Kind record(int depth) {
      Map<String, Kind> kinds = new LinkedHashMap<>();
      List<RandomRecords.Component> components = new ArrayList<>();
      Set<String> optional = new java.util.HashSet<>();
      for (int i = random.nextInt(5); i >= 0; i--) {
        String name = pick(List.of("a", "type", "value", "gr\u00f6\u00dfe", "$x")) + i;
        int mark = random.nextInt(4);
        Kind kind = mark < 2 ? kind(depth) : boxed(depth);
        kinds.put(name, kind);
        if (mark >= 2) {
          optional.add(name);
        }
        Kind declared = mark == 3 ? generic(Optional.class, List.of(kind), kind.valid) : kind;
        components.add(
            new RandomRecords.Component(name, declared.erased, declared.signature, mark == 2));
      }
      Class<?> type = RandomRecords.define(components);
      return simple(
          type,
          () -> {
            Map<String, @Nullable Object> members = new LinkedHashMap<>();
            kinds.forEach(
                (name, kind) -> {
                  if (!optional.contains(name) || random.nextBoolean()) {
                    members.put(name, kind.valid.get());
                  } else if (random.nextBoolean()) {
                    members.put(name, null);
                  }
                });
            return members;
          });
    }

    private static Kind primitive(String descriptor, Supplier<@Nullable Object> valid) {
      ClassDesc type = ClassDesc.ofDescriptor(descriptor);
      return new Kind(type, Signature.of(type), valid);
    }

    private static Kind simple(Class<?> type, Supplier<@Nullable Object> valid) {
      ClassDesc described = type.describeConstable().orElseThrow();
      return new Kind(described, Signature.of(described), valid);
    }

    private static Kind generic(
        Class<?> type, List<Kind> arguments, Supplier<@Nullable Object> valid) {
      ClassDesc described = type.describeConstable().orElseThrow();
      TypeArg[] typed =
          arguments.stream()
              .map(argument -> TypeArg.of((ClassTypeSig) argument.signature))
              .toArray(TypeArg[]::new);
      return new Kind(described, ClassTypeSig.of(described, typed), valid);
    }

    /** Changes one or two places of a valid value. */
    @Nullable Object mutated(@Nullable Object value) {
      if (value instanceof Map<?, ?> map && !map.isEmpty() && random.nextInt(8) > 0) {
        Map<Object, @Nullable Object> copy = new LinkedHashMap<>(map);
        Object key = pick(new ArrayList<>(map.keySet()));
        switch (random.nextInt(6)) {
          case 0 -> copy.remove(key);
          case 1 -> copy.put(pick(List.of("type", "more", "")), 1);
          default -> copy.put(key, mutated(copy.get(key)));
        }
        return copy;
      }
      if (value instanceof List<?> list && !list.isEmpty() && random.nextInt(8) > 0) {
        List<@Nullable Object> copy = new ArrayList<>(list);
        int index = random.nextInt(copy.size());
        switch (random.nextInt(6)) {
          case 0 -> copy.remove(index);
          case 1 -> copy.add(copy.get(index));
          default -> copy.set(index, mutated(copy.get(index)));
        }
        return copy;
      }
      return Json.parse(pick(BORDERS));
    }
  }

  @Test
  @Tag("R157")
  @Tag("R165")
  void theReaderAndTheSchemaLibraryAgreeOnRandomTypesAndValues() throws Exception {
    long seed = Long.getLong("warpwright.seed", 20_260_131L);
    int valid = 0;
    int invalid = 0;
    for (int i = 0; i < TYPES; i++) {
      Generator generator = new Generator(seed + i);
      Kind root = generator.record(3);
      JsonType<?> type =
          JsonType.of(
              LOOKUP.findClass(root.erased.packageName() + "." + root.erased.displayName()),
              LOOKUP);
      JsonType<Json> library = JsonType.ofSchema(type.schema());
      for (int j = 0; j < VALUES; j++) {
        Object plain = root.valid.get();
        boolean changed = j % 4 != 0;
        Json value = Json.of(changed ? generator.mutated(plain) : plain);
        List<String> ours = type.violations(value);
        List<String> theirs = library.violations(value);
        String where =
            "seed "
                + (seed + i)
                + ", value "
                + j
                + ": "
                + value.text()
                + "\n"
                + type.schema().text();
        assertEquals(theirs.isEmpty(), ours.isEmpty(), () -> ours + " / " + theirs + ", " + where);
        assertTrue(changed || ours.isEmpty(), () -> ours + ", " + where);
        if (ours.isEmpty()) {
          valid++;
          assertRewritten(type, library, value, where);
        } else {
          invalid++;
        }
      }
    }
    assertTrue(valid > TYPES * VALUES / 3, "valid values: " + valid);
    assertTrue(invalid > TYPES * VALUES / 3, "invalid values: " + invalid);
  }

  /** What was read is written so that the schema accepts it, and written the same once more. */
  private static <T> void assertRewritten(
      JsonType<T> type, JsonType<Json> library, Json value, String where) {
    Json once = type.write(type.read(value));
    assertEquals(List.of(), library.violations(once), where);
    assertEquals(once, type.write(type.read(once)), where);
  }
}
