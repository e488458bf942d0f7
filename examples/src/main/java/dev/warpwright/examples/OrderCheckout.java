package dev.warpwright.examples;

import dev.warpwright.flow.Decision;
import dev.warpwright.flow.Flow;
import dev.warpwright.flow.FlowContext;
import dev.warpwright.flow.FlowRequest;
import dev.warpwright.flow.FlowResult;
import dev.warpwright.flow.Flows;
import dev.warpwright.flow.StepFinding;
import dev.warpwright.flow.StepOptions;
import dev.warpwright.model.StepFailedException;
import dev.warpwright.run.ApprovalDecision;
import dev.warpwright.run.RunEvent.ApprovalRequested;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import dev.warpwright.task.TaskTree;
import dev.warpwright.tool.JsonType;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/**
 * A checkout: goods are reserved, a person approves, money is taken, the parcel is sent. What was
 * done is taken back if the order comes to nothing. The shop starts the runs, and another process,
 * that of the office, decides and goes on with them.
 */
final class OrderCheckout {
  public record Order(String id, String item, int euros) {}

  public record Receipt(String orderId, String outcome) {}

  private static final List<Order> ORDERS =
      List.of(
          new Order("A-1", "a bicycle", 900),
          new Order("A-2", "a hundred bicycles", 90_000),
          new Order("A-3", "a piano", 4_000));

  private final Flow<Order, Receipt> checkout =
      Flow.of("checkout", Order.class, Receipt.class, this::checkout);

  private final PrintStream out;
  private final RunStore store;
  private final Outside outside;

  OrderCheckout(PrintStream out, RunStore store, Outside outside) {
    this.out = out;
    this.store = store;
    this.outside = outside;
  }

  static void main() {
    try (RunStore store = RunStore.inMemory()) {
      new OrderCheckout(System.out, store, new Outside()).run();
    }
  }

  private Receipt checkout(FlowContext ctx, Order order) {
    ctx.run("reserve", step -> outside.once(step.idempotencyKey(), "reserved " + order.item()));
    ctx.compensate(
        "release", step -> outside.once(step.idempotencyKey(), "released " + order.item()));

    Decision decision = ctx.approval("large order", order, Duration.ofDays(2));
    if (!decision.approved()) {
      ctx.runCompensations();
      return new Receipt(order.id(), "denied: " + decision.reason().orElse("no reason"));
    }

    // The bank knows no keys. If the process dies while it is asked, its statement tells.
    ctx.run(
        "charge",
        StepOptions.once().reconciler(this::statement),
        step -> outside.always(step.idempotencyKey(), "charged " + order.euros() + " euros"));
    ctx.compensate(
        "refund",
        step -> outside.once(step.idempotencyKey(), "refunded " + order.euros() + " euros"));

    try {
      ctx.run("ship", step -> ship(step.idempotencyKey(), order));
    } catch (StepFailedException e) {
      ctx.runCompensations();
      return new Receipt(order.id(), "taken back: " + e.getMessage());
    }
    return new Receipt(order.id(), "shipped, approved by " + decision.decidedBy().orElseThrow());
  }

  private StepFinding statement(String key) {
    return outside.find(key).isPresent() ? StepFinding.succeeded() : StepFinding.notExecuted();
  }

  private void ship(String key, Order order) {
    if (order.item().equals("a piano")) {
      throw new IllegalArgumentException("too heavy");
    }
    outside.once(key, "shipped " + order.item());
  }

  void run() {
    Flows shop = Flows.on(TaskTree.builder().build(), store);
    for (Order order : ORDERS) {
      start(shop, order);
    }

    Flows office = Flows.on(TaskTree.builder().build(), store);
    Runs.in(store).waiting(RunScope.DEFAULT).stream()
        .sorted(Comparator.comparing(run -> run.started().idempotencyKey().orElseThrow()))
        .forEach(run -> office.resume(checkout, run.run(), decide(run)));

    for (Order order : ORDERS) {
      Receipt receipt = start(shop, order).orThrow();
      out.println(receipt.orderId() + ": " + receipt.outcome());
    }
    outside.deeds().forEach(deed -> out.println("- " + deed));
  }

  /** An order is one run, however often it is started. */
  private FlowResult<Receipt> start(Flows shop, Order order) {
    return shop.run(FlowRequest.builder(checkout, order).idempotencyKey(order.id()).build());
  }

  /** What a person would do who is shown the order. */
  private static ApprovalDecision decide(RunState run) {
    ApprovalRequested asked = run.pendingApprovals().getFirst();
    Order order = JsonType.of(Order.class, MethodHandles.lookup()).read(asked.arguments());
    return order.euros() > 50_000
        ? ApprovalDecision.deny(asked.requestId(), "we have twelve").by("Ada")
        : ApprovalDecision.approve(asked.requestId()).by("Ada");
  }
}
