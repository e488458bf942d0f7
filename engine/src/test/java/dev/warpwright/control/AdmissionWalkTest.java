package dev.warpwright.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Admission.Admitted;
import dev.warpwright.control.Admission.Decision;
import dev.warpwright.control.Admission.Denied;
import dev.warpwright.control.Admission.MustWait;
import dev.warpwright.model.Target;
import dev.warpwright.task.Deadline;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random walks: requests on threads of their own come, wait, are interrupted, report and end while
 * time passes, and after each step every one of them is where a naive model says.
 */
@Timeout(120)
final class AdmissionWalkTest {
  private static final int WALKS = 400;
  private static final int STEPS = 120;
  private static final long MINUTE = 60_000;

  @Test
  @Tag("R300")
  @Tag("R301")
  @Tag("R302")
  @Tag("R303")
  @Tag("R306")
  @Tag("R309")
  @Tag("R311")
  void every_request_is_where_the_model_says_after_every_step() {
    long base = System.nanoTime();
    Map<String, Integer> seen = new HashMap<>();
    for (int walk = 0; walk < WALKS; walk++) {
      long seed = base + walk;
      try {
        new Walk(seed, seen).run();
      } catch (Throwable failure) {
        throw new AssertionError("seed " + seed, failure);
      }
    }
    assertEquals(
        List.of(
            "DEADLINE",
            "MAX_CONCURRENT",
            "QUEUE_FULL",
            "QUEUE_TIMEOUT",
            "REQUESTS_PER_MINUTE",
            "REQUEST_TOO_LARGE",
            "TARGET_TABLE",
            "TOKENS_PER_MINUTE",
            "admitted",
            "interrupted",
            "waiting"),
        seen.keySet().stream().sorted().toList());
  }

  /** A request as the model sees it; all instants in milliseconds since the start. */
  private static final class Request {
    final Target target;
    final long tokens;
    final long giveUp;
    final AdmissionLimit atGiveUp;
    String state = "new"; // or waiting, admitted, interrupted, or the limit that denied it
    int window;
    boolean reported;
    boolean closed;

    Request(Target target, long tokens, long giveUp, AdmissionLimit atGiveUp) {
      this.target = target;
      this.tokens = tokens;
      this.giveUp = giveUp;
      this.atGiveUp = atGiveUp;
    }
  }

  /** What the model knows of a target: lists and sums, and no thought of speed. */
  private static final class Counts {
    final List<Request> queue = new ArrayList<>();
    int inFlight;
    int windows;
    long windowStart = -MINUTE;
    int requests;
    long tokens;
  }

  private static final class Model {
    final AdmissionPolicy policy;
    final Map<Target, Counts> targets = new HashMap<>();
    long now;

    Model(AdmissionPolicy policy) {
      this.policy = policy;
    }

    Counts of(Target target) {
      return targets.computeIfAbsent(target, t -> new Counts());
    }

    boolean isOpen(Counts counts) {
      boolean perMinute =
          policy.requestsPerMinute().isPresent() || policy.tokensPerMinute().isPresent();
      return perMinute && now < counts.windowStart + MINUTE;
    }

    @Nullable String obstacle(Counts counts, Request request) {
      if (counts.inFlight >= policy.maxConcurrent()) {
        return "MAX_CONCURRENT";
      }
      if (isOpen(counts)) {
        if (counts.requests >= policy.requestsPerMinute().orElse(Integer.MAX_VALUE)) {
          return "REQUESTS_PER_MINUTE";
        }
        if (counts.tokens + request.tokens > policy.tokensPerMinute().orElse(Long.MAX_VALUE)) {
          return "TOKENS_PER_MINUTE";
        }
      }
      return null;
    }

    void admit(Counts counts, Request request) {
      if (!isOpen(counts)) {
        counts.windowStart = now;
        counts.windows++;
        counts.requests = 0;
        counts.tokens = 0;
      }
      counts.inFlight++;
      counts.requests++;
      counts.tokens += request.tokens;
      request.window = counts.windows;
      request.state = "admitted";
    }

