/** Google's models: Gemini. */
package dev.warpwright.adapters.google;
