package dev.warpwright.task;

import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;
import org.slf4j.spi.MDCAdapter;

/** Takes the logger's mapped diagnostic context (SLF4J's MDC) of one thread along to another. */
final class LogContext {
  private LogContext() {}

  /** A body that logs with what is in the context of the calling thread now. */
  static <T extends @Nullable Object> Callable<? extends T> carrying(Callable<? extends T> body) {
    return carrying(MDC.getMDCAdapter(), body);
  }

  /**
   * As above.
   *
   * @param adapter where the context is; null while the logger is being set up
   */
  static <T extends @Nullable Object> Callable<? extends T> carrying(
      @Nullable MDCAdapter adapter, Callable<? extends T> body) {
    Map<String, String> context = adapter == null ? null : adapter.getCopyOfContextMap();
    if (adapter == null || context == null || context.isEmpty()) {
      return body;
    }
    return () -> {
      adapter.setContextMap(context);
      try {
        return body.call();
      } finally {
        adapter.clear();
      }
    };
  }
}
