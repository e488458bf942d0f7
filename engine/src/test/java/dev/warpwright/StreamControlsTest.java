package dev.warpwright;

import static dev.warpwright.FakeModel.answer;
import static dev.warpwright.FakeModel.failure;
import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Prices.usd;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.control.Admission;
import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.AdmissionPolicy;
import dev.warpwright.control.AdmissionRequest;
import dev.warpwright.control.BudgetSnapshot;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.CircuitPolicy;
import dev.warpwright.control.CircuitState;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.control.TargetSnapshot;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.BudgetDeniedException;
import dev.warpwright.model.CircuitOpenException;
import dev.warpwright.model.DeadlineExceededException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What a stream takes and what it says of its target: a place, money, a circuit's verdict, a
 * measurement. Whatever way it ends, all of it is given back, once.
 */
@Timeout(120)
final class StreamControlsTest {
  private static final String SCOPE = "tenant-1/2026-11";
  private static final Duration TIMEOUT = Duration.ofSeconds(3);
  private static final Duration IDLE = Duration.ofSeconds(5);
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @RegisterExtension final Spine spine = new Spine();

  private final BudgetStore store = BudgetStore.local(usd("1"));
  private final AdmissionController admission =
      AdmissionController.local(AdmissionPolicy.builder(1).maxQueue(1).build(), spine.time);
  private final CircuitBreaker breaker =
      CircuitBreaker.local(
          CircuitPolicy.builder().failureThreshold(1).cooldown(Duration.ofSeconds(30)).build(),
          spine.time);
  private final WatchedMetrics metrics =
      new WatchedMetrics(TargetMetrics.local(Duration.ofHours(1), 128, 256, spine.time));
  private final Queue<Attempt> told = new ConcurrentLinkedQueue<>();
  private final Cancellation handle = new Cancellation();

  /** Metrics that let a test wait until a first text was noted. */
  private record WatchedMetrics(TargetMetrics metrics, CountDownLatch firstText)
      implements TargetMetrics {
    WatchedMetrics(TargetMetrics metrics) {
      this(metrics, new CountDownLatch(1));
    }

    @Override
    public Measurement begin(Target target) {
      Measurement measurement = metrics.begin(target);
      return new Measurement() {
        @Override
        public void firstText() {
          measurement.firstText();
          firstText.countDown();
        }

        @Override
        public void success(OptionalLong outputTokens) {
          measurement.success(outputTokens);
        }

        @Override
        public void error() {
          measurement.error();
        }

        @Override
        public void cancelled() {
          measurement.cancelled();
        }

        @Override
        public void close() {
          measurement.close();
        }
      };
    }

    @Override
    public Optional<TargetSnapshot> snapshot(Target target) {
      return metrics.snapshot(target);
    }
  }

  private Gateway gateway() {
    return spine.build(
        spine
            .builder()
            .retry(new RetryPolicy(0, Duration.ZERO, 0))
            .streamIdleTimeout(IDLE)
            .admission(admission)
            .circuitBreaker(breaker)
            .metrics(metrics)
            .costAccounting(Prices.accounting())
            .budget(store, ReservationRule.fixed(usd("0.10")))
            .observerMode(ObserverMode.AWAIT)
            .attemptObserver((operation, attempt) -> told.add(attempt)));
  }

  private GenerateRequest request(Target primary, Target... fallbacks) {
    return asked(primary, fallbacks).build();
  }

  private GenerateRequest.Builder asked(Target primary, Target... fallbacks) {
    return ask(primary, fallbacks).budgetScope(SCOPE).cancellation(handle);
  }

  /** In which the operation's deadline comes before the limit of silence, or the reverse. */
  private GenerateRequest requestFor(Way way) {
    return way == Way.DEADLINE ? asked(A, B).timeout(TIMEOUT).build() : request(A, B);
  }

  private static Duration limit(Way way) {
    return way == Way.DEADLINE ? TIMEOUT : IDLE;
  }

  private boolean isQueueFull() {
    AdmissionRequest request = new AdmissionRequest(A, OptionalLong.empty(), Deadline.never());
    return admission.tryAcquire(request) instanceof Admission.Denied;
  }

  private boolean hasPlace() {
    AdmissionRequest request = new AdmissionRequest(A, OptionalLong.empty(), Deadline.never());
    try {
      if (admission.tryAcquire(request) instanceof Admission.Admitted(var permit)) {
        permit.close();
        return true;
      }
      return false;
    } catch (RuntimeException e) {
      throw new AssertionError(e);
    }
  }

