package dev.warpwright.examples;

import dev.warpwright.model.Json;
import java.time.Instant;

/**
 * Something that was done for a ticket.
 *
 * @param ticket the ticket
 * @param tool which tool did it
 * @param input what the tool was asked to do
 * @param key the idempotency key of the call
 * @param at when
 */
record Effect(String ticket, String tool, Json input, String key, Instant at) {}
