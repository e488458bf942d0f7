package dev.warpwright.adapters;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class BearerTokensTest {
  private static final URI ANYWHERE = URI.create("https://example.com/");

  private final AtomicInteger fetched = new AtomicInteger();
  private Instant now = Instant.parse("2026-11-30T12:00:00Z");

  private BearerTokens tokens(TokenSource source) {
    return new BearerTokens(source, () -> now);
  }

  private static String header(BearerTokens tokens) throws InterruptedException {
    return tokens.headers(ANYWHERE, Map.of(), new byte[0]).get("Authorization");
  }

  private AccessToken next(Duration life) {
    return AccessToken.until(now.plus(life), "token-" + fetched.incrementAndGet());
  }

  private static <T> FutureTask<T> start(Callable<T> body, List<Thread> threads) {
    FutureTask<T> task = new FutureTask<>(body);
    threads.add(Thread.ofVirtual().start(task));
    return task;
  }

  /** Waits until a thread waits for something itself. */
  private static void awaitParked(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
  }

  @Test
  void a_token_is_used_until_a_minute_before_its_end() throws Exception {
    BearerTokens tokens = tokens(() -> next(Duration.ofMinutes(10)));
    assertEquals("Bearer token-1", header(tokens));
    now = now.plus(Duration.ofMinutes(9).minusMillis(1));
    assertEquals("Bearer token-1", header(tokens));
    now = now.plusMillis(1);
    assertEquals("Bearer token-2", header(tokens));
    assertEquals(List.of("token-2", "token-1"), tokens.secrets()); // an answer may be on its way
  }

  @Test
  void a_token_that_still_lasts_serves_while_no_other_can_be_fetched() throws Exception {
    BearerTokens tokens =
        tokens(
            () -> {
              if (fetched.get() == 1) {
                throw new IOException("down");
              }
              return next(Duration.ofMinutes(10));
            });
    assertEquals("Bearer token-1", header(tokens));
    now = now.plus(Duration.ofMinutes(10).minusMillis(1));
    assertEquals("Bearer token-1", header(tokens));
    now = now.plusMillis(1);
    assertThrows(ProviderException.class, () -> header(tokens));
  }

  @Test
  void a_token_that_lives_shorter_than_that_serves_the_calls_that_waited_for_it() throws Exception {
    BearerTokens tokens = tokens(() -> next(Duration.ofSeconds(30)));
    assertEquals("Bearer token-1", header(tokens));
    assertEquals("Bearer token-2", header(tokens));
  }

  @Test
  void a_refused_token_is_not_used_again_and_a_replaced_one_is_not_replaced_twice()
      throws Exception {
    BearerTokens tokens = tokens(() -> AccessToken.of("token-" + fetched.incrementAndGet()));
    Map<String, String> first = tokens.headers(ANYWHERE, Map.of(), new byte[0]);
    tokens.refused(first);
    assertEquals("Bearer token-2", header(tokens));
    tokens.refused(first); // another call that used it, late
    assertEquals("Bearer token-2", header(tokens));
  }

  @Test
  void callers_at_the_same_time_share_one_fetch() throws Exception {
    CountDownLatch fetching = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    BearerTokens tokens =
        tokens(
            () -> {
              fetching.countDown();
              gate.await();
              return next(Duration.ofHours(1));
            });
    List<Thread> threads = new ArrayList<>();
    List<FutureTask<String>> callers = new ArrayList<>();
    callers.add(start(() -> header(tokens), threads));
    fetching.await();
    for (int i = 0; i < 50; i++) {
      callers.add(start(() -> header(tokens), threads));
    }
    threads.forEach(BearerTokensTest::awaitParked);
    gate.countDown();
    for (FutureTask<String> caller : callers) {
      assertEquals("Bearer token-1", caller.get(60, TimeUnit.SECONDS));
    }
    assertEquals(1, fetched.get());
  }

  @Test
  void a_failure_is_that_of_all_who_waited_and_the_next_call_asks_again() throws Exception {
    CountDownLatch fetching = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    BearerTokens tokens =
        tokens(
            () -> {
              if (fetched.incrementAndGet() == 1) {
                fetching.countDown();
                gate.await();
                throw new IOException("metadata server, token=s3cr3t");
              }
              return AccessToken.of("good");
            });
    List<Thread> threads = new ArrayList<>();
    List<FutureTask<String>> callers = new ArrayList<>();
    callers.add(start(() -> header(tokens), threads));
    fetching.await();
    callers.add(start(() -> header(tokens), threads));
    threads.forEach(BearerTokensTest::awaitParked);
    gate.countDown();
    for (FutureTask<String> caller : callers) {
      Throwable failed =
          assertThrows(ExecutionException.class, () -> caller.get(60, TimeUnit.SECONDS)).getCause();
      assertEquals(ProviderException.Kind.CONNECT, ((ProviderException) failed).kind());
      assertFalse(failed.getCause().toString().contains("s3cr3t"), failed.getCause().toString());
    }
    assertEquals("Bearer good", header(tokens));
  }

  @Test
  void a_provider_exception_of_the_source_stays_as_it_is() {
    ProviderException forbidden =
        ProviderException.builder(ProviderException.Kind.HTTP_STATUS, "Refused.")
            .status(403)
            .build();
    BearerTokens tokens =
        tokens(
            () -> {
              throw forbidden;
            });
    assertEquals(403, assertThrows(ProviderException.class, () -> header(tokens)).status());
  }

  @Test
  void an_interrupted_leader_leaves_the_fetch_to_one_who_waits() throws Exception {
    CountDownLatch fetching = new CountDownLatch(1);
    Semaphore never = new Semaphore(0);
    BearerTokens tokens =
        tokens(
            () -> {
              if (fetched.incrementAndGet() == 1) {
                fetching.countDown();
                never.acquire();
              }
              return AccessToken.of("good");
            });
    List<Thread> threads = new ArrayList<>();
    FutureTask<String> leader = start(() -> header(tokens), threads);
    fetching.await();
    FutureTask<String> waiter = start(() -> header(tokens), threads);
    awaitParked(threads.get(1));
    threads.getFirst().interrupt();
    assertEquals("Bearer good", waiter.get(60, TimeUnit.SECONDS));
    Throwable end =
        assertThrows(ExecutionException.class, () -> leader.get(60, TimeUnit.SECONDS)).getCause();
    assertEquals(InterruptedException.class, end.getClass());
    assertEquals(2, fetched.get());
  }

  @Test
  void an_interrupt_that_a_source_may_not_throw_is_the_leaders_alone() throws Exception {
    CountDownLatch fetching = new CountDownLatch(1);
    BearerTokens tokens =
        tokens(
            () -> {
              if (fetched.incrementAndGet() > 1) {
                return AccessToken.of("good");
              }
              fetching.countDown();
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                throw new IOException("aborted", e);
              }
              throw new AssertionError("nobody counts down");
            });
    List<Thread> threads = new ArrayList<>();
    FutureTask<String> leader = start(() -> header(tokens), threads);
    fetching.await();
    FutureTask<String> waiter = start(() -> header(tokens), threads);
    awaitParked(threads.get(1));
    threads.getFirst().interrupt();
    assertEquals("Bearer good", waiter.get(60, TimeUnit.SECONDS));
    Throwable end =
        assertThrows(ExecutionException.class, () -> leader.get(60, TimeUnit.SECONDS)).getCause();
    assertEquals(InterruptedException.class, end.getClass());
  }

  @Test
  @SuppressWarnings("NullAway") // a source that breaks its contract
  void a_source_that_gives_no_token_fails_the_call_once() {
    BearerTokens tokens =
        tokens(
            () -> {
              assertEquals(1, fetched.incrementAndGet());
              return null;
            });
    ProviderException failed = assertThrows(ProviderException.class, () -> header(tokens));
    assertEquals(ProviderException.Kind.CONNECT, failed.kind());
  }

  @Test
  @Tag("FR-W01")
  void the_last_tokens_are_known_as_secrets_and_no_more_than_some() throws Exception {
    BearerTokens tokens = tokens(() -> next(Duration.ZERO));
    for (int i = 0; i < 20; i++) {
      header(tokens);
    }
    assertEquals(8, tokens.secrets().size());
    assertEquals("token-20", tokens.secrets().getFirst());
    assertEquals("token-13", tokens.secrets().getLast());
  }

  @Test
  void an_interrupted_waiter_leaves_the_others_alone() throws Exception {
    CountDownLatch fetching = new CountDownLatch(1);
    CountDownLatch gate = new CountDownLatch(1);
    BearerTokens tokens =
        tokens(
            () -> {
              fetching.countDown();
              gate.await();
              return next(Duration.ofHours(1));
            });
    List<Thread> threads = new ArrayList<>();
    FutureTask<String> leader = start(() -> header(tokens), threads);
    fetching.await();
    FutureTask<String> waiter = start(() -> header(tokens), threads);
    awaitParked(threads.get(1));
    threads.get(1).interrupt();
    assertThrows(ExecutionException.class, () -> waiter.get(60, TimeUnit.SECONDS));
    gate.countDown();
    assertEquals("Bearer token-1", leader.get(60, TimeUnit.SECONDS));
  }

  @Test
  @Tag("FR-W01")
  void a_token_never_shows_itself() {
    assertEquals("AccessToken[no expiry]", AccessToken.of("s3cr3t").toString());
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> AccessToken.of("s3cr3t\n"));
    assertFalse(refused.getMessage().contains("s3cr3t"));
    assertTrue(refused.getMessage().contains("U+000A"), refused.getMessage());
  }
}
