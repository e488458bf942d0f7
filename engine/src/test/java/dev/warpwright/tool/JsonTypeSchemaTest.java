package dev.warpwright.tool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What schema a type has, and which types have none. */
class JsonTypeSchemaTest {
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();

  @Description("Where the wind comes from")
  enum Wind {
    NORTH,
    SOUTH
  }

  record Empty() {}

  @Description("A place")
  record Place(String name, @Description("in degrees") double latitude) {}

  record Numbers(
      byte tiny, Short small, int normal, long big, BigInteger any, BigDecimal exact, float f) {}

  record Texts(
      String text, Wind wind, Instant at, LocalDate day, Duration length, UUID id, boolean yes) {}

  record Containers(List<Place> places, Set<Wind> winds, Map<String, List<Integer>> counts) {}

  record Optionals(
      Optional<String> text,
      @NotRequired @Nullable Wind wind,
      @NotRequired @Nullable Place place,
      @NotRequired @Nullable Json any,
      @Description("how it looks") Optional<Figure> figure) {}

  record Described(@Description("the start") Place from, Place to) {}

  sealed interface Figure {}

  record Circle(double radius) implements Figure {}

  sealed interface Angular extends Figure {}

  record Square(int side) implements Angular {}

  record Node(int value, List<Node> children) {}

  record Forest(Node first, @Description("another") Optional<Node> second) {}

  sealed interface Expression {}

  record Constant(int value) implements Expression {}

  record Sum(Expression left, Expression right) implements Expression {}

  private static String schema(Class<?> type) {
    return JsonType.of(type, LOOKUP).schema().text().replace('"', '\'');
  }

  @Test
  @Tag("R157")
  void aRecordIsAnObjectWithItsComponentsAndNothingElse() {
    assertEquals(
        "{'description':'A place','type':'object','properties':{'name':{'type':'string'},"
            + "'latitude':{'description':'in degrees','type':'number'}},"
            + "'required':['name','latitude'],'additionalProperties':false}",
        schema(Place.class));
  }

  @Test
  void aRecordWithoutComponentsIsAnEmptyObject() {
    assertEquals(
        "{'type':'object','properties':{},'additionalProperties':false}", schema(Empty.class));
  }

  @Test
  void integersStateTheirRanges() {
    assertEquals(
        "{'type':'object','properties':{"
            + "'tiny':{'type':'integer','minimum':-128,'maximum':127},"
            + "'small':{'type':'integer','minimum':-32768,'maximum':32767},"
            + "'normal':{'type':'integer','minimum':-2147483648,'maximum':2147483647},"
            + "'big':{'type':'integer','minimum':-9223372036854775808,"
            + "'maximum':9223372036854775807},"
            + "'any':{'type':'integer'},'exact':{'type':'number'},'f':{'type':'number'}},"
            + "'required':['tiny','small','normal','big','any','exact','f'],"
            + "'additionalProperties':false}",
        schema(Numbers.class));
  }

  @Test
  @Tag("R157")
  void textsStateTheirFormat() {
    String schema = schema(Texts.class);
    assertTrue(schema.contains("'text':{'type':'string'}"), schema);
    assertTrue(
        schema.contains(
            "'wind':{'description':'Where the wind comes from','type':'string',"
                + "'enum':['NORTH','SOUTH']}"),
        schema);
    assertTrue(schema.contains("'at':{'type':'string','format':'date-time'}"), schema);
    assertTrue(schema.contains("'day':{'type':'string','format':'date'}"), schema);
    assertTrue(schema.contains("'length':{'type':'string','pattern':'^-?P("), schema);
    assertTrue(schema.contains("'id':{'type':'string','format':'uuid'}"), schema);
    assertTrue(schema.contains("'yes':{'type':'boolean'}"), schema);
  }

