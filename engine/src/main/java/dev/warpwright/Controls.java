package dev.warpwright;

import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.TargetMetrics;

/**
 * What stands around every call of a gateway.
 *
 * @param circuit keeps calls from targets in trouble
 * @param metrics measures attempts
 * @param calls gets answers: from the cache or, with admission, budget and price, from the target
 */
record Controls(CircuitBreaker circuit, TargetMetrics metrics, Calls calls) {}
