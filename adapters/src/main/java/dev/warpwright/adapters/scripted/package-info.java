/**
 * The scripted provider: models that say what a script tells them to, for tests, examples and
 * benchmarks.
 *
 * <p>A {@link dev.warpwright.adapters.scripted.Script} holds rules and faults. {@link
 * dev.warpwright.adapters.scripted.ScriptedModel} plays it inside the program, {@link
 * dev.warpwright.adapters.scripted.ScriptedServer} over real sockets. Matching knows nothing of a
 * wire protocol, and the protocols ({@code ChatCompletions}, {@code MessagesApi}) nothing of rules.
 */
package dev.warpwright.adapters.scripted;
