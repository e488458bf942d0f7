package dev.warpwright.bench.report;

import java.util.Locale;
import java.util.Map;

/** How figures and names are written for people. */
final class Text {
  private Text() {}

  /** A time in the unit that suits it, to three digits. */
  static String time(double nanos) {
    double size = Math.abs(nanos);
    if (size < 1e3) {
      return digits(nanos) + " ns";
    }
    if (size < 1e6) {
      return digits(nanos / 1e3) + " µs";
    }
    return size < 1e9 ? digits(nanos / 1e6) + " ms" : digits(nanos / 1e9) + " s";
  }

  /** A size in the unit that suits it. */
  static String bytes(double bytes) {
    if (bytes < 0.5) {
      return "0 B";
    }
    if (bytes < 1e3) {
      return String.format(Locale.ROOT, "%.0f B", bytes);
    }
    return bytes < 1e6 ? digits(bytes / 1e3) + " kB" : digits(bytes / 1e6) + " MB";
  }

  /** A ratio. */
  static String ratio(double ratio) {
    return ratio > 0 && ratio < 0.001 ? "< 0.001" : "× " + digits(ratio);
  }

  /** Three digits, two below a tenth, without an exponent. */
  static String digits(double number) {
    double size = Math.abs(number);
    return String.format(Locale.ROOT, "%,." + decimals(size) + "f", number);
  }

  private static int decimals(double size) {
    if (size >= 99.95) {
      return 0;
    }
    if (size >= 9.995) {
      return 1;
    }
    return size >= 0.0995 || size < 1e-6 ? 2 : 1 - (int) Math.floor(Math.log10(size));
  }

  /** A name of Java in words. */
  static String words(String name) {
    if (name.equals(name.toUpperCase(Locale.ROOT))) {
      return name.toLowerCase(Locale.ROOT).replace('_', ' ');
    }
    return name.matches("[a-zA-Z0-9]+")
        ? name.replaceAll("(?<=[a-z])(?=[A-Z]|[0-9]+$)", " ").toLowerCase(Locale.ROOT)
        : name;
  }

  /** Parameters in words. */
  static String words(Map<String, String> params) {
    return String.join(
        ", ",
        params.entrySet().stream()
            .map(param -> words(param.getKey()) + " " + words(param.getValue()))
            .toList());
  }

  /** A text that HTML takes as such. */
  static String html(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}
