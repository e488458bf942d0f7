package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.http.Refusal;
import java.nio.charset.StandardCharsets;

/** Percent-encoding as Signature Version 4 has it: every byte but RFC 3986's unreserved ones. */
public final class UriCoding {
  private static final String UNRESERVED = "-_.~";

  private UriCoding() {}

  /**
   * A model's id as one segment of a path; a slash in it is none.
   *
   * @param modelId the id
   * @return its encoded form
   * @throws dev.warpwright.model.InvalidRequestException if it is blank, or {@code .} or {@code
   *     ..}, which servers take for another path
   */
  public static String segment(String modelId) {
    if (modelId.isBlank() || modelId.equals(".") || modelId.equals("..")) {
      throw Refusal.configuration(
          "A model id that becomes part of a path must not be blank, \".\" or \"..\", but is \"%s\"."
              .formatted(modelId));
    }
    return encoded(modelId, UNRESERVED);
  }

  /**
   * A whole path, encoded once more.
   *
   * @param path the path; its slashes stay
   * @return its encoded form
   */
  public static String path(String path) {
    return encoded(path, UNRESERVED + "/");
  }

  private static String encoded(String text, String kept) {
    StringBuilder encoded = new StringBuilder(text.length() + 16);
    for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xFF);
      if (c < 0x80 && (isLetterOrDigit(c) || kept.indexOf(c) >= 0)) {
        encoded.append(c);
      } else {
        encoded.append('%').append(hex(c >> 4)).append(hex(c & 0xF));
      }
    }
    return encoded.toString();
  }

  private static boolean isLetterOrDigit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }

  private static char hex(int digit) {
    return Character.toUpperCase(Character.forDigit(digit, 16));
  }
}