    void arrive(Request request) {
      if (request.tokens > policy.tokensPerMinute().orElse(Long.MAX_VALUE)) {
        request.state = "REQUEST_TOO_LARGE";
        return;
      }
      long others =
          targets.entrySet().stream()
              .filter(entry -> !entry.getKey().equals(request.target))
              .map(Map.Entry::getValue)
              .filter(c -> c.inFlight > 0 || !c.queue.isEmpty() || isOpen(c))
              .count();
      if (others >= policy.maxTargets()) {
        request.state = "TARGET_TABLE";
        return;
      }
      Counts counts = of(request.target);
      String obstacle = counts.queue.isEmpty() ? obstacle(counts, request) : "others wait";
      int waiting = targets.values().stream().mapToInt(c -> c.queue.size()).sum();
      if (obstacle == null) {
        admit(counts, request);
      } else if (waiting < policy.maxQueue()) {
        request.state = "waiting";
        counts.queue.add(request);
      } else {
        request.state = policy.maxQueue() == 0 ? obstacle : "QUEUE_FULL";
      }
    }

    /** Whoever has waited too long goes, and then whoever may go in goes in, in order. */
    void settle() {
      for (Counts counts : targets.values()) {
        for (Request waiting : List.copyOf(counts.queue)) {
          if (now >= waiting.giveUp) {
            counts.queue.remove(waiting);
            waiting.state = waiting.atGiveUp.name();
          }
        }
        while (!counts.queue.isEmpty() && obstacle(counts, counts.queue.getFirst()) == null) {
          admit(counts, counts.queue.removeFirst());
        }
      }
    }

    long nextInstant() {
      long next = Long.MAX_VALUE;
      for (Counts counts : targets.values()) {
        for (Request waiting : counts.queue) {
          next = Math.min(next, waiting.giveUp);
        }
        if (!counts.queue.isEmpty() && isOpen(counts)) {
          next = Math.min(next, counts.windowStart + MINUTE);
        }
      }
      return next;
    }
  }

  /** The thread of a request. */
  private record Running(Thread thread, FutureTask<Decision> task) {}

  private static final class Walk {
    private final Random random;
    private final Map<String, Integer> seen;
    private final ManualTime time = new ManualTime();
    private final AdmissionPolicy policy;
    private final Model model;
    private final LocalAdmission controller;
    private final Map<Request, Running> requests = new LinkedHashMap<>();
    private final Map<Request, AdmissionPermit> permits = new HashMap<>();

    Walk(long seed, Map<String, Integer> seen) {
      this.random = new Random(seed);
      this.seen = seen;
      AdmissionPolicy.Builder builder =
          AdmissionPolicy.builder(1 + random.nextInt(4))
              .maxQueue(random.nextInt(3) == 0 ? 0 : random.nextInt(12))
              .queueTimeout(Duration.ofMillis(random.nextInt(60_001)))
              .maxTargets(1 + random.nextInt(4));
      if (random.nextBoolean()) {
        builder.requestsPerMinute(1 + random.nextInt(6));
      }
      if (random.nextBoolean()) {
        builder.tokensPerMinute(50 + random.nextInt(300));
      }
      this.policy = builder.build();
      this.model = new Model(policy);
      this.controller = new LocalAdmission(policy, time);
    }

