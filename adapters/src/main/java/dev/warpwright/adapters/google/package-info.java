/** Google: Gemini, and Vertex with the models of other publishers. */
package dev.warpwright.adapters.google;
