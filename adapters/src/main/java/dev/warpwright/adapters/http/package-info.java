/**
 * Exchanges over the JDK's {@code HttpClient}, whose answer comes whole or is read while it comes,
 * and what every provider protocol shares around them: the rules for endpoints and header values,
 * the mapping of failures.
 *
 * <p>Internal: not exported.
 */
package dev.warpwright.adapters.http;
