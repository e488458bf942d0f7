package dev.warpwright.tool;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The method handles of a record's constructor and accessors, as far as a lookup reaches. */
final class RecordAccess {
  private static final MethodType CONSTRUCTOR = MethodType.methodType(Object.class, Object[].class);
  private static final MethodType ACCESSOR = MethodType.methodType(Object.class, Object.class);

  private RecordAccess() {}

  /** The canonical constructor as a function from {@code Object[]} to {@code Object}. */
  static MethodHandle constructor(Class<?> type, Lookup lookup)
      throws NoSuchMethodException, IllegalAccessException {
    Class<?>[] types =
        Arrays.stream(type.getRecordComponents())
            .map(RecordComponent::getType)
            .toArray(Class<?>[]::new);
    return lookup
        .findConstructor(type, MethodType.methodType(void.class, types))
        .asFixedArity()
        .asSpreader(Object[].class, types.length)
        .asType(CONSTRUCTOR);
  }

  /** An accessor as a function from {@code Object} to {@code Object}. */
  static MethodHandle accessor(RecordComponent component, Lookup lookup)
      throws IllegalAccessException {
    return lookup.unreflect(component.getAccessor()).asType(ACCESSOR);
  }

  /** Calls an accessor; what it throws is the program's and goes on as it is. */
  static @Nullable Object get(MethodHandle accessor, Object record) {
    try {
      return (Object) accessor.invokeExact(record);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("An accessor declares no checked exception.", e);
    }
  }

  /** What to do about a class that a lookup does not reach. */
  static String unreachable(Class<?> type, Lookup lookup) {
    return type.getName()
        + " cannot be reached from "
        + (lookup.lookupModes() == Lookup.UNCONDITIONAL
            ? "outside of its package"
            : lookup.lookupClass().getName())
        + ": make it public in an exported package, or hand in MethodHandles.lookup() of a class in"
        + " its package";
  }
}
