package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Invocation;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunEvent.RunTimedOut;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
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
 * Puts any number of items through an agent, one run an item.
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
 */
public final class Batch<T> {
  /** The key under which a run's metadata names its batch. */
  public static final String BATCH = "batch";

  /** The key under which a run's metadata names its item; tools read it from their context. */
  public static final String ITEM = "item";

  private static final int MAX_KEY = 128;
  private static final int MAX_RUN_KEY = 256;
  private static final int MAX_CONCURRENCY = 10_000;

  private final String key;
  private final Agent agent;
  private final Iterable<? extends T> items;
  private final Function<? super T, String> keyOf;
  private final Function<? super T, String> promptOf;
  private final Function<? super T, Map<String, String>> metadataOf;
  private final Function<? super T, Invocation> invocationOf;
  private final int maxConcurrency;
  private final RunScope scope;
  private final Consumer<? super BatchProgress> listener;

  private Batch(
      String key,
      Agent agent,
      Iterable<? extends T> items,
      Function<? super T, String> keyOf,
      Function<? super T, String> promptOf,
      Function<? super T, Map<String, String>> metadataOf,
      Function<? super T, Invocation> invocationOf,
      int maxConcurrency,
      RunScope scope,
      Consumer<? super BatchProgress> listener) {
    this.key = key;
    this.agent = agent;
    this.items = items;
    this.keyOf = keyOf;
    this.promptOf = promptOf;
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
  public static <T> Batch<T> of(
      String key,
      Agent agent,
      Iterable<? extends T> items,
      Function<? super T, String> keyOf,
      Function<? super T, String> promptOf) {
    if (key.isBlank() || key.length() > MAX_KEY) {
      throw invalid(
          "A batch's key must have 1 to %d characters and not be blank, but has %d."
              .formatted(MAX_KEY, key.length()));
    }
    return new Batch<>(
        key,
        Objects.requireNonNull(agent, "agent"),
        Objects.requireNonNull(items, "items"),
        Objects.requireNonNull(keyOf, "keyOf"),
        Objects.requireNonNull(promptOf, "promptOf"),
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
  public Batch<T> maxConcurrency(int runs) {
    if (runs < 1 || runs > MAX_CONCURRENCY) {
      throw invalid(
          "maxConcurrency must be between 1 and %d, but is %d.".formatted(MAX_CONCURRENCY, runs));
    }
    return new Batch<>(
        key, agent, items, keyOf, promptOf, metadataOf, invocationOf, runs, scope, listener);
  }

  /**
   * Notes facts about an item in its run, such as who it belongs to. Tools read them from their
   * context; a model cannot change them.
   *
   * @param metadata the notes of an item, called on the item's own thread; {@value #BATCH} and
   *     {@value #ITEM} are set besides
   * @return a copy
   */
  public Batch<T> metadata(Function<? super T, Map<String, String>> metadata) {
    return new Batch<>(
        key,
        agent,
        items,
        keyOf,
        promptOf,
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
  public Batch<T> invocation(Function<? super T, Invocation> invocation) {
    return new Batch<>(
        key,
        agent,
        items,
        keyOf,
        promptOf,
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
  public Batch<T> scope(RunScope scope) {
    return new Batch<>(
        key,
        agent,
        items,
        keyOf,
        promptOf,
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
  public Batch<T> onProgress(Consumer<? super BatchProgress> listener) {
    return new Batch<>(
        key,
        agent,
        items,
        keyOf,
        promptOf,
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
   * @param agents drives the runs
   * @return what became of each item
   * @throws InvalidRequestException if two items have the same key or a key is blank; no run was
   *     started
   */
  public BatchReport run(Agents agents) {
    int size = requireDistinctKeys();
    TaskTree tree = agents.tasks();
    try (TaskScope running = tree.open("batch", "batch " + key, Deadline.never())) {
      return new Drive(agents, running, tree.time(), size).run(items.iterator());
    }
  }

  /**
   * Queues the runs of the items that have none yet, for whoever drives the agent's runs on the
   * same store: a {@link dev.warpwright.run.Worker} of this or other processes. Blocks until each
   * is queued durably; a batch that died meanwhile is simply queued again. The items' {@link
   * #invocation} is not used, since the driver has its own.
   *
   * <p>An interrupt of the calling thread stops it; the interrupt flag is set again.
   *
   * @param agents on the store
   * @return the runs of the items in their order, queued now or earlier; fewer if it was
   *     interrupted
   * @throws InvalidRequestException if two items have the same key or a key is blank; nothing was
   *     queued
   * @throws WarpwrightException if an item could not be queued; others may be
   */
  public List<RunKey> enqueue(Agents agents) {
    List<RunKey> queued = new ArrayList<>(requireDistinctKeys());
    List<Task<RunKey>> inFlight = new ArrayList<>();
    try (TaskScope queueing = agents.tasks().open("batch", "queue batch " + key)) {
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
                  () -> agents.enqueue(request(itemKey, item).build())));
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

  private AgentRequest.Builder request(String itemKey, T item) {
    Map<String, String> metadata = new HashMap<>(metadataOf.apply(item));
    metadata.put(BATCH, key);
    metadata.put(ITEM, itemKey);
    return AgentRequest.builder(agent, promptOf.apply(item))
        .scope(scope)
        .idempotencyKey(runKey(key, itemKey))
        .metadata(metadata);
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
    private final Agents agents;
    private final TaskScope running;
    private final TimeSource time;
    private final int size;
    private final long startNanos;
    private final Map<Task<?>, InFlight> inFlight = new HashMap<>();
    private final List<BatchItem> through = new ArrayList<>();
    private final Map<BatchItem.Outcome, Integer> counts = new EnumMap<>(BatchItem.Outcome.class);
    private Usage usage = Usage.ABSENT;
    private boolean stopped;

    Drive(Agents agents, TaskScope running, TimeSource time, int size) {
      this.agents = agents;
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
        AgentResult result =
            agents.run(request(itemKey, item).invocation(invocationOf.apply(item)).build());
        return Optional.of(item(itemKey, result, since(begin)));
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
                count(BatchItem.Outcome.WAITING_APPROVAL)
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

  private static BatchItem item(String itemKey, AgentResult result, Duration duration) {
    Optional<RunFailed> failure = result.state().failure();
    boolean cancelled = result.status() == RunStatus.CANCELLED;
    Optional<RunTimedOut> timeout = result.state().timeout();
    return new BatchItem(
        itemKey,
        outcome(result),
        Optional.of(result.run()),
        cancelled
            ? Optional.of(FailureKind.CANCELLED)
            : failure.map(RunFailed::kind).or(() -> timeout.map(end -> FailureKind.DEADLINE)),
        cancelled
            ? Optional.of("The run was cancelled.")
            : failure.map(RunFailed::message).or(() -> timeout.map(Batch::message)),
        result.state().totalUsage(),
        work(result),
        duration);
  }

  private static String message(RunTimedOut end) {
    return "The run ran into the timeout of its policy, " + end.limit() + ", and has ended.";
  }

  private static BatchItem.Outcome outcome(AgentResult result) {
    return switch (result.status()) {
      case COMPLETED -> result.driven() ? BatchItem.Outcome.COMPLETED : BatchItem.Outcome.SKIPPED;
      case WAITING_APPROVAL -> BatchItem.Outcome.WAITING_APPROVAL;
      case NEEDS_RECONCILIATION, WAITING -> BatchItem.Outcome.NEEDS_RECONCILIATION;
      case QUEUED, FAILED, RUNNING, CANCEL_REQUESTED, CANCELLED, TIMED_OUT ->
          BatchItem.Outcome.FAILED;
    };
  }

  private static BatchItem.Work work(AgentResult result) {
    int dispatches = 0;
    int retries = 0;
    int fallbacks = 0;
    Optional<Attempt> before = Optional.empty();
    for (Attempt attempt : result.attempts()) {
      if (!attempt.dispatched()) {
        continue;
      }
      dispatches++;
      boolean sameStep = before.filter(last -> last.step() == attempt.step()).isPresent();
      if (attempt.retry() > 0) {
        retries++;
      } else if (sameStep) {
        fallbacks++;
      }
      before = Optional.of(attempt);
    }
    return new BatchItem.Work(dispatches, retries, fallbacks, result.toolCalls());
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
