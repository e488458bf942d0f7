@org.jspecify.annotations.NullMarked
package dev.warpwright.bench;
