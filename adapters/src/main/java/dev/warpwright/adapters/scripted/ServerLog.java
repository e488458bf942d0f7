package dev.warpwright.adapters.scripted;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** What a {@link ScriptedServer} has seen; bounded, and safe for use by any thread. */
final class ServerLog {
  private static final int MAX_CLOSES = 1_000;
  private static final long MAX_BODY_CHARACTERS = 16L * 1024 * 1024;

  private final int keep;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  private final ArrayDeque<RecordedExchange> exchanges = new ArrayDeque<>(); // guarded by lock
  private final ArrayDeque<ClientClose> closes = new ArrayDeque<>(); // guarded by lock
  private final Map<ExchangeOutcome, Long> counts =
      new EnumMap<>(ExchangeOutcome.class); // guarded by lock
  private long bodyCharacters; // guarded by lock
  private long requests; // guarded by lock
  private long accepted; // guarded by lock
  private int open; // guarded by lock
  private int streams; // guarded by lock

  ServerLog(int keep) {
    this.keep = keep;
  }

  boolean recording() {
    return keep > 0;
  }

  void connected() {
    change(
        () -> {
          accepted++;
          open++;
        });
  }

  void disconnected() {
    change(() -> open--);
  }

  void streamBegan() {
    change(() -> streams++);
  }

  void streamEnded() {
    change(() -> streams--);
  }

  int streams() {
    return read(() -> streams);
  }

  void record(RecordedExchange exchange) {
    change(
        () -> {
          counts.merge(exchange.outcome(), 1L, Long::sum);
          if (exchange.number() > 0) {
            requests++;
          }
          if (recording()) {
            keep(exchange);
          }
        });
  }

  private void keep(RecordedExchange exchange) {
    exchanges.addLast(exchange);
    bodyCharacters += exchange.body().length();
    while (exchanges.size() > keep
        || (bodyCharacters > MAX_BODY_CHARACTERS && exchanges.size() > 1)) {
      bodyCharacters -= exchanges.removeFirst().body().length();
    }
  }

  void clientClosed(ClientClose close) {
    change(
        () -> {
          if (closes.size() == MAX_CLOSES) {
            closes.removeFirst();
          }
          closes.addLast(close);
        });
  }

  long requests() {
    return read(() -> requests);
  }

  long count(ExchangeOutcome outcome) {
    return read(() -> counts.getOrDefault(outcome, 0L));
  }

  List<RecordedExchange> exchanges() {
    return read(() -> List.copyOf(exchanges));
  }

  List<ClientClose> closes() {
    return read(() -> List.copyOf(closes));
  }

  int open() {
    return read(() -> open);
  }

  long accepted() {
    return read(() -> accepted);
  }

  RecordedExchange awaitRequest(long number, Duration timeout) throws InterruptedException {
    return await(
        timeout,
        () -> exchanges.stream().filter(exchange -> exchange.number() == number).findFirst(),
        () ->
            requests < number
                ? "request " + number + " has not arrived; the latest is " + requests
                : "request " + number + " is not among the recorded ones; see recordLast");
  }

  ClientClose awaitClose(long number, Duration timeout) throws InterruptedException {
    return await(
        timeout,
        () -> closes.stream().filter(close -> close.number() == number).findFirst(),
        () -> "the client of request " + number + " has not closed its connection");
  }

  void awaitOpen(int atMost, Duration timeout) throws InterruptedException {
    var _ =
        await(
            timeout,
            () -> open <= atMost ? Optional.of(open) : Optional.empty(),
            () -> open + " connections are open, more than " + atMost);
  }

  private <T> T await(Duration timeout, Supplier<Optional<T>> found, Supplier<String> problem)
      throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long nanos = timeout.toNanos();
      while (true) {
        Optional<T> value = found.get();
        if (value.isPresent()) {
          return value.get();
        }
        if (nanos <= 0) {
          throw new IllegalStateException("Within " + timeout + ", " + problem.get() + ".");
        }
        nanos = changed.awaitNanos(nanos);
      }
    } finally {
      lock.unlock();
    }
  }

  private <T> T read(Supplier<T> value) {
    lock.lock();
    try {
      return value.get();
    } finally {
      lock.unlock();
    }
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
