package dev.warpwright.bench.report;

import java.util.Locale;

/** What a figure counts. */
enum Unit {
  /** Nanoseconds. */
  TIME("time") {
    @Override
    String text(double nanos) {
      return Text.time(nanos);
    }
  },

  /** Bytes that something keeps. */
  HEAP("heap") {
    @Override
    String text(double bytes) {
      return Text.bytes(bytes);
    }
  },

  /** How much is done in a second. */
  RATE("a second") {
    @Override
    String text(double perSecond) {
      return String.format(Locale.ROOT, perSecond < 100 ? "%.1f" : "%,.0f", perSecond);
    }
  };

  private final String title;

  Unit(String title) {
    this.title = title;
  }

  /** The head of its column. */
  String title() {
    return title;
  }

  /** A figure as people read it. */
  abstract String text(double figure);

  /** A power of ten of it. */
  String tick(double figure) {
    return text(figure).replaceFirst("\\.0+( |$)", "$1").replaceFirst("(\\.\\d)0 ", "$1 ");
  }
}