    void run() throws Exception {
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(10)) {
          case 0, 1, 2, 3 -> arrive();
          case 4, 5 -> close();
          case 6 -> report();
          case 7 -> interrupt();
          default -> advance(random.nextInt(random.nextBoolean() ? 2_000 : 40_000));
        }
        check();
      }
      while (!in("waiting").isEmpty()) {
        interrupt();
        check();
      }
      for (AdmissionPermit permit : permits.values()) {
        permit.close();
      }
      assertTrue(controller.toString().contains("0 in flight, 0 waiting"), controller::toString);
      assertEquals(0, time.pendingAlarms());
    }

    private List<Request> in(String state) {
      return requests.keySet().stream().filter(one -> one.state.equals(state)).toList();
    }

    private @Nullable Request any(String state) {
      List<Request> all = in(state);
      return all.isEmpty() ? null : all.get(random.nextInt(all.size()));
    }

    private void arrive() {
      Target target = Target.of("scripted", "model" + random.nextInt(3));
      long tokens = random.nextInt(120);
      long timeout = policy.queueTimeout().toMillis();
      boolean hurried = random.nextInt(4) == 0;
      long own = hurried ? 1 + random.nextInt(30_000) : Long.MAX_VALUE;
      Deadline deadline = hurried ? Deadline.after(time, Duration.ofMillis(own)) : Deadline.never();
      Request request =
          new Request(
              target,
              tokens,
              model.now + Math.min(timeout, own),
              own < timeout ? AdmissionLimit.DEADLINE : AdmissionLimit.QUEUE_TIMEOUT);
      AdmissionRequest asked = new AdmissionRequest(target, OptionalLong.of(tokens), deadline);
      model.arrive(request);
      boolean waits = request.state.equals("waiting");
      FutureTask<Decision> task;
      if (random.nextBoolean()) {
        Admission first = controller.tryAcquire(asked);
        assertEquals(waits, first instanceof MustWait);
        task =
            new FutureTask<>(
                () -> first instanceof Decision decision ? decision : controller.acquire(asked));
      } else {
        task = new FutureTask<>(() -> controller.acquire(asked));
      }
      requests.put(request, new Running(Thread.startVirtualThread(task), task));
    }

    private void close() {
      Request request = any("admitted");
      if (request == null) {
        return;
      }
      permit(request).close();
      if (!request.closed) {
        request.closed = true;
        model.of(request.target).inFlight--;
      }
      if (random.nextBoolean()) {
        request.state = "closed";
      }
    }

    private void report() {
      Request request = any("admitted");
      if (request == null) {
        return;
      }
      long tokens = random.nextInt(200);
      permit(request).reconcile(tokens);
      Counts counts = model.of(request.target);
      if (!request.closed && !request.reported) {
        request.reported = true;
        if (request.window == counts.windows) {
          counts.tokens += tokens - request.tokens;
        }
      }
    }

    private AdmissionPermit permit(Request request) {
      AdmissionPermit permit = permits.get(request);
      assertNotNull(permit);
      return permit;
    }

    private void interrupt() {
      Request request = any("waiting");
      if (request == null) {
        return;
      }
      Running running = requests.get(request);
      assertNotNull(running);
      running.thread().interrupt();
      request.state = "interrupted";
      model.of(request.target).queue.remove(request);
    }

    /** Goes from instant to instant, so that what is due at one is done before the next. */
    private void advance(long millis) throws Exception {
      long end = model.now + millis;
      while (model.nextInstant() <= end) {
        to(model.nextInstant());
        check();
      }
      to(end);
    }

    private void to(long instant) {
      time.advance(Duration.ofMillis(instant - model.now));
      model.now = instant;
    }

    private void check() throws Exception {
      model.settle();
      LocalAdmissionTest.settle(
          controller, requests.values().stream().map(Running::thread).toList());
      for (Map.Entry<Request, Running> entry : requests.entrySet()) {
        Request request = entry.getKey();
        String real = settled(request, entry.getValue());
        assertEquals(request.state, request.state.equals("closed") ? "closed" : real, this::show);
        seen.merge(real, 1, Integer::sum);
      }
      requests.keySet().removeIf(one -> !List.of("waiting", "admitted").contains(one.state));
    }

    /**
     * Where the request has come to. A thread that was just woken may still look as if it waited,
     * so what is not as expected gets a while to become so; what is wrong stays wrong.
     */
    @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
    private String settled(Request request, Running running) throws Exception {
      long start = System.nanoTime();
      String real = state(request, running);
      while (!request.state.equals("closed")
          && !real.equals(request.state)
          && System.nanoTime() - start < 5_000_000_000L) {
        Thread.yield();
        real = state(request, running);
      }
      return real;
    }

    private String state(Request request, Running running) throws Exception {
      if (!running.task().isDone()) {
        return "waiting";
      }
      try {
        return switch (running.task().get()) {
          case Admitted(AdmissionPermit permit) -> {
            permits.put(request, permit);
            yield "admitted";
          }
          case Denied denied -> denied.limit().name();
        };
      } catch (ExecutionException e) {
        assertTrue(e.getCause() instanceof InterruptedException, e::toString);
        return "interrupted";
      }
    }

    private String show() {
      return policy + " at " + model.now + " ms: " + controller;
    }
  }
}