  private void assertAccount(String spent, String reserved, String uncertain) {
    BudgetSnapshot account = store.snapshot(SCOPE);
    assertEquals(usd(spent), account.spent());
    assertEquals(usd(reserved), account.reserved());
    assertEquals(usd(uncertain), account.uncertain());
  }

  private TargetSnapshot measured() {
    return metrics.snapshot(A).orElseThrow();
  }

  /** How a stream may end. */
  enum Way {
    COMPLETED,
    BROKEN,
    IDLE,
    CLOSED,
    CANCELLED,
    INTERRUPTED,
    DEADLINE
  }

  @ParameterizedTest
  @CsvSource({
    "COMPLETED, false",
    "BROKEN, false",
    "IDLE, false",
    "IDLE, true",
    "CLOSED, false",
    "CLOSED, true",
    "CANCELLED, false",
    "CANCELLED, true",
    "INTERRUPTED, false",
    "INTERRUPTED, true",
    "DEADLINE, false",
    "DEADLINE, true"
  })
  @Tag("R151")
  @Tag("R153")
  @Tag("R304")
  @Tag("R319")
  @Tag("R320")
  @Tag("R256")
  @Tag("R263")
  @Tag("R244")
  @Tag("R150")
  @Tag("R227")
  @Tag("C24")
  @Tag("C26")
  @Tag("FR-OB3")
  void all_that_a_stream_holds_is_given_back_however_it_ends(Way way, boolean stubborn)
      throws Exception {
    CountDownLatch shown = new CountDownLatch(1);
    CountDownLatch end = spine.gate();
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("Hel"));
          events.tell(new ModelEvent.Counters(Usage.reported(10, 1)));
          shown.countDown();
          if (stubborn) {
            Spine.awaitStubbornly(end);
          } else {
            end.await();
          }
          if (way == Way.BROKEN) {
            throw failure(ProviderException.Kind.READ);
          }
          events.tell(new ModelEvent.Text("lo"));
          return answer("Hello", FinishReason.Kind.STOP);
        });
    Gateway gateway = gateway();
    TextStream stream = gateway.streamText(requestFor(way));
    Caller<GenerateResult> reader = Caller.start(stream::collect);
    Spine.await("the first piece", shown);
    Spine.await("the note of it", metrics.firstText());
    spine.awaitWaitOf(limit(way));
    assertFalse(hasPlace());
    assertAccount("0", "0.10", "0");
    assertEquals(1, measured().inFlight());
    assertEquals(0, told.size());

    Optional<Caller<Boolean>> closer = Optional.empty();
    switch (way) {
      case COMPLETED, BROKEN -> end.countDown();
      case IDLE, DEADLINE -> spine.time.advance(limit(way));
      case CLOSED ->
          closer =
              Optional.of(
                  Caller.start(
                      () -> {
                        stream.close();
                        return true;
                      }));
      case CANCELLED -> handle.cancel("no more");
      case INTERRUPTED -> reader.interrupt();
    }
    if (stubborn) {
      spine.awaitWaitOf(Spine.GRACE);
      spine.time.advance(Spine.GRACE);
    }

    if (way == Way.COMPLETED) {
      assertEquals("Hello", reader.get().text());
    } else {
      Class<? extends WarpwrightException> expected =
          switch (way) {
            case BROKEN, IDLE -> StreamBrokenException.class;
            case DEADLINE -> DeadlineExceededException.class;
            default -> OperationCancelledException.class;
          };
      WarpwrightException failure = reader.failure(WarpwrightException.class);
      assertEquals(expected, failure.getClass());
      assertEquals(1, failure.trace().attempts().size());
    }
    if (closer.isPresent()) {
      assertTrue(closer.get().get());
    }
    assertEquals(stubborn ? 1 : 0, gateway.diagnostics().abandonedTasks().size());
    assertTrue(hasPlace());
    boolean done = way == Way.COMPLETED;
    assertAccount(done ? "0.02" : "0", "0", done ? "0" : "0.10");
    boolean atFault = way == Way.IDLE || way == Way.BROKEN;
    TargetSnapshot after = measured();
    assertEquals(0, after.inFlight());
    assertEquals(done ? 1 : 0, after.successes());
    assertEquals(atFault ? 1 : 0, after.errors());
    assertEquals(done || atFault ? 0 : 1, after.cancellations());
    assertEquals(atFault, breaker.state(A) instanceof CircuitState.Open);
    assertTrue(gateway.flushObservers(PATIENCE));
    assertEquals(1, told.size(), "the attempt is told once");
    Attempt attempt = told.element();
    assertEquals(
        switch (way) {
          case COMPLETED -> ReasonCode.PROVIDER_SUCCESS;
          case BROKEN, IDLE -> ReasonCode.PROVIDER_ERROR;
          case DEADLINE -> ReasonCode.DEADLINE_EXCEEDED;
          default -> ReasonCode.REQUEST_ABORTED;
        },
        attempt.reasonCode());
    assertEquals(done ? 5 : 1, attempt.usage().orElseThrow().output().tokens());
    assertEquals(usd(done ? "0.02" : "0.012"), attempt.cost().orElseThrow().amount().orElseThrow());
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("C22")
  @Tag("R140")
  @Tag("R246")
  @Tag("R253")
  @Tag("R385")
  void success_is_recorded_at_the_complete_end_and_the_first_text_apart() throws Exception {
    CountDownLatch told = new CountDownLatch(1);
    CountDownLatch goOn = spine.gate();
    spine.a.tells(
        (call, events) -> {
          spine.advance(1_000);
          events.tell(new ModelEvent.Reasoning("Hm."));
          spine.advance(1_000);
          events.tell(new ModelEvent.Text("Hel"));
          told.countDown();
          goOn.await();
          spine.advance(4_000);
          events.tell(new ModelEvent.Text("lo"));
          spine.advance(3_000);
          return answer("Hello", FinishReason.Kind.STOP);
        });
    Gateway gateway = gateway();
    try (TextStream stream = gateway.streamText(request(A))) {
      Spine.await("the first text", told);
      Spine.await("the note of it", metrics.firstText());
      assertEquals(0, measured().sampleCount());
      assertEquals(1, measured().inFlight());
      goOn.countDown();

      Attempt attempt = stream.collect().attempts().getFirst();
      assertEquals(Duration.ofSeconds(9), attempt.latency());
      assertEquals(Optional.of(Duration.ofSeconds(2)), attempt.timeToFirstText());
      TargetSnapshot after = measured();
      assertEquals(1, after.successes());
      assertEquals(Optional.of(Duration.ofSeconds(9)), after.p50Latency());
      assertEquals(Optional.of(Duration.ofSeconds(2)), after.p95TimeToFirstText());
      assertEquals(4.0 / 7, after.p50TokensPerSecond().orElseThrow(), 1e-9);
    }
  }

  @Test
  @Tag("R246")
  void the_first_text_has_come_when_the_provider_sent_it_though_the_reader_is_slow()
      throws Exception {
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Reasoning("Hm."));
          events.tell(new ModelEvent.Text("Hello"));
          return answer("Hello", FinishReason.Kind.STOP);
        });
    Gateway gateway = spine.build(spine.builder().streamBufferEvents(2).metrics(metrics));
    try (TextStream stream = gateway.streamText(request(A))) {
      spine.a.awaitNoRoom();
      Spine.await("the note of it", metrics.firstText());
      spine.advance(7_000);

      Attempt attempt = stream.collect().attempts().getFirst();
      assertEquals(Optional.of(Duration.ZERO), attempt.timeToFirstText());
      assertEquals(Duration.ofSeconds(7), attempt.latency());
      assertEquals(Optional.of(Duration.ZERO), measured().p95TimeToFirstText());
    }
  }

  @Test
  @Tag("R318")
  @Tag("C26")
  void a_stream_without_budget_scope_is_refused_before_routing() {
    Gateway gateway = gateway();

    assertThrows(BudgetDeniedException.class, () -> gateway.streamText(Spine.request(A)));

    assertEquals(0, spine.a.count());
    assertEquals(List.of(), gateway.diagnostics().liveTasks());
  }

  @Test
  @Tag("R322")
  void a_stream_whose_money_cannot_be_set_aside_ends_without_a_call() {
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .costAccounting(Prices.accounting())
                .budget(store, ReservationRule.fixed(usd("2"))));
    try (TextStream stream = gateway.streamText(request(A, B))) {
      BudgetDeniedException denied = assertThrows(BudgetDeniedException.class, stream::collect);
      assertEquals(ReasonCode.BUDGET_DENIED, denied.trace().attempts().getFirst().reasonCode());
    }
    assertEquals(0, spine.a.count() + spine.b.count());
    assertAccount("0", "0", "0");
  }

  @Test
  @Tag("R305")
  @Tag("R313")
  @Tag("R302")
  void a_stream_that_is_closed_while_it_queues_takes_nothing_and_one_that_is_refused_falls_back()
      throws Exception {
    CountDownLatch end = spine.gate();
    spine.a.tells(
        (call, events) -> {
          end.await();
          return answer("first", FinishReason.Kind.STOP);
        });
    spine.b.says("b");
    Gateway gateway = gateway();
    TextStream first = gateway.streamText(request(A));
    Spine.until("the first call", () -> spine.a.count() == 1);
    TextStream queued = gateway.streamText(request(A));
    Spine.until("the queue", this::isQueueFull);

    try (TextStream refused = gateway.streamText(request(A, B))) {
      assertEquals("b", refused.collect().text());
    }
    queued.close();
    assertThrows(OperationCancelledException.class, queued::collect);
    assertAccount("0.02", "0.10", "0");
    end.countDown();
    assertEquals("first", first.collect().text());
    assertAccount("0.04", "0", "0");
    assertTrue(hasPlace());
  }

  @Test
  @Tag("R260")
  @Tag("R258")
  void a_stream_is_a_probe_whose_end_decides_and_a_closed_one_frees_its_place() throws Exception {
    CountDownLatch end = spine.gate();
    Gateway gateway = gateway();
    spine.a.fails(status(503));
    assertThrows(WarpwrightException.class, () -> gateway.generate(request(A)));
    spine.advance(30_000);
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("x"));
          return FakeModel.blocks(call);
        });
    TextStream probe = gateway.streamText(request(A));
    assertEquals("x", probe.text().iterator().next());
    try (TextStream other = gateway.streamText(request(A))) {
      assertThrows(CircuitOpenException.class, other::collect);
    }
    probe.close();
    assertInstanceOf(CircuitState.HalfOpen.class, breaker.state(A));

    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("x"));
          end.await();
          return answer("x", FinishReason.Kind.STOP);
        });
    try (TextStream next = gateway.streamText(request(A))) {
      assertEquals("x", next.text().iterator().next());
      assertInstanceOf(CircuitState.HalfOpen.class, breaker.state(A), "it is not complete yet");
      end.countDown();
      next.collect();
    }
    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));
  }

  @Test
  @Tag("R256")
  void a_break_after_output_counts_though_the_same_failure_before_it_is_neutral() {
    Gateway gateway = gateway();
    spine.a.breaks(failure(ProviderException.Kind.PROTOCOL));
    try (TextStream before = gateway.streamText(request(A))) {
      assertThrows(WarpwrightException.class, before::collect);
    }
    assertInstanceOf(CircuitState.Closed.class, breaker.state(A));

    spine.a.breaks(failure(ProviderException.Kind.PROTOCOL), "x");
    try (TextStream after = gateway.streamText(request(A))) {
      assertThrows(StreamBrokenException.class, after::collect);
    }
    assertInstanceOf(CircuitState.Open.class, breaker.state(A));
  }

  @Test
  @Tag("R154")
  void a_stream_neither_asks_the_cache_nor_fills_it() {
    spine.a.says("streamed").says("first").says("streamed again");
    Gateway gateway =
        spine.build(
            spine.builder().cache(CachePolicy.of(ResponseCache.inMemory(), "credentials-1")));
    GenerateRequest asked = ask(A).cacheScope("tenant-1").build();
    for (String expected : List.of("streamed", "first", "first", "streamed again")) {
      if (expected.startsWith("streamed")) {
        try (TextStream stream = gateway.streamText(asked)) {
          assertEquals(expected, stream.collect().text());
          assertFalse(stream.collect().attempts().getFirst().cacheHit());
        }
      } else {
        assertEquals(expected, gateway.generate(asked).text());
      }
      assertTrue(gateway.flushControls(PATIENCE));
    }
    assertEquals(3, spine.a.count());
  }

  @ParameterizedTest
  @EnumSource(
      value = Way.class,
      names = {"IDLE", "CLOSED", "DEADLINE"})
  @Tag("R119")
  void what_an_adapter_throws_while_it_cleans_up_masks_nothing(Way way) throws Exception {
    CountDownLatch shown = new CountDownLatch(1);
    spine.a.tells(
        (call, events) -> {
          events.tell(new ModelEvent.Text("x"));
          shown.countDown();
          try {
            return FakeModel.blocks(call);
          } finally {
            closeBadly();
          }
        });
    Gateway gateway = gateway();
    TextStream stream = gateway.streamText(requestFor(way));
    Spine.await("the first piece", shown);
    spine.awaitWaitOf(limit(way));
    if (way == Way.CLOSED) {
      stream.close();
    } else {
      spine.time.advance(limit(way));
    }

    WarpwrightException failure = assertThrows(WarpwrightException.class, stream::collect);
    assertEquals(
        switch (way) {
          case IDLE -> FailureKind.STREAM_IDLE;
          case CLOSED -> FailureKind.CANCELLED;
          default -> FailureKind.DEADLINE;
        },
        failure.kind());
  }

  private static void closeBadly() {
    throw new IllegalStateException("while closing");
  }
}
