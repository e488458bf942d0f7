package dev.warpwright.adapters;

import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.ModelCatalog;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What is known of models, as data: what they can do, their own rules, and what they cost.
 *
 * <p>{@link #supplied()} is the file that this library brings. It knows the providers that have an
 * adapter here, by the ids in {@link #providers()}, and is as old as its version says. A program
 * can put a file of its own over it, or use its own alone. Models that no file knows work all the
 * same: they are taken for what {@link AdapterBuilder#capabilities} declares, else for models that
 * take text and tools, and what their calls cost is unknown.
 *
 * {@snippet :
 * ModelFile models = ModelFile.read(Path.of("models.json")).over(ModelFile.supplied());
 * HttpAdapter openAi = OpenAi.builder().apiKey(key).models(models).build();
 * ModelCatalog prices = models.catalog(); // counts for targets whose provider is "openai"
 * }
 *
 * <p>A file is one JSON object in UTF-8 of at most 4 MiB. Members that are not named here are
 * refused, and so is everything that is said twice:
 *
 * {@snippet lang=json :
 * {
 *   "format": 1,
 *   "version": "2026-11-30",
 *   "providers": {
 *     "openai": {
 *       "families": [
 *         {
 *           "models": ["gpt-x", "gpt-x-*"],
 *           "capabilities": ["streaming", "tools", "toolChoice", "reasoning"],
 *           "toolHistory": "JSON",
 *           "contextWindow": 400000,
 *           "maxOutput": 128000,
 *           "efforts": ["LOW", "MEDIUM", "HIGH"],
 *           "traits": ["REASONS_ALWAYS"]
 *         }
 *       ],
 *       "prices": [
 *         {
 *           "model": "gpt-x",
 *           "aliases": ["gpt-x-2026-11-01"],
 *           "tier": "FLAGSHIP",
 *           "currency": "USD",
 *           "perMillion": {"input": "2", "cachedInput": "0.2", "cacheWrite": "2.5", "output": "10"},
 *           "longContext": {"threshold": 272000, "inputMultiplier": "2", "outputMultiplier": "1.5"},
 *           "source": "https://example.com/pricing",
 *           "date": "2026-11-20"
 *         }
 *       ]
 *     }
 *   }
 * }
 * }
 *
 * <p>Of a family only {@code models} and {@code capabilities} are required; capabilities have the
 * names of {@link dev.warpwright.model.Capability#label()}, the rest those of its enum. Without
 * {@code efforts} any is sent. Prices are those of a million tokens, as published, with at most six
 * decimals; each rate may be left out and is then unknown, but source and date may not. The date is
 * the last day on which the source is known to have named the price.
 *
 * <p>Immutable and thread-safe.
 */
public final class ModelFile {
  /** The most bytes of a file. */
  static final int MAX_BYTES = 4 * 1024 * 1024;

  private static final class Supplied {
    static final ModelFile FILE = load();

    private static ModelFile load() {
      try (InputStream in = ModelFile.class.getResourceAsStream("models.json")) {
        if (in == null) {
          throw new IllegalStateException("The library's models.json is not beside its classes.");
        }
        return read(in);
      } catch (IOException e) {
        throw new IllegalStateException("The library's models.json cannot be closed.", e);
      }
    }
  }

  /** What a file says of the models of one provider, the most specific pattern first. */
  record Provider(List<ModelFamily> families, List<ModelPattern> patterns) {
    Provider(List<ModelFamily> families) {
      this(
          List.copyOf(families),
          families.stream()
              .flatMap(family -> family.models().stream().map(g -> pattern(g, family)))
              .sorted(ModelPattern.MOST_SPECIFIC_FIRST) // stable: else the order of the file
              .toList());
    }

    private static ModelPattern pattern(String glob, ModelFamily family) {
      return ModelPattern.of(glob, family.facts());
    }

    /** These families, and behind all of them those of the other. */
    Provider over(Provider other) {
      return new Provider(
          concat(families, other.families), concat(patterns, other.patterns)); // not sorted anew
    }
  }

  private final String version;
  private final Map<String, Provider> providers;
  private final List<CatalogEntry> prices;
  private final ModelCatalog catalog;

  ModelFile(String version, Map<String, Provider> providers, List<CatalogEntry> prices) {
    this.version = version;
    this.providers = new LinkedHashMap<>(providers);
    this.prices = List.copyOf(prices);
    ModelCatalog.Builder entries = ModelCatalog.builder(version);
    prices.forEach(price -> entries.entry(withLimits(price)));
    this.catalog = entries.build();
  }

  /** A price and what is known of the model besides. */
  private CatalogEntry withLimits(CatalogEntry price) {
    return facts(price.provider(), price.modelId())
        .map(
            facts ->
                new CatalogEntry(
                    price.provider(),
                    price.modelId(),
                    price.aliases(),
                    price.tier(),
                    price.rates(),
                    price.costPer1kTokens(),
                    price.longContext(),
                    price.pricing(),
                    facts.contextWindow(),
                    facts.maxOutput()))
        .orElse(price);
  }

  /**
   * The file that this library brings. Read once, when it is first asked for.
   *
   * @return the file
   */
  public static ModelFile supplied() {
    return Supplied.FILE;
  }

  /**
   * Reads a file.
   *
   * @param path where it is
   * @return what it says
   * @throws dev.warpwright.model.InvalidRequestException if it cannot be read or breaks a rule; the
   *     message names the place in the file, the rule and the value
   */
  public static ModelFile read(Path path) {
    try (InputStream in = Files.newInputStream(path)) {
      return read(in);
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  /**
   * Reads a file from a stream, to its end; the caller closes it.
   *
   * @param in the bytes
   * @return what they say
   * @throws dev.warpwright.model.InvalidRequestException if they cannot be read or break a rule;
   *     the message names the place in the file, the rule and the value
   */
  public static ModelFile read(InputStream in) {
    try {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw Refusal.configuration(
            "A model file must have at most %d bytes, but has more.".formatted(MAX_BYTES));
      }
      return ModelFileReader.read(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException e) {
      throw Refusal.configuration("A model file must be UTF-8, but is not.");
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private static RuntimeException unreadable(IOException e) {
    RuntimeException refused =
        Refusal.configuration(
            "A model file must be readable, but reading it failed with %s."
                .formatted(e.getClass().getSimpleName()));
    refused.addSuppressed(e);
    return refused;
  }

  /**
   * This file before another: its families are looked at first, however little specific they are,
   * and a model that it prices has no other price. A name that it prices no longer stands for a
   * model of the other file; a model whose own id it prices is gone from the other with its
   * aliases.
   *
   * @param other what counts where this file says nothing
   * @return both; its version names both
   */
  public ModelFile over(ModelFile other) {
    Map<String, Provider> both = new LinkedHashMap<>(providers);
    other.providers.forEach((id, provider) -> both.merge(id, provider, Provider::over));
    Set<String> priced = new HashSet<>();
    for (CatalogEntry price : prices) {
      priced.add(price.provider() + "/" + price.modelId());
      price.aliases().forEach(alias -> priced.add(price.provider() + "/" + alias));
    }
    List<CatalogEntry> left =
        other.prices.stream()
            .filter(price -> !priced.contains(price.provider() + "/" + price.modelId()))
            .map(price -> without(price, priced))
            .toList();
    return new ModelFile(version + " over " + other.version, both, concat(prices, left));
  }

  private static CatalogEntry without(CatalogEntry price, Set<String> priced) {
    Set<String> aliases = new LinkedHashSet<>(price.aliases());
    aliases.removeIf(alias -> priced.contains(price.provider() + "/" + alias));
    return new CatalogEntry(
        price.provider(),
        price.modelId(),
        aliases,
        price.tier(),
        price.rates(),
        price.costPer1kTokens(),
        price.longContext(),
        price.pricing(),
        price.contextWindow(),
        price.maxOutput());
  }

  private static <T> List<T> concat(List<T> first, List<T> then) {
    List<T> all = new ArrayList<>(first);
    all.addAll(then);
    return List.copyOf(all);
  }

  /**
   * Names this state of what is known, and so the catalog.
   *
   * @return the version; of the supplied file the day of its data
   */
  public String version() {
    return version;
  }

  /**
   * Under which ids models are known.
   *
   * @return the ids of the providers, in the order of the file
   */
  public List<String> providers() {
    return List.copyOf(providers.keySet());
  }

  /**
   * What is known of a provider's models.
   *
   * @param provider the provider's id
   * @return its families, in the order of the file; empty if there are none
   */
  public List<ModelFamily> families(String provider) {
    Provider known = providers.get(provider);
    return known == null ? List.of() : known.families();
  }

  /**
   * What is known of a model. Of several patterns that match its whole id the one counts that
   * prescribes most characters, of equal ones the first; letter case matters. One pass over the
   * provider's patterns, without a cache.
   *
   * @param provider the provider's id
   * @param modelId the model's id
   * @return the facts of its family, if there is one
   */
  public Optional<ModelFacts> facts(String provider, String modelId) {
    Provider known = providers.get(provider);
    if (known == null) {
      return Optional.empty();
    }
    for (ModelPattern pattern : known.patterns()) {
      if (pattern.matches(modelId)) {
        return Optional.of(pattern.facts());
      }
    }
    return Optional.empty();
  }

  /**
   * What models cost. Its rates are those of the file, exactly, its version is {@link #version()},
   * and the version of each price is its date.
   *
   * @return the catalog; it counts for targets whose provider has the id that the file uses
   */
  public ModelCatalog catalog() {
    return catalog;
  }

  /** Shows the version and how much is known. */
  @Override
  public String toString() {
    return "ModelFile[%s, %d providers, %d prices]"
        .formatted(version, providers.size(), prices.size());
  }
}
