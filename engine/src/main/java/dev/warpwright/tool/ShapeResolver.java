package dev.warpwright.tool;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Finds the shape of a Java type, and refuses what has none.
 *
 * <p>Refusals name the place in the type: {@code Trip.stops[].city} is the component {@code city}
 * of the elements of the component {@code stops} of {@code Trip}. One resolver makes one shape.
 */
final class ShapeResolver {
  private static final Map<Class<?>, Shape> SIMPLE =
      Map.ofEntries(
          Map.entry(String.class, TextShape.STRING),
          Map.entry(boolean.class, new BooleanShape()),
          Map.entry(Boolean.class, new BooleanShape()),
          Map.entry(byte.class, IntegerShape.BYTE),
          Map.entry(Byte.class, IntegerShape.BYTE),
          Map.entry(short.class, IntegerShape.SHORT),
          Map.entry(Short.class, IntegerShape.SHORT),
          Map.entry(int.class, IntegerShape.INT),
          Map.entry(Integer.class, IntegerShape.INT),
          Map.entry(long.class, IntegerShape.LONG),
          Map.entry(Long.class, IntegerShape.LONG),
          Map.entry(BigInteger.class, DecimalShape.BIG_INTEGER),
          Map.entry(BigDecimal.class, DecimalShape.BIG_DECIMAL),
          Map.entry(float.class, DecimalShape.FLOAT),
          Map.entry(Float.class, DecimalShape.FLOAT),
          Map.entry(double.class, DecimalShape.DOUBLE),
          Map.entry(Double.class, DecimalShape.DOUBLE),
          Map.entry(Instant.class, TextShape.INSTANT),
          Map.entry(LocalDate.class, TextShape.DATE),
          Map.entry(Duration.class, TextShape.DURATION),
          Map.entry(UUID.class, TextShape.UUID),
          Map.entry(Json.class, new AnyShape()));

  private static final String ALLOWED =
      "allowed are records, sealed interfaces of records, enums, String, boolean, byte, short, int,"
          + " long, float, double and their boxes, BigInteger, BigDecimal, Instant, LocalDate,"
          + " Duration, UUID, Json, and as the type of a component List, Set and Map<String, …> of"
          + " these, and Optional around the whole";

  private final Lookup lookup;
  private final Map<Key, NamedShape> named = new HashMap<>();
  private final Set<Key> open = new HashSet<>();

  /** A record has one shape on its own and another in a sealed interface. */
  private record Key(Class<?> type, boolean tagged) {}

  ShapeResolver(Lookup lookup) {
    this.lookup = lookup;
  }

  Shape root(Class<?> type) {
    return shape(type, type.getSimpleName());
  }

  private Shape shape(Type type, String path) {
    if (type instanceof ParameterizedType generic && generic.getRawType() instanceof Class<?> raw) {
      return container(raw, generic.getActualTypeArguments(), path);
    }
    if (!(type instanceof Class<?> plain)) {
      throw refused(path, "the type " + type.getTypeName() + " is not supported; " + ALLOWED);
    }
    Shape simple = SIMPLE.get(plain);
    if (simple != null) {
      return simple;
    }
    if (plain.isEnum()) {
      describable(plain, path);
      if (plain.getEnumConstants().length == 0) {
        throw refused(path, "the enum " + plain.getName() + " has no constants");
      }
      return TextShape.of(plain);
    }
    if (plain.getTypeParameters().length > 0) {
      throw refused(
          path,
          "the type " + plain.getName() + " is generic: a concrete one is needed; " + ALLOWED);
    }
    if (plain.isRecord() || (plain.isInterface() && plain.isSealed())) {
      return named(new Key(plain, false), path);
    }
    throw refused(path, "the type " + plain.getName() + " is not supported; " + ALLOWED);
  }

  private Shape container(Class<?> raw, Type[] arguments, String path) {
    if (raw == List.class) {
      return new ListShape(shape(arguments[0], path + "[]"), false);
    }
    if (raw == Set.class) {
      Shape element = shape(arguments[0], path + "[]");
      if (!(element instanceof ScalarShape)) {
        throw refused(
            path,
            "a Set may hold strings, numbers, booleans, enums, times and UUIDs only, since hostile"
                + " hash codes could make any other slow; use List");
      }
      return new ListShape(element, true);
    }
    if (raw == Map.class) {
      if (arguments[0] != String.class) {
        throw refused(path, "the keys of a Map must be String");
      }
      return new MapShape(shape(arguments[1], path + "{}"));
    }
    if (raw == Optional.class) {
      throw refused(path, "Optional may only be the whole type of a component");
    }
    throw refused(path, "the generic type " + raw.getName() + " is not supported; " + ALLOWED);
  }

