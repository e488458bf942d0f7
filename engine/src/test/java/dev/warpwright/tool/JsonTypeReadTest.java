package dev.warpwright.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading JSON into records, and what is said of JSON that is refused. */
class JsonTypeReadTest {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  /** Reached without a lookup. */
  public record PublicRecord(int value) {}

  record Forecast(String place, int days) {
    Forecast {
      if (days < 1 || days > 14) {
        throw new IllegalArgumentException("secret days: " + days);
      }
    }
  }

  @SuppressWarnings("UnicodeInCode") // a name of a component may be any Java name
  private record Hidden(String größe) {}

  record Trip(List<Forecast> stops, Map<String, Integer> limits) {}

  record Optionals(
      Optional<String> text,
      @NotRequired @Nullable Integer number,
      @NotRequired Optional<Json> j) {}

  record Raw(Json json) {}

  record Tags(Set<String> tags, Set<BigDecimal> numbers) {}

  record Big(List<Integer> numbers) {}

  record Node(Optional<Node> next) {}

  record Failing(int value) {
    Failing {
      throw new AssertionError(value);
    }
  }

  sealed interface Figure {}

  record Circle(double radius) implements Figure {}

  record Square(int side) implements Figure {}

  enum Color {
    RED,
    GREEN {
      @Override
      public String toString() {
        return "green";
      }
    }
  }

  private static <T> JsonType<T> type(Class<T> type) {
    return JsonType.of(type, LOOKUP);
  }

  private static Json json(String text) {
    return Json.parse(text.replace('\'', '"'));
  }

  private static <T> T read(Class<T> type, String text) {
    assertEquals(List.of(), type(type).violations(json(text)));
    return type(type).read(json(text));
  }

  private static void assertViolations(Class<?> type, String text, String... violations) {
    assertEquals(List.of(violations), type(type).violations(json(text)));
    assertThrows(InvalidRequestException.class, () -> type(type).read(json(text)));
  }

  @Test
  @Tag("A152")
  void aPackagePrivateRecordIsReadThroughTheLookupOfTheProgram() {
    assertEquals(new Forecast("Bern", 3), read(Forecast.class, "{'days':3,'place':'Bern'}"));
    assertEquals(new Hidden("groß"), read(Hidden.class, "{'größe':'groß'}"));
  }

  @Test
  void aPublicRecordNeedsNoLookup() {
    assertEquals(new PublicRecord(7), JsonType.of(PublicRecord.class).read(json("{'value':7}")));
  }

  @Test
  void simpleTypesAreTypesToo() {
    assertEquals("x", read(String.class, "'x'"));
    assertEquals(7, read(Integer.class, "7"));
    assertEquals(Color.GREEN, read(Color.class, "'GREEN'"));
    assertEquals(json("[1.50]"), read(Json.class, "[1.50]"));
  }

  // --- exact numbers

  @Test
  @Tag("R165")
  void aFractionIsNoInteger() {
    assertViolations(Integer.class, "3.7", "$ must be an integer, has a fraction");
    assertViolations(Long.class, "1e-1", "$ must be an integer, has a fraction");
    assertViolations(BigInteger.class, "0.5", "$ must be an integer, has a fraction");
    assertViolations(Integer.class, "1e-999999999", "$ must be an integer, has a fraction");
  }

  @Test
  @Tag("R165")
  void anIntegerMayBeWrittenWithAPointOrAnExponent() {
    assertEquals(3, read(Integer.class, "3.0"));
    assertEquals(300, read(Integer.class, "3e2"));
    assertEquals(0, read(Integer.class, "-0.000e5"));
    assertEquals(0, read(Integer.class, "0e999999999"));
    assertEquals(Long.MAX_VALUE, read(Long.class, "9.223372036854775807e18"));
    assertEquals(BigInteger.TEN.pow(30), read(BigInteger.class, "1e30"));
  }

  @Test
  @Tag("R165")
  void anIntegerOutOfRangeIsRefusedAndNotCut() {
    assertEquals(Byte.MIN_VALUE, read(Byte.class, "-128"));
    assertViolations(Byte.class, "128", "$ must be from -128 to 127");
    assertViolations(Short.class, "-32769", "$ must be from -32768 to 32767");
    assertViolations(Integer.class, "2147483648", "$ must be from -2147483648 to 2147483647");
    assertViolations(Integer.class, "4294967296", "$ must be from -2147483648 to 2147483647");
    String longRange = "$ must be from -9223372036854775808 to 9223372036854775807";
    assertViolations(Long.class, "9223372036854775808", longRange);
    assertViolations(Long.class, "-1e19", longRange);
    assertViolations(Long.class, "1e999999999", longRange);
  }

