package dev.warpwright.bench.load;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** The arguments of a program: pairs of {@code --name} and a value, each name once at most. */
public final class Options {
  private final Map<String, String> values;

  private Options(Map<String, String> values) {
    this.values = values;
  }

  /**
   * Reads the arguments.
   *
   * @param names the options that there are, with their dashes
   * @param arguments as the program was given them
   * @return the options
   * @throws IllegalArgumentException if there is another option, one without a value, or one twice
   */
  public static Options parse(Set<String> names, String... arguments) {
    Map<String, String> values = new HashMap<>();
    for (int n = 0; n < arguments.length; n += 2) {
      String name = arguments[n];
      if (!names.contains(name)) {
        throw new IllegalArgumentException("There is no option " + name + ".");
      }
      if (n + 1 == arguments.length) {
        throw new IllegalArgumentException("There is no value behind " + name + ".");
      }
      if (values.put(name, arguments[n + 1]) != null) {
        throw new IllegalArgumentException(name + " is there twice.");
      }
    }
    return new Options(values);
  }

  /**
   * A whole number.
   *
   * @param name the option
   * @param min the least that it may be
   * @param otherwise what it is if it was not given
   * @return the number
   * @throws IllegalArgumentException if it is none, or less
   */
  public int number(String name, int min, int otherwise) {
    String value = values.get(name);
    return value == null ? otherwise : number(name, min, value);
  }

  /**
   * Whole numbers, with commas between.
   *
   * @param name the option
   * @param min the least that each may be
   * @param otherwise what they are if it was not given
   * @return the numbers
   * @throws IllegalArgumentException if one is none, or less
   */
  public List<Integer> numbers(String name, int min, List<Integer> otherwise) {
    return list(name, value -> number(name, min, value), otherwise);
  }

  private static int number(String name, int min, String value) {
    int number;
    try {
      number = Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          name + " must be a whole number, but is \"" + value + "\".", e);
    }
    if (number < min) {
      throw new IllegalArgumentException(
          name + " must be " + min + " or more, but is " + number + ".");
    }
    return number;
  }

  /**
   * Values, with commas between.
   *
   * @param <T> what they are
   * @param name the option
   * @param parser makes one of its text; its exception is let through
   * @param otherwise what they are if it was not given
   * @return the values
   */
  public <T> List<T> list(String name, Function<String, T> parser, List<T> otherwise) {
    String value = values.get(name);
    return value == null ? otherwise : Arrays.stream(value.split(",", -1)).<T>map(parser).toList();
  }

  /**
   * A file.
   *
   * @param name the option
   * @return the file, if it was given
   */
  public Optional<Path> file(String name) {
    return Optional.ofNullable(values.get(name)).map(Path::of);
  }

  /**
   * Finds a constant by its name in small letters.
   *
   * @param <E> the type
   * @param type the constants
   * @return the function that finds it
   */
  public static <E extends Enum<E>> Function<String, E> constant(Class<E> type) {
    return value ->
        Arrays.stream(type.getEnumConstants())
            .filter(each -> each.toString().equals(value))
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "\""
                            + value
                            + "\" must be one of "
                            + Arrays.toString(type.getEnumConstants())
                            + "."));
  }
}
