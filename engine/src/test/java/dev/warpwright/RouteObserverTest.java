package dev.warpwright;

import static dev.warpwright.FakeModel.status;
import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who watches the routing, and cannot disturb it. */
final class RouteObserverTest {
  @RegisterExtension final Spine spine = new Spine();

  private final BlockingQueue<RouteSelection> told = new LinkedBlockingQueue<>();

  private RouteSelection next() throws InterruptedException {
    RouteSelection selection = told.poll(10, TimeUnit.SECONDS);
    assertTrue(selection != null, "waited 10 s for the observer");
    return selection;
  }

  @Test
  @Tag("R67")
  @Tag("R350")
  void theObserverIsToldOfTheFirstWinnerAndOfEachChange() throws Exception {
    spine.a.fails(status(400)).says("from a");
    spine.b.asksFor(Tools.call("1")).asksFor(Tools.call("2")).fails(status(400));
    Gateway gateway = spine.build(spine.builder().routeObserver(told::add));

    GenerateResult result = gateway.generate(ask(A, B).tools(Tools.echo()).maxSteps(9).build());

    List<RouteSelection> both = List.of(next(), next());
    RouteSelection first = both.getFirst().step() == 1 ? both.getFirst() : both.getLast();
    RouteSelection second = both.getFirst().step() == 1 ? both.getLast() : both.getFirst();
    assertEquals(B, first.target());
    assertEquals(1, first.targetRank());
    assertEquals(result.attempts().subList(0, 2), first.attempts());
    assertEquals(A, second.target());
    assertEquals(3, second.step());
    assertEquals(0, second.targetRank());
    assertEquals(result.routeDecision(), second.decision());
    assertEquals(
        List.of(true, false, true), result.steps().stream().map(ModelStep::rebound).toList());
    Spine.until("no more", () -> gateway.tasks().liveCount() == 0);
    assertTrue(told.isEmpty());
  }

  @Test
  @Tag("R3")
  @Tag("R351")
  void whatAnObserverThrowsIsCountedAndChangesNothing() {
    spine.a.says("one").says("two");
    Gateway throwing =
        spine.build(
            spine
                .builder()
                .routeObserver(
                    selection -> {
                      throw new AssertionError("an Error, even");
                    }));

    assertEquals("one", throwing.generate(request(A)).text());
    assertEquals("two", throwing.generate(request(A)).text());

    Spine.until("two failures", () -> throwing.diagnostics().observerFailures() == 2);
  }

  @Test
  @Tag("R352")
  @Tag("R355")
  void anObserverThatBlocksHoldsNobodyAndIsInterruptedAfterASecond() throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    spine.a.says("hi");
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .routeObserver(
                    selection -> {
                      busy.countDown();
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        interrupted.countDown();
                      }
                    }));

    assertEquals("hi", gateway.generate(request(A)).text()); // in this thread: nobody waits
    Spine.await("the observer", busy);
    spine.awaitWaitOf(Duration.ofSeconds(1));
    assertEquals("observer", gateway.diagnostics().liveTasks().getLast().kind());
    assertEquals(1, gateway.diagnostics().pendingObservers());
    spine.advance(1_000);

    Spine.await("its interrupt", interrupted);
  }

  @Test
  @Tag("R121")
  void anObserverThatIgnoresTheInterruptIsListedUntilItEnds() throws Exception {
    CountDownLatch gate = spine.gate();
    spine.a.says("hi");
    CountDownLatch busy = new CountDownLatch(1);
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .routeObserver(
                    selection -> {
                      busy.countDown();
                      Spine.awaitStubbornly(gate);
                    }));

    gateway.generate(request(A));
    Spine.await("the observer", busy);
    spine.awaitWaitOf(Duration.ofSeconds(1));
    spine.advance(1_000);
    spine.awaitWaitOf(Duration.ofMillis(100));
    spine.advance(100);

    Spine.until("the list", () -> gateway.diagnostics().abandonedTasks().size() == 1);
  }
}
