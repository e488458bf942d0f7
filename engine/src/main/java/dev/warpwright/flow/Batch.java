package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Invocation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Standing;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.Task;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Puts any number of items through an agent or a flow, one run an item.
 *
 * {@snippet :
 * BatchReport report =
 *     Batch.of("tickets-2026-11-29", triage, tickets, Ticket::id, Ticket::text)
 *         .maxConcurrency(16)
 *         .run(agents);
 * }
 *
 * <p>The run of an item is claimed under the batch's key and the item's key. So a batch that died
 * is simply run again: items whose run has completed are skipped, runs that were left behind or
 * failed resumably are resumed, waiting ones are left waiting. The failure of an item does not stop
 * the others. Immutable; {@link #run} may be called any number of times, one after the other.
 *
 * @param <T> an item
 * @param <R> what runs it: {@link Agents} or {@link Flows}
 */
public final class Batch<T, R> {
  /** The key under which a run's metadata names its batch. */
  public static final String BATCH = "batch";

  /** The key under which a run's metadata names its item; tools read it from their context. */
  public static final String ITEM = "item";

  private static final int MAX_KEY = 128;
  private static final int MAX_RUN_KEY = 256;
  private static final int MAX_CONCURRENCY = 10_000;

  private final String key;
  private final BatchWork<T, R> work;
  private final Iterable<? extends T> items;
  private final Function<? super T, String> keyOf;
  private final Function<? super T, Map<String, String>> metadataOf;
  private final Function<? super T, Invocation> invocationOf;
  private final int maxConcurrency;
  private final RunScope scope;
  private final Consumer<? super BatchProgress> listener;

  private Batch(
      String key,
      BatchWork<T, R> work,
      Iterable<? extends T> items,
      Function<? super T, String> keyOf,
      Function<? super T, Map<String, String>> metadataOf,
      Function<? super T, Invocation> invocationOf,
      int maxConcurrency,
      RunScope scope,
      Consumer<? super BatchProgress> listener) {
    this.key = key;
    this.work = work;
    this.items = items;
    this.keyOf = keyOf;
    this.metadataOf = metadataOf;
    this.invocationOf = invocationOf;
    this.maxConcurrency = maxConcurrency;
    this.scope = scope;
    this.listener = listener;
  }

  /**
   * A batch that puts items through an agent, eight at a time.
   *
   * @param <T> an item
   * @param key the batch's lasting key, 1 to 128 characters; the same key means the same batch
   * @param agent the agent
   * @param items the items; read twice for each run, first for their keys alone, and never held all
   *     at once
   * @param keyOf the key of an item, not blank and unique in the batch; with the batch's key it has
   *     at most 255 characters
   * @param promptOf what the agent is asked for an item; called on the item's own thread
   * @return the batch
   */
  public static <T> Batch<T, Agents> of(
      String key,
      Agent agent,
      Iterable<? extends T> items,
      Function<? super T, String> keyOf,
      Function<? super T, String> promptOf) {
    return of(key, new BatchWork.OfAgent<>(agent, promptOf), items, keyOf);
  }

  /**
   * A batch that puts items through a flow, eight at a time.
   *
   * @param <T> an item
   * @param <I> what the flow is given
   * @param key the batch's lasting key, 1 to 128 characters; the same key means the same batch
   * @param flow the flow
   * @param items the items; read twice for each run, first for their keys alone, and never held all
   *     at once
   * @param keyOf the key of an item, not blank and unique in the batch; with the batch's key it has
   *     at most 255 characters
   * @param inputOf what the flow is given for an item; called on the item's own thread
   * @return the batch
   */
  public static <T, I> Batch<T, Flows> of(
      String key,
      Flow<I, ?> flow,
      Iterable<? extends T> items,
      Function<? super T, String> keyOf,
      Function<? super T, ? extends I> inputOf) {
    return of(key, new BatchWork.OfFlow<>(flow, inputOf), items, keyOf);
  }

  private static <T, R> Batch<T, R> of(
      String key,
      BatchWork<T, R> work,
      Iterable<? extends T> items,
      Function<? super T, String> keyOf) {
    if (key.isBlank() || key.length() > MAX_KEY) {
      throw invalid(
          "A batch's key must have 1 to %d characters and not be blank, but has %d."
              .formatted(MAX_KEY, key.length()));
    }
    return new Batch<>(
        key,
        work,
        Objects.requireNonNull(items, "items"),
        Objects.requireNonNull(keyOf, "keyOf"),
        item -> Map.of(),
        item -> Invocation.DEFAULT,
        8,
        RunScope.DEFAULT,
        progress -> {});
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
  }

  /**
   * Limits how many items are worked on at the same time.
   *
   * @param runs 1 to 10 000; 8 by default
   * @return a copy
   */
  public Batch<T, R> maxConcurrency(int runs) {
    if (runs < 1 || runs > MAX_CONCURRENCY) {
      throw invalid(
          "maxConcurrency must be between 1 and %d, but is %d.".formatted(MAX_CONCURRENCY, runs));
    }
    return new Batch<>(
        key, work, items, keyOf, metadataOf, invocationOf, runs, scope, listener);
  }

  /**
   * Notes facts about an item in its run, such as who it belongs to. Tools read them from their
   * context; a model cannot change them.
   *
   * @param metadata the notes of an item, called on the item's own thread; {@value #BATCH} and
   *     {@value #ITEM} are set besides
   * @return a copy
   */
  public Batch<T, R> metadata(Function<? super T, Map<String, String>> metadata) {
    return new Batch<>(
        key,
        work,
        items,
        keyOf,
        metadata,
        invocationOf,
        maxConcurrency,
        scope,
        listener);
  }

  /**
   * Sets what belongs to the invocation of an item and not to its run, such as who pays for it.
   *
   * <p>A handle in it cancels that item alone, which counts as failed and can be resumed; the batch
   * as a whole is stopped by an interrupt of its thread.
   *
   * @param invocation the options of an item, called on the item's own thread; {@link
   *     Invocation#DEFAULT} by default
   * @return a copy
   */
  public Batch<T, R> invocation(Function<? super T, Invocation> invocation) {
    return new Batch<>(
        key,
        work,
        items,
        keyOf,
        metadataOf,
        invocation,
        maxConcurrency,
        scope,
        listener);
  }

  /**
   * Says whose runs they are.
   *
   * @param scope {@link RunScope#DEFAULT} by default
   * @return a copy
   */
  public Batch<T, R> scope(RunScope scope) {
    return new Batch<>(
        key,
        work,
        items,
        keyOf,
        metadataOf,
        invocationOf,
        maxConcurrency,
        scope,
        listener);
  }

  /**
   * Sets who is told how far the batch is, after each item begins or ends.
   *
   * @param listener called by the thread that runs the batch, in order; it must not block, and what
   *     it throws is ignored
   * @return a copy
   */
  public Batch<T, R> onProgress(Consumer<? super BatchProgress> listener) {
    return new Batch<>(
        key,
        work,
        items,
        keyOf,
        metadataOf,
        invocationOf,
        maxConcurrency,
        scope,
        listener);
  }

  /**
   * Runs the batch and blocks until every item is through.
   *
   * <p>An interrupt of the calling thread stops it: nothing new begins, running items are cancelled
   * and stay resumable, and the report says so; the interrupt flag is set again.
   *
   * @param on drives the runs
   * @return what became of each item
   * @throws InvalidRequestException if two items have the same key or a key is blank; no run was
   *     started
   */
  public BatchReport run(R on) {
    int size = requireDistinctKeys();
    TaskTree tree = work.tasks(on);
    try (TaskScope running = tree.open("batch", "batch " + key, Deadline.never())) {
      return new Drive(on, running, tree.time(), size).run(items.iterator());
    }
  }

  /**
   * Queues the runs of the items that have none yet, for whoever drives such runs on the same
   * store: a {@link dev.warpwright.run.Worker} of this or other processes. Blocks until each
   * is queued durably; a batch that died meanwhile is simply queued again. The items' {@link
   * #invocation} is not used, since the driver has its own.
   *
   * <p>An interrupt of the calling thread stops it; the interrupt flag is set again.
   *
   * @param on the store
   * @return the runs of the items in their order, queued now or earlier; fewer if it was
   *     interrupted
   * @throws InvalidRequestException if two items have the same key or a key is blank; nothing was
   *     queued
   * @throws WarpwrightException if an item could not be queued; others may be
   */
  public List<RunKey> enqueue(R on) {
    List<RunKey> queued = new ArrayList<>(requireDistinctKeys());
    List<Task<RunKey>> inFlight = new ArrayList<>();
    try (TaskScope queueing = work.tasks(on).open("batch", "queue batch " + key)) {
      Iterator<? extends T> source = items.iterator();
      while (source.hasNext() && !queueing.isCancelled()) {
        while (source.hasNext() && inFlight.size() < maxConcurrency) {
          T item = source.next();
          String itemKey = keyOf.apply(item);
          inFlight.add(
              queueing.fork(
                  "item",
                  "item " + itemKey,
                  Deadline.never(),
                  () -> work.enqueue(on, item, claim(itemKey, item))));
        }
        queueing.join();
        inFlight.forEach(task -> queued(task).ifPresent(queued::add));
        inFlight.clear();
      }
    }
    return queued;
  }

  /** The run of an item that was queued; empty if that was cut off. */
  private static Optional<RunKey> queued(Task<RunKey> task) {
    return switch (task.outcome()) {
      case Outcome.Success<RunKey>(RunKey run) -> Optional.of(run);
      case Outcome.Failure<RunKey>(RuntimeException failed) -> throw failed;
      case Outcome.Failure<RunKey>(Error failed) -> throw failed;
      case Outcome.Failure<RunKey>(Throwable failed) -> throw new IllegalStateException(failed);
      case Outcome.Cancelled<RunKey> cutOff -> Optional.empty();
      case Outcome.TimedOut<RunKey> cutOff -> Optional.empty();
    };
  }

  private BatchWork.Claim claim(String itemKey, T item) {
    Map<String, String> metadata = new HashMap<>(metadataOf.apply(item));
    metadata.put(BATCH, key);
    metadata.put(ITEM, itemKey);
    return new BatchWork.Claim(scope, runKey(key, itemKey), metadata);
  }

  private int requireDistinctKeys() {
    Set<String> keys = new HashSet<>();
    for (T item : items) {
      String itemKey = keyOf.apply(item);
      if (itemKey == null || itemKey.isBlank()) {
        throw invalid("The key of item %d is null or blank.".formatted(keys.size() + 1));
      }
      if (!keys.add(itemKey)) {
        throw invalid("Two items of the batch have the key \"%s\".".formatted(itemKey));
      }
    }
    return keys.size();
  }

  /** An item under way. */
  private record InFlight(String itemKey, Task<Optional<BatchItem>> task) {}

  /** One run of the batch; confined to the calling thread. */
  private final class Drive {
    private final R on;
    private final TaskScope running;
    private final TimeSource time;
    private final int size;
    private final long startNanos;
    private final Map<Task<?>, InFlight> inFlight = new HashMap<>();
    private final List<BatchItem> through = new ArrayList<>();
    private final Map<BatchItem.Outcome, Integer> counts = new EnumMap<>(BatchItem.Outcome.class);
    private Usage usage = Usage.ABSENT;
    private boolean stopped;

    Drive(R on, TaskScope running, TimeSource time, int size) {
      this.on = on;
      this.running = running;
      this.time = time;
      this.size = size;
      this.startNanos = time.nanoTime();
    }

    BatchReport run(Iterator<? extends T> source) {
      while (source.hasNext() || !inFlight.isEmpty()) {
        while (source.hasNext() && inFlight.size() < maxConcurrency && !isStopped()) {
          begin(source.next());
        }
        if (inFlight.isEmpty()) {
          break;
        }
        collect(Objects.requireNonNull(inFlight.remove(running.joinNext().orElseThrow())));
      }
      boolean cutShort = isStopped() && through.size() < size;
      return new BatchReport(
          size, through, cutShort, Duration.ofNanos(time.nanoTime() - startNanos));
    }

    private boolean isStopped() {
      return stopped || running.isCancelled();
    }

    private void begin(T item) {
      String itemKey = keyOf.apply(item);
      Task<Optional<BatchItem>> task =
          running.fork("item", "item " + itemKey, Deadline.never(), () -> process(itemKey, item));
      inFlight.put(task, new InFlight(itemKey, task));
      tell();
    }

    /** On the item's own thread; empty if it was cut off. */
    private Optional<BatchItem> process(String itemKey, T item) {
      long begin = time.nanoTime();
      try {
        BatchWork.Ended ended =
            work.run(on, item, claim(itemKey, item), invocationOf.apply(item));
        return Optional.of(item(itemKey, ended, since(begin)));
      } catch (OperationCancelledException e) {
        return running.isCancelled() || Thread.currentThread().isInterrupted()
            ? Optional.empty()
            : Optional.of(cancelled(itemKey, e, since(begin)));
      } catch (WarpwrightException e) {
        return Optional.of(failed(itemKey, e.kind(), String.valueOf(e.getMessage()), since(begin)));
      }
    }

    private Duration since(long begin) {
      return Duration.ofNanos(time.nanoTime() - begin);
    }

    private void collect(InFlight ended) {
      switch (ended.task().outcome()) {
        case Outcome.Success<Optional<BatchItem>>(Optional<BatchItem> item) -> {
          stopped |= item.isEmpty();
          item.ifPresent(this::add);
        }
        // An error too: what an item throws is a failure of that item.
        case Outcome.Failure<Optional<BatchItem>>(Throwable cause) ->
            add(
                failed(
                    ended.itemKey(),
                    FailureKind.INTERNAL,
                    "Unexpected " + cause.getClass().getName() + ".",
                    Duration.ZERO));
        case Outcome.TimedOut<Optional<BatchItem>> timedOut -> stopped = true;
        case Outcome.Cancelled<Optional<BatchItem>> cancelled -> stopped = true;
      }
      tell();
    }

    private void add(BatchItem item) {
      through.add(item);
      counts.merge(item.outcome(), 1, Integer::sum);
      usage = usage.plus(item.usage());
    }

    private void tell() {
      try {
        listener.accept(
            new BatchProgress(
                size,
                inFlight.size(),
                count(BatchItem.Outcome.COMPLETED),
                count(BatchItem.Outcome.WAITING)
                    + count(BatchItem.Outcome.WAITING_APPROVAL)
                    + count(BatchItem.Outcome.NEEDS_RECONCILIATION),
                count(BatchItem.Outcome.FAILED),
                count(BatchItem.Outcome.SKIPPED),
                usage));
      } catch (RuntimeException | Error e) {
        // Told best effort: a listener's failure is its own.
      }
    }

    private int count(BatchItem.Outcome outcome) {
      return counts.getOrDefault(outcome, 0);
    }
  }

  /** Batch key and item key, joined so that no two pairs give the same. */
  private static String runKey(String batchKey, String itemKey) {
    String joined = batchKey.replace("%", "%25").replace(":", "%3A") + ":" + itemKey;
    if (joined.length() > MAX_RUN_KEY) {
      throw invalid(
          "The batch's key and the item's key have %d characters together, more than %d."
              .formatted(joined.length() - 1, MAX_RUN_KEY - 1));
    }
    return joined;
  }

  private static BatchItem item(String itemKey, BatchWork.Ended ended, Duration duration) {
    RunState state = ended.state();
    Optional<RunFailed> failure = state.failure();
    boolean cancelled = state.status() == RunStatus.CANCELLED;
    Optional<RunTimedOut> timeout = state.timeout();
    return new BatchItem(
        itemKey,
        outcome(ended),
        Optional.of(state.run()),
        cancelled
            ? Optional.of(FailureKind.CANCELLED)
            : failure.map(RunFailed::kind).or(() -> timeout.map(end -> FailureKind.DEADLINE)),
        cancelled
            ? Optional.of("The run was cancelled.")
            : failure.map(RunFailed::message).or(() -> timeout.map(Batch::message)),
        state.totalUsage(),
        ended.work(),
        duration);
  }

  private static String message(RunTimedOut end) {
    return "The run ran into the timeout of its policy, " + end.limit() + ", and has ended.";
  }

  private static BatchItem.Outcome outcome(BatchWork.Ended ended) {
    return switch (ended.state().status()) {
      case COMPLETED -> ended.driven() ? BatchItem.Outcome.COMPLETED : BatchItem.Outcome.SKIPPED;
      case WAITING_APPROVAL -> BatchItem.Outcome.WAITING_APPROVAL;
      case NEEDS_RECONCILIATION -> BatchItem.Outcome.NEEDS_RECONCILIATION;
      case WAITING ->
          awaitsNobody(ended.state().standing())
              ? BatchItem.Outcome.NEEDS_RECONCILIATION // of a child run
              : BatchItem.Outcome.WAITING;
      case QUEUED, FAILED, RUNNING, CANCEL_REQUESTED, CANCELLED, TIMED_OUT ->
          BatchItem.Outcome.FAILED;
    };
  }

  private static boolean awaitsNobody(Standing standing) {
    return standing.due().isEmpty() && standing.signals().isEmpty();
  }

  /** An item that its own handle cut off. */
  private BatchItem cancelled(
      String itemKey, OperationCancelledException thrown, Duration duration) {
    return new BatchItem(
        itemKey,
        BatchItem.Outcome.FAILED,
        thrown.trace().runId().map(runId -> new RunKey(scope, runId)),
        Optional.of(thrown.kind()),
        Optional.of(String.valueOf(thrown.getMessage())),
        Usage.ABSENT,
        BatchItem.Work.NONE,
        duration);
  }

  private static BatchItem failed(
      String itemKey, FailureKind kind, String message, Duration duration) {
    return new BatchItem(
        itemKey,
        BatchItem.Outcome.FAILED,
        Optional.<RunKey>empty(),
        Optional.of(kind),
        Optional.of(message),
        Usage.ABSENT,
        BatchItem.Work.NONE,
        duration);
  }
}
