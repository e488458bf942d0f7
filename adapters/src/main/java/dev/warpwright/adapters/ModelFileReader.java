package dev.warpwright.adapters;

import dev.warpwright.adapters.http.Refusal;
import dev.warpwright.cost.CatalogEntry;
import dev.warpwright.cost.Pricing;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.Capability;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Money;
import dev.warpwright.model.Reasoning.Effort;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolHistory;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;

/** Reads the text of a {@link ModelFile}. Pure. */
final class ModelFileReader {
  private static final long FORMAT = 1;

  /** Six decimals of a price of a million tokens are nine of a thousand's, all that money has. */
  private static final Pattern PRICE = Pattern.compile("[0-9]{1,9}(\\.[0-9]{1,6})?");

  private static final Pattern MULTIPLIER = Pattern.compile("[0-9]{1,4}(\\.[0-9]{1,9})?");

  /** The place of each name that has a price. */
  private final Map<String, String> priced = new HashMap<>();

  private final List<CatalogEntry> prices = new ArrayList<>();

  private ModelFileReader() {}

  static ModelFile read(String text) {
    FileValue root;
    try {
      root = FileValue.root(StrictJson.read(text));
    } catch (JacksonException e) {
      throw Refusal.configuration(
          "A model file must be one JSON value without repeated members, but line %d is not."
              .formatted(e.getLocation() == null ? 1 : e.getLocation().getLineNr()));
    }
    return new ModelFileReader().file(root);
  }

  private ModelFile file(FileValue root) {
    root.members("format", "version", "providers");
    FileValue format = root.member("format");
    if (format.count() != FORMAT) {
      throw format.invalid("must be " + FORMAT);
    }
    String version = root.member("version").text();
    Map<String, ModelFile.Provider> providers = new LinkedHashMap<>();
    for (Map.Entry<String, FileValue> entry : root.member("providers").entries()) {
      FileValue provider = entry.getValue();
      String id = entry.getKey();
      checked(provider, () -> Target.requireProviderId(id));
      provider.members("families", "prices");
      providers.put(id, new ModelFile.Provider(families(provider)));
      provider
          .optional("prices")
          .map(FileValue::items)
          .orElse(List.of())
          .forEach(p -> price(id, p));
    }
    return new ModelFile(version, providers, prices);
  }

  private static List<ModelFamily> families(FileValue provider) {
    List<ModelFamily> families = new ArrayList<>();
    Map<String, String> places = new HashMap<>();
    for (FileValue family : provider.optional("families").map(FileValue::items).orElse(List.of())) {
      family.members(
          "models",
          "capabilities",
          "toolHistory",
          "contextWindow",
          "maxOutput",
          "efforts",
          "traits");
      List<String> globs = new ArrayList<>();
      for (FileValue glob : family.member("models").items()) {
        requireNew(glob, glob.text(), places);
        globs.add(glob.text());
      }
      if (globs.isEmpty()) {
        throw family.member("models").invalid("must name a model");
      }
      families.add(new ModelFamily(globs, facts(family)));
    }
    return families;
  }

  private static ModelFacts facts(FileValue family) {
    Set<Capability> supported =
        each(family.member("capabilities"), Capability.values(), Capability::label);
    ToolHistory history =
        family
            .optional("toolHistory")
            .map(value -> value.oneOf(ToolHistory.values(), ToolHistory::name))
            .orElse(ToolHistory.NONE);
    return new ModelFacts(
        new ModelCapabilities(supported, history, Optional.empty()),
        tokens(family, "contextWindow"),
        tokens(family, "maxOutput"),
        family
            .optional("efforts")
            .map(efforts -> each(efforts, Effort.values(), Effort::name))
            .orElse(Set.of()),
        family
            .optional("traits")
            .map(traits -> each(traits, ModelTrait.values(), ModelTrait::name))
            .orElse(Set.of()));
  }

