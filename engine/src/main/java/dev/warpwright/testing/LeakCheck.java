package dev.warpwright.testing;

import dev.warpwright.Gateway;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A JUnit extension that fails a test which leaves something behind: a live or abandoned task of a
 * gateway, a pending alarm of manual time, an interrupt on the test's thread, or whatever else it
 * was told to watch.
 *
 * <pre>{@code
 * @RegisterExtension final LeakCheck leaks = new LeakCheck();
 *
 * final ManualTime time = leaks.watch(new ManualTime());
 * final HttpAdapter openAi = OpenAi.builder().baseUrl(server.uri()).build();
 * final Gateway gateway =
 *     leaks.watch(Gateway.builder().adapter("openai", openAi).time(time).build());
 *
 * @BeforeEach
 * void watchTheWire() {
 *   leaks.watch(Leftovers.count("open exchanges", openAi::openExchanges));
 * }
 * }</pre>
 *
 * <p>It checks after the test's own {@code @AfterEach} methods. What is about to end, such as a
 * thread at its last step, is waited for, at most 10 s of real time; the check fails only if
 * something is left then, and says what, with the live tasks as a tree. If the test itself has
 * failed, JUnit adds this as a suppressed exception. An interrupt is cleared, so that it does not
 * reach the next test.
 *
 * <p>Keep it in an instance field, of which JUnit makes one a test. One in a static field checks
 * after each test all that it was ever told to watch, and takes what tests that run at the same
 * time have under way for a leak.
 *
 * <p>Needs {@code junit-jupiter-api}, an optional dependency of the engine, which a program that
 * does not use this class need not have. Safe for use by any thread.
 */
@SuppressWarnings("exports") // who uses it requires JUnit anyway; nobody else is to need it
public final class LeakCheck implements AfterEachCallback {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final long POLL_NANOS = 50_000;

  private final Duration patience;
  private final List<Leftovers> watched = new CopyOnWriteArrayList<>();

  /** A check that watches the test's thread for a stray interrupt, and nothing else yet. */
  public LeakCheck() {
    this(PATIENCE);
  }

  LeakCheck(Duration patience) {
    this.patience = patience;
  }

  /**
   * Watches the tasks of a gateway. It is not closed.
   *
   * @param gateway the gateway
   * @return the same gateway
   */
  public Gateway watch(Gateway gateway) {
    watch(Leftovers.of(gateway.tasks()));
    return gateway;
  }

  /**
   * Watches the alarms of manual time.
   *
   * @param time the time
   * @return the same time
   */
  public ManualTime watch(ManualTime time) {
    watch(() -> time.pendingAlarms() == 0 ? List.of() : List.of("alarms: " + time));
    return time;
  }

  /**
   * Watches something else.
   *
   * @param leftovers says what is left of it
   */
  public void watch(Leftovers leftovers) {
    watched.add(Objects.requireNonNull(leftovers, "leftovers"));
  }

  /**
   * Checks; JUnit calls it after each test.
   *
   * @param context not used
   * @throws AssertionError if something is left; the message says what
   */
  @Override
  public void afterEach(ExtensionContext context) {
    check();
  }

  void check() {
    long start = System.nanoTime();
    boolean interrupted = Thread.interrupted();
    List<String> left = left();
    while (!left.isEmpty() && System.nanoTime() - start < patience.toNanos()) {
      LockSupport.parkNanos(this, POLL_NANOS);
      interrupted |= Thread.interrupted();
      left = left();
    }
    if (!left.isEmpty()) {
      left.addFirst("The test has left something behind, " + patience + " after its end:");
    }
    if (interrupted) {
      left.addFirst("The test has left an interrupt on its thread.");
    }
    if (!left.isEmpty()) {
      throw new AssertionError(left.stream().collect(Collectors.joining("\n  ")));
    }
  }

  private List<String> left() {
    List<String> lines = new ArrayList<>();
    watched.forEach(leftovers -> lines.addAll(leftovers.left()));
    return lines;
  }
}
