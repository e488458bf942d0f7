package dev.warpwright.adapters.http;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;

/**
 * Keeps requests from hosts that are not on the public internet, for base URLs that come from
 * outside the program: else whoever sets one reaches the program's own network, or the metadata
 * service of its machine.
 *
 * <p>The name is resolved before each request, and every address of it must be public. The JDK's
 * client resolves it once more; both ask the JVM's cache of names, which keeps an answer for 30
 * seconds unless {@code networkaddress.cache.ttl} says otherwise. With 0 a name server could answer
 * the two differently.
 */
final class PublicAddresses {
  /** Finds the addresses of a host. */
  @FunctionalInterface
  interface Resolver {
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  private final Resolver resolver;

  PublicAddresses(Resolver resolver) {
    this.resolver = resolver;
  }

  /**
   * Why a host may not be asked; empty if it may, and if it has no address, which the client will
   * say.
   */
  Optional<String> refusal(String host) {
    InetAddress[] addresses;
    try {
      addresses = resolver.addresses(host);
    } catch (UnknownHostException _) {
      return Optional.empty();
    }
    for (InetAddress address : addresses) {
      if (!isPublic(address)) {
        return Optional.of(
            "The base URL's host \""
                + host
                + "\" has an address that is not public, and publicHostsOnly() was called.");
      }
    }
    return Optional.empty();
  }

  /** Whether an address belongs to no special-purpose block of RFC 6890 and its successors. */
  static boolean isPublic(InetAddress address) {
    if (address.isAnyLocalAddress()
        || address.isLoopbackAddress()
        || address.isLinkLocalAddress()
        || address.isSiteLocalAddress()
        || address.isMulticastAddress()) {
      return false;
    }
    return switch (address) {
      case Inet4Address four -> isPublic(four.getAddress(), 0);
      case Inet6Address six -> isPublic6(six.getAddress());
      default -> false;
    };
  }

  private static boolean isPublic(byte[] bytes, int at) {
    int first = bytes[at] & 0xff;
    int second = bytes[at + 1] & 0xff;
    int third = bytes[at + 2] & 0xff;
    return switch (first) {
      case 0, 10, 127 -> false; // this network, private, loopback
      case 100 -> second < 64 || second > 127; // shared by carriers
      case 169 -> second != 254; // link-local, among them metadata services
      case 172 -> second < 16 || second > 31; // private
      case 192 -> second != 168 && !(second == 0 && (third == 0 || third == 2));
      case 198 -> second != 18 && second != 19 && !(second == 51 && third == 100);
      case 203 -> second != 0 || third != 113;
      default -> first < 224; // above: multicast, reserved, broadcast
    };
  }

  private static boolean isPublic6(byte[] bytes) {
    int first = bytes[0] & 0xff;
    int second = bytes[1] & 0xff;
    if ((first & 0xe0) != 0x20) { // only 2000::/3 is given out
      boolean translated = first == 0 && second == 0x64 && (bytes[2] & 0xff) == 0xff;
      return translated && (bytes[3] & 0xff) == 0x9b && isPublic(bytes, 12); // 64:ff9b::/96
    }
    if (first == 0x20 && second == 0x02) {
      return isPublic(bytes, 2); // 6to4 has the IPv4 address inside
    }
    boolean ietf = first == 0x20 && second == 0x01;
    boolean special = ietf && (bytes[2] == 0 || (bytes[2] == 0x0d && (bytes[3] & 0xff) == 0xb8));
    return !special; // 2001::/23 roughly (Teredo among them), and documentation
  }
}
