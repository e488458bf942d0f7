package dev.warpwright.adapters.bedrock;

import dev.warpwright.adapters.wire.UriCoding;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs requests in AWS's Signature Version 4. Pure.
 *
 * <p>Signed are the method, the path, the host, the content type, every header that begins with
 * {@code x-amz-}, and the body. There is no query: no base URL has one. The path is encoded once
 * more than it is sent, as all services but S3 demand. Source: the AWS guide to signing API
 * requests; the tests are AWS's published vectors.
 *
 * @param region the region, such as {@code us-east-1}
 * @param service the service's name for signing
 */
record SignatureV4(String region, String service) {
  private static final String ALGORITHM = "AWS4-HMAC-SHA256";
  private static final String TOKEN = "X-Amz-Security-Token";
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final HexFormat HEX = HexFormat.of();

  /** A request before it is signed. */
  record Request(String method, URI uri, Map<String, String> headers, String bodyHash) {
    Request(String method, URI uri, Map<String, String> headers, byte[] body) {
      this(method, uri, headers, hash(body));
    }
  }

  /** The headers that sign a request at a time. */
  Map<String, String> headers(Request request, AwsCredentials credentials, Instant now) {
    String time = TIME.format(now);
    Map<String, String> added = new LinkedHashMap<>();
    added.put("X-Amz-Date", time);
    credentials.sessionToken().ifPresent(token -> added.put(TOKEN, token));

    SortedMap<String, String> signed = new TreeMap<>();
    signed.put("host", host(request.uri()));
    request.headers().forEach((name, value) -> sign(name, value, signed));
    added.forEach((name, value) -> sign(name, value, signed));
    String names = String.join(";", signed.keySet());

    String day = time.substring(0, 8);
    String scope = day + "/" + region + "/" + service + "/aws4_request";
    String toSign =
        String.join("\n", ALGORITHM, time, scope, hash(utf8(canonical(request, signed, names))));
    String signature = HEX.formatHex(hmac(key(credentials, day), toSign));
    added.put(
        "Authorization",
        "%s Credential=%s/%s, SignedHeaders=%s, Signature=%s"
            .formatted(ALGORITHM, credentials.accessKeyId(), scope, names, signature));
    return added;
  }

  private static void sign(String name, String value, Map<String, String> signed) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (lower.equals("content-type") || lower.startsWith("x-amz-")) {
      signed.put(lower, value.strip().replaceAll(" +", " "));
    }
  }

  /** As the HTTP client sends it. */
  private static String host(URI uri) {
    boolean usual =
        uri.getPort() == -1
            || uri.getPort() == (uri.getScheme().equalsIgnoreCase("https") ? 443 : 80);
    return usual ? uri.getHost() : uri.getHost() + ":" + uri.getPort();
  }

  private static String canonical(Request request, SortedMap<String, String> signed, String names) {
    StringBuilder headers = new StringBuilder();
    signed.forEach((name, value) -> headers.append(name).append(':').append(value).append('\n'));
    String path = request.uri().getRawPath();
    return String.join(
        "\n",
        request.method(),
        path.isEmpty() ? "/" : UriCoding.path(path),
        "", // the query
        headers,
        names,
        request.bodyHash());
  }

  private byte[] key(AwsCredentials credentials, String day) {
    byte[] key = utf8("AWS4" + credentials.secretAccessKey());
    for (String part : new String[] {day, region, service, "aws4_request"}) {
      key = hmac(key, part);
    }
    return key;
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(utf8(text));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every Java platform has HmacSHA256.", e);
    }
  }

  private static String hash(byte[] bytes) {
    try {
      return HEX.formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java platform has SHA-256.", e);
    }
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
