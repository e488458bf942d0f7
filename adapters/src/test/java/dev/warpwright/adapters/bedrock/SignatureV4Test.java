package dev.warpwright.adapters.bedrock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.adapters.wire.UriCoding;
import dev.warpwright.model.InvalidRequestException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signatures that others have made of the same requests. */
final class SignatureV4Test {
  private static final Instant NOW = Instant.parse("2015-08-30T12:36:00Z");
  private static final String SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
  private static final AwsCredentials KEYS = AwsCredentials.of("AKIDEXAMPLE", SECRET);
  private static final String TOKEN =
      "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfp"
          + "SPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0K"
          + "PkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lI"
          + "ZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

  private static Map<String, String> signed(
      SignatureV4 signature,
      AwsCredentials keys,
      String method,
      String uri,
      Map<String, String> headers,
      String body) {
    return signature.headers(
        new SignatureV4.Request(
            method, URI.create(uri), headers, body.getBytes(StandardCharsets.UTF_8)),
        keys,
        NOW);
  }

  private static String authorization(
      String region, String service, String names, String signature) {
    return "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/%s/%s/aws4_request, SignedHeaders=%s, Signature=%s"
        .formatted(region, service, names, signature);
  }

  /** From the test suite that AWS publishes for Signature Version 4. */
  @ParameterizedTest
  @CsvSource({
    // get-vanilla
    "GET, '', '', host;x-amz-date,"
        + " 5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    // post-vanilla
    "POST, '', '', host;x-amz-date,"
        + " 5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    // post-x-www-form-urlencoded
    "POST, application/x-www-form-urlencoded, Param1=value1, content-type;host;x-amz-date,"
        + " ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
  })
  void requests_are_signed_as_the_published_ones(
      String method, String type, String body, String names, String signature) {
    Map<String, String> headers = type.isEmpty() ? Map.of() : Map.of("Content-Type", type);
    for (String uri :
        List.of("https://example.amazonaws.com/", "https://example.amazonaws.com:443")) {
      Map<String, String> added =
          signed(new SignatureV4("us-east-1", "service"), KEYS, method, uri, headers, body);
      assertEquals(
          Map.of(
              "X-Amz-Date",
              "20150830T123600Z",
              "Authorization",
              authorization("us-east-1", "service", names, signature)),
          added);
    }
  }

  /** Also from the suite: post-sts-header-before. */
  @Test
  void a_session_token_is_sent_and_signed() {
    Map<String, String> added =
        signed(
            new SignatureV4("us-east-1", "service"),
            AwsCredentials.of("AKIDEXAMPLE", SECRET, TOKEN),
            "POST",
            "https://example.amazonaws.com/",
            Map.of(),
            "");
    assertEquals(TOKEN, added.get("X-Amz-Security-Token"));
    assertEquals(
        authorization(
            "us-east-1",
            "service",
            "host;x-amz-date;x-amz-security-token",
            "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"),
        added.get("Authorization"));
  }

  /** What botocore 1.43.11 signs for these requests. */
  @Test
  void a_path_is_encoded_once_more_than_it_is_sent() {
    SignatureV4 bedrock = new SignatureV4("us-east-1", "bedrock");
    Map<String, String> json = Map.of("Content-Type", "application/json");
    assertEquals(
        authorization(
            "us-east-1",
            "bedrock",
            "content-type;host;x-amz-date",
            "dba7f2f77cc33808be655f27b8ebf1d1b1d77751fc96dad0bd71e020cb07c442"),
        signed(
                bedrock,
                KEYS,
                "POST",
                "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse",
                json,
                "{\"messages\":[]}")
            .get("Authorization"));
    assertEquals(
        authorization(
            "eu-west-3",
            "bedrock",
            "content-type;host;x-amz-date",
            "94f50e9c1a9ddff36b2130c77ba9926252317dd6af775704857b8bbaff4fe926"),
        signed(
                new SignatureV4("eu-west-3", "bedrock"),
                KEYS,
                "POST",
                "http://127.0.0.1:8080/v1/model/m/converse",
                json,
                "{}")
            .get("Authorization"));
    Map<String, String> headers = new LinkedHashMap<>(json);
    headers.put("X-Amz-Source", " a  b ");
    headers.put("X-Other", "is not signed");
    assertEquals(
        authorization(
            "us-east-1",
            "bedrock",
            "content-type;host;x-amz-date;x-amz-security-token;x-amz-source",
            "59baea103bd8bd1f67c1092e1064f7c36dcabd4ab5b881986ab3eabe6c7fd0bf"),
        signed(
                bedrock,
                AwsCredentials.of("AKIDEXAMPLE", SECRET, "SESSION/TOKEN=="),
                "POST",
                "https://bedrock-runtime.us-east-1.amazonaws.com/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fab1/converse-stream",
                headers,
                "{\"é\":1}")
            .get("Authorization"));
  }