  @Test
  @Tag("R165")
  void bigNumbersKeepEveryDigit() {
    String digits = "12345678901234567890123456789012345678901234567890";
    assertEquals(new BigInteger(digits), read(BigInteger.class, digits));
    assertEquals(
        new BigDecimal("0." + digits + "00"), read(BigDecimal.class, "0." + digits + "00"));
    assertEquals(new BigDecimal("1.10"), read(BigDecimal.class, "1.10"));
    assertEquals("1.10", type(BigDecimal.class).write(new BigDecimal("1.10")).text());
    assertEquals(new BigDecimal("7"), read(BigDecimal.class, "7"));
  }

  @Test
  void aNumberThatWouldFillTheMemoryIsRefused() {
    String rule = "$ must have at most 900 digits and an exponent from -900 to 900";
    assertViolations(BigDecimal.class, "1e999999999", rule);
    assertViolations(BigDecimal.class, "1e-901", rule);
    assertViolations(BigInteger.class, "1e999999999", rule);
    assertViolations(BigInteger.class, "1e900", rule);
    assertViolations(BigInteger.class, "9".repeat(901), rule);
    assertEquals(900, read(BigInteger.class, "9".repeat(900)).toString().length());
  }

  @Test
  void doublesAreTheNearestAndFinite() {
    assertEquals(0.1, read(Double.class, "0.1"));
    assertEquals(1.0, read(Double.class, "1"));
    assertEquals(Double.MAX_VALUE, read(Double.class, "1.7976931348623157e308"));
    assertEquals(0.0, read(Double.class, "1e-999999999"));
    assertEquals(0.1f, read(Float.class, "0.1"));
    // halfway between two floats for a double, above it in truth
    assertEquals(
        Float.parseFloat("1.00000017881393432617187500000000001"),
        read(Float.class, "1.00000017881393432617187500000000001"));
    assertViolations(Double.class, "1e309", "$ must be within the range of a double");
    assertViolations(Float.class, "1e39", "$ must be within the range of a float");
    assertThrows(InvalidRequestException.class, () -> type(Double.class).write(Double.NaN));
    assertThrows(
        InvalidRequestException.class, () -> type(Float.class).write(Float.POSITIVE_INFINITY));
  }

  // --- texts

  @Test
  void otherJsonTypesAreNeverConverted() {
    assertViolations(String.class, "1", "$ must be a string, is a number");
    assertViolations(Integer.class, "'1'", "$ must be an integer, is a string");
    assertViolations(Boolean.class, "'true'", "$ must be a boolean, is a string");
    assertViolations(Double.class, "null", "$ must be a number, is null");
    assertViolations(Instant.class, "0", "$ must be a string, is a number");
    assertViolations(Trip.class, "[]", "$ must be an object, is an array");
    assertViolations(Figure.class, "true", "$ must be an object, is a boolean");
    assertViolations(
        Trip.class,
        "{'stops':{},'limits':[]}",
        "$.stops must be an array, is an object",
        "$.limits must be an object, is an array");
  }

  @Test
  void timesAreStrict() {
    assertEquals(
        Instant.parse("2026-01-31T07:30:00.5Z"),
        read(Instant.class, "'2026-01-31T08:30:00.5+01:00'"));
    assertEquals(Instant.EPOCH, read(Instant.class, "'1970-01-01t00:00:00z'"));
    for (String bad :
        List.of(
            "2026-01-31",
            "2026-01-31T08:30Z",
            "2026-01-31T08:30:00",
            "2026-01-31 08:30:00Z",
            "2026-02-30T08:30:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T08:30:00.Z",
            "2026-01-31T08:30:00+0100",
            "+12026-01-31T08:30:00Z",
            "0000-01-01T00:00:00+01:00",
            "２026-01-31T08:30:00Z")) {
      assertFalse(type(Instant.class).violations(Json.of(bad)).isEmpty(), bad);
    }
    assertEquals(LocalDate.of(2024, 2, 29), read(LocalDate.class, "'2024-02-29'"));
    for (String bad :
        List.of("2023-02-29", "2024-2-9", "20240229", "+12024-02-29", "-2024-02-29")) {
      assertFalse(type(LocalDate.class).violations(Json.of(bad)).isEmpty(), bad);
    }
  }

