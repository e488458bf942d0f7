/** Anthropic's protocol, Messages, whoever speaks it. */
package dev.warpwright.adapters.protocol.anthropic;
