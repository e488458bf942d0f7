package dev.warpwright.route;

import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Target;
import java.util.Objects;

/**
 * A deployment that targets may name: calls to it go to an adapter of its own.
 *
 * @param provider the provider that a target must name together with it
 * @param adapter the adapter
 */
public record Deployment(String provider, ProviderAdapter adapter) {
  /** Checks the provider id. */
  public Deployment {
    Target.requireProviderId(provider);
    Objects.requireNonNull(adapter, "adapter");
  }
}