  @Test
  void durationsHaveAnExactLength() {
    assertEquals(Duration.ofDays(1), read(Duration.class, "'P1D'"));
    assertEquals(Duration.ofMillis(90_500), read(Duration.class, "'PT1M30.5S'"));
    assertEquals(Duration.ofSeconds(-3601), read(Duration.class, "'-PT1H1S'"));
    for (String bad :
        List.of("", "P", "PT", "P1DT", "-PT", "P1M", "P1Y", "PT1", "1s", "PT.5S", "pt1s", "P-1D")) {
      assertFalse(type(Duration.class).violations(Json.of(bad)).isEmpty(), bad);
    }
    assertEquals("\"-PT0.5S\"", type(Duration.class).write(Duration.ofMillis(-500)).text());
  }

  @Test
  void valuesThatNoStringStandsForAreNotWritten() {
    assertThrows(InvalidRequestException.class, () -> type(Instant.class).write(Instant.MAX));
    assertThrows(InvalidRequestException.class, () -> type(LocalDate.class).write(LocalDate.MIN));
    for (Duration tooLong :
        List.of(
            Duration.ofSeconds(Long.MAX_VALUE),
            Duration.ofSeconds(Long.MIN_VALUE),
            Duration.ofSeconds(-Long.MAX_VALUE))) {
      assertThrows(InvalidRequestException.class, () -> type(Duration.class).write(tooLong));
    }
    assertThrows(
        InvalidRequestException.class, () -> type(BigInteger.class).write(BigInteger.TEN.pow(900)));
  }

  @Test
  void aUuidHasItsFullLength() {
    UUID id = UUID.fromString("12345678-9abc-def0-1234-56789abcdef0");
    assertEquals(id, read(UUID.class, "'12345678-9ABC-def0-1234-56789abcdef0'"));
    for (String bad :
        List.of(
            "1-1-1-1-1",
            "12345678-9abc-def0-1234-56789abcdefg",
            "123456789-abc-def0-1234-56789abcdef0",
            "１2345678-9abc-def0-1234-56789abcdef0")) {
      assertFalse(type(UUID.class).violations(Json.of(bad)).isEmpty(), bad);
    }
  }

  @Test
  void enumsAreReadByTheNamesOfTheirConstants() {
    assertEquals("\"GREEN\"", type(Color.class).write(Color.GREEN).text());
    assertViolations(Color.class, "'green'", "$ must be one of RED, GREEN");
  }

  @Test
  void textKeepsAllOfUnicode() {
    String text = "naïve 日本語 \uD83D\uDE80 \u0000 \u2028 \"\\/";
    assertEquals(text, type(String.class).read(type(String.class).write(text)));
    assertEquals("\uFFFD", type(String.class).read(type(String.class).write("\uD83D")));
  }

  // --- objects

  @Test
  void whatIsRequiredMustBeThereAndNotNull() {
    assertViolations(
        Forecast.class,
        "{'days':null}",
        "$.place is required",
        "$.days must be an integer, is null");
  }

  @Test
  void undeclaredMembersAreCountedAndNotQuoted() {
    assertViolations(
        Forecast.class,
        "{'place':'x','secret':1,'days':2}",
        "$ has a member that is not declared; declared are place, days");
    assertViolations(
        Forecast.class,
        "{'place':'x','secret':1,'days':2,'more':3}",
        "$ has 2 members that are not declared; declared are place, days");
  }

  @Test
  @Tag("A152")
  void whatIsNotRequiredMayBeAbsentOrNull() {
    Optionals none = new Optionals(Optional.empty(), null, Optional.empty());
    assertEquals(none, read(Optionals.class, "{}"));
    assertEquals(none, read(Optionals.class, "{'text':null,'number':null,'j':null}"));
    assertEquals("{}", type(Optionals.class).write(none).text());
    Optionals all = new Optionals(Optional.of("a"), 1, Optional.of(json("[null]")));
    assertEquals(all, read(Optionals.class, "{'text':'a','number':1,'j':[null]}"));
    assertEquals(
        "{\"text\":\"a\",\"number\":1,\"j\":[null]}", type(Optionals.class).write(all).text());
    assertViolations(Optionals.class, "{'number':'1'}", "$.number must be an integer, is a string");
  }

  @Test
  void pathsNameMembersAndIndexesButNoKeysOfMaps() {
    assertViolations(
        Trip.class,
        "{'stops':[{'place':'a','days':1},{'place':2,'days':1}],'limits':{'k':1,'secret':'2'}}",
        "$.stops[1].place must be a string, is a number",
        "$.limits[entry 2] must be an integer, is a string");
  }

