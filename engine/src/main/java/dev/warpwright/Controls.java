package dev.warpwright;

import dev.warpwright.control.CircuitBreaker;
import dev.warpwright.control.TargetMetrics;
import dev.warpwright.cost.CostAccounting;
import java.util.Optional;

/**
 * What stands around every call of a gateway.
 *
 * @param circuit keeps calls from targets in trouble
 * @param metrics measures attempts
 * @param calls gets answers: from the cache or, with admission, budget and price, from the target
 * @param accounting says what calls cost, if anybody does
 */
record Controls(
    CircuitBreaker circuit,
    TargetMetrics metrics,
    Calls calls,
    Optional<CostAccounting> accounting) {}
