package dev.warpwright.adapters.bedrock;

import java.nio.charset.StandardCharsets;

/** Percent-encoding as Signature Version 4 has it: every byte but RFC 3986's unreserved ones. */
final class UriCoding {
  private static final String UNRESERVED = "-_.~";

  private UriCoding() {}

  /** A text as one segment of a path; a slash in it is none. */
  static String segment(String text) {
    return encoded(text, UNRESERVED);
  }

  /** A whole path; slashes stay. */
  static String path(String path) {
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
