/**
 * What model calls cost: a catalog of prices and pure functions over it.
 *
 * <p>{@link dev.warpwright.cost.ModelCatalog} says what models cost; {@link
 * dev.warpwright.cost.PriceCeiling} keeps dear models out of a request; {@link
 * dev.warpwright.cost.CostAccounting} quotes a call before it is made and values it afterwards;
 * {@link dev.warpwright.cost.Valuation} holds the formula. Nothing here has a clock, state or I/O.
 */
package dev.warpwright.cost;
