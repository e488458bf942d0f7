package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Invocation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.RunEvent.CancelRequested;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.Runs;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Outcome;
import dev.warpwright.task.Task;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import java.time.Duration;
import java.time.Instant;
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
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
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

  private static final String CANCELLED = "its batch was cancelled";
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
  private final FailurePolicy failures;
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
      FailurePolicy failures,
      Consumer<? super BatchProgress> listener) {
    this.key = key;
    this.work = work;
    this.items = items;
    this.keyOf = keyOf;
    this.metadataOf = metadataOf;
    this.invocationOf = invocationOf;
    this.maxConcurrency = maxConcurrency;
    this.scope = scope;
    this.failures = failures;
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
        FailurePolicy.CONTINUE,
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
        key, work, items, keyOf, metadataOf, invocationOf, runs, scope, failures, listener);
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
        key, work, items, keyOf, metadata, invocationOf, maxConcurrency, scope, failures, listener);
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
        key, work, items, keyOf, metadataOf, invocation, maxConcurrency, scope, failures, listener);
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
        failures,
        listener);
  }

  /**
   * Says what the failures of items mean for the others. Only failures that happen in this run of
   * the batch count, not those that it finds.
   *
   * @param policy {@link FailurePolicy#CONTINUE} by default
   * @return a copy
   */
  public Batch<T, R> onFailure(FailurePolicy policy) {
    return new Batch<>(
        key,
        work,
        items,
        keyOf,
        metadataOf,
        invocationOf,
        maxConcurrency,
        scope,
        Objects.requireNonNull(policy, "policy"),
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
        failures,
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
   * store: a {@link dev.warpwright.run.Worker} of this or other processes. Blocks until each is
   * queued durably; a batch that died meanwhile is simply queued again. The items' {@link
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

  /**
   * What became of the items, as the store has it: nothing is driven. It is what {@link #run} gave
   * or would give, but for what that says of itself: items that a run of the batch has skipped are
   * COMPLETED here, and the work is that of all runs of the batch. Items without a run are left
   * out, as are those that are queued, under way, or were cut off and can be gone on with.
   *
   * @param on the store
   * @return the report
   * @throws InvalidRequestException if two items have the same key or a key is blank
   */
  public BatchReport report(R on) {
    int size = requireDistinctKeys();
    List<BatchItem> through = new ArrayList<>();
    Optional<Instant> first = Optional.empty();
    Optional<Instant> last = Optional.empty();
    for (T item : items) {
      String itemKey = keyOf.apply(item);
      try {
        Optional<BatchWork.Ended> found =
            work.find(on, item, claim(itemKey, item)).filter(run -> isThrough(run.state()));
        if (found.isPresent()) {
          RunState state = found.get().state();
          through.add(item(itemKey, found.get()));
          first = Optional.of(min(state.startedAt(), first.orElse(state.startedAt())));
          last = Optional.of(max(state.updatedAt(), last.orElse(state.updatedAt())));
        }
      } catch (WarpwrightException e) {
        through.add(failed(itemKey, e));
      }
    }
    return new BatchReport(
        size,
        through,
        through.size() < size,
        first.isEmpty() ? Duration.ZERO : Duration.between(first.get(), last.orElseThrow()));
  }

  private static Instant min(Instant one, Instant other) {
    return one.isBefore(other) ? one : other;
  }

  private static Instant max(Instant one, Instant other) {
    return one.isAfter(other) ? one : other;
  }

  /** Whether a run of the batch has nothing more to do with an item's run for now. */
  private static boolean isThrough(RunState state) {
    return switch (state.status()) {
      case QUEUED, RUNNING, CANCEL_REQUESTED -> false;
      case FAILED -> state.isTerminal() || kind(state) != FailureKind.CANCELLED;
      default -> true;
    };
  }

  private static FailureKind kind(RunState failed) {
    return failed.failure().orElseThrow().kind();
  }

  /**
   * Cancels the batch, from whatever process with the store: the runs of its items that have begun
   * and not ended are cancelled for good, also those that wait. What has ended stays. A {@link
   * #run} that is under way begins no more items as soon as one of its own was cancelled so.
   *
   * @param on the store
   * @return how many runs were cancelled, or were asked to cancel by their driver
   * @throws InvalidRequestException if two items have the same key or a key is blank
   * @throws WarpwrightException if a run could not be cancelled, the first one; the others are
   */
  public int cancel(R on) {
    var _ = requireDistinctKeys();
    Runs runs = work.runs(on);
    int cancelled = 0;
    Optional<WarpwrightException> failure = Optional.empty();
    for (T item : items) {
      try {
        cancelled += cancel(on, runs, item) ? 1 : 0;
      } catch (WarpwrightException e) {
        failure = failure.or(() -> Optional.of(e));
      }
    }
    if (failure.isPresent()) {
      throw failure.get();
    }
    return cancelled;
  }

  private boolean cancel(R on, Runs runs, T item) {
    Optional<RunKey> run = runs.find(scope, runKey(key, keyOf.apply(item)));
    if (run.flatMap(runs::state).filter(state -> !state.isTerminal()).isEmpty()) {
      return false;
    }
    if (runs.cancel(run.get(), CANCELLED).status() == RunStatus.CANCEL_REQUESTED) {
      work.endCancelled(on, run.get());
    }
    return true;
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
  private record InFlight(int index, String itemKey, Task<Optional<BatchItem>> task) {}

  /** One run of the batch; confined to the calling thread. */
  private final class Drive {
    private final R on;
    private final TaskScope running;
    private final TimeSource time;
    private final int size;
    private final long startNanos;
    private final Map<Task<?>, InFlight> inFlight = new HashMap<>();
    private final Map<Integer, BatchItem> through = new TreeMap<>(); // by place in the batch
    private final Map<BatchItem.Outcome, Integer> counts = new EnumMap<>(BatchItem.Outcome.class);
    private final AtomicInteger failed = new AtomicInteger(); // in this run of the batch
    private Usage usage = Usage.ABSENT;
    private BatchCost cost = BatchCost.NONE;
    private int begun;
    private volatile boolean stopped; // set by items too

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
          size,
          List.copyOf(through.values()),
          cutShort,
          Duration.ofNanos(time.nanoTime() - startNanos));
    }

    private boolean isStopped() {
      return stopped || running.isCancelled();
    }

    private void begin(T item) {
      String itemKey = keyOf.apply(item);
      Task<Optional<BatchItem>> task =
          running.fork("item", "item " + itemKey, Deadline.never(), () -> process(itemKey, item));
      inFlight.put(task, new InFlight(begun++, itemKey, task));
      tell();
    }

    /** On the item's own thread; empty if it was cut off. */
    private Optional<BatchItem> process(String itemKey, T item) {
      try {
        BatchWork.Ended ended = work.run(on, item, claim(itemKey, item), invocationOf.apply(item));
        boolean batchCancelled =
            ended.state().cancellation().flatMap(CancelRequested::reason).stream()
                .anyMatch(CANCELLED::equals);
        if (ended.driven() && batchCancelled) {
          stopped = true;
        }
        BatchItem through = item(itemKey, ended);
        if (ended.driven() && through.outcome() == BatchItem.Outcome.FAILED) {
          failed.incrementAndGet();
        }
        return Optional.of(through);
      } catch (OperationCancelledException e) {
        if (running.isCancelled() || Thread.currentThread().isInterrupted()) {
          return Optional.empty();
        }
        failed.incrementAndGet();
        return Optional.of(cancelled(itemKey, e));
      } catch (WarpwrightException e) {
        failed.incrementAndGet();
        return Optional.of(failed(itemKey, e));
      }
    }

    private void collect(InFlight ended) {
      switch (ended.task().outcome()) {
        case Outcome.Success<Optional<BatchItem>>(Optional<BatchItem> item) -> {
          if (item.isEmpty()) {
            stopped = true;
          }
          item.ifPresent(through -> add(ended.index(), through));
        }
        // An error too: what an item throws is a failure of that item.
        case Outcome.Failure<Optional<BatchItem>>(Throwable cause) -> {
          failed.incrementAndGet();
          add(
              ended.index(),
              failed(
                  ended.itemKey(),
                  FailureKind.INTERNAL,
                  "Unexpected " + cause.getClass().getName() + "."));
        }
        case Outcome.TimedOut<Optional<BatchItem>> timedOut -> stopped = true;
        case Outcome.Cancelled<Optional<BatchItem>> cancelled -> stopped = true;
      }
      tell();
    }

    private void add(int index, BatchItem item) {
      through.put(index, item);
      counts.merge(item.outcome(), 1, Integer::sum);
      usage = usage.plus(item.usage());
      cost = cost.plus(item);
      if (item.failure().filter(FailureKind.BUDGET_DENIED::equals).isPresent()) {
        stopped = true; // the next one would be denied too
      }
      switch (failures.after(failed.get(), size)) {
        case CONTINUE -> {}
        case STOP_STARTING -> stopped = true;
        case CANCEL_ALL -> {
          stopped = true;
          running.cancel("too many items of the batch have failed");
        }
      }
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
                usage,
                cost));
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

  private static BatchItem item(String itemKey, BatchWork.Ended ended) {
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
        state.totalCost(),
        ended.work(),
        Duration.between(state.startedAt(), state.updatedAt()));
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
          ended.state().standing().awaitsNobody()
              ? BatchItem.Outcome.NEEDS_RECONCILIATION // of a child run
              : BatchItem.Outcome.WAITING;
      case QUEUED, FAILED, RUNNING, CANCEL_REQUESTED, CANCELLED, TIMED_OUT ->
          BatchItem.Outcome.FAILED;
    };
  }

  /** An item that its own handle cut off. */
  private BatchItem cancelled(String itemKey, OperationCancelledException thrown) {
    return new BatchItem(
        itemKey,
        BatchItem.Outcome.FAILED,
        thrown.trace().runId().map(runId -> new RunKey(scope, runId)),
        Optional.of(thrown.kind()),
        Optional.of(String.valueOf(thrown.getMessage())),
        Usage.ABSENT,
        Optional.empty(),
        BatchItem.Work.NONE,
        Duration.ZERO);
  }

  private static BatchItem failed(String itemKey, WarpwrightException thrown) {
    return failed(itemKey, thrown.kind(), String.valueOf(thrown.getMessage()));
  }

  private static BatchItem failed(String itemKey, FailureKind kind, String message) {
    return new BatchItem(
        itemKey,
        BatchItem.Outcome.FAILED,
        Optional.<RunKey>empty(),
        Optional.of(kind),
        Optional.of(message),
        Usage.ABSENT,
        Optional.empty(),
        BatchItem.Work.NONE,
        Duration.ZERO);
  }
}
