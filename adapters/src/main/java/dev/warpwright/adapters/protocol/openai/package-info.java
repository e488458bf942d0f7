/** OpenAI's two protocols, Chat Completions and Responses, whoever speaks them. */
package dev.warpwright.adapters.protocol.openai;
