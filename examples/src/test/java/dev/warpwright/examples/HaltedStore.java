package dev.warpwright.examples;

import dev.warpwright.run.DueRuns;
import dev.warpwright.run.NewRun;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Writer;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A store as one process sees it that is halted at one of its writes, just before or just after it
 * took place: from then on nothing that it does reaches the store, and its main thread is
 * interrupted, as it has nothing to wait for any more.
 */
final class HaltedStore implements InvocationHandler {
  private static final Set<String> WRITES =
      Set.of("create", "adopt", "append", "acquire", "borrow", "acquireDue", "signal", "release");

  private final RunStore survivor;
  private final int fatalWrite;
  private final boolean afterIt;
  private final Thread main = Thread.currentThread();
  private final Map<Writer, RunKey> owned = new ConcurrentHashMap<>();
  private int writes; // guarded by this
  private boolean halted; // guarded by this

  /** The process is dead. */
  private static final class Halt extends Error {
    private static final long serialVersionUID = 1L;

    Halt() {
      super("The process is dead.");
    }
  }

  /** Made by the main thread of the process; the writes are counted from 1. */
  HaltedStore(RunStore survivor, int fatalWrite, boolean afterIt) {
    this.survivor = survivor;
    this.fatalWrite = fatalWrite;
    this.afterIt = afterIt;
  }

  RunStore store() {
    return (RunStore)
        Proxy.newProxyInstance(
            RunStore.class.getClassLoader(), new Class<?>[] {RunStore.class}, this);
  }

  synchronized int writes() {
    return writes;
  }

  synchronized boolean isHalted() {
    return halted;
  }

  /** What the database finds out when the process is gone: its runs have no owner any more. */
  void bury() {
    owned.forEach((owner, run) -> survivor.release(run, owner));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
    return switch (method.getName()) {
      case "close" -> null;
      case "watch" -> call(method, arguments);
      default ->
          WRITES.contains(method.getName()) ? write(method, arguments) : read(method, arguments);
    };
  }

  private @Nullable Object read(Method method, Object[] arguments) throws Throwable {
    if (isHalted()) {
      throw new Halt();
    }
    return call(method, arguments);
  }

  private synchronized @Nullable Object write(Method method, Object[] arguments) throws Throwable {
    if (halted) {
      throw new Halt();
    }
    writes++;
    if (writes == fatalWrite && !afterIt) {
      halt();
    }
    @Nullable Object result = call(method, arguments);
    note(result, arguments);
    if (writes == fatalWrite) {
      halt();
    }
    return result;
  }

  private void halt() {
    halted = true;
    main.interrupt();
    throw new Halt();
  }

  private void note(@Nullable Object result, Object[] arguments) {
    switch (result) {
      case RunStore.Claim.Won(Writer owner) when arguments[0] instanceof NewRun run ->
          owned.put(owner, run.run());
      case Optional<?> found
          when found.orElse(null) instanceof Writer owner && arguments[0] instanceof RunKey run ->
          owned.put(owner, run);
      case DueRuns due -> due.taken().forEach(taken -> owned.put(taken.owner(), taken.run()));
      case null, default -> {}
    }
  }

  private @Nullable Object call(Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(survivor, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
