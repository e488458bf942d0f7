package dev.warpwright;

import dev.warpwright.control.AdmissionController;
import dev.warpwright.control.BudgetStore;
import dev.warpwright.control.CachePolicy;
import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.ReservationRule;
import dev.warpwright.control.RetryPolicy;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.cost.CostAccounting;
import dev.warpwright.cost.ModelCatalog;
import dev.warpwright.cost.PriceList;
import dev.warpwright.effect.Effects;
import dev.warpwright.model.BudgetDeniedException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Money;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.PortableHistory;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.route.AdaptivePolicy;
import dev.warpwright.route.AffinityPolicy;
import dev.warpwright.route.AffinityTable;
import dev.warpwright.route.Deployment;
import dev.warpwright.route.RoutePlan;
import dev.warpwright.route.RoutePlanner;
import dev.warpwright.route.TargetScorer;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.Feed;
import dev.warpwright.task.TaskTree;
import dev.warpwright.task.TimeSource;
import dev.warpwright.tool.RunningKeys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Routes operations to models: tries the targets of a request in order, retries what may pass by
 * itself, and returns on time.
 *
 * {@snippet :
 * Gateway gateway =
 *     Gateway.builder()
 *         .adapter("openai", OpenAi.builder().fromEnvironment().build())
 *         .adapter("anthropic", Anthropic.builder().fromEnvironment().build())
 *         .defaultRoute(
 *             Route.of(Target.of("openai", "gpt-5"), Target.of("anthropic", "claude-sonnet-4-5")))
 *         .build();
 * String answer = gateway.generate("Why is the sky blue?").text();
 * }
 *
 * <p>Building one contacts nothing. It is thread-safe and meant to live as long as the program; its
 * methods block and may be called from any thread; what a platform thread calls may be done on a
 * virtual one, while it waits. An interrupt of the calling thread cancels the operation. No call of
 * a model, tool or rule keeps a caller waiting beyond its deadline and the {@link
 * Builder#abandonGrace grace}, but that of a model which {@linkplain
 * dev.warpwright.model.LanguageModel#honoursInterrupts declares} to honour interrupts and does not.
 */
public final class Gateway implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Gateway.class);

  private final Map<String, ProviderAdapter> adapters;
  private final Map<String, Deployment> deployments;
  private final Planning planning;
  private final Settings settings;
  private final TaskTree tree;
  private final Controls controls;
  private final Optional<Budget> budget;
  private final DetachedWork settlements;
  private final Optional<CachedCalls> cache;
  private final Observers observers;
  private final Optional<Route> defaultRoute;
  private final RunningKeys runningKeys = new RunningKeys();
  private final Lifecycle lifecycle = new Lifecycle();
  private final Runnable onEnd = this::ended; // of each operation

  private Gateway(Builder builder) {
    this.adapters = Map.copyOf(builder.adapters);
    this.deployments = Map.copyOf(builder.deployments);
    this.planning = builder.planning(adapters);
    this.settings = builder.settings();
    TaskTree.Builder tree =
        TaskTree.builder().time(builder.time).abandonGrace(builder.abandonGrace);
    builder.carried.forEach(tree::carry);
    this.tree = tree.build();
    this.settlements = new DetachedWork(this.tree, "flush of settlements");
    this.budget = builder.budget(settlements);
    ProviderCalls targets = builder.targets(budget);
    this.cache = builder.cache(targets, this.tree);
    this.controls = builder.controls(cache.isPresent() ? cache.get() : targets);
    this.observers = new Observers(this.tree, builder.observers());
    this.defaultRoute = Optional.ofNullable(builder.defaultRoute);
  }

  /** The numbers that operations go by. */
  record Settings(
      TimeSource time,
      RetryPolicy retry,
      int maxTotalAttempts,
      int maxFallbacks,
      Duration timeout,
      Duration attemptTimeout,
      Map<String, Duration> attemptTimeouts,
      Duration streamIdleTimeout,
      Map<String, Duration> streamIdleTimeouts,
      int streamBufferEvents,
      int streamBufferBytes) {
    /** A request may shorten the gateway's own timeout, never extend it. */
    Duration timeout(GenerateRequest request) {
      return request.timeout().filter(own -> own.compareTo(timeout) < 0).orElse(timeout);
    }

    Duration attemptTimeout(Target target) {
      return attemptTimeouts.getOrDefault(target.provider(), attemptTimeout);
    }

    Duration streamIdleTimeout(Target target) {
      return streamIdleTimeouts.getOrDefault(target.provider(), streamIdleTimeout);
    }
  }

  /**
   * Begins a gateway.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Asks the default route one thing.
   *
   * @param prompt what a user asks
   * @return the answer
   * @throws InvalidRequestException if the gateway has no default route
   * @throws dev.warpwright.model.WarpwrightException if there is no answer; see its subclasses
   */
  public GenerateResult generate(String prompt) {
    return generate(GenerateRequest.builder(prompt).build());
  }

  /**
   * Asks for a text: one model call or, with tools and {@code maxSteps}, a loop of model calls and
   * the tools that they ask for.
   *
   * @param request what is asked
   * @return the answer
   * @throws dev.warpwright.model.WarpwrightException if there is no answer; see its subclasses
   */
  public GenerateResult generate(GenerateRequest request) {
    requireMessages(request);
    return run("generate", plan(request), operation -> text(operation, request));
  }

  /**
   * Asks for a text and shows it while it comes: the same as {@link #generate(GenerateRequest)}, of
   * targets that can stream.
   *
   * <p>A bad request is refused here; every later failure is thrown by the stream. The response
   * cache is not asked.
   *
   * @param request what is asked
   * @return the stream, whose work has begun; the caller closes it
   * @throws InvalidRequestException if the request breaks a rule or a limit of this gateway, or the
   *     gateway is closed
   * @throws BudgetDeniedException if the gateway has a budget and the request no scope
   * @throws OperationCancelledException if the request's handle is cancelled already
   */
  public TextStream streamText(GenerateRequest request) {
    requireMessages(request);
    Feed<StreamEvent, GenerateResult> feed = feed(StreamEvent::weight);
    stream("streamText", plan(request, Optional.empty(), true), feed, op -> text(op, request));
    return new TextStream(feed);
  }

  private GenerateResult text(Operation operation, GenerateRequest request) {
    ToolLoop loop;
    try (operation) {
      loop = new ToolLoop(operation, request);
      loop.run();
      loop.showEnd();
    }
    return loop.result();
  }

  /**
   * Asks for an object: as {@link #generate(GenerateRequest)} does for a text, tools included, and
   * reads the final text as JSON of the request's schema.
   *
   * <p>An answer that is no such object is never asked for again, here or of another target; the
   * exception tells what to say to the model if the program asks again.
   *
   * @param <T> the type of the object
   * @param request what is asked, and the type of the object
   * @return the object, and all that is known of the answer
   * @throws dev.warpwright.model.NoEligibleTargetException if no target declares what the {@link
   *     ObjectMode mode} needs
   * @throws dev.warpwright.model.InvalidOutputException if the answer is no JSON, breaks the
   *     schema, was refused or was cut off: four distinct kinds
   * @throws dev.warpwright.model.LimitExceededException if the steps are used up and the model
   *     still asks for tools
   * @throws dev.warpwright.model.WarpwrightException if there is no answer; see its subclasses
   */
  public <T> ObjectResult<T> generateObject(ObjectRequest<T> request) {
    requireMessages(request.request());
    return run(
        "generateObject",
        plan(request.request(), Optional.of(request), false),
        operation -> object(operation, request));
  }

  /**
   * Asks for an object and shows it while it comes: the same as {@link #generateObject}, of targets
   * that can stream. As with {@link #streamText}, a bad request is refused here and every later
   * failure is thrown by the stream.
   *
   * @param <T> the type of the object
   * @param request what is asked, and the type of the object
   * @return the stream, whose work has begun; the caller closes it
   * @throws InvalidRequestException if the request breaks a rule or a limit of this gateway, or the
   *     gateway is closed
   * @throws BudgetDeniedException if the gateway has a budget and the request no scope
   * @throws OperationCancelledException if the request's handle is cancelled already
   */
  public <T> ObjectStream<T> streamObject(ObjectRequest<T> request) {
    requireMessages(request.request());
    Feed<StreamEvent, ObjectResult<T>> feed = feed(StreamEvent::weight);
    stream(
        "streamObject",
        plan(request.request(), Optional.of(request), true),
        feed,
        op -> object(op, request));
    return new ObjectStream<>(feed);
  }

  private <T> ObjectResult<T> object(Operation operation, ObjectRequest<T> request) {
    ToolLoop loop;
    T object;
    ObjectMode mode;
    try (operation) {
      loop = new ToolLoop(operation, request.request());
      loop.run();
      object = operation.readObject(loop.lastStep(), request.reader());
      operation.show(loop.lastStep().step(), new StreamEvent.ObjectComplete(object));
      loop.showEnd();
      mode = operation.objectMode(loop.lastStep().target());
    }
    return new ObjectResult<>(object, mode, loop.result());
  }

  /** Runs a planned operation; on a virtual thread if it starts tasks, whoever calls. */
  private <R> R run(String name, Planned planned, Function<Operation, R> work) {
    if (Thread.currentThread().isVirtual() || !startsTasks(planned)) {
      return work.apply(open(name, planned));
    }
    return tree.onVirtualThread(name, () -> work.apply(open(name, planned)));
  }

  /** Whether an operation is likely to run anything but models that need no thread of their own. */
  private boolean startsTasks(Planned planned) {
    return cache.isPresent()
        || observers.areAwaited()
        || (budget.isPresent() && budget.get().blocking())
        || planned.object().isPresent()
        || !planned.request().tools().specs().isEmpty()
        || needsThreads(planned.plan().candidates());
  }

  private static boolean needsThreads(List<RoutePlan.Candidate> candidates) {
    for (RoutePlan.Candidate candidate : candidates) {
      if (!Dispatch.honoursInterrupts(candidate)) {
        return true;
      }
    }
    return false;
  }

  /** Runs a planned operation of this gateway's own kinds as a stream. */
  private <R> void stream(
      String name, Planned planned, Feed<StreamEvent, R> feed, Function<Operation, R> work) {
    detach(name, planned, Outlet.of(feed, Function.identity()), feed, work);
  }

  /** Runs a planned operation on a thread of its own; the feed gets what comes of it. */
  private <R> void detach(
      String name,
      Planned planned,
      Outlet outlet,
      Feed<?, R> feed,
      Function<? super Operation, ? extends R> work) {
    boolean started = false;
    try {
      started =
          tree.detach(
              "stream", name, feed, () -> work.apply(open(name, planned, Optional.of(outlet))));
    } finally {
      if (!started) {
        ended();
      }
    }
    if (!started) {
      throw new IllegalStateException("The system has no thread left for a stream.");
    }
  }

  private static void requireMessages(GenerateRequest request) {
    if (request.messages().isEmpty()) {
      throw invalid("A request needs at least one message, but has none.");
    }
  }

  /**
   * Opens an operation whose loop the caller writes: {@link #generate} and agents are written on
   * it.
   *
   * <p>The operation belongs to the calling thread, which must close it.
   *
   * @param name what it is for, the first part of the names of its tasks
   * @param request what is asked; its messages are what the conversation begins with as far as the
   *     caller knows it: they are checked and planned with, and sent only by a step
   * @return the operation; its deadline runs from the moment when its targets are planned
   * @throws InvalidRequestException if the request breaks a limit of this gateway, its messages a
   *     rule of {@link PortableHistory}, or the gateway is closed
   */
  public Operation open(String name, GenerateRequest request) {
    return open(name, plan(request));
  }

  /**
   * Opens an operation inside another one, of which it is a part: a close of the gateway, which
   * waits for the other one, does not refuse it. Otherwise as {@link #open(String,
   * GenerateRequest)}; the other one's deadline and cancellation reach it.
   *
   * @param name what it is for, the first part of the names of its tasks
   * @param request what is asked
   * @param around the operation that the calling thread is in
   * @return the operation
   * @throws InvalidRequestException if the request breaks a limit of this gateway, or its messages
   *     a rule of {@link PortableHistory}
   */
  public Operation open(String name, GenerateRequest request, Operation around) {
    Objects.requireNonNull(around, "around");
    return open(name, plan(request, Optional.empty(), false, true));
  }

  /**
   * Opens an operation whose final answer must be an object; see {@link #open(String,
   * GenerateRequest)}.
   *
   * @param name what it is for, the first part of the names of its tasks
   * @param request what is asked, and the type of the object
   * @return the operation; {@link Operation#readObject} reads the object
   */
  public Operation open(String name, ObjectRequest<?> request) {
    return open(name, plan(request.request(), Optional.of(request), false, false));
  }

  /**
   * Opens an operation whose final answer must be an object inside another one; see {@link
   * #open(String, GenerateRequest, Operation)}.
   *
   * @param name what it is for, the first part of the names of its tasks
   * @param request what is asked, and the type of the object
   * @param around the operation that the calling thread is in
   * @return the operation
   */
  public Operation open(String name, ObjectRequest<?> request, Operation around) {
    Objects.requireNonNull(around, "around");
    return open(name, plan(request.request(), Optional.of(request), false, true));
  }

  /**
   * Makes a feed for {@link #stream}.
   *
   * @param <E> its elements
   * @param <R> its result
   * @param weigher about how many bytes an element takes
   * @return an empty feed that holds what a stream of this gateway may be ahead of its reader
   */
  public <E, R> Feed<E, R> feed(ToLongFunction<? super E> weigher) {
    return new Feed<>(settings.streamBufferEvents(), settings.streamBufferBytes(), weigher);
  }

  /**
   * Starts an operation whose answers are shown while they come, and whose loop the caller writes:
   * agents' streams are written on it. It runs on a thread of its own. Each {@link Operation#step
   * step} writes the pieces of its answer into the feed, in their order, and waits while the reader
   * is slow; the loop {@linkplain Operation#show(Feed.Writer, Object) writes} what else there is to
   * see. What it returns or throws is the end of the feed. If the reader wants no more, the
   * operation is cancelled.
   *
   * @param <E> the elements of the feed
   * @param <R> the result
   * @param name what it is for, the first part of the names of its tasks
   * @param request what is asked; its messages are what the conversation begins with as far as the
   *     caller knows it: they are checked and planned with, and sent only by a step
   * @param feed a feed without an end
   * @param asElement makes an element of an event
   * @param loop is given the operation, which belongs to its thread, and must close it; the
   *     deadline runs from the moment when the targets are planned, which is before this returns
   * @throws InvalidRequestException if the request breaks a limit of this gateway, its messages a
   *     rule of {@link PortableHistory}, or the gateway is closed; no thread was started
   */
  public <E, R> void stream(
      String name,
      GenerateRequest request,
      Feed<E, R> feed,
      Function<? super StreamEvent, ? extends E> asElement,
      Function<? super Operation, ? extends R> loop) {
    detach(name, plan(request, Optional.empty(), true), Outlet.of(feed, asElement), feed, loop);
  }

  /**
   * Starts an operation that is shown and whose final answer must be an object; see {@link
   * #stream(String, GenerateRequest, Feed, Function, Function)}.
   *
   * @param <E> the elements of the feed
   * @param <R> the result
   * @param name what it is for, the first part of the names of its tasks
   * @param request what is asked, and the type of the object
   * @param feed a feed without an end
   * @param asElement makes an element of an event
   * @param loop is given the operation, and must close it
   */
  public <E, R> void stream(
      String name,
      ObjectRequest<?> request,
      Feed<E, R> feed,
      Function<? super StreamEvent, ? extends E> asElement,
      Function<? super Operation, ? extends R> loop) {
    Planned planned = plan(request.request(), Optional.of(request), true);
    detach(name, planned, Outlet.of(feed, asElement), feed, loop);
  }

  /** A request whose targets are planned. Whoever has one opens the operation. */
  private record Planned(
      GenerateRequest request,
      Optional<ObjectRequest<?>> object,
      PortableHistory history,
      RoutePlan plan,
      Deadline deadline) {}

  private Planned plan(GenerateRequest request) {
    return plan(request, Optional.empty(), false);
  }

  private Planned plan(
      GenerateRequest request, Optional<ObjectRequest<?>> object, boolean streams) {
    return plan(request, object, streams, false);
  }

  /** Checks and plans; from here on the operation is under way, and must be opened. */
  private Planned plan(
      GenerateRequest request, Optional<ObjectRequest<?>> object, boolean streams, boolean inside) {
    Effects.requireAllowed(
        "A model was asked",
        "Ask it in a step, with ctx.step(...), or run an agent with ctx.agent(...).");
    Route route = requireRoute(request);
    PortableHistory history = PortableHistory.of(request.messages());
    requireNotCancelled(request, history);
    requireBudgetScope(request);
    if (inside) {
      lifecycle.beginInside();
    } else if (!lifecycle.begin()) {
      throw invalid("The gateway is closed; make a new one.");
    }
    try {
      Deadline deadline = Deadline.after(settings.time(), settings.timeout(request));
      return new Planned(
          request,
          object,
          history,
          planning.plan(request, route, history, object.map(ObjectRequest::form), streams),
          streams ? deadline.earlier(tree.deadline()) : deadline);
    } catch (RuntimeException | Error e) {
      ended();
      throw e;
    }
  }

  private Operation open(String name, Planned planned) {
    return open(name, planned, Optional.empty());
  }

  private Operation open(String name, Planned planned, Optional<Outlet> outlet) {
    try {
      return new Operation(
          name,
          planned.request(),
          planned.object(),
          planned.history(),
          planned.plan(),
          planned.deadline(),
          outlet,
          planning,
          settings,
          controls,
          tree,
          runningKeys,
          observers,
          onEnd);
    } catch (RuntimeException | Error e) {
      ended();
      throw e;
    }
  }

  private Route requireRoute(GenerateRequest request) {
    Optional<Route> asked = request.route().isPresent() ? request.route() : defaultRoute;
    Route route =
        asked.orElseThrow(
            () ->
                invalid(
                    "The request names no route and the gateway has no default one;"
                        + " give one of them a route."));
    if (route.fallbacks().size() > settings.maxFallbacks()) {
      throw invalid(
          "A request may name at most %d fallbacks (maxFallbacks), but names %d."
              .formatted(settings.maxFallbacks(), route.fallbacks().size()));
    }
    return route;
  }

  private void requireBudgetScope(GenerateRequest request) {
    if (budget.isPresent() && request.budgetScope().isEmpty()) {
      throw new BudgetDeniedException(
          "The gateway has a budget, and the request names no budgetScope to pay from.",
          null,
          OperationTrace.NONE);
    }
  }

  private static void requireNotCancelled(GenerateRequest request, PortableHistory history) {
    request
        .cancellation()
        .flatMap(Cancellation::reason)
        .ifPresent(
            reason -> {
              throw new OperationCancelledException(
                  history.hasTools()
                      ? HistoryFailures.CANCELLED
                      : "The operation was cancelled before it began: " + reason,
                  null,
                  OperationTrace.NONE);
            });
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
  }

  /**
   * An operation ended. The last one of a closed gateway closes the adapters, as nobody else can.
   */
  private void ended() {
    if (lifecycle.end()) {
      try {
        closeAdapters();
      } catch (RuntimeException e) {
        LOG.warn("An adapter failed to close: {}", e.getClass().getName());
      } finally {
        lifecycle.finish();
      }
    }
  }

  /**
   * The tree of tasks that operations of this gateway are part of; a program's own scopes may be
   * opened in it.
   *
   * @return the tree
   */
  public TaskTree tasks() {
    return tree;
  }

  /**
   * The source of time of this gateway.
   *
   * @return the time source
   */
  public TimeSource time() {
    return settings.time();
  }

  /**
   * Makes a queue of observer calls, for what is built on this gateway and has observers of its
   * own.
   *
   * @param name what the calls are about, for the names of their tasks
   * @return an empty queue
   */
  public ObserverCalls observerCalls(String name) {
    return observers.calls(name);
  }

  /**
   * What is under way now.
   *
   * @return a snapshot
   */
  public Diagnostics diagnostics() {
    return new Diagnostics(
        tree.live(),
        tree.abandoned(),
        planning.affinityEntries(),
        observers.pending(),
        observers.dropped(),
        observers.failures(),
        settlements.pending(),
        budget.map(Budget::failures).orElse(0L),
        cache.map(CachedCalls::inFlight).orElse(0),
        cache.map(calls -> calls.responses().pendingWrites()).orElse(0),
        cache.map(calls -> calls.responses().droppedWrites()).orElse(0L),
        cache.map(calls -> calls.responses().failures()).orElse(0L));
  }

  /**
   * Waits for the settlements and the writes of the cache that are pending now. An interrupt ends
   * the wait and stays set.
   *
   * @param atMost how long to wait
   * @return whether all of them have ended
   */
  public boolean flushControls(Duration atMost) {
    Deadline deadline = Deadline.after(settings.time(), atMost);
    return settlements.flush(deadline.remaining())
        && cache.map(calls -> calls.responses().flush(deadline.remaining())).orElse(true);
  }

  /**
   * Waits for the observer calls that are pending now. An interrupt ends the wait and stays set.
   *
   * @param atMost how long to wait
   * @return whether all of them have ended
   */
  public boolean flushObservers(Duration atMost) {
    return observers.flush(atMost);
  }

  /**
   * Refuses new operations, cancels nothing that runs, and does not wait. The adapters are closed,
   * each once, when the last operation has ended: now if none is under way; then what an adapter
   * throws is thrown here after the others were closed as well. Idempotent.
   */
  @Override
  public void close() {
    close(Duration.ZERO);
  }

  /**
   * As {@link #close()}, and waits for the operations that are under way and the adapters that are
   * closed after them. An interrupt ends the wait and stays set.
   *
   * @param atMost how long to wait
   */
  public void close(Duration atMost) {
    if (lifecycle.close()) {
      try {
        closeAdapters();
      } finally {
        lifecycle.finish();
      }
    } else {
      lifecycle.awaitEnd(tree, Deadline.after(settings.time(), atMost));
    }
  }

  private void closeAdapters() {
    Set<ProviderAdapter> once = Collections.newSetFromMap(new IdentityHashMap<>());
    once.addAll(adapters.values());
    deployments.values().stream().map(Deployment::adapter).forEach(once::add);
    RuntimeException failure = null;
    for (ProviderAdapter adapter : once) {
      try {
        adapter.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** Collects the parts of a gateway; not thread-safe. */
  public static final class Builder {
    private final Map<String, ProviderAdapter> adapters = new LinkedHashMap<>();
    private final Map<String, Deployment> deployments = new LinkedHashMap<>();
    private final Map<String, Money> prices = new HashMap<>();
    private final Map<String, Duration> latencyBiases = new HashMap<>();
    private @Nullable ModelCatalog catalog;
    private @Nullable TargetScorer scorer;
    private @Nullable AdaptivePolicy adaptivePolicy;
    private @Nullable AffinityPolicy affinityPolicy;
    private TimeSource time = TimeSource.system();
    private int maxFallbacks = 8;
    private int maxTotalAttempts = 32;
    private RetryPolicy retry = RetryPolicy.DEFAULT;
    private Duration timeout = Duration.ofMinutes(10);
    private Duration attemptTimeout = Duration.ofMinutes(2);
    private final Map<String, Duration> attemptTimeouts = new HashMap<>();
    private Duration streamIdleTimeout = Duration.ofMinutes(1);
    private final Map<String, Duration> streamIdleTimeouts = new HashMap<>();
    private int streamBufferEvents = 256;
    private int streamBufferBytes = 1 << 20;
    private Duration abandonGrace = Duration.ofMillis(100);
    private final List<ScopedValue<?>> carried = new ArrayList<>();
    private CircuitBreaker circuitBreaker = CircuitBreaker.none();
    private AdmissionController admission = AdmissionController.unlimited();
    private TargetMetrics metrics = TargetMetrics.none();
    private @Nullable CostAccounting costAccounting;
    private @Nullable CachePolicy cachePolicy;
    private @Nullable BudgetStore budgetStore;
    private @Nullable ReservationRule reservationRule;
    private Duration resourceTimeout = Duration.ofSeconds(1);
    private @Nullable Route defaultRoute;
    private @Nullable AttemptObserver attemptObserver;
    private @Nullable RouteObserver routeObserver;
    private ObserverMode observerMode = ObserverMode.DETACHED;
    private Duration observerTimeout = Duration.ofSeconds(1);
    private int observerQueue = 256;

    private Builder() {}

    /**
     * Registers an adapter; the gateway closes it when it is closed itself.
     *
     * @param provider the id by which targets name it; matches {@code [a-z0-9][a-z0-9-]{0,63}}
     * @param adapter the adapter
     * @return this builder
     */
    public Builder adapter(String provider, ProviderAdapter adapter) {
      adapters.put(Target.requireProviderId(provider), Objects.requireNonNull(adapter, "adapter"));
      return this;
    }

    /**
     * Registers an adapter for one deployment of a provider: a target that names the deployment is
     * served by it, and by nothing else. The gateway closes it when it is closed itself.
     *
     * @param id the deployment's id; matches {@code [A-Za-z0-9_.-]{1,128}}
     * @param provider the provider's id
     * @param adapter the adapter
     * @return this builder
     */
    public Builder deployment(String id, String provider, ProviderAdapter adapter) {
      deployments.put(
          new Target(provider, "any", Optional.of(id)).deploymentId().orElseThrow(),
          new Deployment(provider, adapter));
      return this;
    }

    /**
     * Sets the catalog of models: tiers and prices for routing modes, scorers and price ceilings.
     * {@link #costAccounting} brings its own; this one wins.
     *
     * @param catalog none by default
     * @return this builder
     */
    public Builder catalog(ModelCatalog catalog) {
      this.catalog = Objects.requireNonNull(catalog, "catalog");
      return this;
    }

    /**
     * Sets the price of a provider's models per 1000 tokens, which wins over the catalog's.
     *
     * @param provider the provider's id
     * @param per1kTokens zero or more
     * @return this builder
     */
    public Builder price(String provider, Money per1kTokens) {
      prices.put(Target.requireProviderId(provider), per1kTokens);
      return this;
    }

    /**
     * Tells the routing modes how much slower a provider is than others, as far as the program
     * knows.
     *
     * @param provider the provider's id
     * @param bias zero or more; zero by default
     * @return this builder
     */
    public Builder latencyBias(String provider, Duration bias) {
      latencyBiases.put(Target.requireProviderId(provider), bias);
      return this;
    }

    /**
     * Orders the targets of requests that do not ask for ORDERED by a score of the program's own.
     *
     * @param scorer none by default; not together with {@link #adaptive}
     * @return this builder
     */
    public Builder scorer(TargetScorer scorer) {
      this.scorer = Objects.requireNonNull(scorer, "scorer");
      return this;
    }

    /**
     * Orders the targets of requests that do not ask for ORDERED by what was measured of them. Its
     * signals come from {@link #metrics}, {@link #circuitBreaker} and {@link #costAccounting}.
     *
     * @param policy none by default; not together with {@link #scorer}
     * @return this builder
     */
    public Builder adaptive(AdaptivePolicy policy) {
      this.adaptivePolicy = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Prefers the target that served a conversation before, for requests that name an {@code
     * affinityKey} and a {@code cacheScope}. Needs {@link #adaptive}.
     *
     * @param policy none by default
     * @return this builder
     */
    public Builder affinity(AffinityPolicy policy) {
      this.affinityPolicy = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Limits the fallbacks of a request.
     *
     * @param maxFallbacks 0 to 32; 8 by default
     * @return this builder
     */
    public Builder maxFallbacks(int maxFallbacks) {
      this.maxFallbacks = Bounds.between("maxFallbacks", maxFallbacks, 0, 32);
      return this;
    }

    /**
     * Limits the attempts of a whole operation: all targets, retries and steps. An attempt that a
     * control denies or a cache answers counts too, one that an open circuit refuses does not.
     *
     * @param maxTotalAttempts 1 to 128; 32 by default
     * @return this builder
     */
    public Builder maxTotalAttempts(int maxTotalAttempts) {
      this.maxTotalAttempts = Bounds.between("maxTotalAttempts", maxTotalAttempts, 1, 128);
      return this;
    }

    /**
     * Says when a failed call is made again on the same target.
     *
     * @param retry {@link RetryPolicy#DEFAULT} by default
     * @return this builder
     */
    public Builder retry(RetryPolicy retry) {
      this.retry = Objects.requireNonNull(retry, "retry");
      return this;
    }

    /**
     * Limits a whole operation; a request may shorten it, never extend it.
     *
     * @param timeout 1 ms to 2 147 483 647 ms; 10 minutes by default
     * @return this builder
     */
    public Builder timeout(Duration timeout) {
      this.timeout = Bounds.timeout(FailureKind.INVALID_CONFIGURATION, "timeout", timeout);
      return this;
    }

    /**
     * Limits one provider call.
     *
     * @param attemptTimeout more than zero; 2 minutes by default
     * @return this builder
     */
    public Builder attemptTimeout(Duration attemptTimeout) {
      this.attemptTimeout = Bounds.positive("attemptTimeout", attemptTimeout);
      return this;
    }

    /**
     * Limits one call of a certain provider.
     *
     * @param provider the provider's id
     * @param attemptTimeout more than zero
     * @return this builder
     */
    public Builder attemptTimeout(String provider, Duration attemptTimeout) {
      attemptTimeouts.put(
          Target.requireProviderId(provider),
          Bounds.positive("attemptTimeout of " + provider, attemptTimeout));
      return this;
    }

    /**
     * Limits how long a stream that has shown output may give no sign of life: output, a comment, a
     * ping. Beyond it the stream is broken. Time in which the reader is slow does not count; before
     * the first output the {@link #attemptTimeout(Duration)} applies instead.
     *
     * @param streamIdleTimeout more than zero; 1 minute by default. {@code
     *     ChronoUnit.FOREVER.getDuration()} switches the limit off
     * @return this builder
     */
    public Builder streamIdleTimeout(Duration streamIdleTimeout) {
      this.streamIdleTimeout = Bounds.positive("streamIdleTimeout", streamIdleTimeout);
      return this;
    }

    /**
     * Limits how long a stream of a certain provider may give no sign of life.
     *
     * @param provider the provider's id
     * @param streamIdleTimeout more than zero; {@code ChronoUnit.FOREVER.getDuration()} switches
     *     the limit off for it
     * @return this builder
     */
    public Builder streamIdleTimeout(String provider, Duration streamIdleTimeout) {
      streamIdleTimeouts.put(
          Target.requireProviderId(provider),
          Bounds.positive("streamIdleTimeout of " + provider, streamIdleTimeout));
      return this;
    }

    /**
     * Says by how many events a stream may be ahead of its reader; then it waits for it.
     *
     * @param events 2 to 65 536; 256 by default
     * @return this builder
     */
    public Builder streamBufferEvents(int events) {
      this.streamBufferEvents = Bounds.between("streamBufferEvents", events, 2, 1 << 16);
      return this;
    }

    /**
     * Says by about how much memory a stream may be ahead of its reader; then it waits for it. A
     * single event that is larger goes through by itself.
     *
     * @param bytes 1 KiB to 1 GiB; 1 MiB by default
     * @return this builder
     */
    public Builder streamBufferBytes(int bytes) {
      this.streamBufferBytes = Bounds.between("streamBufferBytes", bytes, 1 << 10, 1 << 30);
      return this;
    }

    /**
     * How long a task that was interrupted is waited for before it is left behind.
     *
     * @param grace 0 to 5 s; 100 ms by default
     * @return this builder
     */
    public Builder abandonGrace(Duration grace) {
      if (grace.isNegative() || grace.compareTo(Duration.ofSeconds(5)) > 0) {
        throw new InvalidRequestException(
            FailureKind.INVALID_CONFIGURATION,
            "abandonGrace must be between 0 and 5 s, but is " + grace + ".");
      }
      this.abandonGrace = grace;
      return this;
    }

    /**
     * Binds a scoped value of the caller again in every task, so that adapters and tools see it.
     *
     * @param value the scoped value; where it is not bound, nothing is carried
     * @return this builder
     */
    public Builder carry(ScopedValue<?> value) {
      carried.add(Objects.requireNonNull(value, "value"));
      return this;
    }

    /**
     * Keeps calls away from targets that are in trouble.
     *
     * @param breaker {@link CircuitBreaker#none()} by default; one breaker may serve many gateways
     * @return this builder
     */
    public Builder circuitBreaker(CircuitBreaker breaker) {
      this.circuitBreaker = Objects.requireNonNull(breaker, "breaker");
      return this;
    }

    /**
     * Limits the calls of each target: at the same time, and per minute.
     *
     * @param controller {@link AdmissionController#unlimited()} by default; one controller may
     *     serve many gateways
     * @return this builder
     */
    public Builder admission(AdmissionController controller) {
      this.admission = Objects.requireNonNull(controller, "controller");
      return this;
    }

    /**
     * Measures the attempts of each target.
     *
     * @param metrics {@link TargetMetrics#none()} by default
     * @return this builder
     */
    public Builder metrics(TargetMetrics metrics) {
      this.metrics = Objects.requireNonNull(metrics, "metrics");
      return this;
    }

    /**
     * Values every attempt by a catalog of prices.
     *
     * @param accounting none by default; the providers that it names must be registered
     * @return this builder
     */
    public Builder costAccounting(CostAccounting accounting) {
      this.costAccounting = Objects.requireNonNull(accounting, "accounting");
      return this;
    }

    /**
     * Keeps answers and gives them again to requests that ask exactly the same. Only what follows
     * from the request alone is kept: text without tools, images or options of a provider. Requests
     * take part by naming a {@code cacheScope}; those that miss at the same time share one call.
     *
     * @param policy none by default
     * @return this builder
     */
    public Builder cache(CachePolicy policy) {
      this.cachePolicy = Objects.requireNonNull(policy, "policy");
      return this;
    }

    /**
     * Sets money aside before each call, and refuses what the budget does not cover. Needs {@link
     * #costAccounting}; requests then name a {@code budgetScope}.
     *
     * @param store keeps the accounts
     * @param rule how much is set aside for a call, in the store's currency
     * @return this builder
     */
    public Builder budget(BudgetStore store, ReservationRule rule) {
      this.budgetStore = Objects.requireNonNull(store, "store");
      this.reservationRule = Objects.requireNonNull(rule, "rule");
      return this;
    }

    /**
     * Limits one exchange with a budget store that is not in this process.
     *
     * @param timeout 1 ms to 60 s; 1 second by default
     * @return this builder
     */
    public Builder resourceTimeout(Duration timeout) {
      this.resourceTimeout =
          Bounds.between("resourceTimeout", timeout, Duration.ofMillis(1), Duration.ofSeconds(60));
      return this;
    }

    /**
     * Sets the route of requests that name none.
     *
     * @param route none by default
     * @return this builder
     */
    public Builder defaultRoute(Route route) {
      this.defaultRoute = Objects.requireNonNull(route, "route");
      return this;
    }

    /**
     * Sets who is told of every attempt.
     *
     * @param observer the observer
     * @return this builder
     */
    public Builder attemptObserver(AttemptObserver observer) {
      this.attemptObserver = Objects.requireNonNull(observer, "observer");
      return this;
    }

    /**
     * Says who waits for the attempt observer.
     *
     * @param mode {@link ObserverMode#DETACHED} by default
     * @return this builder
     */
    public Builder observerMode(ObserverMode mode) {
      this.observerMode = Objects.requireNonNull(mode, "mode");
      return this;
    }

    /**
     * Limits one call of an observer, after which it is interrupted and left behind.
     *
     * @param timeout more than zero; 1 second by default
     * @return this builder
     */
    public Builder observerTimeout(Duration timeout) {
      this.observerTimeout = Bounds.positive("observerTimeout", timeout);
      return this;
    }

    /**
     * Limits the observer calls in the queue of {@link ObserverMode#BACKGROUND}, and those in one
     * queue of {@link Gateway#observerCalls}, the one that is being made included; what comes when
     * there are so many is dropped and counted.
     *
     * @param calls 1 to 10 000; 256 by default
     * @return this builder
     */
    public Builder observerQueue(int calls) {
      this.observerQueue = Bounds.between("observerQueue", calls, 1, 10_000);
      return this;
    }

    /**
     * Sets who is told when a target wins a step.
     *
     * @param observer the observer
     * @return this builder
     */
    public Builder routeObserver(RouteObserver observer) {
      this.routeObserver = Objects.requireNonNull(observer, "observer");
      return this;
    }

    /**
     * Sets the source of time, timers and randomness.
     *
     * @param time {@link TimeSource#system()} by default
     * @return this builder
     */
    public Builder time(TimeSource time) {
      this.time = Objects.requireNonNull(time, "time");
      return this;
    }

    private Planning planning(Map<String, ProviderAdapter> registered) {
      ModelCatalog known =
          catalog == null && costAccounting != null ? costAccounting.catalog() : catalog;
      RoutePlanner.Builder planner =
          RoutePlanner.builder(registered)
              .prices(new PriceList(prices, Optional.ofNullable(known)));
      deployments.forEach(planner::deployment);
      latencyBiases.forEach(planner::latencyBias);
      if (costAccounting != null) {
        planner.accounting(costAccounting);
      }
      if (scorer != null) {
        planner.scorer(scorer);
      }
      if (adaptivePolicy != null) {
        planner.adaptive(adaptivePolicy);
      }
      if (affinityPolicy != null && adaptivePolicy == null) {
        throw configuration("Affinity needs an adaptive policy; set one with adaptive(...).");
      }
      return new Planning(
          planner.build(),
          circuitBreaker,
          metrics,
          Optional.ofNullable(affinityPolicy).map(policy -> new AffinityTable(policy, time)));
    }

    private Optional<Budget> budget(DetachedWork settlements) {
      if (costAccounting != null) {
        costAccounting.requireProviders(adapters.keySet());
      }
      if (budgetStore == null || reservationRule == null) {
        return Optional.empty();
      }
      if (costAccounting == null) {
        throw configuration(
            "A budget needs costAccounting, which says what a call costs; set it as well.");
      }
      requireCurrency(budgetStore.currency(), reservationRule);
      return Optional.of(
          new Budget(budgetStore, reservationRule, costAccounting, resourceTimeout, settlements));
    }

    private static void requireCurrency(String currency, ReservationRule rule) {
      Optional<Money> amount =
          switch (rule) {
            case ReservationRule.Fixed(Money fixed) -> Optional.of(fixed);
            case ReservationRule.Ceiling(Optional<Money> cap) -> cap;
          };
      amount
          .filter(money -> !money.currency().equals(currency))
          .ifPresent(
              money -> {
                throw configuration(
                    "The budget is in %s, but its reservations are in %s."
                        .formatted(currency, money.currency()));
              });
    }

    private static InvalidRequestException configuration(String message) {
      return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
    }

    private ProviderCalls targets(Optional<Budget> budget) {
      return new ProviderCalls(admission, budget, Optional.ofNullable(costAccounting));
    }

    private Optional<CachedCalls> cache(ProviderCalls targets, TaskTree tree) {
      return Optional.ofNullable(cachePolicy)
          .map(
              policy ->
                  new CachedCalls(targets, policy, tree, Optional.ofNullable(costAccounting)));
    }

    private Controls controls(Calls calls) {
      return new Controls(circuitBreaker, metrics, calls, Optional.ofNullable(costAccounting));
    }

    private Observers.Settings observers() {
      return new Observers.Settings(
          Optional.ofNullable(attemptObserver),
          Optional.ofNullable(routeObserver),
          observerMode,
          observerTimeout,
          observerQueue);
    }

    private Settings settings() {
      return new Settings(
          time,
          retry,
          maxTotalAttempts,
          maxFallbacks,
          timeout,
          attemptTimeout,
          Map.copyOf(attemptTimeouts),
          streamIdleTimeout,
          Map.copyOf(streamIdleTimeouts),
          streamBufferEvents,
          streamBufferBytes);
    }

    /**
     * Makes the gateway; contacts nothing.
     *
     * @return the gateway
     */
    public Gateway build() {
      return new Gateway(this);
    }
  }
}
