package dev.warpwright.tool;

import dev.warpwright.model.Json;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes one value by what it is at run time, as plain Java that {@code Json.of} takes. */
final class OutputWriter {
  private final Lookup lookup;
  private final Walk walk = new Walk();
  private final Map<Class<?>, Members> known = new HashMap<>();

  /** How the records of one class are written. */
  private record Members(boolean tagged, Map<String, MethodHandle> accessors) {}

  OutputWriter(Lookup lookup) {
    this.lookup = lookup;
  }

  @Nullable Object plain(@Nullable Object value) {
    return switch (value) {
      case null -> null;
      case String text -> text;
      case Boolean bool -> bool;
      case Byte number -> number;
      case Short number -> number;
      case Integer number -> number;
      case Long number -> number;
      case Float number -> DecimalShape.FLOAT.write(number, walk);
      case Double number -> DecimalShape.DOUBLE.write(number, walk);
      case BigInteger number -> DecimalShape.BIG_INTEGER.write(number, walk);
      case BigDecimal number -> DecimalShape.BIG_DECIMAL.write(number, walk);
      case Json json -> json;
      case Enum<?> constant -> constant.name();
      case Instant instant -> TextShape.INSTANT.write(instant, walk);
      case LocalDate date -> TextShape.DATE.write(date, walk);
      case Duration duration -> TextShape.DURATION.write(duration, walk);
      case UUID uuid -> uuid.toString();
      case Optional<?> optional -> plain(optional.orElse(null));
      case Collection<?> elements -> array(elements);
      case Object[] elements -> array(Arrays.asList(elements));
      case Map<?, ?> map -> object(map);
      case Record record -> object(record);
      default ->
          throw walk.refusal(
              "is a "
                  + value.getClass().getName()
                  + "; allowed are records, enums, collections, maps, strings, numbers, booleans,"
                  + " Instant, LocalDate, Duration, UUID, Optional, Json and null");
    };
  }

  private List<@Nullable Object> array(Collection<?> elements) {
    List<@Nullable Object> written = new ArrayList<>(elements.size());
    for (Object element : elements) {
      walk.enterElement(written.size());
      written.add(plain(element));
      walk.leave();
    }
    return written;
  }

  private Map<String, @Nullable Object> object(Map<?, ?> map) {
    Map<String, @Nullable Object> written = new LinkedHashMap<>();
    int ordinal = 0;
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      walk.enterEntry(++ordinal);
      String key =
          switch (entry.getKey()) {
            case String text -> text;
            case Enum<?> constant -> constant.name();
            case null, default -> throw walk.refusal("has a key that is no string and no enum");
          };
      written.put(key, plain(entry.getValue()));
      walk.leave();
    }
    return written;
  }

  private Map<String, @Nullable Object> object(Record record) {
    Members members = known.get(record.getClass());
    if (members == null) {
      members = members(record.getClass());
      known.put(record.getClass(), members);
    }
    Map<String, @Nullable Object> written = new LinkedHashMap<>();
    if (members.tagged) {
      written.put(RecordShape.TAG, record.getClass().getSimpleName());
    }
    members.accessors.forEach(
        (name, accessor) -> {
          walk.enterMember(name);
          written.put(name, plain(RecordAccess.get(accessor, record)));
          walk.leave();
        });
    return written;
  }

  private Members members(Class<?> type) {
    Map<String, MethodHandle> accessors = new LinkedHashMap<>();
    try {
      for (RecordComponent component : type.getRecordComponents()) {
        accessors.put(component.getName(), RecordAccess.accessor(component, lookup));
      }
    } catch (IllegalAccessException e) {
      throw walk.refusal("holds a record: " + RecordAccess.unreachable(type, lookup));
    }
    return new Members(isOneOfSealed(type) && !accessors.containsKey(RecordShape.TAG), accessors);
  }

  private static boolean isOneOfSealed(Class<?> type) {
    return Arrays.stream(type.getInterfaces())
        .anyMatch(parent -> parent.isSealed() || isOneOfSealed(parent));
  }
}
