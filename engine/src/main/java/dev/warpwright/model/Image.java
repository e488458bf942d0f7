package dev.warpwright.model;

import java.util.Base64;
import java.util.regex.Pattern;

/**
 * A picture that a user shows.
 *
 * <p>It goes only to models that declare {@link Capability#VISION}; it is never left out to make a
 * target fit.
 *
 * @param url where it is: an {@code https} or {@code http} URL that the provider fetches, or the
 *     picture itself as a {@code data:image/…;base64,} URL; at most 28 million characters, which is
 *     20 MiB of picture
 */
public record Image(String url) implements Part {
  private static final int MAX_LENGTH = 28_000_000;
  private static final Pattern MEDIA_TYPE = Pattern.compile("image/[a-z0-9.+-]{1,64}");
  private static final String DATA = "data:";
  private static final String BASE64 = ";base64,";

  /** Checks the form and the length. */
  public Image {
    if (url.length() > MAX_LENGTH) {
      throw invalid(
          "An image must have at most %d characters as a URL, but has %d."
              .formatted(MAX_LENGTH, url.length()));
    }
    if ((!isRemote(url) && !isInline(url)) || hasControlsOrBlanks(url)) {
      throw invalid("An image must be an http(s) URL or a data:image/...;base64, URL.");
    }
  }

  private static boolean hasControlsOrBlanks(String url) {
    return url.chars().anyMatch(c -> c <= 0x20 || c == 0x7F);
  }

  private static boolean isRemote(String url) {
    return url.startsWith("https://") || url.startsWith("http://");
  }

  private static boolean isInline(String url) {
    int comma = url.indexOf(BASE64);
    return url.startsWith(DATA)
        && comma > 0
        && MEDIA_TYPE.matcher(url.substring(DATA.length(), comma)).matches();
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_REQUEST, message);
  }

  /**
   * The picture itself.
   *
   * @param mediaType such as {@code image/png}
   * @param bytes the picture, at most 20 MiB; copied
   * @return the part
   * @throws InvalidRequestException if the media type is none of an image, or it is too large
   */
  public static Image of(String mediaType, byte[] bytes) {
    return new Image(DATA + mediaType + BASE64 + Base64.getEncoder().encodeToString(bytes));
  }

  /**
   * Whether the picture itself is here, not only where it is.
   *
   * @return true for a data URL
   */
  public boolean inline() {
    return url.startsWith(DATA);
  }

  /**
   * The media type of a picture that is here.
   *
   * @return such as {@code image/png}; empty for one that is elsewhere
   */
  public String mediaType() {
    return inline() ? url.substring(DATA.length(), url.indexOf(BASE64)) : "";
  }

  /**
   * The picture that is here.
   *
   * @return its bytes in base64; empty for one that is elsewhere
   */
  public String base64() {
    return inline() ? url.substring(url.indexOf(BASE64) + BASE64.length()) : "";
  }

  /** Shows whether it is here and how long the URL is, not the URL: it may hold a signature. */
  @Override
  public String toString() {
    return "Image[" + (inline() ? mediaType() : "remote") + ", " + url.length() + " characters]";
  }
}
