package dev.warpwright.adapters.http;

import java.net.InetAddress;
import java.net.URI;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A checked base URL: absolute, {@code http} or {@code https}, without user-info, query and
 * fragment, and with cleartext only to the loopback unless it was allowed.
 *
 * @param base the URL without a slash at its end
 */
public record Endpoint(URI base) {
  private static final int MAX_PORT = 65_535;

  /**
   * Checks a base URL. Resolves no name: of host names only {@code localhost} counts as loopback.
   *
   * @param base the URL
   * @param allowCleartext whether {@code http} may go to any host
   * @return the endpoint
   * @throws dev.warpwright.model.InvalidRequestException if the URL breaks a rule; the message says
   *     what to change and shows neither user-info nor query
   */
  public static Endpoint of(URI base, boolean allowCleartext) {
    String scheme = base.getScheme() == null ? "" : base.getScheme().toLowerCase(Locale.ROOT);
    if (!scheme.equals("http") && !scheme.equals("https")) {
      throw Refusal.configuration(
          "A base URL must be absolute and begin with https:// or http://, but this one has "
              + (scheme.isEmpty() ? "no scheme." : "the scheme \"" + scheme + "\"."));
    }
    if (base.getRawAuthority() != null && base.getRawAuthority().contains("@")) {
      throw Refusal.configuration(
          "A base URL must not contain user-info (name:password@): it would reach logs and error"
              + " texts. Pass the credential to the adapter's builder.");
    }
    String host = base.getHost();
    if (host == null) {
      throw Refusal.configuration(
          "A base URL must name a host of letters, digits, hyphens and dots, or an IP address; an"
              + " underscore is not allowed in a host name.");
    }
    if (base.getPort() > MAX_PORT) {
      throw Refusal.configuration(
          "A base URL's port must be at most " + MAX_PORT + ", but is " + base.getPort() + ".");
    }
    if (base.getRawQuery() != null || base.getRawFragment() != null) {
      throw Refusal.configuration(
          "A base URL must end with its path, but this one has a query or fragment, to which no"
              + " path can be added.");
    }
    if (scheme.equals("http") && !allowCleartext && !isLoopback(host)) {
      throw Refusal.configuration(
          "The base URL sends credentials and content in cleartext to \""
              + host
              + "\", which is not the loopback. Use https://, or call allowCleartext() if the"
              + " network is trusted.");
    }
    return new Endpoint(withoutTrailingSlashes(base));
  }

  private static boolean isLoopback(String host) {
    if (host.equalsIgnoreCase("localhost")) {
      return true;
    }
    InetAddress literal = literal(host);
    return literal != null && literal.isLoopbackAddress();
  }

  private static @Nullable InetAddress literal(String host) {
    try {
      return InetAddress.ofLiteral(host);
    } catch (IllegalArgumentException _) {
      return null; // a name
    }
  }

  private static URI withoutTrailingSlashes(URI base) {
    String text = base.toString();
    int end = text.length();
    while (text.charAt(end - 1) == '/') {
      end--;
    }
    return URI.create(text.substring(0, end));
  }

  /**
   * The URL of an operation.
   *
   * @param path begins with a slash
   * @return base and path
   */
  public URI resolve(String path) {
    return URI.create(base + path);
  }
}
