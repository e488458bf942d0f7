package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.tool.Tool;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What gateways and requests refuse before anything is spent. */
final class LimitsTest {
  @RegisterExtension final Spine spine = new Spine();

  private static InvalidRequestException refused(Executable call) {
    return assertThrows(InvalidRequestException.class, call);
  }

  @Test
  @Tag("R26")
  void aRequestWithMoreFallbacksThanConfiguredIsRefusedBeforeAnyAdapterIsAsked() {
    AtomicInteger models = new AtomicInteger();
    ProviderAdapter counting =
        id -> {
          models.incrementAndGet();
          return spine.a;
        };
    spine.a.says("hi");
    Target[] eight = Collections.nCopies(8, B).toArray(Target[]::new);
    Target[] nine = Collections.nCopies(9, B).toArray(Target[]::new);
    Gateway gateway = spine.build(spine.builder().adapter("a", counting).adapter("b", counting));

    var refused = refused(() -> gateway.generate(Spine.request(A, nine)));
    assertEquals(FailureKind.INVALID_REQUEST, refused.kind());
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("at most 8 fallbacks (maxFallbacks)"), message);
    assertTrue(message.contains("9"), message);
    assertEquals(0, models.get());
    assertEquals(A, gateway.generate(Spine.request(A, eight)).targetUsed());

    Gateway none = spine.build(spine.builder().maxFallbacks(0));
    refused(() -> none.generate(Spine.request(A, B)));
  }

  static Stream<Arguments> outOfRange() {
    return Stream.of(
        refusal("maxFallbacks must be between 0 and 32, but is -1", b -> b.maxFallbacks(-1)),
        refusal("maxFallbacks must be between 0 and 32, but is 33", b -> b.maxFallbacks(33)),
        refusal("maxTotalAttempts must be between 1 and 128, but is 0", b -> b.maxTotalAttempts(0)),
        refusal(
            "maxTotalAttempts must be between 1 and 128, but is 129", b -> b.maxTotalAttempts(129)),
        refusal("timeout must be between 1 ms and 2147483647 ms", b -> b.timeout(Duration.ZERO)),
        refusal("timeout must be", b -> b.timeout(Duration.ofNanos(999_999))),
        refusal("timeout must be", b -> b.timeout(Duration.ofMillis(2_147_483_648L))),
        refusal("attemptTimeout must be more than 0", b -> b.attemptTimeout(Duration.ZERO)),
        refusal(
            "attemptTimeout of a must be more than 0",
            b -> b.attemptTimeout("a", Duration.ofMillis(-1))),
        refusal("provider id", b -> b.attemptTimeout("A", Duration.ofMillis(1))),
        refusal("provider id", b -> b.adapter("A", id -> new FakeModel())),
        refusal(
            "abandonGrace must be between 0 and 5 s", b -> b.abandonGrace(Duration.ofMillis(-1))),
        refusal("abandonGrace must be", b -> b.abandonGrace(Duration.ofMillis(5_001))));
  }

  interface Setting {
    void on(Gateway.Builder builder);
  }

  private static Arguments refusal(String message, Setting setting) {
    return Arguments.of(message, setting);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("outOfRange")
  @Tag("R26")
  @Tag("R28")
  @Tag("R29")
  @Tag("R35")
  @Tag("R36")
  @Tag("R38")
  void aSettingOutOfItsRangeIsRefusedWithTheRangeAndTheValue(String message, Setting setting) {
    var refused = refused(() -> setting.on(Gateway.builder()));
    assertTrue(String.valueOf(refused.getMessage()).contains(message), refused.getMessage());
  }

  @Test
  @Tag("R26")
  @Tag("R28")
  @Tag("R36")
  @Tag("R38")
  void theBoundsThemselvesAreAllowed() {
    Gateway.builder().maxFallbacks(0).maxTotalAttempts(1).timeout(Duration.ofMillis(1)).build();
    Gateway.builder()
        .maxFallbacks(32)
        .maxTotalAttempts(128)
        .timeout(Duration.ofMillis(Integer.MAX_VALUE))
        .abandonGrace(Duration.ZERO)
        .build();
    Gateway.builder()
        .abandonGrace(Duration.ofSeconds(5))
        .attemptTimeout(Duration.ofNanos(1))
        .build();
  }

  @Test
  @Tag("R8")
  @Tag("R36")
  @Tag("R42")
  void aRequestRefusesValuesOutOfRange() {
    refused(() -> ask(A).maxSteps(0));
    refused(() -> ask(A).maxTokens(0));
    refused(() -> ask(A).temperature(Double.NaN));
    refused(() -> ask(A).temperature(Double.NEGATIVE_INFINITY));
    refused(() -> ask(A).timeout(Duration.ofNanos(1)));
    refused(() -> ask(A).timeout(Duration.ofDays(25)));
    refused(() -> ask(A).tools(Tools.echo(), Tools.echo()));
    assertEquals(1, ask(A).build().maxSteps());
    Gateway gateway = spine.gateway();
    refused(() -> gateway.generate(GenerateRequest.builder(Route.of(A), List.of()).build()));
  }

  @Test
  @Tag("R43")
  void whatWasGivenToARequestIsCopied() {
    List<Message> messages = new ArrayList<>(List.of(Message.user("one")));
    List<Tool> tools = new ArrayList<>(List.of(Tools.echo()));
    GenerateRequest.Builder builder =
        GenerateRequest.builder(Route.of(A), messages).tools(tools).maxTokens(5);
    messages.add(Message.user("two"));
    tools.clear();
    GenerateRequest request = builder.build();
    builder.maxTokens(6).tools();

    assertEquals(1, request.messages().size());
    assertEquals(1, request.tools().specs().size());
    assertEquals(5, request.maxTokens().getAsInt());
  }

  @Test
  @Tag("R19")
  void aClosedGatewayRefusesNewOperationsAndClosesEachAdapterOnce() {
    AtomicInteger closes = new AtomicInteger();
    ProviderAdapter shared =
        new ProviderAdapter() {
          @Override
          public FakeModel model(String modelId) {
            return spine.a;
          }

          @Override
          public void close() {
            closes.incrementAndGet();
            throw new IllegalStateException("stuck");
          }
        };
    ProviderAdapter other =
        new ProviderAdapter() {
          @Override
          public FakeModel model(String modelId) {
            return spine.b;
          }

          @Override
          public void close() {
            closes.incrementAndGet();
          }
        };
    Gateway gateway =
        spine.build(spine.builder().adapter("a", shared).adapter("a2", shared).adapter("b", other));

    assertThrows(IllegalStateException.class, gateway::close);
    gateway.close();

    assertEquals(2, closes.get());
    refused(() -> gateway.generate(Spine.request(A)));
  }
}
