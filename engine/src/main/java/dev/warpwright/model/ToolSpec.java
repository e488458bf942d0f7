package dev.warpwright.model;

/**
 * A tool as a model is told of it.
 *
 * @param name 1 to 64 characters of {@code [A-Za-z0-9_-]}
 * @param description what it does and when to use it, for the model
 * @param inputSchema JSON Schema of the input, an object schema
 */
public record ToolSpec(String name, String description, Json inputSchema) {}
