package dev.warpwright.model;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 digests of texts, as the log writes them. */
public final class Digest {
  private Digest() {}

  /**
   * The digest with its name.
   *
   * @param text any text, digested as UTF-8
   * @return {@code sha256:} and 64 hex digits
   */
  public static String of(String text) {
    return "sha256:" + hex(text);
  }

  /**
   * The digest alone.
   *
   * @param text any text, digested as UTF-8
   * @return 64 hex digits
   */
  public static String hex(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256.", e);
    }
  }
}
