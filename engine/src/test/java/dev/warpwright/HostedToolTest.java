package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.model.StreamBrokenException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Failures of tools that the provider runs itself. */
@Tag("R97")
final class HostedToolTest {
  @RegisterExtension final Spine spine = new Spine();

  private static ProviderException.Builder failure() {
    return ProviderException.builder(Kind.TOOL_CALL, "A tool of the provider failed.").status(500);
  }

  @Test
  void when_the_tool_may_have_acted_nothing_is_tried_again() {
    spine.a.fails(failure().build());

    var end =
        assertThrows(
            AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A, B)));

    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
    assertFalse(end.retryable());
    assertEquals(FailureKind.PROVIDER_TOOL, end.kind());
    assertEquals(Kind.TOOL_CALL, end.trace().attempts().getFirst().failure().orElseThrow());
    assertEquals(
        Kind.TOOL_CALL, ((ProviderException) Objects.requireNonNull(end.getCause())).kind());
  }

  @Test
  void without_effects_and_repeatable_it_is_retried_and_failed_over() {
    spine.a.fails(failure().withoutEffects(true).build(), 3);
    spine.b.says("hi");

    assertEquals("hi", spine.gateway().generate(request(A, B)).text());

    assertEquals(3, spine.a.count());
  }

  @Test
  void without_effects_and_not_repeatable_the_operation_ends_at_once() {
    ProviderException failure = failure().withoutEffects(false).build();
    spine.a.fails(failure);

    var end =
        assertThrows(
            AttemptsExhaustedException.class, () -> spine.gateway().generate(request(A, B)));

    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
    assertFalse(end.retryable());
    assertSame(failure.getMessage(), Objects.requireNonNull(end.getCause()).getMessage());
  }

  @Test
  void a_call_whose_time_is_over_is_not_made_again_if_the_provider_may_have_acted()
      throws Exception {
    spine.a.acting().hangs();
    Gateway gateway = spine.build(spine.builder().attemptTimeout(Duration.ofSeconds(30)));
    Caller<GenerateResult> caller = Caller.start(() -> gateway.generate(request(A, B)));
    spine.a.awaitBusy();
    spine.awaitWaitOf(Duration.ofSeconds(30));
    spine.advance(30_000);

    var end = caller.failure(AttemptsExhaustedException.class);

    assertEquals(FailureKind.PROVIDER_TOOL, end.kind());
    assertEquals(1, spine.a.count());
    assertEquals(0, spine.b.count());
    assertEquals(Optional.of(Kind.TOOL_CALL), end.trace().attempts().getFirst().failure());
  }

  @Test
  void a_stream_that_breaks_where_a_tool_may_have_acted_says_so() {
    spine.a.breaks(failure().build(), "Let me see. ");
    try (TextStream stream = spine.gateway().streamText(request(A, B))) {
      var end = assertThrows(StreamBrokenException.class, stream::collect);

      assertEquals(FailureKind.PROVIDER_TOOL, end.kind());
      assertEquals("Let me see. ", end.partialText());
      assertEquals(0, spine.b.count());
    }
  }

  @Test
  void only_a_tool_failure_can_have_acted_or_be_repeatable() {
    ProviderException other =
        ProviderException.builder(Kind.HTTP_STATUS, "No.").status(500).withoutEffects(true).build();
    assertFalse(other.repeatable());
    assertFalse(ProviderException.builder(Kind.HTTP_STATUS, "No.").build().mayHaveActed());
  }
}
