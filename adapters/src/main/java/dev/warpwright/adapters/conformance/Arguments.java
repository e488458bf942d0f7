package dev.warpwright.adapters.conformance;

import dev.warpwright.model.Capability;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.net.URI;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What {@link Main} is told.
 *
 * @param provider which protocol is spoken
 * @param baseUrl where; the provider's own service without it
 * @param model which model is asked
 * @param keyVariable which variable holds the key; without it the provider's own service is sent
 *     what its own variables hold, and another server nothing
 * @param features what the model is taken to declare; what its adapter says without it
 * @param checks what is checked
 * @param timeout how long a call may take
 * @param maxTokens the limit of a call
 * @param allowCleartext whether key and content may travel readable
 * @param help whether only the help is wanted
 */
record Arguments(
    Provider provider,
    Optional<URI> baseUrl,
    String model,
    Optional<String> keyVariable,
    Optional<Set<Capability>> features,
    Set<Check> checks,
    Optional<Duration> timeout,
    Optional<Integer> maxTokens,
    boolean allowCleartext,
    boolean help) {
  private static final String PROTOCOL = "--protocol";
  private static final String BASE_URL = "--base-url";
  private static final String MODEL = "--model";
  private static final String KEY_VARIABLE = "--key-variable";
  private static final String FEATURES = "--features";
  private static final String CHECKS = "--checks";
  private static final String TIMEOUT = "--timeout";
  private static final String MAX_TOKENS = "--max-tokens";
  private static final String ALLOW_CLEARTEXT = "--allow-cleartext";
  private static final String ASK_HELP = "--help";

  private static final Pattern VARIABLE = Pattern.compile("[A-Z_][A-Z0-9_]{0,99}");

  private static final Set<String> WITH_VALUE =
      Set.of(PROTOCOL, BASE_URL, MODEL, KEY_VARIABLE, FEATURES, CHECKS, TIMEOUT, MAX_TOKENS);

  static final String HELP =
      """
      Checks a live server against its protocol and prints a table.

        --protocol NAME      one of: %s
        --base-url URL       where the server is; by default the provider's own service
        --model ID           the model to ask; with the provider's own service, a cheap one
        --key-variable NAME  the variable of the environment that holds the key; by default the
                             provider's, where it needs one, and none with --base-url
        --features LIST      what the model can do, instead of what is known of it: some of
                             the features below, with commas between them
        --checks LIST        what to check, by default everything: some of the checks below
        --timeout DURATION   how long one call may take, such as PT60S
        --max-tokens N       the limit of output tokens of one call
        --allow-cleartext    lets key and content travel readable to other machines

      Features: %s.

      Checks: %s.

      Exit code: 0 passed, 1 a check failed, 2 nothing was checked.
      """
          .formatted(Provider.ids(), featureNames(), checkNames());

  /** Reads a command line; a message says what is wrong with it, and shows nothing secret. */
  static Arguments parse(String... args) {
    Map<String, String> given = given(args);
    boolean help = given.containsKey(ASK_HELP);
    Provider provider = help ? Provider.ALL.getFirst() : provider(given.get(PROTOCOL));
    Optional<String> url = Optional.ofNullable(given.get(BASE_URL));
    if (url.isPresent() && !given.containsKey(MODEL) && !help) {
      throw refused(MODEL + " is needed together with " + BASE_URL + ".");
    }
    return new Arguments(
        provider,
        url.map(text -> read(BASE_URL, "a URL", text, URI::create)),
        given.getOrDefault(MODEL, provider.model()),
        Optional.ofNullable(given.get(KEY_VARIABLE)).map(Arguments::variable),
        Optional.ofNullable(given.get(FEATURES))
            .map(list -> set(Capability.class, list, Arguments::feature)),
        Optional.ofNullable(given.get(CHECKS))
            .map(list -> set(Check.class, list, Arguments::check))
            .orElseGet(() -> EnumSet.allOf(Check.class)),
        Optional.ofNullable(given.get(TIMEOUT))
            .map(text -> read(TIMEOUT, "a duration such as PT60S", text, Duration::parse)),
        Optional.ofNullable(given.get(MAX_TOKENS))
            .map(text -> read(MAX_TOKENS, "a number", text, Integer::valueOf)),
        given.containsKey(ALLOW_CLEARTEXT),
        help);
  }

  private static Map<String, String> given(String... args) {
    Map<String, String> given = new HashMap<>();
    for (int i = 0; i < args.length; i++) {
      String name = args[i];
      boolean flag = name.equals(ALLOW_CLEARTEXT) || name.equals(ASK_HELP);
      if (!flag && !WITH_VALUE.contains(name)) {
        throw refused(unknown(name));
      }
      if (!flag && i + 1 == args.length) {
        throw refused(name + " needs a value.");
      }
      if (given.put(name, flag ? "" : args[++i]) != null) {
        throw refused(name + " is given twice.");
      }
    }
    return given;
  }

  /** Shows a name and nothing else: what stands in its place may be a key. */
  private static String unknown(String name) {
    String shown =
        name.matches("--[a-z-]{1,30}") ? "There is no argument " + name : "Not an argument";
    return shown + "; see " + ASK_HELP + ".";
  }

  private static String variable(String name) {
    if (!VARIABLE.matcher(name).matches()) {
      throw refused(
          KEY_VARIABLE + " must name a variable in capital letters, and is not the key itself.");
    }
    return name;
  }

  private static Provider provider(@Nullable String id) {
    if (id == null) {
      throw refused(PROTOCOL + " is needed, one of: " + Provider.ids() + ".");
    }
    return Provider.find(id)
        .orElseThrow(
            () ->
                refused(
                    "%s must be one of %s, but is \"%s\"."
                        .formatted(PROTOCOL, Provider.ids(), id)));
  }

  private static Capability feature(String label) {
    return Arrays.stream(Capability.values())
        .filter(capability -> capability.label().equals(label))
        .findFirst()
        .orElseThrow(
            () ->
                refused(
                    "%s must name some of %s, but names \"%s\"."
                        .formatted(FEATURES, featureNames(), label)));
  }

  private static Check check(String label) {
    return Check.find(label)
        .orElseThrow(
            () ->
                refused(
                    "%s must name some of %s, but names \"%s\"."
                        .formatted(CHECKS, checkNames(), label)));
  }

  private static <E extends Enum<E>> Set<E> set(
      Class<E> type, String list, Function<String, E> element) {
    Set<E> set = EnumSet.noneOf(type);
    for (String label : list.split(",", -1)) {
      set.add(element.apply(label.strip()));
    }
    return set;
  }

  static <T> T read(String name, String what, String text, Function<String, T> reader) {
    try {
      return reader.apply(text);
    } catch (IllegalArgumentException | DateTimeParseException _) {
      throw refused(name + " must be " + what + ".");
    }
  }

  private static String featureNames() {
    return Arrays.stream(Capability.values())
        .map(Capability::label)
        .collect(Collectors.joining(", "));
  }

  private static String checkNames() {
    return Arrays.stream(Check.values()).map(Check::label).collect(Collectors.joining(", "));
  }

  private static InvalidRequestException refused(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }
}
