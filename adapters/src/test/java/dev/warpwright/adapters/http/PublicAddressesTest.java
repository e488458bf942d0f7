package dev.warpwright.adapters.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ProviderException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PublicAddressesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.168.1.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::a00:1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:a00:1::1",
        "fc00::1",
        "fd12:3456::1",
        "fe80::1",
        "fec0::1",
        "ff02::1"
      })
  @Tag("R377")
  void a_special_address_is_not_public(String address) {
    assertFalse(PublicAddresses.isPublic(InetAddress.ofLiteral(address)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.1.1.1",
        "100.63.255.255",
        "100.128.0.0",
        "172.15.0.1",
        "172.32.0.1",
        "192.0.1.1",
        "192.167.0.1",
        "198.17.0.1",
        "198.51.99.1",
        "203.0.112.1",
        "223.255.255.255",
        "64:ff9b::101:101",
        "2002:101:101::1",
        "2606:4700::1111",
        "2a00:1450::1",
        "::ffff:8.8.8.8"
      })
  @Tag("R377")
  void any_other_is(String address) {
    assertTrue(PublicAddresses.isPublic(InetAddress.ofLiteral(address)));
  }

  @Test
  @Tag("R377")
  void one_address_of_a_name_that_is_not_public_is_enough() {
    PublicAddresses addresses =
        new PublicAddresses(
            host ->
                new InetAddress[] {
                  InetAddress.ofLiteral("1.1.1.1"), InetAddress.ofLiteral("10.0.0.1")
                });
    assertEquals(
        "The base URL's host \"models.example\" has an address that is not public, and"
            + " publicHostsOnly() was called.",
        addresses.refusal("models.example").orElseThrow());
  }

  @Test
  @Tag("R377")
  void a_name_without_an_address_is_left_to_the_client() {
    PublicAddresses addresses =
        new PublicAddresses(
            host -> {
              throw new UnknownHostException(host);
            });
    assertEquals(Optional.empty(), addresses.refusal("nowhere.example"));
  }

  @Test
  @Tag("R377")
  void a_connection_checks_before_each_request_and_sends_nothing() {
    ConnectionSettings settings =
        new ConnectionSettings(
            ConnectionSettings.Defaults.bearer(
                "Test", URI.create("http://localhost:1"), "TEST_KEY", "TEST_URL"));
    settings.apiKey("s3cr3t");
    settings.publicHostsOnly(host -> new InetAddress[] {InetAddress.ofLiteral("127.0.0.1")});
    ErrorTable table = new ErrorTable("Test", "x-request-id", Map.of(), Set.of(), List.of());
    try (Connection connection = settings.connect(Map.of(), table)) {
      for (int i = 0; i < 2; i++) {
        ProviderException refused =
            assertThrows(
                ProviderException.class,
                () -> connection.post("/x", new byte[0], answer -> answer));
        assertEquals(ProviderException.Kind.OTHER, refused.kind());
      }
    }
  }
}
