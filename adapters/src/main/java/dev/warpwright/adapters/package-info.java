/** What all adapters have in common: how they are built, and what is known of models. */
package dev.warpwright.adapters;
