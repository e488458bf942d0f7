package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The jars that a program which uses Warpwright has, as the build has packaged them. */
final class PackagedJars {
  /** What is on the class path for the sake of these tests and this program. */
  private static final List<String> NOT_OURS =
      List.of(
          "junit-", "opentest4j-", "apiguardian-", "logback-", "picocli-", "warpwright-examples");

  private PackagedJars() {}

  /** The three modules and what they need, for {@code -cp} or {@code -p}. */
  static String path() {
    return list().stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
  }

  private static List<Path> list() {
    List<Path> jars =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(Path::of)
            .filter(entry -> entry.toString().endsWith(".jar"))
            .filter(entry -> NOT_OURS.stream().noneMatch(fileName(entry)::startsWith))
            .map(Path::toAbsolutePath)
            .toList();
    assertEquals(
        List.of("warpwright-adapters", "warpwright-engine", "warpwright-store-jdbc"),
        jars.stream()
            .map(PackagedJars::fileName)
            .filter(name -> name.startsWith("warpwright-"))
            .map(name -> name.replaceFirst("-\\d.*", ""))
            .sorted()
            .toList(),
        "the packaged jars are on the class path only in a build that packages them: mvn verify");
    return jars;
  }

  private static String fileName(Path entry) {
    return entry.getFileName().toString();
  }
}
