package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.AdmissionLimit;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.store.jdbc.AdmissionWindow.Correction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The arithmetic of a minute window. */
final class AdmissionWindowTest {
  private static final long NOON = 1_767_268_800_000L;
  private static final AdmissionPolicy POLICY =
      AdmissionPolicy.builder(1).requestsPerMinute(2).tokensPerMinute(100).build();

  @Test
  @Tag("R306")
  void a_window_begins_with_its_first_request_and_lasts_sixty_seconds() {
    AdmissionWindow window = AdmissionWindow.NONE.admit(POLICY, 30, NOON);
    assertEquals(new AdmissionWindow(1, NOON, 1, 30), window);

    window = window.admit(POLICY, 70, NOON + 59_999);
    assertEquals(new AdmissionWindow(1, NOON, 2, 100), window);
    assertEquals(AdmissionLimit.REQUESTS_PER_MINUTE, window.obstacle(POLICY, 0, NOON + 59_999));
    assertEquals(1, window.leftMillis(NOON + 59_999));

    assertNull(window.obstacle(POLICY, 100, NOON + 60_000));
    assertEquals(
        new AdmissionWindow(2, NOON + 60_000, 1, 100), window.admit(POLICY, 100, NOON + 60_000));
  }

  @Test
  void a_clock_that_is_set_back_by_an_hour_does_not_keep_a_window_open() {
    AdmissionWindow window = AdmissionWindow.NONE.admit(POLICY, 100, NOON);
    assertTrue(window.isOpen(NOON - 1_000));
    assertFalse(window.isOpen(NOON - 3_600_000));
    assertNull(window.obstacle(POLICY, 100, NOON - 3_600_000));
  }

  @Test
  @Tag("R309")
  void what_a_call_used_counts_in_its_own_window_only() {
    AdmissionWindow window = new AdmissionWindow(3, NOON, 2, 100);
    assertEquals(
        new AdmissionWindow(3, NOON, 2, 45), window.correct(new Correction(3, 60, 5, true)));
    assertEquals(
        new AdmissionWindow(3, NOON, 1, 40), window.correct(new Correction(3, 60, 0, false)));
    assertEquals(window, window.correct(new Correction(2, 60, 5, true)));
    AdmissionWindow most = window.correct(new Correction(3, 60, Long.MAX_VALUE, true));
    assertEquals(Long.MAX_VALUE, most.tokens());
    assertEquals(AdmissionLimit.TOKENS_PER_MINUTE, most.obstacle(noRequests(), 0, NOON));
  }

  private static AdmissionPolicy noRequests() {
    return AdmissionPolicy.builder(1).tokensPerMinute(100).build();
  }

  @Test
  void without_limits_per_minute_there_is_no_window() {
    AdmissionPolicy policy = AdmissionPolicy.builder(1).build();
    assertEquals(AdmissionWindow.NONE, AdmissionWindow.NONE.admit(policy, 0, NOON));
    assertNull(new AdmissionWindow(1, NOON, 1_000, 1_000).obstacle(policy, 0, NOON));
  }
}
