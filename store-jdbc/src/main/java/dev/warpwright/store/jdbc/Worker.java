package dev.warpwright.store.jdbc;

/**
 * A store that is open, as the table of workers has it.
 *
 * @param id its row
 * @param epoch what it got when it was opened; ended when that of the row is higher
 */
record Worker(String id, long epoch) {}
