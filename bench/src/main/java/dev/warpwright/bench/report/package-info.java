/** The page that shows what JMH measured, and how it stands to the aims. */
@org.jspecify.annotations.NullMarked
package dev.warpwright.bench.report;
