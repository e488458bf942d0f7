package dev.warpwright.examples;

import java.math.BigDecimal;

/**
 * An order of the shop.
 *
 * @param orderId its number
 * @param customer who ordered
 * @param item what
 * @param amount what it cost
 * @param currency in which currency
 * @param status how far it is
 */
record Order(
    String orderId,
    String customer,
    String item,
    BigDecimal amount,
    String currency,
    String status) {
  /** Whether a customer may ask about this order. */
  boolean isOf(String name) {
    return customer.equals(name);
  }
}
