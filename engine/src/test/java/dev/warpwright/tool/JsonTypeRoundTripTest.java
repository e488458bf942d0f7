package dev.warpwright.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.model.Json;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
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

/** What is written is read again as an equal value, over random values of every type. */
class JsonTypeRoundTripTest {
  private static final JsonType<All> TYPE = JsonType.of(All.class, MethodHandles.lookup());

  enum Color {
    RED,
    GREEN
  }

  sealed interface Figure {}

  record Circle(double radius) implements Figure {}

  record Group(List<Figure> members) implements Figure {}

  record Numbers(
      byte tiny,
      short small,
      int normal,
      long big,
      @NotRequired @Nullable Long boxed,
      BigInteger any,
      BigDecimal exact,
      float single,
      double twice) {}

  record Times(Instant at, LocalDate day, Duration length) {}

  record All(
      String text,
      boolean yes,
      Color color,
      UUID id,
      Numbers numbers,
      Times times,
      Figure figure,
      List<Optionals> list,
      Set<BigDecimal> set,
      Map<String, Figure> map,
      Json json) {}

  record Optionals(
      Optional<String> text, @NotRequired @Nullable Color color, Optional<List<Integer>> list) {}

  private static final class Generator {
    private final Random random;

    Generator(long seed) {
      random = new Random(seed);
    }

    All all() {
      Map<String, Figure> map = new LinkedHashMap<>();
      some(this::text).forEach(key -> map.put(key, figure(2)));
      return new All(
          text(),
          random.nextBoolean(),
          color(),
          new UUID(random.nextLong(), random.nextLong()),
          numbers(),
          times(),
          figure(4),
          some(this::optionals),
          new LinkedHashSet<>(List.of(decimal())),
          map,
          Json.of(some(this::text)));
    }

    private Color color() {
      return random.nextBoolean() ? Color.RED : Color.GREEN;
    }

    /** Any code points but surrogates. */
    private String text() {
      StringBuilder text = new StringBuilder();
      for (int i = random.nextInt(6); i > 0; i--) {
        int bound = List.of(0x80, 0xD800, 0x110000).get(random.nextInt(3));
        int codePoint = random.nextInt(bound);
        text.appendCodePoint(Character.getType(codePoint) == Character.SURROGATE ? 'x' : codePoint);
      }
      return text.toString();
    }

    private Numbers numbers() {
      return new Numbers(
          (byte) random.nextInt(),
          (short) random.nextInt(),
          random.nextInt(),
          random.nextLong(),
          random.nextBoolean() ? null : random.nextLong(),
          new BigInteger(random.nextInt(2_000), random).negate(),
          decimal(),
          finite(Float.intBitsToFloat(random.nextInt())),
          finite(Double.longBitsToDouble(random.nextLong())));
    }

    private BigDecimal decimal() {
      return new BigDecimal(
          new BigInteger(random.nextInt(1_000), random), random.nextInt(600) - 300);
    }

    private static float finite(float value) {
      return Float.isFinite(value) ? value : Float.MIN_VALUE;
    }

    private static double finite(double value) {
      return Double.isFinite(value) ? value : Double.MIN_VALUE;
    }

    private Times times() {
      return new Times(
          Instant.ofEpochSecond(random.nextLong(-62_167_219_200L, 253_402_300_800L), nanos()),
          LocalDate.of(random.nextInt(10_000), 1, 1).plusDays(random.nextInt(365)),
          Duration.ofSeconds(random.nextLong() >> random.nextInt(12, 60), nanos()));
    }

    private int nanos() {
      return random.nextInt(3) == 0 ? 0 : random.nextInt(1_000_000_000);
    }

    private Figure figure(int depth) {
      return depth == 0 || random.nextBoolean()
          ? new Circle(random.nextGaussian())
          : new Group(some(() -> figure(depth - 1)));
    }

    private Optionals optionals() {
      return new Optionals(
          random.nextBoolean() ? Optional.empty() : Optional.of(text()),
          random.nextBoolean() ? null : color(),
          random.nextBoolean() ? Optional.empty() : Optional.of(some(random::nextInt)));
    }

    private <T> List<T> some(Supplier<T> element) {
      List<T> elements = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        elements.add(element.get());
      }
      return elements;
    }
  }

  @Test
  @Tag("R157")
  @Tag("R165")
  void whatIsWrittenIsReadAgainAsAnEqualValue() {
    long seed = Long.getLong("warpwright.seed", 20_260_131L);
    JsonType<Json> library = JsonType.ofSchema(TYPE.schema());
    for (int i = 0; i < 2_000; i++) {
      All value = new Generator(seed + i).all();
      Json json = TYPE.write(value);
      String where = "seed " + (seed + i) + ": " + json.text();
      assertEquals(List.of(), TYPE.violations(json), where);
      assertEquals(value, TYPE.read(json), where);
      assertEquals(value, TYPE.read(Json.parse(json.canonical())), where);
      assertEquals(List.of(), library.violations(json), where);
    }
  }
}
