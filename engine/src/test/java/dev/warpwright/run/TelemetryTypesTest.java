package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What observers and listeners are told is telemetry, which may change at any release; what is in
 * the log is kept for ever. The two share no type of event.
 */
@Tag("A8")
final class TelemetryTypesTest {
  private static final JavaClasses ENGINE =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("dev.warpwright");

  /** What an observer interface is given, and the values that builders tell listeners. */
  private static Set<JavaClass> telemetry() {
    Stream<JavaClass> observers =
        ENGINE.stream().filter(type -> type.getSimpleName().endsWith("Observer"));
    Stream<JavaClass> told =
        ENGINE.stream()
            .flatMap(type -> type.getMethods().stream())
            .filter(
                method ->
                    method.getName().startsWith("on")
                        || method.getName().toLowerCase(Locale.ROOT).contains("observer"))
            .filter(method -> method.getOwner().getSimpleName().equals("Builder"))
            .flatMap(method -> method.getParameterTypes().stream())
            .flatMap(parameter -> parameter.getAllInvolvedRawTypes().stream());
    return Stream.concat(observers, told)
        .filter(type -> type.getPackageName().startsWith("dev.warpwright"))
        .collect(Collectors.toSet());
  }

  /** A type and all that its components and methods show, as far as it is of the engine. */
  private static void reach(JavaClass type, Set<String> seen) {
    if (!type.getPackageName().startsWith("dev.warpwright") || !seen.add(type.getName())) {
      return;
    }
    for (JavaMember member : type.getMembers()) {
      member.getAllInvolvedRawTypes().forEach(shown -> reach(shown, seen));
    }
  }

  @Test
  void no_observer_or_listener_is_shown_an_event_of_the_log() {
    Set<String> shown = new TreeSet<>();
    telemetry().forEach(type -> reach(type, shown));

    assertTrue(
        shown.containsAll(
            Set.of("dev.warpwright.RouteSelection", "dev.warpwright.run.DecisionNeeded")),
        shown::toString);
    assertEquals(
        Set.of(),
        shown.stream()
            .filter(name -> ENGINE.get(name).isAssignableTo(RunEvent.class))
            .collect(Collectors.toSet()));
  }
}
