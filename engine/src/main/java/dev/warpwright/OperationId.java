package dev.warpwright;

import java.util.HexFormat;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The id of an operation: its name and 64 random bits, since idempotency keys are made from it and
 * a counter of this process would not do. Its text is made when somebody asks.
 */
final class OperationId {
  private final String name;
  private final long bits;
  private @Nullable String text; // two who ask at once may both make it, and alike

  OperationId(String name, RandomGenerator random) {
    this.name = name;
    this.bits = random.nextLong();
  }

  @Override
  public String toString() {
    String known = text;
    if (known == null) {
      known = name + "-" + HexFormat.of().toHexDigits(bits);
      text = known;
    }
    return known;
  }
}
