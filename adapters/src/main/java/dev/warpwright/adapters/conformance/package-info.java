/**
 * Checks a live server against its protocol: {@link
 * dev.warpwright.adapters.conformance.Conformance} in a program, {@link
 * dev.warpwright.adapters.conformance.Main} from the command line.
 */
package dev.warpwright.adapters.conformance;
