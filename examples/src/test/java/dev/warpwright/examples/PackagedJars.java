package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The jars that a program which uses Warpwright has: its three modules as the build has packaged
 * them, and what they need. The build has written the list.
 */
final class PackagedJars {
  private static final Path LIST = Path.of("target", "consumer-path.txt");

  private PackagedJars() {}

  /** The jars, for {@code -cp} or {@code -p}. */
  static String path() throws IOException {
    String path = Files.readString(LIST).strip();
    assertTrue(Stream.of(path.split(File.pathSeparator)).allMatch(s -> s.endsWith(".jar")), path);
    return path;
  }
}
