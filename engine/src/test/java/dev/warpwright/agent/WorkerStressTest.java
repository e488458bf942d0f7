package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.Gateway;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent.ModelResponded;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.RunSummary;
import dev.warpwright.run.Worker;
import dev.warpwright.run.WorkerStatus;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.EffectClass;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Many runs, several workers on one store, each of which is stopped again and again in the middle
 * of its work: every run completes, no effect happens twice, and every drive is accounted for.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class WorkerStressTest {
  private static final int RUNS = 64;
  private static final int WORKERS = 3;
  private static final int MAX_STOPS = 200;

  private final World world = new World();

  /** A process: its own gateway and agents on the store of all. */
  private record Node(
      RunStore store,
      Gateway gateway,
      Agents agents,
      Agent agent,
      AtomicReference<CountDownLatch> asks) {}

  private Node node(RunStore store) {
    FakeModel model =
        FakeModel.of(
            calls(call("c1", "refund", "o1"), call("c2", "note", "o1")),
            calls(call("c3", "refund", "o2")),
            text("Done."));
    AtomicReference<CountDownLatch> asks = new AtomicReference<>(new CountDownLatch(0));
    Gateway gateway =
        Gateway.builder().adapter("fake", model.onAsk(index -> asks.get().countDown())).build();
    Agent agent =
        Agent.builder("agent", Program.ROUTE)
            .tools(world.reconciled("refund").build(), world.tool("note", EffectClass.PURE).build())
            .build();
    return new Node(store, gateway, Agents.on(gateway, store), agent, asks);
  }

  @Test
  @Tag("A14")
  @Tag("A151")
  void workers_that_stop_at_any_moment_lose_no_run_and_do_nothing_twice() throws Exception {
    long seed = System.nanoTime();
    RunStore store = RunStore.inMemory();
    Node queueing = node(store);
    for (int i = 0; i < RUNS; i++) {
      var _ =
          queueing.agents.enqueue(
              AgentRequest.builder(queueing.agent, "Do it.").idempotencyKey("key-" + i).build());
    }
    AtomicLong takenUp = new AtomicLong();
    AtomicLong handedBack = new AtomicLong();
    List<Thread> threads = new ArrayList<>();
    List<Throwable> thrown = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      Random random = new Random(seed + i);
      Thread thread =
          Thread.ofVirtual()
              .unstarted(
                  () -> {
                    for (int stops = 0; !isThrough(store); stops++) {
                      readmitAll(store);
                      WorkerStatus end = aWhile(node(store), random, stops < MAX_STOPS);
                      takenUp.addAndGet(end.taken());
                      handedBack.addAndGet(end.handedBack());
                      assertEquals(end.taken(), end.ended() + end.handedBack(), end::toString);
                    }
                  });
      thread.setUncaughtExceptionHandler(
          (where, what) -> {
            synchronized (thrown) {
              thrown.add(what);
            }
          });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    String which = "seed " + seed + ", " + takenUp + " taken, " + handedBack + " handed back";
    System.out.println(which);

    synchronized (thrown) {
      assertEquals(List.of(), thrown, which);
    }
    assertEquals(RUNS + handedBack.get(), takenUp.get(), which);
    for (RunSummary run : runs(store)) {
      assertEquals(RunStatus.COMPLETED, run.status(), which);
      List<LoggedEvent> log = store.load(run.run(), 1, Deadline.never());
      assertEquals(
          3, log.stream().filter(each -> each.event() instanceof ModelResponded).count(), which);
      assertTrue(log.stream().noneMatch(each -> each.event() instanceof RunFailed), which);
      assertTrue(store.borrow(run.run(), Deadline.never()).isPresent(), which);
    }
    List<String> refunds =
        world.effects().stream()
            .filter(effect -> effect.tool().equals("refund"))
            .map(World.Effect::key)
            .toList();
    assertEquals(2 * RUNS, refunds.size(), which);
    assertEquals(2 * RUNS, new HashSet<>(refunds).size(), which);
  }

  private static void awaitIdleOr(CountDownLatch enough, Worker worker) {
    Thread.startVirtualThread(
        () -> {
          var _ = worker.awaitIdle(Duration.ofSeconds(10));
          while (enough.getCount() > 0) {
            enough.countDown();
          }
        });
    try {
      enough.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static WorkerStatus aWhile(Node node, Random random, boolean cutShort) {
    CountDownLatch enough = new CountDownLatch(1 + random.nextInt(40)); // times a model is asked
    node.asks.set(enough);
    try (node.gateway) {
      Worker worker =
          Worker.builder(node.store)
              .drives(node.agents.driver(node.agent))
              .maxRuns(1 + random.nextInt(8))
              .start();
      if (cutShort) {
        awaitIdleOr(enough, worker);
      } else {
        var _ = worker.awaitIdle(Duration.ofSeconds(10));
      }
      var _ = worker.stop(random.nextBoolean() ? Duration.ZERO : Duration.ofMillis(2));
      return worker.status();
    }
  }

  private static List<RunSummary> runs(RunStore store) {
    return store.list(RunQuery.builder(RunScope.DEFAULT).limit(RUNS).build(), Deadline.never());
  }

  /** As an operator would: here workers often stop before a run has made any progress. */
  private static void readmitAll(RunStore store) {
    runs(store).stream()
        .filter(RunSummary::isQuarantined)
        .forEach(run -> store.readmit(run.run(), Deadline.never()));
  }

  private static boolean isThrough(RunStore store) {
    return runs(store).stream().allMatch(run -> run.status() == RunStatus.COMPLETED);
  }
}
