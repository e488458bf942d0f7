package dev.warpwright.bench;

import org.openjdk.jmh.annotations.Fork;

/** The same, called from a virtual thread. */
@Fork(value = 1, jvmArgsAppend = "-Djmh.executor=VIRTUAL")
public class GenerateOnVirtualThreadBenchmark extends GenerateBenchmark {}
