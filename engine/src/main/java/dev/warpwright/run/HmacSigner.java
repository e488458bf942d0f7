package dev.warpwright.run;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The signer of {@link ApprovalSigner#hmacSha256}. */
final class HmacSigner implements ApprovalSigner {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int MIN_KEY = 32;
  private static final int MAX_KEY = 1024;

  private final SecretKeySpec key;

  HmacSigner(byte[] key) {
    if (key.length < MIN_KEY || key.length > MAX_KEY) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          "The key of an approval signer must have between %d and %d bytes, but has %d."
              .formatted(MIN_KEY, MAX_KEY, key.length));
    }
    this.key = new SecretKeySpec(key, ALGORITHM);
  }

  @Override
  public String sign(byte[] content) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return "hmac-sha256:" + HexFormat.of().formatHex(mac.doFinal(content));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has HmacSHA256.", e);
    }
  }

  /** Takes the same time wherever the texts differ. */
  @Override
  public boolean verify(byte[] content, String signature) {
    return MessageDigest.isEqual(
        sign(content).getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
  }
}