  private static OptionalLong tokens(FileValue family, String name) {
    Optional<FileValue> value = family.optional(name);
    if (value.isEmpty()) {
      return OptionalLong.empty();
    }
    if (value.get().count() < 1) {
      throw value.get().invalid("must be 1 or more");
    }
    return OptionalLong.of(value.get().count());
  }

  private static <E extends Enum<E>> Set<E> each(
      FileValue list, E[] values, Function<E, String> name) {
    EnumSet<E> named = EnumSet.complementOf(EnumSet.copyOf(Arrays.asList(values)));
    for (FileValue item : list.items()) {
      if (!named.add(item.oneOf(values, name))) {
        throw item.invalid("must be named once");
      }
    }
    return named;
  }

  private void price(String provider, FileValue price) {
    price.members(
        "model", "aliases", "tier", "currency", "perMillion", "longContext", "source", "date");
    String model = name(provider, price.member("model"));
    Set<String> aliases = new LinkedHashSet<>();
    price
        .optional("aliases")
        .map(FileValue::items)
        .orElse(List.of())
        .forEach(alias -> aliases.add(name(provider, alias)));
    FileValue named = price.member("currency");
    String code = named.text();
    String currency = checked(named, () -> Money.requireCurrency(code));
    String source = price.member("source").text();
    FileValue date = price.member("date");
    CatalogEntry.Builder entry =
        CatalogEntry.builder(provider, model)
            .aliases(aliases)
            .pricing(Pricing.of(date.text(), currency, source, date.date()));
    price
        .optional("tier")
        .map(tier -> tier.oneOf(CatalogEntry.Tier.values(), CatalogEntry.Tier::name))
        .ifPresent(entry::tier);
    FileValue rates = price.member("perMillion");
    rates.members("input", "cachedInput", "cacheWrite", "output");
    rates.optional("input").map(r -> per1k(r, currency)).ifPresent(entry::input);
    rates.optional("cachedInput").map(r -> per1k(r, currency)).ifPresent(entry::cachedInput);
    rates.optional("cacheWrite").map(r -> per1k(r, currency)).ifPresent(entry::cacheWrite);
    rates.optional("output").map(r -> per1k(r, currency)).ifPresent(entry::output);
    price.optional("longContext").ifPresent(longContext -> longContext(entry, longContext));
    prices.add(entry.build());
  }

  private String name(String provider, FileValue value) {
    String name = value.text();
    checked(value, () -> Target.of(provider, name));
    requireNew(value, provider + "/" + name, priced);
    return name;
  }

  private static void requireNew(FileValue value, String name, Map<String, String> places) {
    String first = places.putIfAbsent(name, value.path());
    if (first != null) {
      throw value.invalid("must be named once, and is at " + first);
    }
  }

  private static Money per1k(FileValue value, String currency) {
    BigDecimal perMillion =
        value.decimal(PRICE, "must be a price such as \"2.5\" with at most 6 decimals");
    return Money.of(perMillion.movePointLeft(3).toPlainString(), currency);
  }

  private static void longContext(CatalogEntry.Builder entry, FileValue value) {
    value.members("threshold", "inputMultiplier", "outputMultiplier");
    long threshold = value.member("threshold").count();
    BigDecimal input = multiplier(value.member("inputMultiplier"));
    BigDecimal output = multiplier(value.member("outputMultiplier"));
    checked(value, () -> entry.longContext(threshold, input, output));
  }

  private static BigDecimal multiplier(FileValue value) {
    return value.decimal(
        MULTIPLIER, "must be a multiplier such as \"1.5\" with at most 9 decimals");
  }

  /** Adds the place to what another rule refuses. */
  private static <T> T checked(FileValue value, Supplier<T> rule) {
    try {
      return rule.get();
    } catch (InvalidRequestException e) {
      throw Refusal.configuration(value.place() + ": " + e.getMessage());
    }
  }
}
