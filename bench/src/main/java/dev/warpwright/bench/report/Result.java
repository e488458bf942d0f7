package dev.warpwright.bench.report;

import java.util.Map;
import java.util.Optional;

/**
 * One benchmark with one set of parameters.
 *
 * @param type the class, with its package
 * @param method the method
 * @param params its parameters, in order
 * @param nanos the time of one operation
 * @param bytes what one operation allocates, if it was measured
 */
record Result(
    String type, String method, Map<String, String> params, Score nanos, Optional<Score> bytes) {}
