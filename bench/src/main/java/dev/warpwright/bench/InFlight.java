package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.bench.load.Environment;
import dev.warpwright.bench.load.Heap;
import dev.warpwright.bench.load.Options;
import dev.warpwright.bench.load.Rounds;
import dev.warpwright.bench.report.Question;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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

/**
 * How much heap an operation holds while its model thinks, beyond what the virtual thread of its
 * caller needs: so many callers are parked in the model at the same time, once without a gateway,
 * once with nothing switched on, once with all controls; and once with a model that does not
 * declare that it honours interrupts, whose calls have threads of their own.
 *
 * <p>The aim is less than 2 kB each with 100 000 in flight.
 */
@Question(
    place = 15,
    value = "How much heap does an operation hold while its model thinks?",
    by = "what",
    baseline = "bare virtual threads")
public final class InFlight {
  private static final String BARE = "bare virtual threads";
  private static final int WARMUP = 1_000;
  private static final int WARMUP_ROUNDS = 100; // frames that are not compiled yet are larger

  private final int operations;
  private final Map<String, Double> bytesEach = new LinkedHashMap<>(); // of one round

  private InFlight(int operations) {
    this.operations = operations;
  }

  /**
   * Measures and prints a table.
   *
   * @param arguments {@code --operations}, 100 000 by default, {@code --rounds}, 1 by default, and
   *     {@code --json FILE}
   * @throws Exception if an operation failed
   */
  public static void main(String[] arguments) throws Exception {
    Options options = Options.parse(Set.of("--operations", "--rounds", "--json"), arguments);
    int operations = options.number("--operations", 1, 100_000);
    int rounds = options.number("--rounds", 1, 1);
    List<List<Map<String, Object>>> figures = new ArrayList<>();
    while (figures.size() < rounds) {
      InFlight round = new InFlight(operations);
      round.measure();
      System.out.println(round.table());
      figures.add(round.toMaps());
    }
    Optional<Path> json = options.file("--json");
    if (json.isPresent()) {
      Rounds.write(json.get(), InFlight.class, Environment.here(), figures);
    }
  }

  private void measure() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Parking model = new Parking(true);
      bytesEach.put(BARE, bytesEach(threads, model, () -> model.generate(InstantModel.CALL)));
      GenerateRequest plain = InstantModel.ask().build();
      try (Gateway gateway = gateway(model).build()) {
        bytesEach.put("nothing on", bytesEach(threads, model, () -> gateway.generate(plain)));
      }
      Parking undeclared = new Parking(false);
      try (Gateway gateway = gateway(undeclared).build()) {
        bytesEach.put(
            "nothing on, model not known to honour interrupts",
            bytesEach(threads, undeclared, () -> gateway.generate(plain)));
      }
      try (Gateway gateway = new Controls().switchOn(gateway(model)).build()) {
        GenerateRequest request = InstantModel.ask().budgetScope(Controls.BUDGET_SCOPE).build();
        bytesEach.put(
            "all controls on", bytesEach(threads, model, () -> gateway.generate(request)));
      }
    }
  }

  private static Gateway.Builder gateway(LanguageModel model) {
    return Gateway.builder()
        .adapter(InstantModel.TARGET.provider(), id -> model)
        .timeout(Duration.ofHours(1))
        .attemptTimeout(Duration.ofHours(1));
  }

  private double bytesEach(ExecutorService threads, Parking model, Callable<?> call)
      throws Exception {
    for (int round = 0; round < WARMUP_ROUNDS; round++) {
      held(threads, model, WARMUP, call);
    }
    return held(threads, model, operations, call) / (double) operations;
  }

  /** The heap that so many calls hold while they are all parked in the model. */
  private static long held(ExecutorService threads, Parking model, int calls, Callable<?> call)
      throws InterruptedException {
    List<Future<?>> running = new ArrayList<>(calls);
    Parking.Gate gate = model.next(calls);
    long before = Heap.used();
    for (int n = 0; n < calls; n++) {
      running.add(threads.submit(call));
    }
    gate.arrived.await();
    long held = Heap.used() - before;
    gate.open.countDown();
    for (Future<?> each : running) {
      try {
        each.get();
      } catch (ExecutionException e) {
        throw new IllegalStateException("An operation failed.", e.getCause());
      }
    }
    return held;
  }

  /** A model in which calls wait for each other. */
  private static final class Parking implements LanguageModel {
    private final boolean declared;
    private volatile Gate gate = new Gate(0);

    /**
     * A model.
     *
     * @param declared whether it declares that it honours interrupts, as it does
     */
    Parking(boolean declared) {
      this.declared = declared;
    }

    /** Where calls wait: until as many as were announced are there, and the gate is opened. */
    private static final class Gate {
      final CountDownLatch arrived;
      final CountDownLatch open = new CountDownLatch(1);

      Gate(int calls) {
        this.arrived = new CountDownLatch(calls);
      }
    }

    Gate next(int calls) {
      Gate next = new Gate(calls);
      gate = next;
      return next;
    }

    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT;
    }

    @Override
    public boolean honoursInterrupts() {
      return declared;
    }

    @Override
    public ModelResponse generate(ModelCall call) throws InterruptedException {
      Gate current = gate;
      current.arrived.countDown();
      current.open.await();
      return InstantModel.HELLO.generate(call);
    }
  }

  private double beyond(String what) {
    return bytesEach.getOrDefault(what, 0.0) - bytesEach.getOrDefault(BARE, 0.0);
  }

  private String table() {
    StringBuilder table = new StringBuilder();
    table.append("%,d in flight%n%n".formatted(operations));
    table.append("| | heap each | beyond bare virtual threads |%n|---|---:|---:|%n".formatted());
    bytesEach.forEach(
        (what, bytes) ->
            table.append("| %s | %.0f B | %.0f B |%n".formatted(what, bytes, beyond(what))));
    return table.toString();
  }

  private List<Map<String, Object>> toMaps() {
    return bytesEach.entrySet().stream()
        .map(
            entry ->
                Map.<String, Object>of(
                    "operations",
                    operations,
                    "what",
                    entry.getKey(),
                    "bytesEach",
                    entry.getValue(),
                    "bytesBeyondBare",
                    beyond(entry.getKey())))
        .toList();
  }
}
