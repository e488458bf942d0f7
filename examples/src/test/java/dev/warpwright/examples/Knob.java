package dev.warpwright.examples;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One setting, found in the code: a method of a builder, a component of a record or a parameter of
 * a factory.
 *
 * @param name its name
 * @param types the types of the values it takes
 * @param setter makes an instance with these values
 * @param byDefault reads what holds if it is not set; empty if it must be given
 */
record Knob(
    String name,
    List<Class<?>> types,
    Setter setter,
    Optional<Supplier<@Nullable Object>> byDefault) {
  /** Makes an instance with a setting; throws what the code throws. */
  interface Setter {
    void set(List<Object> values) throws Throwable;
  }

  String key() {
    return name + "/" + types.size();
  }

  /** The methods of a builder, or of a type that copies itself with one part changed. */
  static List<Knob> ofBuilder(
      Class<?> type, Supplier<?> fresh, Consumer<Object> build, Defaults defaults) {
    Map<String, Knob> knobs = new HashMap<>();
    for (Method method : type.getDeclaredMethods()) { // a type that it extends has its own section
      if (!isSetting(method, type)) {
        continue;
      }
      Setter setter = values -> build.accept(invoke(method, fresh.get(), values.toArray()));
      String key = method.getName() + "/" + method.getParameterCount();
      Supplier<@Nullable Object> byDefault = () -> defaults.read(key, fresh.get());
      knobs.put(
          key,
          new Knob(
              method.getName(),
              List.of(method.getParameterTypes()),
              setter,
              defaults.required.contains(key) ? Optional.empty() : Optional.of(byDefault)));
    }
    return List.copyOf(knobs.values());
  }

  private static boolean isSetting(Method method, Class<?> type) {
    return Modifier.isPublic(method.getModifiers())
        && !Modifier.isStatic(method.getModifiers())
        && !method.isSynthetic()
        && method.getReturnType() != Object.class
        && method.getReturnType().isAssignableFrom(type);
  }

  /** The components of a record; {@code required} ones have no default. */
  static List<Knob> ofRecord(Record base, Record byDefault, String... required) {
    RecordComponent[] components = base.getClass().getRecordComponents();
    List<Knob> knobs = new ArrayList<>();
    for (int i = 0; i < components.length; i++) {
      RecordComponent component = components[i];
      int index = i;
      Setter setter =
          values -> {
            Object[] all = new Object[components.length];
            for (int j = 0; j < all.length; j++) {
              all[j] = invoke(components[j].getAccessor(), base);
            }
            all[index] = wrap(component.getType(), values.getFirst());
            construct(canonical(base.getClass()), all);
          };
      Supplier<@Nullable Object> read = () -> quietly(component.getAccessor(), byDefault);
      boolean given = Arrays.asList(required).contains(component.getName());
      knobs.add(
          new Knob(
              component.getName(),
              List.of(component.getType()),
              setter,
              given ? Optional.empty() : Optional.of(read)));
    }
    return knobs;
  }

  private static Object wrap(Class<?> type, Object value) {
    if (type == OptionalInt.class) {
      return OptionalInt.of((Integer) value);
    }
    return type == OptionalLong.class ? OptionalLong.of((Long) value) : value;
  }

  /** The parameters of the longest form of a factory. Those without a default are required. */
  static List<Knob> ofFactory(
      Class<?> type,
      String factory,
      List<String> names,
      List<Object> base,
      Map<String, Supplier<@Nullable Object>> defaults) {
    Method longest =
        Stream.of(type.getMethods())
            .filter(method -> method.getName().equals(factory))
            .max((a, b) -> a.getParameterCount() - b.getParameterCount())
            .orElseThrow();
    if (longest.getParameterCount() != names.size()) {
      throw new AssertionError("The parameters of " + longest + " are not " + names + " any more.");
    }
    List<Knob> knobs = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      int index = i;
      Setter setter =
          values -> {
            List<Object> all = new ArrayList<>(base);
            all.set(index, values.getFirst());
            invoke(longest, null, all.toArray());
          };
      knobs.add(
          new Knob(
              names.get(i),
              List.of(longest.getParameterTypes()[i]),
              setter,
              Optional.ofNullable(defaults.get(names.get(i)))));
    }
    return knobs;
  }

  /** Each factory of a type. */
  static List<Knob> ofFactories(Class<?> type) {
    return Stream.of(type.getDeclaredMethods())
        .filter(method -> Modifier.isStatic(method.getModifiers()))
        .filter(method -> Modifier.isPublic(method.getModifiers()))
        .filter(method -> method.getReturnType() == type)
        .map(
            method ->
                new Knob(
                    method.getName(),
                    List.of(method.getParameterTypes()),
                    values -> invoke(method, null, values.toArray()),
                    Optional.of(() -> null)))
        .toList();
  }

  /**
   * Where a fresh builder keeps what was not set: in the field that has the name of the setting,
   * unless said otherwise.
   */
  static final class Defaults {
    private final Map<String, Function<Object, @Nullable Object>> others = new HashMap<>();
    private final Set<String> required = new HashSet<>();

    /** These settings have no default. */
    Defaults required(String... keys) {
      required.addAll(List.of(keys));
      return this;
    }

    /** The default of this setting, given as "name/number of arguments", is read otherwise. */
    Defaults read(String key, Function<Object, @Nullable Object> reader) {
      others.put(key, reader);
      return this;
    }

    Defaults field(String key, String field) {
      return read(key, builder -> valueOf(builder, field));
    }

    @Nullable Object read(String key, Object builder) {
      Function<Object, @Nullable Object> other = others.get(key);
      return other == null
          ? valueOf(builder, key.substring(0, key.indexOf('/')))
          : other.apply(builder);
    }
  }

  /** The value of a private field: builders keep their defaults to themselves. */
  static @Nullable Object valueOf(Object owner, String name) {
    try {
      Field field = field(owner.getClass(), name);
      field.setAccessible(true);
      return field.get(owner);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(
          "The default of a setting is not where it is looked for: "
              + owner.getClass()
              + " "
              + name,
          e);
    }
  }

  /** The field of a type, or of one that it extends. */
  private static Field field(Class<?> type, String name) throws NoSuchFieldException {
    for (Class<?> at = type; at != Object.class; at = at.getSuperclass()) {
      for (Field field : at.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          return field;
        }
      }
    }
    throw new NoSuchFieldException(name);
  }

  /** As {@link #valueOf}, of a field that is never null. */
  static Object setValueOf(Object owner, String name) {
    return Objects.requireNonNull(valueOf(owner, name), name);
  }

  private static Constructor<?> canonical(Class<?> type) throws NoSuchMethodException {
    return type.getDeclaredConstructor(
        Stream.of(type.getRecordComponents())
            .map(RecordComponent::getType)
            .toArray(Class<?>[]::new));
  }

  private static void construct(Constructor<?> constructor, Object... values) throws Throwable {
    try {
      constructor.newInstance(values);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static Object invoke(Method method, @Nullable Object owner, Object... values)
      throws Throwable {
    try {
      return method.invoke(owner, values);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static @Nullable Object quietly(Method method, Object owner) {
    try {
      return method.invoke(owner);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("A component cannot be read.", e);
    }
  }
}
