package dev.warpwright.model;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A model at a provider, optionally behind one deployment of it.
 *
 * <p>Two targets with the same three parts are the same target.
 *
 * @param provider the id under which the program registered the adapter; matches {@code
 *     [a-z0-9][a-z0-9-]{0,63}}
 * @param modelId the provider's own model id; 1 to 256 characters without control characters
 * @param deploymentId a deployment; matches {@code [A-Za-z0-9_.-]{1,128}}
 */
public record Target(String provider, String modelId, Optional<String> deploymentId) {
  private static final Pattern PROVIDER = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");
  private static final Pattern DEPLOYMENT = Pattern.compile("[A-Za-z0-9_.-]{1,128}");
  private static final int MAX_MODEL_ID = 256;

  /** Checks the three parts. */
  public Target {
    requireProviderId(provider);
    if (modelId.isEmpty() || modelId.length() > MAX_MODEL_ID) {
      throw invalid("modelId must have 1 to 256 characters, but has " + modelId.length() + ".");
    }
    modelId
        .chars()
        .filter(c -> c <= 0x1F || c == 0x7F)
        .findFirst()
        .ifPresent(
            c -> {
              throw invalid(
                  "modelId must not contain control characters, but contains U+%04X.".formatted(c));
            });
    deploymentId.ifPresent(
        id -> {
          if (!DEPLOYMENT.matcher(id).matches()) {
            throw invalid(
                "deploymentId must match [A-Za-z0-9_.-]{1,128}, but \"%s\" does not."
                    .formatted(printable(id)));
          }
        });
  }

  /**
   * A model at a provider.
   *
   * @param provider the adapter's id
   * @param modelId the provider's model id
   * @return the target
   * @throws InvalidRequestException if a part breaks its rule
   */
  public static Target of(String provider, String modelId) {
    return new Target(provider, modelId, Optional.empty());
  }

  /**
   * Checks a provider id.
   *
   * @param provider the id
   * @return the same id
   * @throws InvalidRequestException if it does not match {@code [a-z0-9][a-z0-9-]{0,63}}
   */
  public static String requireProviderId(String provider) {
    if (!PROVIDER.matcher(provider).matches()) {
      throw invalid(
          "A provider id must match [a-z0-9][a-z0-9-]{0,63}, but \"%s\" does not."
              .formatted(printable(provider)));
    }
    return provider;
  }

  private static String printable(String text) {
    String cut = text.length() <= 80 ? text : text.substring(0, 80) + "…";
    return cut.replaceAll("\\p{Cntrl}", "?");
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
  }

  /** Shows {@code provider/model} or {@code provider/model@deployment}. */
  @Override
  public String toString() {
    String model = provider + "/" + modelId;
    return deploymentId.isEmpty() ? model : model + "@" + deploymentId.get();
  }
}
