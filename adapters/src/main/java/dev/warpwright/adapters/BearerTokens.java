package dev.warpwright.adapters;

import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Interrupts;
import dev.warpwright.adapters.http.LastSecrets;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Tokens of a source, one at a time, shared by all calls of an adapter.
 *
 * <p>Whoever needs a token when there is none leads a flight that fetches it, outside the lock;
 * others wait for its end. A flight whose leader was interrupted has no end of its own: one of
 * those who waited leads the next.
 */
final class BearerTokens implements Authorization {
  /** How long before its expiry a token is replaced. */
  private static final Duration MARGIN = Duration.ofMinutes(1);

  private final TokenSource source;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable AccessToken current; // guarded by lock
  private @Nullable Flight flight; // guarded by lock
  private final LastSecrets fetched = new LastSecrets();

  BearerTokens(TokenSource source, InstantSource clock) {
    this.source = source;
    this.clock = clock;
  }

  /** A fetch under way; its fields are written before the latch opens. */
  private static final class Flight {
    final CountDownLatch landed = new CountDownLatch(1);
    @Nullable AccessToken token;
    @Nullable AccessToken spare; // if none was fetched: an old one that still lasts
    @Nullable ProviderException failure;
  }

  @Override
  public Map<String, String> headers(URI uri, Map<String, String> headers, byte[] body)
      throws InterruptedException {
    return Map.of("Authorization", bearer(token()));
  }

  private static String bearer(AccessToken token) {
    return "Bearer " + token.value();
  }

  private AccessToken token() throws InterruptedException {
    while (true) {
      Flight awaited;
      boolean leads = false;
      lock.lock();
      try {
        if (current != null && lasts(current, MARGIN)) {
          return current;
        }
        if (flight == null) {
          flight = new Flight();
          leads = true;
        }
        awaited = flight;
      } finally {
        lock.unlock();
      }
      if (leads) {
        lead(awaited);
      } else {
        awaited.landed.await();
      }
      AccessToken token = awaited.token == null ? awaited.spare : awaited.token;
      if (token != null) {
        return token;
      }
      if (awaited.failure != null) {
        throw awaited.failure;
      }
    }
  }

  private boolean lasts(AccessToken token, Duration more) {
    return token.expiry().isEmpty() || clock.instant().plus(more).isBefore(token.expiry().get());
  }

  private void lead(Flight led) throws InterruptedException {
    try {
      led.token = Objects.requireNonNull(source.fetch(), "token");
    } catch (ProviderException e) {
      led.failure = e;
    } catch (IOException | RuntimeException e) {
      Interrupts.rethrow(e); // it is the leader's own, and no failure of those who wait
      led.failure =
          ProviderException.builder(
                  ProviderException.Kind.CONNECT, "No access token could be fetched.")
              .cause(e)
              .build();
    } finally {
      land(led);
    }
  }

  private void land(Flight led) {
    lock.lock();
    try {
      flight = null;
      if (led.token != null) {
        current = led.token;
        fetched.add(led.token.value());
      } else if (led.failure != null && current != null && lasts(current, Duration.ZERO)) {
        led.spare = current;
      }
    } finally {
      lock.unlock();
    }
    led.landed.countDown();
  }

  /** A token that another has replaced meanwhile stays replaced. */
  @Override
  public void refused(Map<String, String> headers) {
    lock.lock();
    try {
      if (current != null && bearer(current).equals(headers.get("Authorization"))) {
        current = null;
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<String> secrets() {
    return fetched.all();
  }
}