  @Test
  void anExceptionOfTheConstructorIsNamedByItsClassOnly() {
    assertViolations(
        Forecast.class,
        "{'place':'x','days':99}",
        "$ is refused by the record Forecast (IllegalArgumentException)");
    InvalidRequestException e =
        assertThrows(
            InvalidRequestException.class,
            () -> type(Forecast.class).read(json("{'place':'x','days':99}")));
    assertEquals(FailureKind.INVALID_REQUEST, e.kind());
    assertEquals(
        "The JSON is no valid Forecast: $ is refused by the record Forecast"
            + " (IllegalArgumentException).",
        e.getMessage());
    assertNull(e.getCause());
  }

  @Test
  void anErrorOfTheConstructorGoesOn() {
    assertThrows(AssertionError.class, () -> type(Failing.class).violations(json("{'value':1}")));
  }

  @Test
  void rawJsonIsAnyValueAndKeptAsItIs() {
    assertEquals(
        "{\"b\":1.50,\"a\":[null]}", read(Raw.class, "{'json':{'b':1.50,'a':[null]}}").json.text());
    assertEquals("null", read(Raw.class, "{'json':null}").json.text());
  }

  @Test
  @Tag("R157")
  void aSealedInterfaceIsToldByItsType() {
    assertEquals(new Circle(2), read(Figure.class, "{'radius':2,'type':'Circle'}"));
    assertEquals(
        "{\"type\":\"Square\",\"side\":3}", type(Figure.class).write(new Square(3)).text());
    assertEquals("{\"side\":3}", type(Square.class).write(new Square(3)).text());
    assertViolations(Figure.class, "{'radius':2}", "$.type must be one of Circle, Square");
    assertViolations(Figure.class, "{'type':'Triangle'}", "$.type must be one of Circle, Square");
    assertViolations(
        Figure.class,
        "{'type':'Square','radius':2}",
        "$.side is required",
        "$ has a member that is not declared; declared are side");
  }

  @Test
  void aSetHasNoElementTwice() {
    Tags tags = read(Tags.class, "{'tags':['b','a'],'numbers':[1,1.5]}");
    assertEquals(List.of("b", "a"), List.copyOf(tags.tags));
    assertViolations(
        Tags.class,
        "{'tags':['a','a'],'numbers':[1,1.0]}",
        "$.tags[1] must not be there twice",
        "$.numbers[1] must not be there twice");
  }

  @Test
  void whatIsReadCannotBeChanged() {
    Trip trip = read(Trip.class, "{'stops':[],'limits':{}}");
    assertThrows(UnsupportedOperationException.class, () -> trip.limits.put("a", 1));
    assertThrows(UnsupportedOperationException.class, () -> trip.stops.add(new Forecast("a", 1)));
  }

  @Test
  void nullIsNotWrittenWhereItIsNotAllowed() {
    List<Forecast> stops = new ArrayList<>();
    stops.add(null);
    InvalidRequestException e =
        assertThrows(
            InvalidRequestException.class, () -> type(Trip.class).write(new Trip(stops, Map.of())));
    assertEquals("The value cannot be written as JSON: $.stops[0] is null", e.getMessage());
  }

  // --- hostile input

  @Test
  void violationsAreBounded() {
    String text = "{'numbers':[" + "'x',".repeat(1_000) + "'x']}";
    List<String> violations = type(Big.class).violations(json(text));
    assertEquals(20, violations.size());
    assertEquals("$.numbers[19] must be an integer, is a string", violations.getLast());
  }

  @Test
  void aMillionElementsAreReadInLinearTime() {
    Json numbers = json("{'numbers':[" + "1,".repeat(999_999) + "1]}");
    assertTimeout(
        Duration.ofSeconds(20),
        () -> assertEquals(1_000_000, type(Big.class).read(numbers).numbers.size()));
  }

  @Test
  void aSetOfCollidingStringsIsReadInBoundedTime() {
    StringBuilder text = new StringBuilder("{'numbers':[],'tags':[");
    for (int i = 0; i < 1 << 16; i++) {
      text.append(i == 0 ? "'" : ",'");
      for (int bit = 0; bit < 16; bit++) {
        text.append((i >> bit & 1) == 0 ? "Aa" : "BB"); // equal hash codes
      }
      text.append('\'');
    }
    Json tags = json(text + "]}");
    assertTimeout(
        Duration.ofSeconds(20),
        () -> assertEquals(1 << 16, type(Tags.class).read(tags).tags.size()));
  }

