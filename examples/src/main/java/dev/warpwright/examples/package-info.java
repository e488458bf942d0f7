@org.jspecify.annotations.NullMarked
package dev.warpwright.examples;
