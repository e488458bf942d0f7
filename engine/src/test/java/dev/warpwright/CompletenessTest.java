package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.request;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.model.Completeness;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Json;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Usage;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an answer is worth. */
@Tag("R145")
final class CompletenessTest {
  @RegisterExtension final Spine spine = new Spine();

  @ParameterizedTest
  @CsvSource({
    "STOP, text, COMPLETE",
    "STOP, '', EMPTY",
    "REFUSAL, text, REFUSED",
    "REFUSAL, '', REFUSED",
    "CONTENT_FILTER, text, FILTERED",
    "CONTENT_FILTER, '', FILTERED",
    "LENGTH, text, TRUNCATED",
    "LENGTH, '', TRUNCATED",
    "PAUSED, text, TRUNCATED",
    "OTHER, text, TRUNCATED"
  })
  void each_way_to_end_is_a_result_of_its_own(
      FinishReason.Kind kind, String text, Completeness expected) {
    for (int i = 0; i < 2; i++) {
      spine.a.then(
          call ->
              FakeModel.response(
                  text.isEmpty() ? List.of() : List.of(new Part.Text(text)),
                  kind,
                  Usage.reported(1, 1)));
    }
    Gateway gateway = spine.gateway();

    assertEquals(expected, gateway.generate(request(A)).completeness());
    try (TextStream stream = gateway.streamText(request(A))) {
      assertEquals(expected, stream.collect().completeness());
    }
  }

  @Test
  void what_a_provider_keeps_for_itself_is_not_nothing() {
    spine.a.then(
        call ->
            FakeModel.response(
                List.of(
                    new ProviderState(Optional.of("a"), "protocol", "model-a", Json.EMPTY_OBJECT)),
                FinishReason.Kind.STOP,
                Usage.reported(1, 1)));

    assertEquals(Completeness.COMPLETE, spine.gateway().generate(request(A)).completeness());
  }
}
