/**
 * What the provider protocols have in common beyond HTTP: the framing of streams and what is read
 * from their events, tool calls and their results, ids of calls, finish reasons, usage counters,
 * rules for requests. Nothing here does I/O.
 *
 * <p>Internal: not exported.
 */
package dev.warpwright.adapters.wire;
