package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.Role;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.run.Append;
import dev.warpwright.run.Evidence;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunListener;
import dev.warpwright.run.RunLog;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunSnapshot;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunStore.Claim;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Runs;
import dev.warpwright.run.Standing;
import dev.warpwright.run.Writer;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.EffectClass;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every {@link RunStore} must do. */
@Timeout(60)
public abstract class RunStoreContract extends DueRunsContract {
  @Test
  @Tag("A112")
  void creating_a_run_writes_its_first_event_and_makes_the_caller_its_owner() {
    RunKey run = run("r1");
    RunEvent.RunStarted started = started("agent", Optional.of("key"));

    Claim claim = store.create(new NewRun(run, NOON, started), soon());

    Writer owner = assertInstanceOf(Claim.Won.class, claim).owner();
    assertTrue(owner.isOwner());
    assertEquals(
        List.of(new LoggedEvent(run, 1, owner, NOON, started)), store.load(run, 1, soon()));
    assertEquals(Optional.empty(), store.acquire(run, soon()));
    assertEquals(
        List.of(summary(run, Optional.of("key"), Standing.due(RunStatus.RUNNING, NOON), 1, NOON)),
        store.list(RunQuery.all(SCOPE), soon()));
  }

  @Test
  @Tag("A112")
  void events_come_back_in_order_from_the_wanted_sequence_on() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    store.append(append(run, 1, owner, List.of(step(2), step(3))), soon());
    store.append(append(run, 3, owner), soon());

