package dev.warpwright.run;

import dev.warpwright.model.InvalidRequestException;

/**
 * Signs requests for approval and the decisions on them, so that whoever can write to the store,
 * but does not have the key, cannot approve anything.
 *
 * <p>A request is signed when it is made; its signature is verified before a decision on it is
 * accepted. A decision is signed when it is accepted; its signature is verified before the tool
 * runs. Called on virtual threads of the operation, within its deadline, never under a lock.
 * Implementations are thread-safe. All processes that drive the runs of a store need the same
 * signer.
 */
public interface ApprovalSigner {
  /**
   * Signs.
   *
   * @param content what is signed
   * @return the signature as text
   */
  String sign(byte[] content);

  /**
   * Checks a signature.
   *
   * @param content what was to be signed
   * @param signature any text
   * @return whether {@link #sign} of a holder of the key gave this signature for this content
   */
  boolean verify(byte[] content, String signature);

  /**
   * A signer with HMAC-SHA256 (RFC 2104), for processes that share a secret key.
   *
   * @param key the key, 32 to 1024 random bytes; copied
   * @return the signer; its signatures are {@code hmac-sha256:} and 64 hex digits
   * @throws InvalidRequestException if the key is shorter or longer
   */
  static ApprovalSigner hmacSha256(byte[] key) {
    return new HmacSigner(key);
  }
}
