package dev.warpwright.cost;

import dev.warpwright.model.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What models cost and what is declared about them, as of one version. Immutable and thread-safe.
 *
 * <p>A model is found by the id or an alias that its entry names, within its provider, exactly as
 * written. A target's deployment is ignored: negotiated prices of a deployment are not described.
 *
 * {@snippet :
 * ModelCatalog catalog =
 *     ModelCatalog.builder("2026-03-01")
 *         .entry(
 *             CatalogEntry.builder("openai", "gpt-x")
 *                 .pricing(Pricing.of("2026-03", "USD"))
 *                 .input(Money.of("0.00125", "USD"))
 *                 .output(Money.of("0.01", "USD"))
 *                 .build())
 *         .build();
 * }
 */
public final class ModelCatalog {
  private final String version;
  private final List<CatalogEntry> entries;
  private final Map<Name, CatalogEntry> byName;

  private record Name(String provider, String modelId) {}

  private ModelCatalog(String version, List<CatalogEntry> entries) {
    Bounds.notBlank("A catalog version", version);
    this.version = version;
    this.entries = List.copyOf(entries);
    Map<Name, CatalogEntry> index = new HashMap<>();
    for (CatalogEntry entry : entries) {
      add(index, entry.modelId(), entry);
      entry.aliases().forEach(alias -> add(index, alias, entry));
    }
    this.byName = Map.copyOf(index);
  }

  private static void add(Map<Name, CatalogEntry> index, String id, CatalogEntry entry) {
    CatalogEntry other = index.putIfAbsent(new Name(entry.provider(), id), entry);
    if (other != null) {
      throw Bounds.invalid(
          "A model id or alias must be unique in a catalog, but %s names both %s and %s."
              .formatted(Target.of(entry.provider(), id), other.modelId(), entry.modelId()));
    }
  }

  /**
   * Begins a catalog.
   *
   * @param version names this state of the catalog in every valuation made with it; not blank
   * @return a builder
   */
  public static Builder builder(String version) {
    return new Builder(version);
  }

  /**
   * Names this state of the catalog.
   *
   * @return the version
   */
  public String version() {
    return version;
  }

  /**
   * All entries, in the order in which they were added.
   *
   * @return the entries
   */
  public List<CatalogEntry> entries() {
    return entries;
  }

  /**
   * Finds the entry of a target's model.
   *
   * @param target the target; its deployment is ignored
   * @return the entry whose id or alias is the target's model id, if there is one
   */
  public Optional<CatalogEntry> find(Target target) {
    return Optional.ofNullable(byName.get(new Name(target.provider(), target.modelId())));
  }

  /** Collects entries. Not thread-safe. */
  public static final class Builder {
    private final String version;
    private final List<CatalogEntry> entries = new ArrayList<>();

    private Builder(String version) {
      this.version = version;
    }

    /**
     * Adds a model.
     *
     * @param entry what is known about it
     * @return this
     */
    public Builder entry(CatalogEntry entry) {
      entries.add(entry);
      return this;
    }

    /**
     * Makes the catalog.
     *
     * @return the catalog
     * @throws dev.warpwright.model.InvalidRequestException if the version is blank, or two ids or
     *     aliases of a provider are the same
     */
    public ModelCatalog build() {
      return new ModelCatalog(version, entries);
    }
  }
}