  /** What the AWS SDK for Java 2.57.8 signs; it sends the hash of the body in a header too. */
  @Test
  void other_headers_of_amazons_are_signed_as_the_sdk_signs_them() {
    Map<String, String> headers =
        Map.of(
            "Content-Type",
            "application/json",
            "x-amz-content-sha256",
            "5e4ce7b36ba37b78a5d5f9fd08e6b7b54ba6879d651aa46ec9e1d6fa24ebe30a");
    assertEquals(
        authorization(
            "us-east-1",
            "bedrock",
            "content-type;host;x-amz-content-sha256;x-amz-date",
            "a28555846d39bb0dedb9216fb6bbd663f3735c20539454635754ebc13ccdc36b"),
        signed(
                new SignatureV4("us-east-1", "bedrock"),
                KEYS,
                "POST",
                "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse",
                headers,
                "{\"messages\":[]}")
            .get("Authorization"));
  }

  @Test
  void every_part_of_a_request_counts() {
    SignatureV4 signature = new SignatureV4("us-east-1", "bedrock");
    String one =
        signed(signature, KEYS, "POST", "https://h.test/a", Map.of(), "x").get("Authorization");
    assertNotEquals(
        one,
        signed(signature, KEYS, "GET", "https://h.test/a", Map.of(), "x").get("Authorization"));
    assertNotEquals(
        one,
        signed(signature, KEYS, "POST", "https://h.test/b", Map.of(), "x").get("Authorization"));
    assertNotEquals(
        one,
        signed(signature, KEYS, "POST", "https://i.test/a", Map.of(), "x").get("Authorization"));
    assertNotEquals(
        one,
        signed(signature, KEYS, "POST", "https://h.test/a", Map.of(), "y").get("Authorization"));
    assertNotEquals(
        one,
        signed(
                signature,
                AwsCredentials.of("AKIDEXAMPLE", "other"),
                "POST",
                "https://h.test/a",
                Map.of(),
                "x")
            .get("Authorization"));
  }

  @ParameterizedTest
  @CsvSource({
    "plain-id_1.~, plain-id_1.~",
    "a.b-v1:0, a.b-v1%3A0",
    "arn:aws:bedrock:r::x/y, arn%3Aaws%3Abedrock%3Ar%3A%3Ax%2Fy",
    "%3A, %253A",
    "'a b+c', a%20b%2Bc",
    "é🌍, %C3%A9%F0%9F%8C%8D",
    "a?b#c, a%3Fb%23c"
  })
  void an_id_is_one_segment_of_a_path(String id, String segment) {
    assertEquals(segment, UriCoding.segment(id));
    assertEquals("/a/" + segment.replace("%2F", "/"), UriCoding.path("/a/" + id));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "line\nbreak", "umlaut-ä"})
  void keys_that_cannot_stand_in_a_header_are_refused_without_showing_them(String bad) {
    for (InvalidRequestException refused :
        List.of(
            assertThrows(InvalidRequestException.class, () -> AwsCredentials.of(bad, "s3cret")),
            assertThrows(InvalidRequestException.class, () -> AwsCredentials.of("AKID", bad)),
            assertThrows(
                InvalidRequestException.class, () -> AwsCredentials.of("AKID", "s3cret", bad)))) {
      assertFalse(refused.getMessage().contains("s3cret"), refused.getMessage());
      assertFalse(bad.length() > 1 && refused.getMessage().contains(bad), refused.getMessage());
    }
  }

  @Test
  void the_text_of_credentials_shows_no_part_of_them() {
    assertEquals("AwsCredentials[lasting]", KEYS.toString());
    String temporary = AwsCredentials.of("AKIDEXAMPLE", SECRET, "token").toString();
    assertTrue(temporary.contains("temporary") && !temporary.contains("token"), temporary);
  }
}
