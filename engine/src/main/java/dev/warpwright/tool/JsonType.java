package dev.warpwright.tool;

import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The typed bridge between JSON and one Java type: the schema that a model is told, the check of
 * what it sends, and the conversion in both directions.
 *
 * <pre>{@code
 * record Forecast(String place, @Description("1 to 14") int days) {}
 *
 * JsonType<Forecast> type = JsonType.of(Forecast.class, MethodHandles.lookup());
 * Json input = Json.parse("{\"place\":\"Bern\",\"days\":3}");
 * List<String> violations = type.violations(input); // empty
 * Forecast forecast = type.read(input);
 * }</pre>
 *
 * <p>The types: records; sealed interfaces of records; enums, by the names of their constants;
 * {@code String}; {@code boolean}; {@code byte}, {@code short}, {@code int} and {@code long};
 * {@code BigInteger} and {@code BigDecimal}; {@code float} and {@code double}; {@code Instant},
 * {@code LocalDate}, {@code Duration} and {@code UUID}, as strings; {@link Json}, as any value; and
 * in components of records {@code List}, {@code Map} with {@code String} keys, {@code Set} of what
 * is written as a string, number or boolean, and {@code Optional}. A record may contain itself.
 *
 * <ul>
 *   <li>A value of a sealed interface is an object whose first member {@code type} is the simple
 *       name of the record.
 *   <li>An integer is exact: a fraction or a number out of the range of its Java type is a
 *       violation. {@code 3.0} and {@code 3e2} are integers, as JSON Schema has it.
 *   <li>{@code BigInteger} and {@code BigDecimal} keep every digit and the scale; more than 900
 *       digits or an exponent beyond ±900 is a violation, since arithmetic with such a number could
 *       take all memory. For {@code float} and {@code double} the nearest value is read; beyond
 *       their finite range is a violation, and the sign of zero is lost.
 *   <li>{@code Instant} is an RFC 3339 date-time with any offset and is written in UTC; {@code
 *       LocalDate} is an RFC 3339 date; {@code UUID} has its 36 characters; {@code Duration} is ISO
 *       8601 in days, hours, minutes and seconds, such as {@code P1D} or {@code PT1M30.5S}.
 *   <li>A member that the record does not declare is a violation, and so is null, except for a
 *       component that is {@code Optional} or {@link NotRequired}.
 * </ul>
 *
 * <p>A record is constructed and read through the {@code Lookup} that the program hands in, so a
 * package-private record of a modular program needs no {@code opens}. Everything about the type is
 * checked when the {@code JsonType} is made; make it once and keep it. Instances are immutable and
 * thread-safe, and do not block.
 *
 * @param <T> the Java type
 */
public final class JsonType<T> {
  private final Class<T> type;
  private final Shape shape;
  private final Json schema;

  private JsonType(Class<T> type, Shape shape, Json schema) {
    this.type = type;
    this.shape = shape;
    this.schema = schema;
  }

  /**
   * The bridge for a public type whose records are public and in exported packages.
   *
   * @param <T> the Java type
   * @param type the class
   * @return the bridge
   * @throws InvalidRequestException if the type holds something that is not supported or cannot be
   *     reached; the message names the component and says what to do
   */
  public static <T> JsonType<T> of(Class<T> type) {
    return of(type, MethodHandles.publicLookup());
  }

  /**
   * The bridge for a type that the program can reach.
   *
   * @param <T> the Java type
   * @param type the class
   * @param lookup what the program can reach, usually {@code MethodHandles.lookup()} in the package
   *     of the records
   * @return the bridge
   * @throws InvalidRequestException if the type holds something that is not supported or cannot be
   *     reached; the message names the component and says what to do
   */
  public static <T> JsonType<T> of(Class<T> type, Lookup lookup) {
    Shape shape = new ShapeResolver(lookup).root(type);
    return new JsonType<>(type, shape, Json.of(Definitions.schemaOf(shape)));
  }

