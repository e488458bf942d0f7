package dev.warpwright.bench.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.bench.durable.LoadOptions.What;
import java.util.List;
import org.junit.jupiter.api.Test;

class LoadOptionsTest {
  @Test
  void what_is_given_counts_and_the_rest_is_as_by_default() {
    LoadOptions options =
        LoadOptions.parse("--what", "agents,dbos", "--store", "memory,h2:POWER", "--steps", "5");

    assertEquals(List.of(What.AGENTS, What.DBOS), options.what());
    assertEquals(List.of(StoreKind.MEMORY, StoreKind.H2_POWER), options.stores());
    assertEquals(5, options.steps());
    assertEquals(10, options.seconds());
    assertEquals(List.of(1, 16, 64, 256, 1024), options.callers());
  }

  @Test
  void more_steps_than_one_invocation_makes_are_refused() {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> LoadOptions.parse("--steps", "128"));

    assertEquals("--steps must be between 1 and 127, but is 128.", refused.getMessage());
  }
}