  @Test
  @Tag("R157")
  void containersStateTheirElements() {
    String schema = schema(Containers.class);
    assertTrue(schema.contains("'places':{'type':'array','items':{'description':'A place'"));
    assertTrue(schema.contains("'enum':['NORTH','SOUTH']},'uniqueItems':true}"), schema);
    assertTrue(
        schema.contains(
            "'counts':{'type':'object','additionalProperties':{'type':'array','items':"
                + "{'type':'integer'"),
        schema);
  }

  @Test
  @Tag("R157")
  @Tag("A152")
  void whatMayBeAbsentMayBeNullToo() {
    assertEquals(
        "{'type':'object','properties':{"
            + "'text':{'type':['string','null']},"
            + "'wind':{'description':'Where the wind comes from','type':['string','null'],"
            + "'enum':['NORTH','SOUTH',null]},"
            + "'place':{'description':'A place','type':['object','null'],'properties':{"
            + "'name':{'type':'string'},"
            + "'latitude':{'description':'in degrees','type':'number'}},"
            + "'required':['name','latitude'],'additionalProperties':false},"
            + "'any':{},"
            + "'figure':{'description':'how it looks','anyOf':[{'oneOf':["
            + "{'type':'object','properties':{'type':{'type':'string','const':'Circle'},"
            + "'radius':{'type':'number'}},'required':['type','radius'],"
            + "'additionalProperties':false},"
            + "{'type':'object','properties':{'type':{'type':'string','const':'Square'},"
            + "'side':{'type':'integer','minimum':-2147483648,'maximum':2147483647}},"
            + "'required':['type','side'],'additionalProperties':false}]},{'type':'null'}]}},"
            + "'additionalProperties':false}",
        schema(Optionals.class));
  }

  @Test
  @Tag("A152")
  void theDescriptionOfAComponentWinsOverThatOfItsType() {
    String schema = schema(Described.class);
    assertTrue(schema.contains("'from':{'description':'the start','type'"), schema);
    assertTrue(schema.contains("'to':{'description':'A place','type'"), schema);
  }

  @Test
  void aRecursiveRootRefersToItself() {
    assertEquals(
        "{'type':'object','properties':{"
            + "'value':{'type':'integer','minimum':-2147483648,'maximum':2147483647},"
            + "'children':{'type':'array','items':{'$ref':'#'}}},"
            + "'required':['value','children'],'additionalProperties':false}",
        schema(Node.class));
  }

  @Test
  void aRecursiveRecordInsideIsDefinedOnce() {
    assertEquals(
        "{'type':'object','properties':{'first':{'$ref':'#/$defs/Node'},"
            + "'second':{'description':'another',"
            + "'anyOf':[{'$ref':'#/$defs/Node'},{'type':'null'}]}},"
            + "'required':['first'],'additionalProperties':false,"
            + "'$defs':{'Node':{'type':'object','properties':{"
            + "'value':{'type':'integer','minimum':-2147483648,'maximum':2147483647},"
            + "'children':{'type':'array','items':{'$ref':'#/$defs/Node'}}},"
            + "'required':['value','children'],'additionalProperties':false}}}",
        schema(Forest.class));
  }

  @Test
  @Tag("R157")
  void aRecursiveSealedInterfaceRefersToItself() {
    assertTrue(schema(Expression.class).contains("'left':{'$ref':'#'},'right':{'$ref':'#'}"));
  }

  @Test
  void theSameTypeHasTheSameTextEachTime() {
    assertEquals(schema(Optionals.class), schema(Optionals.class));
  }

  // --- refusals

  record Holder<T>(T value) {}

  record HasDate(Date date) {}

  record HasGeneric(List<Holder<String>> all) {}

  @SuppressWarnings("rawtypes")
  record HasRaw(List list) {}

  @SuppressWarnings("ArrayRecordComponent")
  record HasArray(int[] values) {}

  record HasNestedOptional(List<Optional<String>> values) {}

  record HasWildcard(List<? extends String> values) {}

  record HasIntKeys(Map<Integer, String> values) {}

  record HasRecordSet(Set<Place> values) {}

  record HasObject(Object value) {}

