package dev.warpwright.examples;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** A text file in UTF-8, read line by line; one that is not UTF-8 spoils no other line. */
final class Lines implements AutoCloseable {
  private final String name;
  private final BufferedReader bytes; // one character a byte, so that a bad line can be told
  private long number;

  private Lines(String name, InputStream in) {
    this.name = name;
    this.bytes = new BufferedReader(new InputStreamReader(in, StandardCharsets.ISO_8859_1));
  }

  /**
   * One line.
   *
   * @param number its number, from 1
   * @param text its text, empty if it is not UTF-8
   */
  record Line(long number, Optional<String> text) {
    boolean isBlank() {
      return text.filter(String::isBlank).isPresent();
    }
  }

  /** Refuses the value of an option that is no readable file. */
  static void require(String option, Path file) {
    if (!Files.isRegularFile(file) || !Files.isReadable(file)) {
      throw new JobException.Usage(option + ": there is no readable file " + file + ".");
    }
  }

  static Lines of(Path file) {
    try {
      return new Lines(file.toString(), Files.newInputStream(file));
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read " + file + ".", e);
    }
  }

  /** A file that is part of the program. */
  static Lines ofResource(String name) {
    InputStream in = Lines.class.getResourceAsStream(name);
    return new Lines(name, Objects.requireNonNull(in, name));
  }

  /** The next line, empty at the end. */
  Optional<Line> next() {
    try {
      String line = bytes.readLine();
      return line == null ? Optional.empty() : Optional.of(new Line(++number, decode(line)));
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read " + name + ".", e);
    }
  }

  private Optional<String> decode(String line) {
    try {
      String text =
          StandardCharsets.UTF_8
              .newDecoder()
              .decode(ByteBuffer.wrap(line.getBytes(StandardCharsets.ISO_8859_1)))
              .toString();
      boolean hasMark = number == 1 && text.startsWith("\uFEFF");
      return Optional.of(hasMark ? text.substring(1) : text);
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  @Override
  public void close() {
    try {
      bytes.close();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot close " + name + ".", e);
    }
  }
}