    assertEquals(
        List.of(
            new LoggedEvent(run, 3, owner, NOON.plusNanos(1), step(3)),
            new LoggedEvent(run, 4, owner, NOON.plusNanos(3), step(4))),
        store.load(run, 3, soon()));
    assertEquals(4, store.load(run, 0, soon()).size());
    assertEquals(List.of(), store.load(run, 5, soon()));
  }

  @Test
  void a_run_that_does_not_exist_has_no_events_and_cannot_be_written_or_acquired() {
    RunKey run = run("nobody");

    assertEquals(List.of(), store.load(run, 1, soon()));
    assertThrows(
        ConflictException.class,
        () -> store.append(append(run, 0, Writer.outside("someone")), soon()));
    assertThrows(ConflictException.class, () -> store.acquire(run, soon()));
    store.release(run, new Writer("someone", 1));
    assertEquals(List.of(), store.list(RunQuery.all(SCOPE), soon()));
  }

  @Test
  @Tag("C43")
  @Tag("A3")
  @Tag("A118")
  void an_append_at_another_sequence_is_refused_and_changes_nothing() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    store.append(append(run, 1, owner), soon());
    List<LoggedEvent> log = store.load(run, 1, soon());
    List<RunSummary> list = store.list(RunQuery.all(SCOPE), soon());

    for (long wrong : new long[] {0, 1, 3, Long.MAX_VALUE - 5}) {
      Append refused =
          new Append(
              run,
              wrong,
              owner,
              NOON.plusSeconds(1),
              List.of(step(7), step(8)),
              Standing.of(RunStatus.COMPLETED));
      ConflictException conflict =
          assertThrows(ConflictException.class, () -> store.append(refused, soon()));
      assertTrue(conflict.getMessage().contains("r1"), conflict.getMessage());
    }

    assertEquals(log, store.load(run, 1, soon()));
    assertEquals(list, store.list(RunQuery.all(SCOPE), soon()));
  }

  @Test
  @Tag("C43")
  @Tag("A3")
  void of_appends_at_the_same_sequence_one_takes_place_as_a_whole() throws Exception {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    List<Callable<Boolean>> writers = new ArrayList<>();
    for (int n = 1; n <= 16; n++) {
      List<RunEvent> events = List.of(step(100 * n), step(100 * n + 1), step(100 * n + 2));
      writers.add(() -> succeeds(() -> store.append(append(run, 1, owner, events), soon())));
    }

    List<Boolean> won = together(writers);

    assertEquals(1, won.stream().filter(success -> success).count());
    int winner = won.indexOf(true) + 1;
    assertEquals(
        List.of(step(100 * winner), step(100 * winner + 1), step(100 * winner + 2)),
        events(run).subList(1, 4));
    assertEquals(4, events(run).size());
  }

  @Test
  @Tag("A123")
  void an_owner_that_handed_the_run_back_cannot_write_any_more() {
    RunKey run = run("r1");
    Writer first = create(store, run);
    store.release(run, first);

    assertThrows(ConflictException.class, () -> store.append(append(run, 1, first), soon()));

    Writer second = store.acquire(run, soon()).orElseThrow();
    assertThrows(ConflictException.class, () -> store.append(append(run, 1, first), soon()));
    store.append(append(run, 1, second), soon());
    assertEquals(2, events(run).size());
  }

  @Test
  @Tag("A123")
  void a_writer_of_another_epoch_or_name_is_refused() {
    RunKey run = run("r1");
    Writer owner = create(store, run);

    for (Writer stranger :
        List.of(
            new Writer(owner.name(), owner.epoch() + 1), new Writer("stranger", owner.epoch()))) {
      assertThrows(ConflictException.class, () -> store.append(append(run, 1, stranger), soon()));
    }
    assertEquals(1, events(run).size());
  }

  @Test
  void only_its_owner_can_hand_a_run_back_and_only_once() {
    RunKey run = run("r1");
    Writer first = create(store, run);
    store.release(run, new Writer("stranger", first.epoch()));
    assertEquals(Optional.empty(), store.acquire(run, soon()));

    store.release(run, first);
    Writer second = store.acquire(run, soon()).orElseThrow();
    assertNotEquals(first, second);
    store.release(run, first);

    assertEquals(Optional.empty(), store.acquire(run, soon()));
    store.append(append(run, 1, second), soon());
  }

  @Test
  void of_many_who_acquire_a_free_run_one_gets_it() throws Exception {
    RunKey run = run("r1");
    store.release(run, create(store, run));
    List<Callable<Optional<Writer>>> drivers =
        IntStream.range(0, 16)
            .<Callable<Optional<Writer>>>mapToObj(n -> () -> store.acquire(run, soon()))
            .toList();

    List<Optional<Writer>> owners = together(drivers);

    assertEquals(1, owners.stream().filter(Optional::isPresent).count());
  }

  @Test
  @Tag("A126")
  void a_control_event_is_written_from_outside_and_leaves_the_owner_as_it_is() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    Writer operator = Writer.outside("operator");
    RunEvent decision =
        new RunEvent.ApprovalDecided("request", true, Optional.of("ann"), Optional.empty());

    store.append(append(run, 1, operator, List.of(decision)), soon());

    assertEquals(
        new LoggedEvent(run, 2, operator, NOON.plusNanos(1), decision),
        store.load(run, 2, soon()).getFirst());
    assertEquals(Optional.empty(), store.acquire(run, soon()));
    assertThrows(ConflictException.class, () -> store.append(append(run, 1, owner), soon()));
    store.append(append(run, 2, owner), soon());

    store.release(run, owner);
    store.append(append(run, 3, operator, List.of(decision)), soon());
    assertEquals(4, events(run).size());
    assertTrue(store.acquire(run, soon()).isPresent());
  }

  @Test
  @Tag("A118")
  void an_append_that_is_earlier_than_the_last_event_is_refused_and_changes_nothing() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    Append early =
        new Append(
            run, 1, owner, NOON.minusNanos(1), List.of(step(2)), Standing.of(RunStatus.COMPLETED));

    assertThrows(InvalidRequestException.class, () -> store.append(early, soon()));

    assertEquals(1, events(run).size());
    assertEquals(RunStatus.RUNNING, store.list(RunQuery.all(SCOPE), soon()).getFirst().status());
    store.append(append(run, 1, owner), soon());
  }

  @Test
  @Tag("C43")
  @Tag("A104")
  void of_a_hundred_who_claim_a_key_one_wins_and_the_others_learn_its_run() throws Exception {
    List<Callable<Claim>> claimers =
        IntStream.range(0, 100)
            .<Callable<Claim>>mapToObj(
                n ->
                    () ->
                        store.create(
                            new NewRun(run("r" + n), NOON, started("a", Optional.of("key"))),
                            soon()))
            .toList();

    List<Claim> claims = together(claimers);

    List<Integer> winners =
        IntStream.range(0, 100).filter(n -> claims.get(n) instanceof Claim.Won).boxed().toList();
    assertEquals(1, winners.size());
    RunKey winner = run("r" + winners.getFirst());
    for (Claim claim : claims) {
      assertTrue(claim instanceof Claim.Won || claim.equals(new Claim.Taken(winner)));
    }
    assertEquals(Optional.of(winner), store.find(SCOPE, "key", soon()));
    assertEquals(
        List.of(winner),
        store.list(RunQuery.all(SCOPE), soon()).stream().map(RunSummary::run).toList());
    assertEquals(1, events(winner).size());
  }

  @Test
  @Tag("A110")
  @Tag("A118")
  void a_key_of_another_run_is_refused_and_nothing_of_the_new_run_remains() {
    RunKey first = run("first");
    RunKey second = run("second");
    create(store, first, Optional.of("key"));

    Claim claim =
        store.create(new NewRun(second, NOON, started("other", Optional.of("key"))), soon());

    assertEquals(new Claim.Taken(first), claim);
    assertEquals(List.of(), store.load(second, 1, soon()));
    assertThrows(ConflictException.class, () -> store.acquire(second, soon()));
    assertEquals(Optional.of(first), store.find(SCOPE, "key", soon()));
    create(store, second, Optional.of("Key"));
    create(store, run("third"), Optional.of("key "));
  }

  @Test
  @Tag("A118")
  void a_run_id_that_exists_is_refused_unless_its_own_key_names_it() {
    RunKey run = run("r1");
    Writer owner = create(store, run, Optional.of("key"));

    for (Optional<String> key : List.of(Optional.<String>empty(), Optional.of("other"))) {
      NewRun again = new NewRun(run, NOON.plusSeconds(9), started("agent", key));
      assertThrows(ConflictException.class, () -> store.create(again, soon()));
    }
    assertEquals(
        new Claim.Taken(run),
        store.create(new NewRun(run, NOON, started("agent", Optional.of("key"))), soon()));

    assertEquals(Optional.empty(), store.find(SCOPE, "other", soon()));
    assertEquals(1, events(run).size());
    store.append(append(run, 1, owner), soon());
  }

  @Test
  @Tag("C43")
  @Tag("A117")
  void runs_and_keys_of_one_scope_are_invisible_to_every_other() {
    List<RunScope> scopes = new ArrayList<>();
    List<Optional<String>> parts = new ArrayList<>();
    parts.add(Optional.empty());
    for (String text : List.of("*", "default", "null", "%", "a", "A", "a ", "a:b", "b:a", "'")) {
      parts.add(Optional.of(text));
    }
    for (Optional<String> part : parts) {
      scopes.add(new RunScope("a", part, Optional.empty()));
      scopes.add(new RunScope("a", Optional.empty(), part));
      scopes.add(new RunScope("a", part, part));
      part.ifPresent(tenant -> scopes.add(RunScope.of(tenant)));
    }
    scopes.add(new RunScope("a:b", Optional.of("c"), Optional.empty()));
    scopes.add(new RunScope("a", Optional.of("b:c"), Optional.empty()));
    scopes.add(new RunScope("a/b", Optional.of("c|d"), Optional.of("e")));
    scopes.add(new RunScope("a", Optional.of("b/c|d"), Optional.of("e")));
    Set<RunScope> distinct = new HashSet<>(scopes);

    for (RunScope scope : distinct) {
      assertEquals(Optional.empty(), store.find(scope, "key", soon()), scope::toString);
      create(store, new RunKey(scope, "r1"), Optional.of("key"));
    }

    for (RunScope scope : distinct) {
      RunKey run = new RunKey(scope, "r1");
      assertEquals(Optional.of(run), store.find(scope, "key", soon()));
      assertEquals(
          List.of(run),
          store.list(RunQuery.all(scope), soon()).stream().map(RunSummary::run).toList());
      assertEquals(1, store.load(run, 1, soon()).size());
      assertEquals(run, store.load(run, 1, soon()).getFirst().run());
    }
  }

  @Test
  @Tag("A116")
  void a_list_shows_the_latest_update_first_and_then_by_run_id() {
    List<String> ids = List.of("b", "a", "C", "a.b", "a-b", "a:b", "B");
    for (String id : ids) {
      create(store, run(id));
    }
    Writer owner = create(store, run("late"));
    store.append(append(run("late"), 1, owner), soon());

    assertEquals(
        List.of("late", "B", "C", "a", "a-b", "a.b", "a:b", "b"),
        store.list(RunQuery.all(SCOPE), soon()).stream().map(s -> s.run().runId()).toList());
  }

  @Test
  @Tag("A116")
  void a_list_shows_fifty_unless_asked_for_more() {
    for (int n = 0; n < 60; n++) {
      create(store, run("r" + n));
    }

    assertEquals(50, store.list(RunQuery.all(SCOPE), soon()).size());
    assertEquals(60, store.list(RunQuery.builder(SCOPE).limit(1000).build(), soon()).size());
  }

  @Test
  @Tag("A116")
  void pages_neither_skip_nor_repeat_a_run_at_equal_times() {
    RunStatus[] statuses = RunStatus.values();
    for (int n = 0; n < 40; n++) {
      RunKey run = run("r" + n);
      Writer owner = create(store, run);
      Instant one = NOON.plusNanos(n % 3);
      store.append(
          new Append(
              run, 1, owner, one, List.of(step(1)), Standing.of(statuses[n % statuses.length])),
          soon());
    }
    List<RunSummary> all = store.list(RunQuery.builder(SCOPE).limit(1000).build(), soon());
    assertEquals(40, all.size());

    for (int limit : new int[] {1, 3, 7, 40, 41}) {
      assertEquals(all, pages(RunQuery.builder(SCOPE).limit(limit).build()));
    }
    Set<RunStatus> waiting = Set.of(RunStatus.WAITING_APPROVAL, RunStatus.NEEDS_RECONCILIATION);
    assertEquals(
        all.stream().filter(summary -> waiting.contains(summary.status())).toList(),
        pages(
            RunQuery.builder(SCOPE)
                .statuses(RunStatus.WAITING_APPROVAL, RunStatus.NEEDS_RECONCILIATION)
                .limit(3)
                .build()));
    assertEquals(
        all.stream().filter(summary -> summary.status() == RunStatus.FAILED).toList(),
        pages(RunQuery.builder(SCOPE).statuses(RunStatus.FAILED).limit(5).build()));
  }

  private List<RunSummary> pages(RunQuery first) {
    List<RunSummary> all = new ArrayList<>();
    RunQuery query = first;
    while (true) {
      List<RunSummary> page = store.list(query, soon());
      assertTrue(page.size() <= query.limit());
      all.addAll(page);
      if (page.size() < query.limit()) {
        return all;
      }
      query = query.after(page.getLast());
    }
  }

  @Test
  @Tag("A120")
  void a_list_shows_each_run_as_its_last_append_left_it() {
    RunKey run = run("r1");
    Writer owner = create(store, run, Optional.of("key"));
    Instant later = NOON.plusSeconds(5);

    store.append(
        new Append(
            run,
            1,
            owner,
            later,
            List.of(step(1), step(2)),
            Standing.of(RunStatus.WAITING_APPROVAL)),
        soon());

    assertEquals(
        List.of(
            summary(run, Optional.of("key"), Standing.of(RunStatus.WAITING_APPROVAL), 3, later)),
        store.list(RunQuery.all(SCOPE), soon()));
  }

  @Test
  @Tag("A112")
  @Tag("A132")
  void who_watches_a_run_is_told_of_a_request_to_cancel_once_it_is_there() {
    RunKey watched = run("r1");
    RunKey other = run("r2");
    Writer owner = create(store, watched);
    create(store, other);
    List<RunEvent> there = new ArrayList<>();
    RunStore.Watch watch =
        store.watch(
            watched,
            new RunListener() {
              @Override
              public void cancelRequested() {
                there.add(events(watched).getLast());
              }

              @Override
              public void lost() {
                throw new AssertionError("nobody took it");
              }
            });
    RunEvent asked = new RunEvent.CancelRequested(Optional.of("test"));
    RunEvent decided =
        new RunEvent.ApprovalDecided("request", true, Optional.of("ann"), Optional.empty());
    Writer outside = Writer.outside("ann");

    store.append(append(watched, 1, owner), soon());
    store.append(append(watched, 2, outside, List.of(decided)), soon());
    store.append(append(other, 1, outside, List.of(asked)), soon());
    assertThrows(
        ConflictException.class,
        () -> store.append(append(watched, 1, outside, List.of(asked)), soon()));
    assertEquals(List.of(), there);

    store.append(append(watched, 3, outside, List.of(asked)), soon());
    assertEquals(List.of(asked), there);

    watch.close();
    watch.close();
    store.append(append(watched, 4, outside, List.of(asked)), soon());
    assertEquals(1, there.size());
  }

  @Test
  @Tag("A131")
  void a_run_that_nobody_drives_is_cancelled_for_good() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    Runs runs = Runs.in(store);

    assertEquals(RunStatus.CANCEL_REQUESTED, runs.cancel(run, "test").status());
    assertEquals(2, events(run).size()); // its owner is to end it
    store.release(run, owner);
    assertEquals(RunStatus.CANCELLED, runs.cancel(run).status());
    assertEquals(
        List.of(
            new RunEvent.CancelRequested(Optional.of("test")),
            new RunEvent.RunCancelled(0, List.of())),
        events(run).subList(1, 3));
    assertEquals(RunStatus.CANCELLED, store.list(RunQuery.all(SCOPE), soon()).getFirst().status());
    assertTrue(store.acquire(run, soon()).isPresent());
  }

  @Test
  void an_append_that_hands_the_run_back_leaves_it_to_nobody() {
    for (RunStatus status : RunStatus.values()) {
      RunKey run = run("back-" + status);
      Writer owner = create(store, run);
      store.append(append(run, 1, owner), soon());
      store.append(handingBack(run, 2, owner, status), soon());

      assertThrows(ConflictException.class, () -> store.append(append(run, 3, owner), soon()));
      Writer next = store.acquire(run, soon()).orElseThrow();
      store.release(run, owner);
      assertEquals(Optional.empty(), store.acquire(run, soon()), "the late release is nobody's");
      store.append(append(run, 3, next), soon());
      assertEquals(4, events(run).size());
    }
  }

  @Test
  void an_append_that_is_refused_hands_nothing_back() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    assertThrows(
        ConflictException.class,
        () -> store.append(handingBack(run, 7, owner, RunStatus.COMPLETED), soon()));
    assertEquals(Optional.empty(), store.acquire(run, soon()));
    store.append(append(run, 1, owner), soon());
  }

  private static Append handingBack(RunKey run, long sequence, Writer owner, RunStatus status) {
    return new Append(
        run,
        sequence,
        owner,
        NOON.plusNanos(sequence),
        List.of(step(Math.toIntExact(sequence) + 1)),
        Standing.of(status),
        Optional.empty(),
        true);
  }

  @Test
  void who_awaits_a_release_is_woken_by_the_append_that_hands_the_run_back() throws Exception {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      AtomicReference<Thread> running = new AtomicReference<>();
      CountDownLatch begun = new CountDownLatch(1);
      Future<Boolean> waiter =
          threads.submit(
              () -> {
                running.set(Thread.currentThread());
                begun.countDown();
                return store.awaitRelease(run, soon());
              });
      begun.await();
      awaitParked(running.get());
      store.append(handingBack(run, 1, owner, RunStatus.COMPLETED), soon());
      assertTrue(waiter.get());
    }
  }

  @Test
  void who_awaits_a_release_is_woken_by_it() throws Exception {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    List<Future<Boolean>> waiters = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Thread> running = new ArrayList<>();
      CountDownLatch begun = new CountDownLatch(3);
      for (int n = 0; n < 3; n++) {
        waiters.add(
            threads.submit(
                () -> {
                  synchronized (running) {
                    running.add(Thread.currentThread());
                  }
                  begun.countDown();
                  return store.awaitRelease(run, soon());
                }));
      }
      begun.await();
      for (Thread thread : running) {
        awaitParked(thread);
      }
      store.release(run, owner);
      for (Future<Boolean> waiter : waiters) {
        assertTrue(waiter.get());
      }
    }
    assertTrue(store.awaitRelease(run, passed()));
    assertTrue(store.acquire(run, soon()).isPresent());
    assertFalse(store.awaitRelease(run, passed()));
  }

  @Test
  void who_awaits_a_release_and_is_interrupted_leaves_the_run_alone() throws Exception {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread waiter =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    store.awaitRelease(run, soon());
                  } catch (InterruptedException e) {
                    thrown.set(e);
                  }
                });
    awaitParked(waiter);

    waiter.interrupt();
    waiter.join();

    assertInstanceOf(InterruptedException.class, thrown.get());
    store.append(append(run, 1, owner), soon());
  }

  @Test
  void a_pending_interrupt_stays_pending_and_does_not_keep_a_write_from_taking_place() {
    RunKey run = run("r1");
    Thread.currentThread().interrupt();

    Writer owner = create(store, run);
    store.append(append(run, 1, owner), soon());
    List<RunEvent> events = events(run);
    store.release(run, owner);
    boolean acquired = store.acquire(run, soon()).isPresent();

    assertTrue(Thread.interrupted());
    assertEquals(2, events.size());
    assertTrue(acquired);
  }

  @Test
  @Tag("A113")
  void a_storm_of_interrupts_loses_and_doubles_no_event() throws Exception {
    int callers = 64;
    int appends = 50;
    AtomicInteger left = new AtomicInteger(callers);
    Map<RunKey, Future<Integer>> work = new HashMap<>();
    List<Thread> targets = new ArrayList<>();
    CountDownLatch begun = new CountDownLatch(callers);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int n = 0; n < callers; n++) {
        RunKey run = run("r" + n);
        work.put(
            run,
            threads.submit(
                () -> {
                  synchronized (targets) {
                    targets.add(Thread.currentThread());
                  }
                  begun.countDown();
                  awaitUninterruptibly(begun);
                  try {
                    return work(run, appends);
                  } finally {
                    left.decrementAndGet();
                  }
                }));
      }
      begun.await();
      while (left.get() > 0) {
        targets.forEach(Thread::interrupt);
        Thread.onSpinWait();
      }
      int caught = 0;
      for (Future<Integer> count : work.values()) {
        caught += count.get();
      }
      assertTrue(caught >= callers * (appends / 3), "only " + caught + " interrupts hit a call");
    }
    for (RunKey run : work.keySet()) {
      List<LoggedEvent> log = store.load(run, 1, soon());
      assertEquals(
          LongStream.rangeClosed(1, appends + 1).boxed().toList(),
          log.stream().map(LoggedEvent::sequence).toList());
      assertEquals(
          IntStream.rangeClosed(2, appends + 1).mapToObj(RunStoreContract::step).toList(),
          log.stream().skip(1).map(LoggedEvent::event).toList());
    }
    RunKey after = run("after");
    store.append(append(after, 1, create(store, after)), soon());
  }

  /** Creates a run and appends to it under interrupts; returns how many calls were hit. */
  private int work(RunKey run, int appends) {
    int hit = 0;
    Writer owner = create(store, run);
    for (int n = 1; n <= appends; n++) {
      if (n % 3 == 0) {
        Thread.currentThread().interrupt(); // whatever the storm hits, this one comes first
      }
      store.append(append(run, n, owner), soon());
      if (Thread.interrupted()) {
        hit++;
      }
    }
    store.release(run, owner);
    return hit;
  }

  /** A log as another store had it, with a member that only a newer Warpwright knows. */
  private static List<LoggedEvent> foreignLog(RunKey run, Optional<String> key) {
    Writer elsewhere = new Writer("elsewhere#7", 42);
    return List.of(
        new LoggedEvent(run, 1, elsewhere, NOON, started("agent", key)),
        RunEventCodec.decode(
            run,
            2,
            elsewhere,
            NOON.plusNanos(5),
            "StepStarted",
            1,
            "{\"future\": [1.50],\"step\":1,\"messageCount\":1}".getBytes(StandardCharsets.UTF_8)),
        new LoggedEvent(
            run, 3, Writer.outside("ann"), NOON.plusNanos(5), new RunEvent.RunResumed("by hand")));
  }

  @Test
  @Tag("A4")
  @Tag("A149")
  void a_log_that_is_taken_in_is_there_as_it_was_and_nobody_owns_the_run() {
    RunKey run = run("r1");
    List<LoggedEvent> log = foreignLog(run, Optional.of("key"));

    store.adopt(log, Standing.of(RunStatus.WAITING_APPROVAL), soon());

    assertEquals(log, store.load(run, 1, soon()));
    assertEquals(
        List.of(
            summary(
                run,
                Optional.of("key"),
                Standing.of(RunStatus.WAITING_APPROVAL),
                3,
                NOON.plusNanos(5))),
        store.list(RunQuery.all(SCOPE), soon()));
    assertEquals(Optional.of(run), store.find(SCOPE, "key", soon()));
    assertThrows(
        ConflictException.class,
        () -> store.append(append(run, 3, log.getFirst().writer()), soon()));
    Writer owner = store.acquire(run, soon()).orElseThrow();
    store.append(
        new Append(
            run, 3, owner, NOON.plusSeconds(1), List.of(step(2)), Standing.of(RunStatus.RUNNING)),
        soon());
    assertEquals(4, events(run).size());
  }

  @Test
  @Tag("A118")
  @Tag("A149")
  void a_log_of_a_run_that_exists_or_whose_key_is_taken_is_not_taken_in() {
    RunKey run = run("r1");
    Writer owner = create(store, run, Optional.of("key"));
    List<LoggedEvent> log = store.load(run, 1, soon());

    for (List<LoggedEvent> refused :
        List.of(
            log,
            foreignLog(run, Optional.empty()),
            foreignLog(run, Optional.of("key")),
            foreignLog(run("r2"), Optional.of("key")))) {
      assertThrows(
          ConflictException.class,
          () -> store.adopt(refused, Standing.of(RunStatus.COMPLETED), soon()));
    }

    assertEquals(log, store.load(run, 1, soon()));
    assertEquals(List.of(), store.load(run("r2"), 1, soon()));
    assertEquals(1, store.list(RunQuery.all(SCOPE), soon()).size());
    store.append(append(run, 1, owner), soon());
    store.adopt(
        foreignLog(new RunKey(RunScope.of("other"), "r1"), Optional.of("key")),
        Standing.of(RunStatus.RUNNING),
        soon());
  }

  @Test
  @Tag("A149")
  void of_many_who_bring_the_same_log_one_takes_it_in() throws Exception {
    RunKey run = run("r1");
    List<LoggedEvent> log = foreignLog(run, Optional.of("key"));
    List<Callable<Boolean>> callers =
        IntStream.range(0, 16)
            .<Callable<Boolean>>mapToObj(
                n -> () -> succeeds(() -> store.adopt(log, Standing.of(RunStatus.RUNNING), soon())))
            .toList();

    assertEquals(1, together(callers).stream().filter(won -> won).count());
    assertEquals(log, store.load(run, 1, soon()));
  }

  /** A run that waits for a verdict on its one tool call, which has the key {@code key-1}. */
  private RunKey waitingForVerdict(String id) {
    RunKey run = run(id);
    Writer owner = create(store, run);
    Json input = Json.parse("{}");
    List<RunEvent> events =
        List.of(
            new RunEvent.StepStarted(1, 1),
            new RunEvent.ModelResponded(
                1,
                Target.of("scripted", "model"),
                new Message(Role.ASSISTANT, List.of(new ToolCall("c1", "refund", input))),
                new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
                Usage.ABSENT,
                List.of()),
            new RunEvent.ToolStarted(1, 0, "c1", "refund", EffectClass.ONCE, input, "key-1", 1),
            new RunEvent.RunSuspended(
                RunEvent.RunSuspended.Reason.RECONCILIATION, List.of("c1"), Optional.empty()));
    store.append(
        new Append(run, 1, owner, NOON, events, Standing.of(RunStatus.NEEDS_RECONCILIATION)),
        soon());
    store.release(run, owner);
    return run;
  }

  private static RunEvent.ToolReconciled verdict(String by) {
    return new RunEvent.ToolReconciled(
        "c1", "key-1", RunEvent.ToolReconciled.Verdict.SUCCEEDED, Optional.of(Json.of(by)), by);
  }

  @Test
  @Tag("A59")
  void of_many_who_decide_on_an_unknown_outcome_exactly_one_is_written() throws Exception {
    for (int round = 0; round < 20; round++) {
      RunKey run = waitingForVerdict("r" + round);
      Runs runs = Runs.in(store);
      List<Callable<Boolean>> reconcilers = new ArrayList<>();
      for (int n = 0; n < 16; n++) {
        RunEvent.ToolReconciled verdict = verdict("person " + n);
        Evidence evidence = Evidence.of(run, "c1", "key-1", Json.of("book entry " + n));
        boolean withEvidence = n % 2 == 0;
        reconcilers.add(
            () ->
                succeeds(
                    () -> {
                      var _ =
                          withEvidence
                              ? runs.reconcile(run, verdict, evidence)
                              : runs.reconcile(run, verdict);
                    }));
      }

      List<Boolean> won = together(reconcilers);

      assertEquals(1, won.stream().filter(success -> success).count());
      List<RunEvent> log = events(run);
      assertEquals(6, log.size());
      RunEvent.ToolReconciled written =
          assertInstanceOf(RunEvent.ToolReconciled.class, log.getLast());
      assertEquals("person " + won.indexOf(true), written.decidedBy());
      assertEquals(won.indexOf(true) % 2 == 0, written.evidence().isPresent());
      assertThrows(ConflictException.class, () -> runs.reconcile(run, verdict("later")));
      assertTrue(store.acquire(run, soon()).isPresent(), "handed back");
    }
  }

  @Test
  @Tag("A58")
  @Tag("A59")
  void evidence_is_checked_and_its_digest_is_kept() {
    RunKey run = waitingForVerdict("r1");
    RunKey other = waitingForVerdict("r2");
    Runs runs = Runs.in(store);
    Json statement = Json.parse("{\"booked\":true,\"amount\":12.50}");
    Evidence good = Evidence.of(run, "c1", "key-1", statement);
    RunKey elsewhere = new RunKey(RunScope.of("stranger"), "r1");
    String someDigest = "sha256:" + "0".repeat(64);
    List<LoggedEvent> log = store.load(run, 1, soon());

    List<Evidence> bad =
        List.of(
            new Evidence(run, "c1", "key-1", Json.parse("{\"booked\":false}"), good.digest()),
            new Evidence(run, "c1", "key-1", statement, someDigest),
            Evidence.of(other, "c1", "key-1", statement),
            Evidence.of(elsewhere, "c1", "key-1", statement),
            Evidence.of(run, "c2", "key-1", statement),
            Evidence.of(run, "c1", "key-2", statement),
            new Evidence(run, "c1", "key-1", statement, ""),
            new Evidence(run, "c1", "key-1", statement, "md5:0"),
            new Evidence(other, "c1", "key-1", statement, good.digest()));
    for (Evidence evidence : bad) {
      InvalidRequestException refused =
          assertThrows(
              InvalidRequestException.class,
              () -> runs.reconcile(run, verdict("ann"), evidence),
              evidence::toString);
      assertFalse(refused.getMessage().contains("booked"), refused.getMessage());
    }
    RunEvent.ToolReconciled unseen =
        new RunEvent.ToolReconciled(
            "c1",
            "key-1",
            RunEvent.ToolReconciled.Verdict.FAILED,
            Optional.empty(),
            "ann",
            Optional.of(good.digest()));
    assertThrows(InvalidRequestException.class, () -> runs.reconcile(run, unseen));
    assertEquals(log, store.load(run, 1, soon()));

    runs.reconcile(run, verdict("ann"), good);

    RunEvent.ToolReconciled written =
        assertInstanceOf(RunEvent.ToolReconciled.class, events(run).getLast());
    assertEquals(Optional.of(good.digest()), written.evidence());
    assertFalse(good.toString().contains("booked"), good.toString());
  }

  @Test
  @Tag("A58")
  @Tag("A59")
  void a_driver_that_does_not_own_the_run_decides_nothing_and_while_one_does_nobody_else_does() {
    RunKey run = waitingForVerdict("r1");
    Runs runs = Runs.in(store);
    List<LoggedEvent> log = store.load(run, 1, soon());
    Writer owner = store.acquire(run, soon()).orElseThrow();

    assertThrows(ConflictException.class, () -> runs.reconcile(run, verdict("ann")));
    for (Writer stranger :
        List.of(log.getFirst().writer(), new Writer("stranger", owner.epoch()))) {
      RunLog driver = RunLog.open(store, run, stranger, TimeSource.system(), soon());
      assertThrows(ConflictException.class, () -> driver.append(verdict("driver")));
    }
    assertEquals(log, store.load(run, 1, soon()));
  }

  /** Whoever keeps what it wrote must recognise it in what the store gives. */
  @Test
  @Tag("A115")
  void what_a_driver_has_written_is_recognised_by_its_last_event() {
    RunKey run = waitingForVerdict("r1");
    Writer owner = store.acquire(run, soon()).orElseThrow();
    RunLog driver = RunLog.open(store, run, owner, TimeSource.system(), soon());
    for (RunEvent next : List.of(verdict("driver"), new RunEvent.RunResumed("test"))) {
      driver.append(next);
      RunSnapshot written = driver.snapshot();

      assertSame(written, written.refreshed(store, soon()).orElseThrow());
    }
    store.release(run, owner);
  }

  @Test
  @Tag("A153")
  void the_runs_that_need_a_person_are_listed_with_what_they_wait_for() {
    RunKey inDoubt = waitingForVerdict("doubt");
    RunKey decided = waitingForVerdict("decided");
    RunKey waiting = run("waiting");
    create(store, run("running"));
    Writer owner = create(store, waiting);
    Json input = Json.parse("{}");
    store.append(
        new Append(
            waiting,
            1,
            owner,
            NOON,
            List.of(
                new RunEvent.StepStarted(1, 1),
                new RunEvent.ModelResponded(
                    1,
                    Target.of("scripted", "model"),
                    new Message(Role.ASSISTANT, List.of(new ToolCall("c1", "refund", input))),
                    new FinishReason(FinishReason.Kind.TOOL_CALLS, "tool_calls"),
                    Usage.ABSENT,
                    List.of()),
                new RunEvent.ApprovalRequested(
                    "approval_1", "sha256:" + "0".repeat(64), 1, "c1", "refund", "1", input),
                new RunEvent.RunSuspended(
                    RunEvent.RunSuspended.Reason.APPROVAL,
                    List.of("approval_1"),
                    Optional.empty())),
            Standing.of(RunStatus.WAITING_APPROVAL)),
        soon());
    Runs runs = Runs.in(store);
    runs.reconcile(decided, verdict("ann"));

    List<RunState> approvals = runs.waiting(SCOPE);
    List<RunState> doubts = runs.inDoubt(SCOPE);

    assertEquals(List.of(waiting), approvals.stream().map(RunState::run).toList());
    assertEquals("approval_1", approvals.getFirst().pendingApprovals().getFirst().requestId());
    assertEquals(List.of(inDoubt), doubts.stream().map(RunState::run).toList());
    assertEquals("c1", doubts.getFirst().inDoubt().getFirst().call().id());
    assertEquals(List.of(), runs.waiting(RunScope.DEFAULT));
    assertEquals(List.of(), runs.inDoubt(RunScope.DEFAULT));
  }

  @Test
  void a_large_event_comes_back_as_it_was() {
    RunKey run = run("r1");
    Writer owner = create(store, run);
    RunEvent large =
        new RunEvent.ToolFinished(
            "call",
            "tool",
            Optional.of("key"),
            true,
            Json.of("ä€😀\u0000\"\\".repeat(300_000)),
            false,
            Duration.ofNanos(1));

    store.append(append(run, 1, owner, List.of(large)), soon());

    assertEquals(large, events(run).get(1));
  }

  @Test
  void a_closed_store_refuses_every_call() {
    RunKey run = run("r1");
    Writer owner = create(store, run);

    store.close();
    store.close();

    List<Callable<?>> calls =
        List.of(
            () -> store.create(new NewRun(run("r2"), NOON, started("a", Optional.empty())), soon()),
            () -> store.load(run, 1, soon()),
            () -> {
              store.adopt(
                  foreignLog(run("r2"), Optional.empty()), Standing.of(RunStatus.RUNNING), soon());
              return 0;
            },
            () -> {
              store.append(append(run, 1, owner), soon());
              return 0;
            },
            () -> store.acquire(run, soon()),
            () -> {
              store.release(run, owner);
              return 0;
            },
            () -> store.awaitRelease(run, soon()),
            () -> store.find(SCOPE, "key", soon()),
            () -> store.list(RunQuery.all(SCOPE), soon()));
    for (Callable<?> call : calls) {
      assertThrows(IllegalStateException.class, call::call);
    }
  }

  @Test
  void closing_wakes_who_awaits_a_release() throws Exception {
    RunKey run = run("r1");
    create(store, run);
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      AtomicReference<Thread> thread = new AtomicReference<>();
      CountDownLatch begun = new CountDownLatch(1);
      Future<Boolean> waiter =
          threads.submit(
              () -> {
                thread.set(Thread.currentThread());
                begun.countDown();
                return store.awaitRelease(run, Deadline.never());
              });
      begun.await();
      awaitParked(thread.get());

      store.close();

      ExecutionException failure = assertThrows(ExecutionException.class, waiter::get);
      assertInstanceOf(IllegalStateException.class, failure.getCause());
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    while (true) {
      try {
        latch.await();
        return;
      } catch (InterruptedException e) {
        // The storm has begun; it must not hit this wait.
      }
    }
  }
}
