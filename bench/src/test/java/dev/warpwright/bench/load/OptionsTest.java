package dev.warpwright.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class OptionsTest {
  private static final Set<String> NAMES = Set.of("--callers", "--seconds", "--json");

  private enum Fruit {
    APPLE,
    PEAR;

    @Override
    public String toString() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  private static String refusal(Runnable refused) {
    return String.valueOf(assertThrows(IllegalArgumentException.class, refused::run).getMessage());
  }

  @Test
  void what_is_not_given_is_what_it_is_by_default() {
    Options options = Options.parse(NAMES);

    assertEquals(10, options.number("--seconds", 1, 10));
    assertEquals(List.of(1, 2), options.numbers("--callers", 1, List.of(1, 2)));
    assertEquals(Optional.empty(), options.file("--json"));
  }

  @Test
  void what_is_given_counts() {
    Options options =
        Options.parse(NAMES, "--callers", "16,64", "--seconds", "3", "--json", "out.json");

    assertEquals(3, options.number("--seconds", 1, 10));
    assertEquals(List.of(16, 64), options.numbers("--callers", 1, List.of()));
    assertEquals(Optional.of(Path.of("out.json")), options.file("--json"));
  }

  @Test
  void an_unknown_option_is_named() {
    assertEquals(
        "There is no option --speed.", refusal(() -> Options.parse(NAMES, "--speed", "9")));
  }

  @Test
  void an_option_without_a_value_is_named() {
    assertEquals("There is no value behind --json.", refusal(() -> Options.parse(NAMES, "--json")));
  }

  @Test
  void an_option_that_is_there_twice_is_named() {
    assertEquals(
        "--json is there twice.",
        refusal(() -> Options.parse(NAMES, "--json", "a", "--json", "b")));
  }

  @Test
  void a_number_that_is_none_or_too_small_is_named() {
    assertEquals(
        "--seconds must be a whole number, but is \"ten\".",
        refusal(() -> Options.parse(NAMES, "--seconds", "ten").number("--seconds", 1, 1)));
    assertEquals(
        "--callers must be 1 or more, but is 0.",
        refusal(() -> Options.parse(NAMES, "--callers", "4,0").numbers("--callers", 1, List.of())));
  }

  @Test
  void a_constant_is_found_by_its_text_and_others_are_listed() {
    assertEquals(Fruit.PEAR, Options.constant(Fruit.class).apply("pear"));
    assertEquals(
        "\"plum\" must be one of [apple, pear].",
        refusal(
            () ->
                Options.parse(Set.of("--fruit"), "--fruit", "plum")
                    .list("--fruit", Options.constant(Fruit.class), List.of())));
  }
}