  private NamedShape named(Key key, String path) {
    NamedShape known = named.get(key);
    if (known != null) {
      if (open.contains(key)) {
        known.markRecursive();
      }
      return known;
    }
    describable(key.type, path);
    open.add(key);
    NamedShape shape = key.type.isRecord() ? record(key, path) : union(key, path);
    open.remove(key);
    return shape;
  }

  private RecordShape record(Key key, String path) {
    try {
      RecordShape shape =
          new RecordShape(key.type, key.tagged, RecordAccess.constructor(key.type, lookup));
      named.put(key, shape);
      List<RecordShape.Component> components = new ArrayList<>();
      for (RecordComponent component : key.type.getRecordComponents()) {
        components.add(component(key, component, path + "." + component.getName()));
      }
      shape.complete(components);
      return shape;
    } catch (IllegalAccessException | NoSuchMethodException e) {
      throw refused(path, RecordAccess.unreachable(key.type, lookup));
    }
  }

  private RecordShape.Component component(Key key, RecordComponent component, String path)
      throws IllegalAccessException {
    if (key.tagged && component.getName().equals(RecordShape.TAG)) {
      throw refused(path, "in a sealed interface this name tells the record; choose another");
    }
    describable(component, path);
    boolean notRequired = component.isAnnotationPresent(NotRequired.class);
    if (notRequired && component.getType().isPrimitive()) {
      throw refused(path, "a primitive cannot be @NotRequired; use its box or Optional");
    }
    Type type = component.getGenericType();
    boolean wrapped = component.getType() == Optional.class;
    if (wrapped && type instanceof ParameterizedType optional) {
      type = optional.getActualTypeArguments()[0];
    }
    return new RecordShape.Component(
        component.getName(),
        shape(type, path),
        !wrapped && !notRequired,
        wrapped,
        component.getAnnotation(Description.class),
        RecordAccess.accessor(component, lookup));
  }

  private UnionShape union(Key key, String path) {
    UnionShape shape = new UnionShape(key.type);
    named.put(key, shape);
    Map<String, RecordShape> variants = new HashMap<>();
    List<RecordShape> inOrder = new ArrayList<>();
    for (Class<?> record : records(key.type, path, new LinkedHashSet<>())) {
      RecordShape variant =
          (RecordShape) named(new Key(record, true), path + "<" + record.getSimpleName() + ">");
      if (variants.put(variant.tag(), variant) != null) {
        throw refused(
            path,
            "two records of " + key.type.getName() + " have the simple name " + variant.tag());
      }
      inOrder.add(variant);
    }
    shape.complete(inOrder);
    return shape;
  }

  /** The records of a sealed interface, those of sealed interfaces inside it among them. */
  private static Set<Class<?>> records(Class<?> sealed, String path, Set<Class<?>> found) {
    for (Class<?> permitted : permitted(sealed)) {
      if (permitted.isRecord() && permitted.getTypeParameters().length == 0) {
        found.add(permitted);
      } else if (permitted.isInterface() && permitted.isSealed()) {
        records(permitted, path, found);
      } else {
        throw refused(
            path,
            "the sealed interface "
                + sealed.getName()
                + " permits "
                + permitted.getName()
                + ", which is no record without type parameters");
      }
    }
    return found;
  }

  private static Class<?>[] permitted(Class<?> sealed) {
    Class<?> @Nullable [] permitted = sealed.getPermittedSubclasses();
    return permitted == null ? new Class<?>[0] : permitted;
  }

  private static void describable(AnnotatedElement element, String path) {
    Description description = element.getAnnotation(Description.class);
    if (description != null && description.value().isBlank()) {
      throw refused(path, "its @Description is blank");
    }
  }

  private static InvalidRequestException refused(String path, String reason) {
    return new InvalidRequestException(
        FailureKind.INVALID_CONFIGURATION, "No JSON for " + path + ": " + reason + ".");
  }
}
