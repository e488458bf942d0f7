package dev.warpwright.adapters.ollama;

import dev.warpwright.adapters.http.Refusal;
import java.net.InetAddress;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads {@code OLLAMA_HOST} as Ollama's own client does: {@code host}, {@code :port}, {@code
 * host:port} or a URL, also in quotes. Without a scheme it is cleartext to port 11434, and {@code
 * ollama.com} alone is the cloud. An address at which a server listens to everybody is none that
 * can be called, so it becomes the loopback. Pure. Source: Ollama's {@code envconfig}.
 */
final class OllamaHost {
  static final String VARIABLE = "OLLAMA_HOST";

  private static final Pattern FORM =
      Pattern.compile(
          "(?:(?<scheme>[^/]*?)://)?(?<host>\\[[^/]*]|[^/:]*|[^/]*:[^/]*:[^/]*)"
              + "(?::(?<port>[^/:]*))?(?<path>/.*)?");

  private static final Pattern PORT = Pattern.compile("\\d{1,5}");
  private static final int MAX_PORT = 65_535;

  private OllamaHost() {}

  /**
   * The URL that a value means.
   *
   * @throws dev.warpwright.model.InvalidRequestException if it means none
   */
  static String url(String value) {
    String text = value.strip().replaceAll("^[\"']+|[\"']+$", "").strip();
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw Refusal.configuration(VARIABLE + " must be a host, host:port or a URL.");
    }
    String scheme = form.group("scheme");
    String host = form.group("host");
    String path = form.group("path") == null ? "" : form.group("path");
    if (scheme == null && text.equals("ollama.com")) {
      return "https://ollama.com";
    }
    return (scheme == null ? "http" : scheme)
        + "://"
        + connectable(host)
        + port(form.group("port"), scheme == null ? ":11434" : "")
        + path;
  }

  private static String port(String port, String otherwise) {
    if (port == null || port.isEmpty()) {
      return otherwise;
    }
    if (!PORT.matcher(port).matches() || Integer.parseInt(port) > MAX_PORT) {
      throw Refusal.configuration(
          VARIABLE + " must have a port from 0 to " + MAX_PORT + ", but it is no such number.");
    }
    return ":" + port;
  }

  private static String connectable(String host) {
    String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    boolean six = bare.contains(":");
    boolean everybody = bare.isEmpty();
    try {
      everybody |= !everybody && InetAddress.ofLiteral(bare).isAnyLocalAddress();
    } catch (IllegalArgumentException _) {
      // a name
    }
    String address = everybody ? (six ? "::1" : "127.0.0.1") : bare;
    return six ? "[" + address + "]" : address;
  }
}
