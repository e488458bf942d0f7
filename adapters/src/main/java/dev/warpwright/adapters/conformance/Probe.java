package dev.warpwright.adapters.conformance;

/** Makes the calls of one check and judges what came. */
@FunctionalInterface
interface Probe {
  Verdict run(Session session) throws InterruptedException;
}
