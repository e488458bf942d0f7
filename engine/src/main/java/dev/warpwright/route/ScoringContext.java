package dev.warpwright.route;

import dev.warpwright.model.Money;
import dev.warpwright.model.RoutingMode;
import dev.warpwright.model.Target;
import dev.warpwright.model.TaskIntent;
import java.time.Duration;
import java.util.Optional;

/**
 * What a {@link TargetScorer} is told of a target.
 *
 * @param mode the mode that the request asked for; ORDERED if it asked for none
 * @param intent what the request is for
 * @param target the target
 * @param isPrimary whether it is the primary of the request
 * @param configuredPrice the price of 1000 tokens that is configured for its provider
 * @param catalogPrice the price of 1000 tokens by the catalog
 * @param latencyBias the latency bias of its provider
 */
public record ScoringContext(
    RoutingMode mode,
    TaskIntent intent,
    Target target,
    boolean isPrimary,
    Optional<Money> configuredPrice,
    Optional<Money> catalogPrice,
    Optional<Duration> latencyBias) {}
