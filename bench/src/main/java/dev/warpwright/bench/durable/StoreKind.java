package dev.warpwright.bench.durable;

import dev.warpwright.store.jdbc.JdbcRunStore.Durability;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A store as the options name it. */
enum StoreKind {
  MEMORY("memory", null),
  H2_RELAXED("h2:RELAXED", Durability.RELAXED),
  H2_PROCESS("h2:PROCESS", Durability.PROCESS),
  H2_POWER("h2:POWER", Durability.POWER),
  POSTGRES("postgres", Durability.POWER);

  private final String text;
  private final Optional<Durability> durability;

  StoreKind(String text, @Nullable Durability durability) {
    this.text = text;
    this.durability = Optional.ofNullable(durability);
  }

  Optional<Durability> durability() {
    return durability;
  }

  boolean isH2() {
    return this != MEMORY && this != POSTGRES;
  }

  static StoreKind parse(String text) {
    return Arrays.stream(values())
        .filter(kind -> kind.text.equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "A store is one of " + List.of(values()) + ", but is \"" + text + "\"."));
  }

  @Override
  public String toString() {
    return text;
  }
}
