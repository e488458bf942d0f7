package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.Image;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.ToolChoice;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a request says, what it needs of a model, and what reaches the model. */
final class RequestTest {
  private static final Image PICTURE = Image.of("image/png", new byte[] {1, 2, 3});

  @RegisterExtension final Spine spine = new Spine();

  @Test
  @Tag("R8")
  void a_prompt_alone_is_a_whole_call_on_the_default_route() {
    spine.a.fails(FakeModel.status(400));
    spine.b.says("blue");
    Gateway gateway = spine.build(spine.builder().defaultRoute(Route.of(A, B)));

    assertEquals("blue", gateway.generate("Why?").text());
    assertEquals("Why?", spine.b.calls().getFirst().messages().getFirst().text());
  }

  @Test
  @Tag("R8")
  void the_requests_own_route_wins_over_the_default_one() {
    spine.b.says("b");
    Gateway gateway = spine.build(spine.builder().defaultRoute(Route.of(A)));

    assertEquals(B, gateway.generate(ask(B).build()).targetUsed());
  }

  @Test
  @Tag("R8")
  void without_any_route_the_message_says_what_to_do() {
    var refused =
        assertThrows(InvalidRequestException.class, () -> spine.gateway().generate("Why?"));

    assertEquals(
        "The request names no route and the gateway has no default one; give one of them a route.",
        refused.getMessage());
  }

  static Stream<Arguments> needs() {
    return Stream.of(
        Arguments.of(ask(A), Set.of()),
        Arguments.of(ask(A).tools(Tools.of("t", Tools.Input::text)), Set.of(Capability.TOOLS)),
        Arguments.of(ask(A).toolChoice(ToolChoice.NONE), Set.of(Capability.TOOL_CHOICE)),
        Arguments.of(ask(A).toolChoice(ToolChoice.REQUIRED), Set.of(Capability.TOOL_CHOICE)),
        Arguments.of(ask(A).toolChoice(ToolChoice.tool("t")), Set.of(Capability.TOOL_CHOICE)),
        Arguments.of(ask(A).reasoning(Reasoning.budget(9)), Set.of(Capability.REASONING)),
        Arguments.of(
            ask(A).requiredCapabilities(Capability.FILES, Capability.STREAMING),
            Set.of(Capability.FILES, Capability.STREAMING)));
  }

  @ParameterizedTest
  @MethodSource
  @Tag("R78")
  void needs(GenerateRequest.Builder request, Set<Capability> expected) {
    assertEquals(expected, request.build().needs());
  }

  @ParameterizedTest
  @EnumSource
  @Tag("R76")
  @Tag("R78")
  @Tag("R79")
  void every_required_capability_is_required_and_a_miss_names_it(Capability capability) {
    EnumSet<Capability> others = EnumSet.complementOf(EnumSet.of(capability));
    spine.a.with(ModelCapabilities.of(others.toArray(Capability[]::new)));
    spine.b.with(ModelCapabilities.of(capability)).says("hi");

    GenerateResult result =
        spine.gateway().generate(ask(A, B).requiredCapabilities(capability).build());

    assertEquals(B, result.targetUsed());
    Attempt skip = result.attempts().getFirst();
    assertEquals(ReasonCode.MODEL_CAPABILITIES, skip.reasonCode());
    assertEquals("The model does not declare " + capability.label() + ".", skip.message());
  }

  @Test
  @Tag("R77")
  void images_go_only_to_models_with_vision_and_arrive_unchanged() {
    spine.b.with(ModelCapabilities.of(Capability.VISION)).says("a cat");
    Message shown = Message.user("What is it?", PICTURE);

    GenerateResult result =
        spine.gateway().generate(GenerateRequest.builder(Route.of(A, B), List.of(shown)).build());

    assertEquals(List.of(shown), spine.b.calls().getFirst().messages());
    assertEquals(0, spine.a.count());
    Attempt skip = result.attempts().getFirst();
    assertEquals(ReasonCode.MODEL_CAPABILITIES, skip.reasonCode());
    assertEquals("The model does not declare vision.", skip.message());
    assertEquals(0, skip.targetRank());
  }

