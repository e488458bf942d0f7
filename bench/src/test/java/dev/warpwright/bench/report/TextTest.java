package dev.warpwright.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TextTest {
  @Test
  void a_time_has_three_digits_and_the_unit_that_suits_it() {
    assertEquals("0.31 ns", Text.time(0.312));
    assertEquals("12.3 ns", Text.time(12.34));
    assertEquals("999 ns", Text.time(999));
    assertEquals("1.23 µs", Text.time(1_234));
    assertEquals("40.1 µs", Text.time(40_123));
    assertEquals("4.50 ms", Text.time(4_500_000));
    assertEquals("2.00 s", Text.time(2e9));
    assertEquals("-1.50 µs", Text.time(-1_500));
  }

  @Test
  void a_small_ratio_is_not_nothing() {
    assertEquals("× 1,234", Text.ratio(1_234.4));
    assertEquals("× 0.40", Text.ratio(0.4));
    assertEquals("× 0.046", Text.ratio(0.0456));
    assertEquals("< 0.001", Text.ratio(0.000123));
    assertEquals("× 0.00", Text.ratio(0));
  }

  @Test
  void a_size_has_the_unit_that_suits_it() {
    assertEquals("0 B", Text.bytes(1e-5));
    assertEquals("904 B", Text.bytes(904.2));
    assertEquals("3.20 kB", Text.bytes(3_200));
    assertEquals("1.50 MB", Text.bytes(1_500_000));
  }

  @Test
  void names_of_constants_methods_and_values_become_words() {
    assertEquals("thread started and joined", Text.words("THREAD_STARTED_AND_JOINED"));
    assertEquals("virtual callers 64", Text.words("virtualCallers64"));
    assertEquals("resilience4j", Text.words("resilience4j"));
    assertEquals("h2:POWER", Text.words("h2:POWER"));
    assertEquals("100", Text.words("100"));
  }

  @Test
  void what_html_would_read_is_escaped() {
    assertEquals("&lt;a href=&quot;x&quot;&gt; &amp;", Text.html("<a href=\"x\"> &"));
  }
}
