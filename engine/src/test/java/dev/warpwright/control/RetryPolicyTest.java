package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.RetryPolicy.Decision;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import java.time.Duration;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** When the same target is asked again, and after what wait: pure functions. */
final class RetryPolicyTest {
  private static final RandomGenerator RANDOM = new Random(1);

  private static ProviderException failure(Kind kind, int status) {
    return ProviderException.builder(kind, "It failed.").status(status).build();
  }

  private static ProviderException asking(Duration retryAfter) {
    return ProviderException.builder(Kind.HTTP_STATUS, "Later.")
        .status(429)
        .retryAfter(retryAfter)
        .build();
  }

  private static RetryPolicy exact(Duration backoff) {
    return new RetryPolicy(5, backoff, 0);
  }

  private static Duration wait(RetryPolicy policy, ProviderException failure, int retry) {
    return assertInstanceOf(Decision.Retry.class, policy.decide(failure, retry, RANDOM)).delay();
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 429, 500, 501, 502, 503, 504, 520, 529, 599})
  @Tag("R87")
  @Tag("R90")
  void statusesThatMayPassAreRetriedAlsoInsideA200(int status) {
    assertTrue(RetryPolicy.isRetryable(failure(Kind.HTTP_STATUS, status)));
    assertTrue(RetryPolicy.isRetryable(failure(Kind.PROVIDER_EVENT, status)));
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 402, 403, 404, 405, 409, 413, 422, 425, 428, 430, 451, 499})
  @Tag("R88")
  @Tag("R90")
  void otherStatusesAreNot(int status) {
    assertFalse(RetryPolicy.isRetryable(failure(Kind.HTTP_STATUS, status)));
    assertFalse(RetryPolicy.isRetryable(failure(Kind.PROVIDER_EVENT, status)));
  }

  @Test
  @Tag("R90")
  void anErrorInsideA200WithoutStatusIsNotRetriedWhateverItsText() {
    assertFalse(
        RetryPolicy.isRetryable(
            ProviderException.builder(Kind.PROVIDER_EVENT, "503 overloaded, retry later")
                .providerMessage("status 429")
                .build()));
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  @Tag("R89")
  void anExhaustedQuotaIsNeverRetriedOnTheTarget(Kind kind) {
    assertFalse(
        RetryPolicy.isRetryable(
            ProviderException.builder(kind, "Pay.")
                .status(429)
                .code("insufficient_quota")
                .build()));
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {"CONNECT", "READ", "TIMEOUT"})
  @Tag("R91")
  @Tag("R94")
  void aBrokenConnectionAndATimeoutAreRetried(Kind kind) {
    assertTrue(RetryPolicy.isRetryable(failure(kind, 0)));
  }

  @ParameterizedTest
  @CsvSource({
    "CONTEXT_LENGTH, 0",
    "CONTEXT_LENGTH, 400",
    "CONTEXT_LENGTH, 429",
    "CONTEXT_LENGTH, 500",
    "PROTOCOL, 0",
    "PROTOCOL, 200",
    "PROTOCOL, 500",
    "OTHER, 0",
    "OTHER, 429"
  })
  @Tag("R92")
  @Tag("R93")
  @Tag("R96")
  void aKindThatWouldFailAgainIsNotRetriedWhateverItsStatus(Kind kind, int status) {
    assertFalse(RetryPolicy.isRetryable(failure(kind, status)));
  }

  @ParameterizedTest
  @CsvSource({"0, 200", "1, 400", "2, 600", "4, 1000"})
  @Tag("R98")
  void theWaitGrowsByOneBackoffWithEachRetry(int retry, long millis) {
    assertEquals(
        Duration.ofMillis(millis),
        wait(exact(Duration.ofMillis(200)), failure(Kind.READ, 0), retry));
  }

  @Test
  @Tag("R98")
  void byDefaultThereAreTwoRetriesWith200MsAndAFifthOfJitter() {
    assertEquals(new RetryPolicy(2, Duration.ofMillis(200), 0.2), RetryPolicy.DEFAULT);
    for (int i = 0; i < 1_000; i++) {
      for (int retry = 0; retry < 2; retry++) {
        long linear = 200_000_000L * (retry + 1);
        long wait = wait(RetryPolicy.DEFAULT, failure(Kind.READ, 0), retry).toNanos();
        assertTrue(wait >= linear && wait <= linear + linear / 5, "waits " + wait);
      }
    }
    assertInstanceOf(
        Decision.NextTarget.class, RetryPolicy.DEFAULT.decide(failure(Kind.READ, 0), 2, RANDOM));
  }

  @Test
  @Tag("R98")
  void jitterIsAddedInProportionToTheGivenRandomness() {
    RetryPolicy half = new RetryPolicy(5, Duration.ofMillis(100), 0.5);
    RandomGenerator threeQuarters = () -> -(1L << 62); // nextDouble() is 0.75
    assertEquals(
        new Decision.Retry(Duration.ofMillis(200 + 75)),
        half.decide(failure(Kind.READ, 0), 1, threeQuarters));
  }

  @ParameterizedTest
  @CsvSource({
    "0,     0, PT0.2S", // a hint of 0 does not remove the floor
    "0,   100, PT0.2S",
    "0,  1500, PT1.5S",
    "2,   500, PT0.6S",
    "0, 60000, PT1M"
  })
  @Tag("R98")
  @Tag("R99")
  void theLongerOfBackoffAndRetryAfterCounts(int retry, long askedMillis, Duration expected) {
    assertEquals(
        expected,
        wait(exact(Duration.ofMillis(200)), asking(Duration.ofMillis(askedMillis)), retry));
  }

  @Test
  @Tag("R98")
  void jitterIsAddedToRetryAfterAsWell() {
    RetryPolicy policy = new RetryPolicy(1, Duration.ofSeconds(1), 1);
    RandomGenerator threeQuarters = () -> -(1L << 62);
    assertEquals(
        new Decision.Retry(Duration.ofMillis(5_750)),
        policy.decide(asking(Duration.ofSeconds(5)), 0, threeQuarters));
  }

  @Test
  @Tag("R99")
  void aNegativeHintIsIgnored() {
    assertEquals(
        Duration.ofMillis(200),
        wait(exact(Duration.ofMillis(200)), asking(Duration.ofSeconds(-5)), 0));
  }

  @Test
  @Tag("R98")
  void noWaitIsLongerThanAMinuteHoweverLongTheBackoff() {
    for (Duration backoff :
        new Duration[] {
          Duration.ofSeconds(30), Duration.ofSeconds(60), Duration.ofSeconds(Long.MAX_VALUE)
        }) {
      RetryPolicy policy = new RetryPolicy(5, backoff, 1);
      assertEquals(Duration.ofSeconds(60), wait(policy, failure(Kind.READ, 0), 4));
    }
  }

  @Test
  @Tag("R100")
  void whoAsksForMoreThanAMinuteIsNotWaitedFor() {
    for (Duration asked :
        new Duration[] {
          Duration.ofSeconds(60).plusNanos(1),
          Duration.ofDays(1),
          Duration.ofSeconds(Long.MAX_VALUE)
        }) {
      assertInstanceOf(
          Decision.NextTarget.class, RetryPolicy.DEFAULT.decide(asking(asked), 0, RANDOM));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 6, Integer.MAX_VALUE, Integer.MIN_VALUE})
  @Tag("R27")
  @Tag("R29")
  void theNumberOfRetriesIsBounded(int maxRetries) {
    var refused =
        assertThrows(
            InvalidRequestException.class,
            () -> new RetryPolicy(maxRetries, Duration.ofMillis(200), 0));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("maxRetries must be between 0 and 5"), message);
    assertTrue(message.contains(String.valueOf(maxRetries)), message);
    assertEquals(5, exact(Duration.ZERO).maxRetries());
  }

  @ParameterizedTest
  @ValueSource(doubles = {-0.1, 1.1, Double.NaN, Double.POSITIVE_INFINITY})
  @Tag("R98")
  void jitterIsAFraction(double jitter) {
    assertThrows(InvalidRequestException.class, () -> new RetryPolicy(2, Duration.ZERO, jitter));
  }

  @Test
  @Tag("R35")
  void aNegativeBackoffIsRefused() {
    assertThrows(InvalidRequestException.class, () -> new RetryPolicy(2, Duration.ofMillis(-1), 0));
  }
}
