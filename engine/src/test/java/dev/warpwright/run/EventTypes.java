package dev.warpwright.run;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The names of all types of events. */
final class EventTypes {
  static final Set<String> NAMES =
      leaves(RunEvent.class)
          .map(Class::getSimpleName)
          .collect(Collectors.toCollection(TreeSet::new));

  private EventTypes() {}

  private static Stream<Class<?>> leaves(Class<?> type) {
    return type.isSealed()
        ? Arrays.stream(type.getPermittedSubclasses()).flatMap(EventTypes::leaves)
        : Stream.of(type);
  }
}
