package dev.warpwright.examples;

import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowBody;
import dev.warpwright.flow.FlowContext;
import dev.warpwright.flow.FlowRequest;
import dev.warpwright.flow.Flows;
import dev.warpwright.model.NonDeterminismException;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.TaskTree;
import java.io.PrintStream;
import java.util.List;

/**
 * New code for runs that are under way. The old code sends parcels by post; the new code books a
 * courier. What has been posted already must go on as posted mail: {@code ctx.version} keeps both
 * ways apart, and code that forgets it is refused before it does anything.
 */
final class MigrationInFlight {
  private static final List<String> PARCELS = List.of("books", "shoes");

  private final Flow<String, String> old = deliver("1", this::byPost);
  private final Flow<String, String> careless = deliver("2-careless", this::byCourier);
  private final Flow<String, String> current = deliver("2", this::byPostOrCourier);

  private final PrintStream out;
  private final Outside outside;
  private final Flows flows;

  MigrationInFlight(PrintStream out, RunStore store, Outside outside) {
    this.out = out;
    this.outside = outside;
    this.flows = Flows.on(TaskTree.builder().build(), store);
  }

  static void main() {
    try (RunStore store = RunStore.inMemory()) {
      new MigrationInFlight(System.out, store, new Outside()).run();
    }
  }

  private static Flow<String, String> deliver(String version, FlowBody<String, String> body) {
    return Flow.builder("deliver", String.class, String.class, body).version(version).build();
  }

  private String byPost(FlowContext ctx, String parcel) {
    String address = ctx.awaitSignal("address", String.class);
    post(ctx, parcel, address);
    return parcel + " signed for by " + ctx.awaitSignal("delivered", String.class);
  }

  private String byCourier(FlowContext ctx, String parcel) {
    String address = ctx.awaitSignal("address", String.class);
    courier(ctx, parcel, address);
    return parcel + " signed for by " + ctx.awaitSignal("delivered", String.class);
  }

  private String byPostOrCourier(FlowContext ctx, String parcel) {
    String address = ctx.awaitSignal("address", String.class);
    if (ctx.version("courier", 1, 2) == 1) {
      post(ctx, parcel, address);
    } else {
      courier(ctx, parcel, address);
    }
    return parcel + " signed for by " + ctx.awaitSignal("delivered", String.class);
  }

  private void post(FlowContext ctx, String parcel, String address) {
    ctx.run("post", step -> does(step.idempotencyKey(), "posted " + parcel + " to " + address));
  }

  private void courier(FlowContext ctx, String parcel, String address) {
    ctx.run("book", step -> does(step.idempotencyKey(), "booked a courier for " + parcel));
    ctx.run(
        "hand over", step -> does(step.idempotencyKey(), parcel + " is on its way to " + address));
  }

  private void does(String key, String deed) {
    outside.once(key, deed);
  }

  void run() {
    if (outside.find("deployment").isEmpty()) {
      oldCode();
      outside.once("deployment", "deployed version 2");
    }
    carelessCode();
    currentCode();
    outside.deeds().forEach(out::println);
  }

  /** Starts both runs; only one of them gets beyond the place that will change. */
  private void oldCode() {
    for (String parcel : PARCELS) {
      flows.run(request(old, parcel));
    }
    flows.signal(run("books"), "address", "Ada", "books address");
    flows.resume(old, run("books"));
  }

  private void carelessCode() {
    if (outside.find("careless").isPresent()) {
      return;
    }
    flows.signal(run("books"), "delivered", "Ada", "books delivered");
    try {
      flows.resume(careless, run("books"));
    } catch (NonDeterminismException e) {
      outside.once("careless", "refused: " + e.getMessage());
    }
  }

  private void currentCode() {
    flows.signal(run("shoes"), "address", "Bob", "shoes address");
    flows.signal(run("shoes"), "delivered", "Bob's neighbour", "shoes delivered");
    for (String parcel : PARCELS) {
      outside.once(parcel, flows.run(request(current, parcel)).orThrow());
    }
  }

  private static FlowRequest<String, String> request(Flow<String, String> flow, String parcel) {
    return FlowRequest.builder(flow, parcel).runId(parcel).idempotencyKey(parcel).build();
  }

  private static RunKey run(String parcel) {
    return new RunKey(RunScope.DEFAULT, parcel);
  }
}
