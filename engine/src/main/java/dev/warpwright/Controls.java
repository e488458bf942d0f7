package dev.warpwright;

import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.TargetMetrics;

/**
 * What stands around every call of a gateway.
 *
 * @param circuit keeps calls from targets in trouble
 * @param metrics measures attempts
 * @param call makes a call, with admission, budget and price
 */
record Controls(CircuitBreaker circuit, TargetMetrics metrics, ProviderCall call) {}
