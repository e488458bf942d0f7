package dev.warpwright.control;

/** Whether a call is let through: a {@link CircuitPermit} or a {@link CircuitRefusal}. */
public sealed interface CircuitDecision permits CircuitPermit, CircuitRefusal {}
