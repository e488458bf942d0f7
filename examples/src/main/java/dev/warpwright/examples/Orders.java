package dev.warpwright.examples;

import dev.warpwright.model.Json;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The shop's order book, which is part of the program. */
final class Orders {
  private static final String BOOK = "/data/orders.jsonl";

  private final Map<String, Order> orders;

  private Orders(Map<String, Order> orders) {
    this.orders = orders;
  }

  /** A line of the book, which writes amounts as texts. */
  private record Row(
      String orderId,
      String customer,
      String item,
      String amount,
      String currency,
      String status,
      String orderedAt) {}

  static Orders load() {
    JsonType<Row> type = JsonType.of(Row.class, MethodHandles.lookup());
    Map<String, Order> orders = new HashMap<>();
    try (Lines lines = Lines.ofResource(BOOK)) {
      for (Optional<Lines.Line> line = lines.next(); line.isPresent(); line = lines.next()) {
        Row row = type.read(Json.parse(line.get().text().orElseThrow()));
        orders.put(
            row.orderId,
            new Order(
                row.orderId,
                row.customer,
                row.item,
                new BigDecimal(row.amount),
                row.currency,
                row.status));
      }
    }
    return new Orders(orders);
  }

  Optional<Order> find(String orderId) {
    return Optional.ofNullable(orders.get(orderId));
  }
}
