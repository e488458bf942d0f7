package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which failures say that a target is unwell. */
@Tag("R256")
final class HealthFailureTest {
  private static boolean isHealthFailure(Kind kind, int status) {
    return CircuitBreaker.isHealthFailure(
        ProviderException.builder(kind, "It failed.").status(status).build());
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"HTTP_STATUS", "PROVIDER_EVENT"})
  @Tag("FR-B05")
  void only_408_429_and_500_and_above_are_also_inside_a_200(Kind kind) {
    IntStream.range(400, 600)
        .forEach(
            status ->
                assertEquals(
                    status == 408 || status == 429 || status >= 500,
                    isHealthFailure(kind, status),
                    () -> kind + " " + status));
  }

  @Test
  void an_error_inside_a_200_without_a_status_is_neutral() {
    assertFalse(isHealthFailure(Kind.PROVIDER_EVENT, 0));
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  @Tag("R92")
  void without_a_status_a_broken_connection_and_a_timeout_count(Kind kind) {
    assertEquals(
        Set.of(Kind.CONNECT, Kind.READ, Kind.TIMEOUT).contains(kind), isHealthFailure(kind, 0));
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"CONTEXT_LENGTH", "PROTOCOL", "OTHER"})
  @Tag("R92")
  @Tag("FR-B05")
  void the_neutral_kinds_are_neutral_whatever_their_status(Kind kind) {
    for (int status : new int[] {200, 400, 429, 500, 529}) {
      assertFalse(isHealthFailure(kind, status), () -> kind + " " + status);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void an_exhausted_quota_is_neutral_whatever_its_kind_and_status(Kind kind) {
    for (int status : new int[] {0, 429, 500}) {
      assertFalse(
          CircuitBreaker.isHealthFailure(
              ProviderException.builder(kind, "Pay.")
                  .status(status)
                  .code("insufficient_quota")
                  .build()),
          () -> kind + " " + status);
    }
  }

  @Test
  void no_text_is_consulted() {
    assertFalse(
        CircuitBreaker.isHealthFailure(
            ProviderException.builder(Kind.PROVIDER_EVENT, "status 503")
                .providerMessage("503 Service Unavailable")
                .build()));
  }
}