  record HasCharacter(char c) {}

  record HasMarkedPrimitive(@NotRequired int value) {}

  record HasBlank(@Description(" ") int value) {}

  record Deep(List<Map<String, HasDate>> values) {}

  enum Nothing {}

  record HasNothing(Nothing nothing) {}

  sealed interface Taken {}

  record Typed(String type) implements Taken {}

  sealed interface Open {}

  static final class NoRecord implements Open {}

  static final class Namespace {
    record Circle(int x) implements Twice {}

    private Namespace() {}
  }

  static final class Other {
    record Circle(int y) implements Twice {}

    private Other() {}
  }

  sealed interface Twice permits Namespace.Circle, Other.Circle {}

  private static String refusal(Class<?> type) {
    InvalidRequestException e =
        assertThrows(InvalidRequestException.class, () -> JsonType.of(type, LOOKUP));
    assertEquals(FailureKind.INVALID_CONFIGURATION, e.kind());
    return String.valueOf(e.getMessage());
  }

  private static void assertRefused(Class<?> type, String path, String reason) {
    String message = refusal(type);
    assertTrue(message.startsWith("No JSON for " + path + ": "), message);
    assertTrue(message.contains(reason), message);
  }

  @Test
  void unsupportedTypesAreRefusedWithTheirPathAndWhatIsAllowed() {
    assertRefused(HasDate.class, "HasDate.date", "java.util.Date is not supported; allowed are");
    assertRefused(HasObject.class, "HasObject.value", "java.lang.Object is not supported");
    assertRefused(HasArray.class, "HasArray.values", "allowed are records");
    assertRefused(HasCharacter.class, "HasCharacter.c", "char is not supported");
    assertRefused(HasWildcard.class, "HasWildcard.values[]", "? extends java.lang.String");
    assertRefused(Deep.class, "Deep.values[]{}.date", "java.util.Date");
    assertRefused(List.class, "List", "is generic");
    assertRefused(Object.class, "Object", "not supported");
    assertRefused(Runnable.class, "Runnable", "not supported");
  }

  @Test
  void genericRecordsAndRawTypesAreRefused() {
    assertRefused(Holder.class, "Holder", "is generic: a concrete one is needed");
    assertRefused(HasGeneric.class, "HasGeneric.all[]", "is not supported");
    assertRefused(HasRaw.class, "HasRaw.list", "is generic");
  }

  @Test
  void containersAreRefusedWhereTheyCannotBeRead() {
    assertRefused(HasNestedOptional.class, "HasNestedOptional.values[]", "whole type of a comp");
    assertRefused(HasIntKeys.class, "HasIntKeys.values", "must be String");
    assertRefused(HasRecordSet.class, "HasRecordSet.values", "use List");
  }

  @Test
  @Tag("A152")
  void marksAreRefusedWhereTheyMeanNothing() {
    assertRefused(HasMarkedPrimitive.class, "HasMarkedPrimitive.value", "primitive cannot be");
    assertRefused(HasBlank.class, "HasBlank.value", "blank");
  }

  @Test
  void enumsAndSealedInterfacesThatCannotBeToldAreRefused() {
    assertRefused(HasNothing.class, "HasNothing.nothing", "no constants");
    assertRefused(Taken.class, "Taken<Typed>.type", "choose another");
    assertRefused(Open.class, "Open", "NoRecord, which is no record");
    assertRefused(Twice.class, "Twice", "have the simple name Circle");
  }

  @Test
  @Tag("A152")
  void aRecordThatCannotBeReachedIsRefusedWithWhatToDo() {
    InvalidRequestException e =
        assertThrows(InvalidRequestException.class, () -> JsonType.of(Place.class));
    String message = String.valueOf(e.getMessage());
    assertTrue(message.contains("JsonTypeSchemaTest$Place cannot be reached"), message);
    assertTrue(message.contains("make it public in an exported package"), message);
    assertTrue(message.contains("hand in MethodHandles.lookup()"), message);
  }
}
