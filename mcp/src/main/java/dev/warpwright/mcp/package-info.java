/**
 * The tools of a remote tool server, of the Model Context Protocol, as tools of an agent. {@link
 * dev.warpwright.mcp.McpServer} is the way in.
 */
package dev.warpwright.mcp;
