package dev.warpwright;

import static com.tngtech.archunit.core.domain.JavaModifier.PROTECTED;
import static com.tngtech.archunit.core.domain.JavaModifier.PUBLIC;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption.DoNotIncludeTests;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.module.ModuleDescriptor;
import java.net.URL;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Holds the package structure that the architecture page describes. */
@AnalyzeClasses(packages = ArchitectureTest.ROOT, importOptions = DoNotIncludeTests.class)
final class ArchitectureTest {
  static final String ROOT = "dev.warpwright";

  /**
   * Lowest first: a package may use those before it. The root package, the front door, is one of
   * them; ArchUnit's slices cannot see it, so that a cycle through it would pass unnoticed there.
   */
  private static final List<String> LAYERS =
      List.of(
          "json", "task", "model", "effect", "tool", "cost", "route", "control", "root", "run",
          "drive", "agent", "flow", "testing");

  @ArchTest static final ArchRule each_layer_uses_only_those_below_it = layersLowestFirst();

  @ArchTest
  static final ArchRule packages_have_no_cycles =
      slices().matching(ROOT + ".(**)").should().beFreeOfCycles().allowEmptyShould(true);

  @ArchTest
  static final ArchRule only_the_task_package_starts_threads =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + ".task..")
          .should()
          .accessTargetWhere(startsAThread())
          .allowEmptyShould(true);

  /** JUnit is an optional dependency: a program without it loads every other class. */
  @ArchTest
  static final ArchRule only_the_testing_package_uses_JUnit =
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + ".testing..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("org.junit..");

  @ArchTest
  static final ArchRule jackson_stays_out_of_the_api =
      classes()
          .that(areExported())
          .should(
              notMention(
                  JavaClass.Predicates.resideInAPackage("tools.jackson..").as("a Jackson type")));

  @ArchTest
  static final ArchRule callers_block_and_do_not_chain =
      classes()
          .that(areExported())
          .should(
              notMention(
                  JavaClass.Predicates.assignableTo(CompletableFuture.class)
                      .as("a CompletableFuture")));

  private static ArchRule layersLowestFirst() {
    var architecture =
        layeredArchitecture().consideringOnlyDependenciesInLayers().withOptionalLayers(true);
    for (String layer : LAYERS) {
      architecture = architecture.layer(layer).definedBy(packageOf(layer));
    }
    for (int i = 0; i < LAYERS.size(); i++) {
      var layer = architecture.whereLayer(LAYERS.get(i));
      architecture =
          i == 0
              ? layer.mayNotAccessAnyLayer()
              : layer.mayOnlyAccessLayers(LAYERS.subList(0, i).toArray(String[]::new));
    }
    return architecture.ensureAllClassesAreContainedInArchitecture().allowEmptyShould(true);
  }

  private static String packageOf(String layer) {
    return layer.equals("root") ? ROOT : ROOT + "." + layer + "..";
  }

  private static DescribedPredicate<JavaAccess<?>> startsAThread() {
    Set<String> threadStarts = Set.of("start", "startVirtualThread", "ofVirtual", "ofPlatform");
    return DescribedPredicate.describe(
        "starts a thread",
        access -> {
          JavaClass owner = access.getTargetOwner();
          boolean constructs = access.getTarget().getName().equals("<init>");
          if (owner.isAssignableTo(Thread.class)) {
            return constructs || threadStarts.contains(access.getTarget().getName());
          }
          return owner.isEquivalentTo(Executors.class)
              || owner.isAssignableTo(Thread.Builder.class)
              || (constructs
                  && (owner.isAssignableTo(ThreadPoolExecutor.class)
                      || owner.isAssignableTo(ForkJoinPool.class)
                      || owner.isAssignableTo(java.util.Timer.class)));
        });
  }

  /** Public types in the packages that the module exports to everyone. */
  private static DescribedPredicate<JavaClass> areExported() {
    Set<String> exported = exportedPackages();
    return DescribedPredicate.describe(
        "are exported",
        type -> exported.contains(type.getPackageName()) && isPublicWithItsOwners(type));
  }

  private static boolean isPublicWithItsOwners(JavaClass type) {
    return isApi(type.getModifiers())
        && type.getEnclosingClass().map(ArchitectureTest::isPublicWithItsOwners).orElse(true);
  }

  private static boolean isApi(Set<JavaModifier> modifiers) {
    return modifiers.contains(PUBLIC) || modifiers.contains(PROTECTED);
  }

  private static Set<String> exportedPackages() {
    return engineModule().exports().stream()
        .filter(exports -> !exports.isQualified())
        .map(ModuleDescriptor.Exports::source)
        .collect(Collectors.toUnmodifiableSet());
  }

  private static ModuleDescriptor engineModule() {
    try {
      // Libraries on the class path have a descriptor of the same name.
      for (URL url :
          Collections.list(
              ArchitectureTest.class.getClassLoader().getResources("module-info.class"))) {
        try (InputStream in = url.openStream()) {
          ModuleDescriptor module = ModuleDescriptor.read(in);
          if (module.name().equals("dev.warpwright.engine")) {
            return module;
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new AssertionError("no descriptor of dev.warpwright.engine on the class path");
  }

  private static ArchCondition<JavaClass> notMention(DescribedPredicate<JavaClass> unwanted) {
    return new ArchCondition<>("not mention " + unwanted.getDescription() + " in its API") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        Stream<JavaClass> header =
            Stream.of(
                    type.getTypeParameters().stream(),
                    type.getSuperclass().stream(),
                    type.getInterfaces().stream())
                .flatMap(types -> types)
                .flatMap(used -> used.getAllInvolvedRawTypes().stream());
        report(type.getDescription(), header, events);
        for (JavaMember member : type.getMembers()) {
          if (isApi(member.getModifiers())) {
            report(member.getDescription(), signature(member), events);
          }
        }
      }

      private void report(String where, Stream<JavaClass> mentioned, ConditionEvents events) {
        mentioned
            .filter(unwanted)
            .distinct()
            .map(type -> where + " mentions " + type.getName())
            .forEach(message -> events.add(SimpleConditionEvent.violated(where, message)));
      }
    };
  }

  private static Stream<JavaClass> signature(JavaMember member) {
    Stream<JavaClass> types = member.getAllInvolvedRawTypes().stream();
    return member instanceof JavaCodeUnit code
        ? Stream.concat(types, code.getExceptionTypes().stream())
        : types;
  }
}
