package dev.warpwright.adapters.scripted;

import dev.warpwright.model.ProviderException;
import java.util.Optional;

/**
 * Where an answer breaks off inside the program.
 *
 * @param point where
 * @param failure what is thrown there; without it the answer stalls
 */
record StreamBreak(Point point, Optional<ProviderException> failure) {}
