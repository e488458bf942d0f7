/**
 * What the provider protocols have in common beyond HTTP: tool arguments, ids of calls, finish
 * reasons, usage counters. Pure functions.
 *
 * <p>Internal: not exported.
 */
package dev.warpwright.adapters.wire;
