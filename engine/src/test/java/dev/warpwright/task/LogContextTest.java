package dev.warpwright.task;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.task.Outcome.Success;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.helpers.NOPMDCAdapter;

class LogContextTest {
  private static final ScopedValue<String> TENANT = ScopedValue.newInstance();
  private static final Deadline NEVER = Deadline.never();

  @RegisterExtension final TaskFixture fixture = new TaskFixture();
  private final TaskTree tree = fixture.tree;

  @AfterEach
  void clear() {
    MDC.clear();
  }

  @Test
  void every_task_below_logs_with_the_context_of_its_starter() {
    MDC.put("request", "17");
    try (TaskScope scope = tree.open("operation", "op")) {
      Outcome<String> outcome =
          scope.call(
              "attempt",
              "one",
              NEVER,
              () -> {
                try (TaskScope inner = tree.open("step", "inner")) {
                  MDC.put("step", "2");
                  Task<String> task =
                      inner.fork("tool", "two", NEVER, () -> MDC.get("request") + MDC.get("step"));
                  MDC.put("step", "3");
                  inner.join();
                  return ((Success<String>) task.outcome()).value();
                }
              });
      assertEquals(new Success<>("172"), outcome);
    }
  }

  @Test
  void what_a_task_puts_into_its_context_is_not_seen_by_its_starter() {
    MDC.put("request", "17");
    try (TaskScope scope = tree.open("operation", "op")) {
      scope.call(
          "attempt",
          "one",
          NEVER,
          () -> {
            MDC.put("request", "18");
            MDC.put("step", "2");
            return 1;
          });
      assertEquals(Map.of("request", "17"), MDC.getCopyOfContextMap());
      Outcome<Map<String, String>> next =
          scope.call("attempt", "two", NEVER, MDC::getCopyOfContextMap);
      assertEquals(new Success<>(Map.of("request", "17")), next);
    }
  }

  @Test
  void a_detached_task_logs_with_the_context_of_its_starter_and_sees_carried_values()
      throws Exception {
    AtomicReference<@Nullable String> seen = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(1);
    MDC.put("request", "17");
    TaskTree carrying = TaskTree.builder().time(fixture.time).carry(TENANT).build();
    ScopedValue.where(TENANT, "acme")
        .run(
            () ->
                carrying.detach(
                    "observer",
                    "one",
                    Duration.ofSeconds(1),
                    () -> {
                      seen.set(TENANT.get() + MDC.get("request"));
                      done.countDown();
                    }));
    TaskFixture.await("its end", done);
    assertEquals("acme17", seen.get());
    TaskFixture.until("its last step", () -> carrying.liveCount() == 0);
  }

  @Test
  void the_context_is_cleared_at_the_end_of_a_body_also_if_it_throws() {
    BasicMDCAdapter adapter = new BasicMDCAdapter();
    adapter.put("request", "17");
    Callable<? extends String> returning =
        LogContext.carrying(adapter, () -> adapter.get("request"));
    Callable<? extends String> throwing =
        LogContext.carrying(
            adapter,
            () -> {
              throw new IOException(adapter.get("request"));
            });
    adapter.clear();
    assertEquals("17", assertThrows(IOException.class, throwing::call).getMessage());
    assertNull(adapter.get("request"));
    adapter.put("other", "1");
    try {
      assertEquals("17", returning.call());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    assertNull(adapter.get("request"));
    assertNull(adapter.get("other"));
  }

  @Test
  void without_a_context_or_a_logger_the_body_is_left_alone() {
    Callable<Integer> body = () -> 1;
    assertSame(body, LogContext.carrying(body));
    assertSame(body, LogContext.carrying(new NOPMDCAdapter(), body));
    assertSame(body, LogContext.carrying(null, body));
    BasicMDCAdapter emptied = new BasicMDCAdapter();
    emptied.put("request", "17");
    emptied.remove("request");
    assertSame(body, LogContext.carrying(emptied, body));
  }
}
