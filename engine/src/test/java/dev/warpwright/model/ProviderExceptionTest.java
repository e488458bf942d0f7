package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ProviderException.Kind;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What an adapter's failure carries. */
final class ProviderExceptionTest {
  @ParameterizedTest
  @EnumSource(Kind.class)
  @Tag("R85")
  void itCarriesWhatDecisionsAreMadeFromAndTheGatewayAddsTheTarget(Kind kind) {
    IOException cause = new IOException("reset");
    ProviderException failure =
        ProviderException.builder(kind, "It failed.")
            .status(429)
            .code("rate_limit")
            .requestId("r-1")
            .providerMessage("Slow down.")
            .retryAfter(Duration.ofSeconds(2))
            .cause(cause)
            .build();
    failure.addSuppressed(new IOException("close"));
    Target target = Target.of("p", "m");

    ProviderException located = failure.at(target);

    assertEquals(Optional.empty(), failure.target());
    assertEquals(Optional.of(target), located.target());
    assertEquals(kind, located.kind());
    assertEquals(429, located.status());
    assertEquals(Optional.of("rate_limit"), located.code());
    assertEquals(Optional.of("r-1"), located.requestId());
    assertEquals(Optional.of("Slow down."), located.providerMessage());
    assertEquals(Optional.of(Duration.ofSeconds(2)), located.retryAfter());
    assertEquals("It failed.", located.getMessage());
    assertSame(cause, located.getCause());
    assertArrayEquals(failure.getSuppressed(), located.getSuppressed());
    assertArrayEquals(failure.getStackTrace(), located.getStackTrace());
  }

  @Test
  @Tag("R85")
  void whatIsNotKnownIsAbsent() {
    ProviderException failure = ProviderException.builder(Kind.CONNECT, "No.").build();

    assertEquals(0, failure.status());
    assertTrue(failure.code().isEmpty());
    assertTrue(failure.requestId().isEmpty());
    assertTrue(failure.providerMessage().isEmpty());
    assertTrue(failure.retryAfter().isEmpty());
  }

  @Test
  void itsTextsAreRedactedAndBounded() {
    ProviderException failure =
        ProviderException.builder(Kind.OTHER, "Authorization: Bearer abc")
            .providerMessage("api_key=abc " + "x".repeat(5_000))
            .build();

    assertFalse(failure.toString().contains("abc"), failure.toString());
    String said = failure.providerMessage().orElseThrow();
    assertFalse(said.contains("abc"), said);
    assertTrue(said.length() < 2_100);
  }

  @Test
  void itsRequestIdIsRedactedAndBounded() {
    String key = "sk-" + "a1B2".repeat(10);
    for (String id : List.of(key, "req " + key, "Bearer abc.def", "x".repeat(250) + " " + key)) {
      ProviderException failure =
          ProviderException.builder(Kind.HTTP_STATUS, "No.").requestId(id).build();
      for (ProviderException each : List.of(failure, failure.at(Target.of("p", "m")))) {
        String kept = each.requestId().orElseThrow();
        assertFalse(kept.contains("sk-") || kept.contains("abc"), kept);
        assertTrue(kept.length() <= 256, kept);
      }
    }
    String longest = "r".repeat(256);
    assertEquals(
        Optional.of(longest),
        ProviderException.builder(Kind.OTHER, "No.").requestId(longest + "r").build().requestId());
    assertTrue(
        ProviderException.builder(Kind.OTHER, "No.").requestId(null).build().requestId().isEmpty());
  }
}