  @Test
  @Tag("R63")
  @Tag("R77")
  void a_step_that_shows_an_image_skips_a_model_that_won_an_earlier_step() {
    spine.a.says("text");
    spine.b.with(ModelCapabilities.of(Capability.VISION)).says("a cat");
    GenerateRequest request = GenerateRequest.builder(Route.of(A, B), List.of()).build();

    try (Operation operation = spine.gateway().open("steps", request)) {
      assertEquals(A, operation.step(1, List.of(Message.user("Hi"))).target());
      ModelStep second = operation.step(2, List.of(Message.user("And this?", PICTURE)));
      assertEquals(B, second.target());
      assertEquals(
          List.of(ReasonCode.MODEL_CAPABILITIES, ReasonCode.PROVIDER_SUCCESS),
          second.attempts().stream().map(Attempt::reasonCode).toList());
      assertEquals(2, second.attempts().getFirst().step());
    }
  }

  @Test
  @Tag("R58")
  @Tag("R77")
  void images_without_any_model_for_them_are_no_eligible_target() {
    GenerateRequest request =
        GenerateRequest.builder(Route.of(A, B), List.of(Message.user("?", PICTURE))).build();

    var failure =
        assertThrows(NoEligibleTargetException.class, () -> spine.gateway().generate(request));

    assertEquals(2, failure.trace().attempts().size());
    assertTrue(
        String.valueOf(failure.getMessage()).startsWith("The model does not declare vision."),
        failure.getMessage());
  }

  @Test
  @Tag("R8")
  @Tag("R372")
  void options_of_a_provider_reach_that_provider_alone() {
    Json options = Json.parse("{\"seed\":7}");
    spine.a.fails(FakeModel.status(400));
    spine.b.says("hi");

    spine.gateway().generate(ask(A, B).providerOptions("b", options).build());

    assertEquals(Json.EMPTY_OBJECT, spine.a.calls().getFirst().providerOptions());
    assertEquals(options, spine.b.calls().getFirst().providerOptions());
  }

  @Test
  @Tag("R372")
  void a_request_to_reason_reaches_the_model() {
    spine.a.with(ModelCapabilities.of(Capability.REASONING)).says("hi");

    spine.gateway().generate(ask(A).reasoning(Reasoning.effort(Reasoning.Effort.LOW)).build());

    assertEquals(
        Optional.of(Reasoning.effort(Reasoning.Effort.LOW)),
        spine.a.calls().getFirst().reasoning());
  }

  @ParameterizedTest
  @ValueSource(strings = {"[1]", "\"text\"", "null", "3"})
  void options_that_are_no_object_are_refused(String options) {
    GenerateRequest.Builder builder = ask(A);
    assertThrows(
        InvalidRequestException.class, () -> builder.providerOptions("a", Json.parse(options)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "cat.png",
        "file:///etc/passwd",
        "data:text/plain;base64,AA==",
        "data:image/png,AA==",
        "data:image/PNG/../;base64,AA==",
        "ftp://example.com/a.png",
        "https://example.com/a b.png",
        "https://example.com/\u0000",
        "data:image/png;base64,A\nA="
      })
  void an_image_is_a_web_address_or_a_picture_in_base64(String url) {
    var refused = assertThrows(InvalidRequestException.class, () -> new Image(url));

    assertEquals(
        "An image must be an http(s) URL or a data:image/...;base64, URL.", refused.getMessage());
  }

  @Test
  @Tag("R188")
  void an_image_is_a_part_of_user_messages_only_and_shows_no_address() {
    Image remote = new Image("https://example.com/cat.png?signature=abc");
    for (Role role : Set.of(Role.SYSTEM, Role.ASSISTANT, Role.TOOL)) {
      assertThrows(InvalidRequestException.class, () -> new Message(role, List.of(remote)));
    }
    assertEquals("Image[remote, 41 characters]", remote.toString());
    assertEquals("image/png", PICTURE.mediaType());
    assertEquals("AQID", PICTURE.base64());
  }

  @Test
  @Tag("R43")
  void what_was_given_to_a_builder_can_be_changed_without_effect() {
    var capabilities = new Capability[] {Capability.FILES};
    var metadata = new java.util.HashMap<>(Map.of("tenant", "t1"));
    GenerateRequest request = ask(A).requiredCapabilities(capabilities).metadata(metadata).build();

    capabilities[0] = Capability.VISION;
    metadata.put("tenant", "t2");

    assertEquals(Set.of(Capability.FILES), request.requiredCapabilities());
    assertEquals(Map.of("tenant", "t1"), request.metadata());
  }
}
