/**
 * One blocking JSON exchange over the JDK's {@code HttpClient}, and what every provider protocol
 * shares around it: the rules for endpoints and header values, the mapping of failures.
 *
 * <p>Internal: not exported.
 */
package dev.warpwright.adapters.http;
