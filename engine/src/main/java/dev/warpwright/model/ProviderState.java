package dev.warpwright.model;

import java.util.Objects;
import java.util.Optional;

/**
 * A piece of an answer that only its issuer understands, such as a signed block of thinking: kept
 * in its place among the parts, stored with the run, and handed back as it came.
 *
 * <p>Three parties know three things. The adapter that made it names the protocol and the model,
 * and it alone reads the content. The gateway names the provider, because an adapter does not know
 * under which id it is registered, and shows a target only what its own provider issued. The
 * adapter that writes the next request leaves out what is of another protocol or, where its
 * protocol demands it, of another model. What is left out never fails a call.
 *
 * @param provider the id of the provider that issued it, once a gateway has said it
 * @param protocol the protocol that it belongs to, such as {@code anthropic-messages}
 * @param modelId the provider's id of the model that issued it
 * @param data the content as the protocol has it
 * @param approval what the provider asks by the last thing in it, if it waits for an approval
 */
public record ProviderState(
    Optional<String> provider,
    String protocol,
    String modelId,
    Json data,
    Optional<ProviderApproval> approval)
    implements Part {
  /** Checks that nothing is null. */
  public ProviderState {
    Objects.requireNonNull(provider, "provider");
    Objects.requireNonNull(protocol, "protocol");
    Objects.requireNonNull(modelId, "modelId");
    Objects.requireNonNull(data, "data");
    Objects.requireNonNull(approval, "approval");
  }

  /**
   * State that asks for nothing.
   *
   * @param provider the id of the provider that issued it, once a gateway has said it
   * @param protocol the protocol that it belongs to
   * @param modelId the provider's id of the model that issued it
   * @param data the content as the protocol has it
   */
  public ProviderState(Optional<String> provider, String protocol, String modelId, Json data) {
    this(provider, protocol, modelId, data, Optional.empty());
  }

  /**
   * State as an adapter issues it.
   *
   * @param protocol the protocol that it belongs to
   * @param modelId the provider's id of the model that issued it
   * @param data the content as the protocol has it
   * @return the state, its provider not yet named
   */
  public static ProviderState of(String protocol, String modelId, Json data) {
    return new ProviderState(Optional.empty(), protocol, modelId, data);
  }

  /**
   * The same state, naming the provider that issued it. The gateway calls it.
   *
   * @param provider the provider's id
   * @return a copy
   */
  public ProviderState issuedBy(String provider) {
    return new ProviderState(Optional.of(provider), protocol, modelId, data, approval);
  }

  /**
   * The same state, by which the provider asks for an approval. An adapter calls it.
   *
   * @param asked what is asked
   * @return a copy
   */
  public ProviderState asking(ProviderApproval asked) {
    return new ProviderState(provider, protocol, modelId, data, Optional.of(asked));
  }

  /** Shows where it comes from, not the content. */
  @Override
  public String toString() {
    return "ProviderState["
        + provider.map(id -> id + ", ").orElse("")
        + protocol
        + ", "
        + modelId
        + "]";
  }
}
