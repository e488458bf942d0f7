package dev.warpwright.adapters.http;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The secrets that were sent last. More than one: an answer to a request with the last but one may
 * still come, and echo it. Thread-safe.
 */
public final class LastSecrets {
  private static final int KEPT = 8;

  private final Deque<String> secrets = new ArrayDeque<>(KEPT); // guarded by this; latest first

  /** Begins with none. */
  public LastSecrets() {}

  /**
   * Takes the secret that is about to be sent.
   *
   * @param secret the secret
   */
  public synchronized void add(String secret) {
    if (!secret.equals(secrets.peekFirst())) {
      secrets.remove(secret);
      secrets.addFirst(secret);
      if (secrets.size() > KEPT) {
        secrets.removeLast();
      }
    }
  }

  /**
   * The secrets.
   *
   * @return those that are kept, the latest first
   */
  public synchronized List<String> all() {
    return List.copyOf(secrets);
  }
}
