/** Ollama's own protocol, for models on this machine and in Ollama's cloud. */
package dev.warpwright.adapters.ollama;