  @Test
  void recursionEndsAtTheDepthOfJson() {
    String text = "{'next':".repeat(99) + "{}" + "}".repeat(99);
    Node node = read(Node.class, text);
    assertEquals(json(text), type(Node.class).write(node));
    Node tooDeep = new Node(Optional.of(new Node(Optional.of(node))));
    assertThrows(InvalidRequestException.class, () -> type(Node.class).write(tooDeep));
  }

  // --- schemas given by hand

  @Test
  @Tag("R157")
  void aGivenSchemaChecksAndKeepsTheJson() {
    JsonType<Json> type =
        JsonType.ofSchema(
            json(
                "{'type':'object','properties':{'n':{'type':'integer','maximum':5},'s':"
                    + "{'pattern':'^a+$'}},'required':['n'],'additionalProperties':false}"));
    Json good = json("{'n':3.0,'s':'aa'}");
    assertEquals(good, type.read(good));
    assertEquals(good, type.write(good));
    assertEquals(
        List.of(
            "$.s breaks pattern at #/properties/s/pattern of the schema",
            "$.n is required",
            "$ breaks additionalProperties at #/additionalProperties of the schema"),
        type.violations(json("{'s':'secret','hidden':1}")));
    assertEquals(
        List.of("$.n breaks maximum at #/properties/n/maximum of the schema"),
        type.violations(json("{'n':1e30}")));
    assertThrows(InvalidRequestException.class, () -> type.read(json("{'n':9}")));
    assertThrows(InvalidRequestException.class, () -> type.write(json("{'n':9}")));
  }

  @Test
  void aGivenSchemaDoesNotShowWhatItDoesNotDeclare() {
    JsonType<Json> type =
        JsonType.ofSchema(json("{'additionalProperties':{'type':'array','items':{'const':1}}}"));
    assertEquals(
        List.of("$[entry 2][1] breaks const at #/additionalProperties/items/const of the schema"),
        type.violations(json("{'a':[],'secret':[1,'hidden']}")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"^(a+)+$", "(a|aa)+$", "^(a|b|ab)*c$"})
  @Timeout(60)
  void aPatternThatWouldTakeYearsMakesTheValueInvalid(String pattern) {
    JsonType<Json> type =
        JsonType.ofSchema(
            json("{'properties':{'s':{'pattern':'" + pattern + "'},'t':{'pattern':'^a*$'}}}"));
    assertEquals(
        List.of("$ takes too much to be matched with the schema's patterns"),
        type.violations(json("{'s':'" + "a".repeat(50_000) + "!'}")));
    assertEquals(List.of(), type.violations(json("{'t':'" + "a".repeat(1_000_000) + "'}")));
  }

  @Test
  void aPatternThatIsNestedTooDeeplyIsRefused() {
    String pattern = "(".repeat(100_000) + ")".repeat(100_000);
    assertThrows(
        InvalidRequestException.class,
        () -> JsonType.ofSchema(json("{'pattern':'" + pattern + "'}")));
  }

  @Test
  void aGivenSchemaIsCheckedWhenItIsGiven() {
    for (String bad :
        List.of(
            "true",
            "{'type':'intejer'}",
            "{'pattern':'('}",
            "{'$ref':'#/$defs/none'}",
            "{'$ref':'#'}",
            "{'$ref':'https://example.com/schema'}",
            "{'$ref':'classpath:logback.xml'}",
            "{'$ref':'file:///etc/hostname'}",
            "{'$schema':'https://example.com/schema'}")) {
      InvalidRequestException e =
          assertThrows(
              InvalidRequestException.class, () -> JsonType.ofSchema(json(bad)), () -> bad);
      assertEquals(FailureKind.INVALID_CONFIGURATION, e.kind());
    }
    assertInstanceOf(
        JsonType.class,
        JsonType.ofSchema(json("{'$schema':'http://json-schema.org/draft-07/schema'}")));
  }

  @Test
  void aGivenSchemaIsBoundedToo() {
    JsonType<Json> numbers = JsonType.ofSchema(json("{'items':{'multipleOf':3}}"));
    assertEquals(20, numbers.violations(json("[" + "1,".repeat(100_000) + "1]")).size());
    assertTrue(numbers.violations(json("[3,1e999999999]")).getFirst().contains("exponent"));
    JsonType<Json> integer = JsonType.ofSchema(json("{'type':'integer','maximum':5}"));
    assertFalse(integer.violations(json("9223372036854775807.5")).isEmpty());
    assertEquals(List.of(), integer.violations(json("-1e30")));
  }
}
