/** The Anthropic Messages protocol. */
package dev.warpwright.adapters.anthropic;
