package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.StoreException;
import dev.warpwright.model.Target;
import dev.warpwright.run.RunEvent.RunStarted;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskTree;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import dev.warpwright.testing.ManualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A worker by itself, on manual time, with drivers that do what a test says. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class WorkerTest {
  private static final String AGENT = "agent";
  private static final Duration LONG = Duration.ofHours(1);

  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private final ManualTime time = leaks.watch(new ManualTime());
  private final TaskTree tasks = TaskTree.builder().time(time).build();
  private final RunStore memory = RunStore.inMemory(time);
  private final Script driver = new Script(memory, AGENT);

  @BeforeEach
  void watchTheTasks() {
    leaks.watch(Leftovers.of(tasks));
  }

  /** What a test lets a driver do with a run. */
  @FunctionalInterface
  private interface Act {
    void on(DueRuns.Taken run, Cancellation handBack) throws InterruptedException;
  }

  /** A driver that completes its runs, unless it is told to do something else before. */
  private static final class Script implements RunDriver {
    final BlockingQueue<RunKey> began = new LinkedBlockingQueue<>();
    final AtomicInteger drives = new AtomicInteger();
    private final RunStore store;
    private final Set<String> agents;
    volatile Act before = (run, handBack) -> {};

    Script(RunStore store, String... agents) {
      this.store = store;
      this.agents = Set.of(agents);
    }

    @Override
    public Set<String> drives() {
      return agents;
    }

    @Override
    public void drive(DueRuns.Taken run, Cancellation handBack) {
      drives.incrementAndGet();
      began.add(run.run());
      try {
        before.on(run, handBack);
      } catch (InterruptedException e) {
        throw new AssertionError("interrupted", e);
      }
      complete(store, run);
    }

    RunKey awaitBegin() throws InterruptedException {
      RunKey run = began.poll(10, TimeUnit.SECONDS);
      if (run == null) {
        throw new AssertionError("no run was driven");
      }
      return run;
    }
  }

  private static void complete(RunStore store, DueRuns.Taken run) {
    RunEvent end = new RunEvent.RunFailed(FailureKind.LIMIT, "It ends.", false, 0, List.of());
    long last = store.load(run.run(), 1, Deadline.never()).size();
    Instant at = store.load(run.run(), last, Deadline.never()).getFirst().time();
    store.append(
        new Append(run.run(), last, run.owner(), at, List.of(end), Standing.of(RunStatus.FAILED)),
        Deadline.never());
    store.release(run.run(), run.owner());
  }

  private Worker.Builder worker(RunStore store) {
    return Worker.builder(store).drives(driver).tasks(tasks);
  }

  private RunKey queue(String id) {
    return queue(AGENT, id, time.now());
  }

  private RunKey queue(String agent, String id, Instant due) {
    RunKey run = new RunKey(RunScope.DEFAULT, id);
    RunStarted started =
        new RunStarted(
            agent,
            "1",
            Map.of(),
            Optional.empty(),
            List.of(Message.user("Do it.")),
            10,
            List.of(Target.of("fake", "model")),
            Map.of());
    memory.adopt(
        List.of(new LoggedEvent(run, 1, Writer.outside("test"), time.now(), started)),
        Standing.due(RunStatus.QUEUED, due),
        Deadline.never());
    return run;
  }

  private RunSummary summary(RunKey run) {
    return memory.list(RunQuery.all(RunScope.DEFAULT), Deadline.never()).stream()
        .filter(each -> each.run().equals(run))
        .findFirst()
        .orElseThrow();
  }

  private boolean isFree(RunKey run) {
    Optional<Writer> owner = memory.borrow(run, Deadline.never());
    owner.ifPresent(writer -> memory.release(run, writer));
    return owner.isPresent();
  }

  /** A store of which each look for due runs may fail. */
  private static class Looked extends ForwardingStore {
    final AtomicInteger looks = new AtomicInteger();
    volatile Function<Integer, Optional<RuntimeException>> failure = look -> Optional.empty();

    Looked(RunStore store) {
      super(store);
    }

    @Override
    public DueRuns acquireDue(Set<String> agentIds, int limit, Deadline deadline) {
      Optional<RuntimeException> thrown = failure.apply(looks.incrementAndGet());
      if (thrown.isPresent()) {
        throw thrown.get();
      }
      return super.acquireDue(agentIds, limit, deadline);
    }
  }

  @Test
  @Tag("F43")
  void it_drives_what_is_due_of_its_agents_and_nothing_else() {
    RunKey mine = queue("mine");
    RunKey other = queue("somebody-else", "other", time.now());
    RunKey later = queue(AGENT, "later", time.now().plus(LONG));

    try (Worker worker = worker(memory).start()) {
      assertTrue(worker.awaitIdle(LONG));
      assertEquals(new WorkerStatus(0, 1, 1, 0, 0), worker.status());
    }

    assertEquals(RunStatus.FAILED, summary(mine).status());
    assertEquals(RunStatus.QUEUED, summary(other).status());
    assertEquals(RunStatus.QUEUED, summary(later).status());
  }

  @Test
  @Tag("F43")
  void it_drives_as_many_as_it_may_and_the_next_at_once_when_a_slot_gets_free() throws Exception {
    for (int i = 0; i < 5; i++) {
      queue("run-" + i);
    }
    AtomicInteger running = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    BlockingQueue<Integer> tokens = new LinkedBlockingQueue<>();
    driver.before =
        (run, handBack) -> {
          most.accumulateAndGet(running.incrementAndGet(), Math::max);
          tokens.take();
          running.decrementAndGet();
        };

    try (Worker worker = worker(memory).maxRuns(2).start()) {
      driver.awaitBegin();
      driver.awaitBegin();
      assertEquals(2, worker.status().running());
      for (int i = 0; i < 3; i++) {
        tokens.add(i);
        driver.awaitBegin(); // though time stands still
      }
      tokens.addAll(List.of(3, 4));
      assertTrue(worker.awaitIdle(LONG));
      assertEquals(5, worker.status().ended());
    }
    assertEquals(2, most.get());
  }

  @Test
  @Tag("F43")
  void idle_it_looks_once_a_second() throws Exception {
    Looked store = new Looked(memory);
    try (Worker worker = worker(store).start()) {
      assertTrue(worker.awaitIdle(LONG));
      int before = store.looks.get();
      for (int i = 1; i <= 10; i++) {
        time.awaitAlarmIn(Duration.ofSeconds(1));
        assertEquals(i - 1, store.looks.get() - before);
        time.advance(Duration.ofMillis(999));
        time.advance(Duration.ofMillis(1));
      }
      time.awaitAlarmIn(Duration.ofSeconds(1));
      assertTrue(worker.awaitIdle(LONG));
      assertEquals(10 + 1, store.looks.get() - before, "one a second, and one for who asked");
    }
  }

  @Test
  @Tag("F43")
  void it_wakes_exactly_when_the_next_run_is_due() throws Exception {
    RunKey run = queue(AGENT, "run", time.now().plusSeconds(90));
    try (Worker _ = worker(memory).pollInterval(LONG).start()) {
      time.awaitAlarmIn(Duration.ofSeconds(90));
      time.advance(Duration.ofSeconds(90).minusNanos(1));
      assertEquals(0, driver.drives.get());
      time.advance(Duration.ofNanos(1));
      assertEquals(run, driver.awaitBegin());
    }
  }

  @Test
  @Tag("A151")
  void what_cannot_be_driven_is_handed_back_with_its_problem_and_quarantined_after_five_times()
      throws Exception {
    RunKey run = queue("run");
    driver.before =
        (taken, handBack) -> {
          throw new ConflictException("It is bound to another.", null, OperationTrace.NONE);
        };
    try (Worker worker = worker(memory).start()) {
      for (int i = 0; i < RunStore.MAX_CLAIMS; i++) {
        awaitBeginOfNext();
        assertFalse(isFree(run), "kept while it is backed off, so that nobody takes it at once");
      }
      while (worker.status().failed() < RunStore.MAX_CLAIMS) {
        time.awaitAlarms(1);
        time.advance(Duration.ofSeconds(1));
      }
      assertTrue(worker.awaitIdle(LONG));
      time.advance(LONG);
      assertTrue(worker.awaitIdle(LONG));
      assertEquals(new WorkerStatus(0, 5, 0, 0, 5), worker.status());
    }
    assertTrue(summary(run).isQuarantined());
    assertEquals(Optional.of("CONFLICT: It is bound to another."), summary(run).problem());
    assertEquals(
        List.of(run),
        Runs.in(memory).stranded(RunScope.DEFAULT).stream().map(RunSummary::run).toList());

    Runs.in(memory).readmit(run);
    driver.before = (taken, handBack) -> {};
    try (Worker worker = worker(memory).start()) {
      assertTrue(worker.awaitIdle(LONG));
      assertEquals(1, worker.status().ended());
    }
    assertEquals(Optional.empty(), summary(run).problem());
  }

  /** Moves time until the next drive begins. */
  private void awaitBeginOfNext() throws InterruptedException {
    while (driver.began.poll(5, TimeUnit.MILLISECONDS) == null) {
      time.advance(Duration.ofMillis(500));
    }
  }

  @Test
  @Tag("A151")
  void the_problem_of_a_foreign_exception_is_its_class() throws Exception {
    RunKey run = queue("run");
    driver.before =
        (taken, handBack) -> {
          throw new IllegalArgumentException("the customer's secret");
        };
    try (Worker worker = worker(memory).start()) {
      driver.awaitBegin();
      time.awaitAlarms(2);
      assertTrue(worker.stop(Duration.ZERO), "a stop does not wait for the back-off");
    }
    assertEquals(Optional.of("java.lang.IllegalArgumentException"), summary(run).problem());
    assertTrue(isFree(run));
  }

  @Test
  void a_run_that_cannot_be_driven_keeps_no_other_one_waiting() throws Exception {
    RunKey bad = queue("bad");
    driver.before =
        (taken, handBack) -> {
          if (taken.run().equals(bad)) {
            throw new ConflictException("No.", null, OperationTrace.NONE);
          }
        };
    try (Worker _ = worker(memory).start()) {
      driver.awaitBegin();
      RunKey good = queue("good");
      time.awaitAlarmIn(Duration.ofSeconds(1));
      time.advance(Duration.ofSeconds(1)); // in which nobody takes the bad one before its time
      RunKey next = driver.awaitBegin();
      assertTrue(next.equals(good) || driver.awaitBegin().equals(good));
    }
  }

  @Test
  void a_store_that_fails_is_asked_again_later_and_later_but_within_30_seconds() throws Exception {
    Looked store = new Looked(memory);
    store.failure =
        look ->
            look <= 12 ? Optional.of(new StoreException("It is away.", null)) : Optional.empty();
    RunKey run = queue("run");
    try (Worker worker = worker(store).start()) {
      Duration waited = Duration.ZERO;
      while (store.looks.get() < 13) {
        time.awaitAlarms(1);
        time.advance(Duration.ofMillis(500));
        waited = waited.plusMillis(500);
      }
      assertEquals(run, driver.awaitBegin());
      assertTrue(waited.compareTo(Duration.ofSeconds(23 + 7 * 22)) >= 0, waited::toString);
      assertTrue(waited.compareTo(Duration.ofSeconds(31 + 8 * 31)) <= 0, waited::toString);
      assertTrue(worker.awaitIdle(LONG));
    }
  }

  @Test
  void a_store_that_is_closed_ends_the_worker() {
    try (Worker worker = worker(memory).start()) {
      assertTrue(worker.awaitIdle(LONG));
      memory.close();
      assertFalse(worker.awaitIdle(LONG), "it has ended instead");
    }
  }

  @Test
  @Tag("A151")
  void a_worker_that_stops_takes_nothing_more_and_lets_its_runs_end() throws Exception {
    queue("run-1");
    RunKey second = queue("run-2");
    CountDownLatch goOn = new CountDownLatch(1);
    driver.before = (run, handBack) -> goOn.await();
    Worker worker = worker(memory).maxRuns(1).start();
    driver.awaitBegin();

    Caller<Boolean> stop = Caller.of(() -> worker.stop(Duration.ofMinutes(5)));
    time.awaitAlarmIn(Duration.ofMinutes(5));
    goOn.countDown();

    assertTrue(stop.result());
    assertEquals(new WorkerStatus(0, 1, 1, 0, 0), worker.status());
    assertEquals(RunStatus.QUEUED, summary(second).status());
    assertTrue(worker.stop(Duration.ZERO), "again");
    assertFalse(worker.awaitIdle(LONG), "what is due is not its business any more");
  }

  @Test
  @Tag("A151")
  void a_run_that_outlasts_the_patience_is_handed_back() throws Exception {
    RunKey run = queue("run");
    driver.before = WorkerTest::untilHandedBack;
    Worker worker = worker(memory).start();
    driver.awaitBegin();

    Caller<Boolean> stop = Caller.of(() -> worker.stop(Duration.ofMinutes(5)));
    time.awaitAlarmIn(Duration.ofMinutes(5));
    assertFalse(isFree(run));
    time.advance(Duration.ofMinutes(5));

    assertFalse(stop.result());
    assertEquals(new WorkerStatus(0, 1, 0, 1, 0), worker.status());
    assertTrue(isFree(run));
    assertEquals(Optional.empty(), summary(run).problem());
    driver.before = (taken, handBack) -> {};
    try (Worker next = worker(memory).start()) {
      assertTrue(next.awaitIdle(LONG));
      assertEquals(1, next.status().ended());
    }
  }

  private static void untilHandedBack(DueRuns.Taken run, Cancellation handBack)
      throws InterruptedException {
    CountDownLatch told = new CountDownLatch(1);
    try (Cancellation.Registration _ = handBack.onCancel(why -> told.countDown())) {
      told.await();
    }
    throw new OperationCancelledException("Handed back.", null, OperationTrace.NONE);
  }

  @Test
  void of_two_stops_the_shorter_patience_counts() throws Exception {
    queue("run");
    driver.before = WorkerTest::untilHandedBack;
    Worker worker = worker(memory).start();
    driver.awaitBegin();
    Caller<Boolean> patient = Caller.of(() -> worker.stop(LONG));
    time.awaitAlarmIn(LONG);
    assertFalse(worker.stop(Duration.ZERO));
    assertFalse(patient.result());
  }

  @Test
  void an_interrupt_ends_the_patience_and_stays_set() throws Exception {
    queue("run");
    driver.before = WorkerTest::untilHandedBack;
    Worker worker = worker(memory).start();
    driver.awaitBegin();
    Thread.currentThread().interrupt();
    assertFalse(worker.stop(LONG));
    assertTrue(Thread.interrupted());
  }

  @Test
  void a_driver_that_does_not_hear_is_given_up_and_keeps_its_run() throws Exception {
    RunKey run = queue("run");
    CountDownLatch deaf = new CountDownLatch(1);
    driver.before =
        (taken, handBack) -> {
          while (deaf.getCount() > 0) {
            try {
              deaf.await();
            } catch (InterruptedException e) {
              // deaf
            }
          }
        };
    Worker worker = worker(memory).start();
    driver.awaitBegin();
    Caller<Boolean> stop = Caller.of(() -> worker.stop(Duration.ZERO));
    time.awaitAlarmIn(Duration.ofSeconds(10));
    time.advance(Duration.ofSeconds(10));
    time.awaitAlarms(1); // the grace of its task
    time.advance(Duration.ofSeconds(1));
    assertFalse(stop.result());
    assertEquals(new WorkerStatus(0, 1, 0, 0, 1), worker.status());
    assertFalse(isFree(run));
    deaf.countDown();
  }

  @Test
  void it_is_idle_only_after_what_was_queued_before_is_through() throws Exception {
    CountDownLatch goOn = new CountDownLatch(1);
    driver.before = (run, handBack) -> goOn.await();
    try (Worker worker = worker(memory).pollInterval(LONG).start()) {
      assertTrue(worker.awaitIdle(LONG));
      queue("run");
      Caller<Boolean> idle = Caller.of(() -> worker.awaitIdle(LONG.plusSeconds(1)));
      driver.awaitBegin(); // who waits makes it look
      assertFalse(idle.isDone());
      goOn.countDown();
      assertTrue(idle.result());
      assertEquals(1, worker.status().ended());
    }
  }

  @Test
  void who_waits_for_idleness_does_so_for_a_while() throws Exception {
    queue("run");
    driver.before = WorkerTest::untilHandedBack;
    try (Worker worker = worker(memory).start()) {
      driver.awaitBegin();
      Caller<Boolean> idle = Caller.of(() -> worker.awaitIdle(Duration.ofMinutes(7)));
      time.awaitAlarmIn(Duration.ofMinutes(7));
      time.advance(Duration.ofMinutes(7));
      assertFalse(idle.result());
      Thread.currentThread().interrupt();
      assertFalse(worker.awaitIdle(LONG));
      assertTrue(Thread.interrupted());
      assertFalse(worker.stop(Duration.ZERO));
    }
  }

  @Test
  @Tag("A151")
  @Tag("A153")
  void it_says_what_it_drives_as_long_as_it_does() {
    RunKey run = queue("run");
    Runs runs = Runs.in(memory);
    assertEquals(1, runs.stranded(RunScope.DEFAULT).size());
    CountDownLatch goOn = new CountDownLatch(1);
    driver.before = (taken, handBack) -> goOn.await();
    queue("other-agent", "stranded", time.now());
    try (Worker worker = worker(memory).maxRuns(1).start()) {
      assertFalse(worker.awaitIdle(Duration.ZERO));
      goOn.countDown();
      assertTrue(worker.awaitIdle(LONG));
      queue(AGENT, "later", time.now());
      assertEquals(
          List.of("stranded"),
          runs.stranded(RunScope.DEFAULT).stream().map(each -> each.run().runId()).toList());
    }
    assertTrue(runs.stranded(RunScope.DEFAULT).stream().anyMatch(each -> !each.run().equals(run)));
    assertEquals(RunStatus.FAILED, summary(run).status());
  }

  @Test
  void several_drivers_share_a_worker() {
    Script other = new Script(memory, "other-agent");
    queue("run");
    queue("other-agent", "other", time.now());
    try (Worker worker = worker(memory).drives(other).start()) {
      assertTrue(worker.awaitIdle(LONG));
    }
    assertEquals(1, driver.drives.get());
    assertEquals(1, other.drives.get());
  }

  @Test
  void what_cannot_work_is_refused() {
    Worker.Builder builder = Worker.builder(memory);
    assertRefused("needs a driver", builder::start);
    assertRefused("maxRuns must be between 1 and 10000, but is 0", () -> builder.maxRuns(0));
    assertRefused("but is 10001", () -> builder.maxRuns(10_001));
    assertRefused(
        "pollInterval must be between 1 s and 3600 s, but is PT0.999S",
        () -> builder.pollInterval(Duration.ofMillis(999)));
    assertRefused("but is PT1H0.001S", () -> builder.pollInterval(LONG.plusMillis(1)));
    builder.drives(driver);
    assertRefused("drive runs of \"agent\"", () -> builder.drives(new Script(memory, AGENT)));
    try (Worker worker = builder.tasks(tasks).start()) {
      assertRefused("must not be negative", () -> worker.stop(Duration.ofNanos(-1)));
    }
  }

  private static void assertRefused(String words, Runnable what) {
    InvalidRequestException refused = assertThrows(InvalidRequestException.class, what::run);
    assertTrue(String.valueOf(refused.getMessage()).contains(words), refused::getMessage);
  }

  /** A thread whose result is awaited. */
  private static final class Caller<T> {
    private final FutureTask<T> task;

    private Caller(Callable<T> call) {
      task = new FutureTask<>(call);
    }

    static <T> Caller<T> of(Callable<T> call) {
      Caller<T> caller = new Caller<>(call);
      Thread.ofVirtual().start(caller.task);
      return caller;
    }

    boolean isDone() {
      return task.isDone();
    }

    T result() throws Exception {
      return task.get(60, TimeUnit.SECONDS);
    }
  }
}