  /**
   * The bridge for JSON that a schema given by hand describes. It costs most of a second when the
   * first one is made in a process, and little after.
   *
   * <p>The schema may be of JSON Schema 2020-12, which is assumed, or of an earlier draft that its
   * {@code $schema} names; {@code format} is checked. References reach only into the schema itself
   * and the standard's own documents: nothing is fetched. A check is bounded, also where a {@code
   * pattern} would take years on hostile text: then the value is invalid.
   *
   * @param schema the schema, an object
   * @return the bridge
   * @throws InvalidRequestException if it is no valid schema; the message names the places
   */
  public static JsonType<Json> ofSchema(Json schema) {
    return new JsonType<>(Json.class, GivenSchema.of(schema), schema);
  }

  /**
   * The same type, which takes null for every member that may be absent: so a provider answers that
   * holds models to schemas in which no member may be absent. A type that was derived from a Java
   * class takes it in any case.
   *
   * @return the type, with its own schema
   */
  public JsonType<T> withNullForAbsent() {
    return shape instanceof GivenSchema
        ? new JsonType<>(type, GivenSchema.of(NullForAbsent.in(schema)), schema)
        : this;
  }

  /**
   * The JSON Schema of the type, of draft 2020-12, or the schema that was given.
   *
   * @return the schema; the same text for the same type in every process
   */
  public Json schema() {
    return schema;
  }

  /**
   * Checks a value without keeping what is read; the constructors of records run.
   *
   * <p>Each text names a path, such as {@code $.stops[2].days}, and the rule that is broken there.
   * None holds content: keys of maps and members that the schema does not declare are shown as
   * {@code [entry 3]} in their order, and an exception that a record's constructor throws only by
   * its class, because its message may quote the value.
   *
   * @param value any value
   * @return up to 20 violations in the order of the check; empty if the value is valid
   */
  public List<String> violations(Json value) {
    Walk walk = new Walk();
    shape.read(StrictJson.read(value.text()), walk);
    return walk.violations();
  }

  /**
   * Reads a value.
   *
   * @param value any value
   * @return the Java value
   * @throws InvalidRequestException if the value is invalid; the message holds the {@linkplain
   *     #violations violations}
   */
  public T read(Json value) {
    Walk walk = new Walk();
    Object read = shape.read(StrictJson.read(value.text()), walk);
    if (read == null) {
      throw new InvalidRequestException(
          FailureKind.INVALID_REQUEST,
          "The JSON is no valid " + name() + ": " + String.join("; ", walk.violations()) + ".");
    }
    @SuppressWarnings("unchecked") // the shape was made for this class
    T typed = (T) read;
    return typed;
  }

  /**
   * Writes a value so that {@link #read} gives an equal one. Members are in the order of the
   * components; an absent component is left out.
   *
   * @param value the Java value
   * @return its JSON
   * @throws InvalidRequestException if the value has no JSON under this schema: null where it is
   *     not allowed, a number that is not finite, a year beyond 0000 to 9999; the message names the
   *     path
   */
  public Json write(T value) {
    return Json.of(shape.write(value, new Walk()));
  }

  /**
   * Writes what a tool gave back, by what it is at run time, without a schema.
   *
   * <p>Besides the types that this class reads, collections of any kind, arrays of objects, maps
   * with enum keys and generic records are written. A record that is one of a sealed interface of
   * records starts with its {@code type}, unless it has a component of this name. Null and empty
   * {@code Optional} are written as null.
   *
   * @param value the output
   * @param lookup what the program can reach; {@code MethodHandles.publicLookup()} for public
   *     records in exported packages
   * @return its JSON
   * @throws InvalidRequestException if it holds something else, or is nested deeper than 100
   *     levels; the message names the path and the class
   */
  public static Json toJson(@Nullable Object value, Lookup lookup) {
    return Json.of(new OutputWriter(lookup).plain(value));
  }

  /** The name of the Java type. */
  @Override
  public String toString() {
    return "JsonType[" + name() + "]";
  }

  private String name() {
    return shape instanceof GivenSchema ? "value of the given schema" : type.getSimpleName();
  }
}
