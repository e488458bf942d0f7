/** The OpenAI Chat Completions protocol, also as spoken by compatible servers. */
package dev.warpwright.adapters.openai;
