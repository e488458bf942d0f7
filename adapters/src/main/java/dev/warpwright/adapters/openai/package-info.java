/** The OpenAI Chat Completions and Responses protocols, also as spoken by compatible servers. */
package dev.warpwright.adapters.openai;
