package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What may name a target, and routes of targets. */
final class TargetTest {
  @ParameterizedTest
  @ValueSource(strings = {"a", "9", "openai", "azure-openai", "my-own-2", "a-"})
  @Tag("R6")
  void providerIds(String id) {
    assertEquals(id, Target.of(id, "m").provider());
    assertEquals(64, Target.of("a".repeat(64), "m").provider().length());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-a", "OpenAI", "a_b", "a b", "a\n", "ä", "a/b"})
  @Tag("R6")
  void whatIsNoProviderId(String id) {
    assertThrows(InvalidRequestException.class, () -> Target.of(id, "m"));
    assertThrows(InvalidRequestException.class, () -> Target.of("a".repeat(65), "m"));
  }

  @Test
  @Tag("R30")
  void modelIdsHave1To256CharactersWithoutControls() {
    assertEquals("m".repeat(256), Target.of("p", "m".repeat(256)).modelId());
    assertEquals("openai/gpt oss:120b@ü", Target.of("p", "openai/gpt oss:120b@ü").modelId());
    assertThrows(InvalidRequestException.class, () -> Target.of("p", ""));
    assertThrows(InvalidRequestException.class, () -> Target.of("p", "m".repeat(257)));
    List<Integer> controls = new ArrayList<>(List.of(0x7F));
    for (int c = 0; c <= 0x1F; c++) {
      controls.add(c);
    }
    for (int c : controls) {
      var refused =
          assertThrows(
              InvalidRequestException.class, () -> Target.of("p", "m" + Character.toString(c)));
      assertTrue(
          String.valueOf(refused.getMessage()).contains("U+%04X".formatted(c)),
          refused.getMessage());
    }
    assertEquals("m\u0080", Target.of("p", "m\u0080").modelId());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a b", "a/b", "ä", "a\n"})
  @Tag("R31")
  void whatIsNoDeploymentId(String id) {
    assertThrows(InvalidRequestException.class, () -> new Target("p", "m", Optional.of(id)));
    assertThrows(
        InvalidRequestException.class, () -> new Target("p", "m", Optional.of("d".repeat(129))));
    assertEquals("p/m@A_z.9-", new Target("p", "m", Optional.of("A_z.9-")).toString());
    assertEquals(
        128,
        new Target("p", "m", Optional.of("d".repeat(128))).deploymentId().orElseThrow().length());
  }

  @Test
  @Tag("R7")
  @Tag("R43")
  void aRouteIsAPrimaryAndACopyOfItsFallbacks() {
    Target x = Target.of("p", "x");
    Target y = Target.of("p", "y");
    List<Target> fallbacks = new ArrayList<>(List.of(y));
    Route route = new Route(x, fallbacks);
    fallbacks.clear();

    assertEquals(List.of(x, y), route.candidates());
    assertEquals(List.of(x), Route.of(x).candidates());
  }

  @Test
  @Tag("R44")
  void targetsThatDifferInOnePartAreDifferentCandidates() {
    Target plain = Target.of("p", "m");
    Target other = Target.of("q", "m");
    Target deployed = new Target("p", "m", Optional.of("east"));

    assertEquals(
        List.of(plain, other, deployed),
        Route.of(plain, other, plain, deployed, Target.of("p", "m"), deployed).candidates());
  }
}
