/**
 * What a call over real HTTP costs the process that makes it: Warpwright and what people would use
 * instead, against a scripted server in a process of its own.
 */
@org.jspecify.annotations.NullMarked
package dev.warpwright.bench.http;
