package dev.warpwright.control;

import dev.warpwright.model.Money;

/**
 * The sums of one account at one instant.
 *
 * @param spent what was settled and reconciled
 * @param estimated the part of {@code spent} that was estimated
 * @param reserved what is set aside for calls under way
 * @param uncertain what calls that were cut off may have cost
 * @param remaining what can be reserved; zero if the account is exhausted or overdrawn
 */
public record BudgetSnapshot(
    Money spent, Money estimated, Money reserved, Money uncertain, Money remaining) {}
