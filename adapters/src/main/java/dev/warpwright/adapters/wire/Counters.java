package dev.warpwright.adapters.wire;

import dev.warpwright.model.TokenCount;
import dev.warpwright.model.TokenCount.Provenance;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Reads usage counters. */
public final class Counters {
  /** A counter above this is a fault of the server, and sums of it would overflow. */
  private static final long HIGHEST = 1_000_000_000_000_000L;

  private Counters() {}

  /**
   * Reads one counter.
   *
   * @param value the counter, also missing or null
   * @return the count; absent unless it is an integer from 0 to 10<sup>15</sup>
   */
  public static TokenCount read(JsonNode value) {
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      return TokenCount.ABSENT;
    }
    long tokens = value.longValue();
    return tokens < 0 || tokens > HIGHEST ? TokenCount.ABSENT : TokenCount.reported(tokens);
  }

  /**
   * Takes what a stream reports into what it reported before: a counter that is reported again
   * takes the place of the earlier one, the others stay.
   *
   * @param counters what was reported so far; changed
   * @param report the usage object of an event, also missing or null
   */
  public static void update(ObjectNode counters, JsonNode report) {
    for (Map.Entry<String, JsonNode> counter : report.properties()) {
      JsonNode value = counter.getValue();
      if (value.isObject() && counters.get(counter.getKey()) instanceof ObjectNode earlier) {
        update(earlier, value);
      } else if (!value.isNull()) {
        counters.set(counter.getKey(), value.deepCopy());
      }
    }
  }

  /** How a reported total judges where reasoning stands. */
  public enum Reasoning {
    /** It is part of the output counter. */
    INSIDE,
    /** It stands beside the output counter. */
    OUTSIDE,
    /** A counter that is needed is absent. */
    UNKNOWN,
    /** The total fits neither way. */
    MISMATCH
  }

  /**
   * Lets the total judge.
   *
   * @param input the input counter, everything included
   * @param output the output counter as reported
   * @param reasoning the reasoning counter
   * @param total the total counter
   * @return where reasoning stands
   */
  public static Reasoning judge(
      TokenCount input, TokenCount output, TokenCount reasoning, TokenCount total) {
    if (!input.isPresent() || !output.isPresent() || !total.isPresent()) {
      return Reasoning.UNKNOWN;
    }
    long sum = input.tokens() + output.tokens();
    if (total.tokens() == sum) {
      return Reasoning.INSIDE;
    }
    return reasoning.isPresent() && total.tokens() == sum + reasoning.tokens()
        ? Reasoning.OUTSIDE
        : Reasoning.MISMATCH;
  }

  /**
   * The sum of counters that stand beside each other.
   *
   * @param counter a counter
   * @param beside what is not part of it; nothing is added if it is absent
   * @return the sum, derived
   */
  public static TokenCount sum(TokenCount counter, TokenCount beside) {
    return new TokenCount(counter.tokens() + beside.tokens(), Provenance.DERIVED);
  }
}
