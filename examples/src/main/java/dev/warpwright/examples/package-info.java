/**
 * The overnight job: two hundred support tickets go through an agent with tools, over HTTP, and
 * nothing happens twice however often the job dies. Begin with {@link TriageCommand} and {@link
 * TriageAgent}.
 */
@org.jspecify.annotations.NullMarked
package dev.warpwright.examples;
