package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Attempt;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.Capability;
import dev.warpwright.model.Completeness;
import dev.warpwright.model.Conversation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderApproval;
import dev.warpwright.model.ProviderApproval.Answer;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.Usage;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Operations without a run whose provider asks for an approval. */
@Tag("A79")
final class ApprovalOutsideRunTest {
  private static final ProviderState ASKING =
      ProviderState.of("p", "model-a", Json.parse("{\"s3cr3t\":1}"))
          .asking(
              ProviderApproval.of("r1", Optional.of("docs"), "search", Json.parse("{\"q\":1}")));

  /** The input of the tool here. */
  public record Note(String text) {}

  /** The object that is asked for here. */
  public record Sum(int value) {}

  @RegisterExtension final Spine spine = new Spine();

  @BeforeEach
  void declare() {
    spine.a.with(
        ModelCapabilities.TEXT_AND_TOOLS.with(Capability.JSON_MODE).with(ToolHistory.JSON));
  }

  private static FakeModel.Reply says(FinishReason.Kind finish, Part... parts) {
    return call -> FakeModel.response(List.of(parts), finish, Usage.reported(1, 1));
  }

  private static GenerateRequest.Builder ask(List<Message> messages, Target... targets) {
    Route route =
        Route.of(targets[0], List.of(targets).subList(1, targets.length).toArray(Target[]::new));
    return GenerateRequest.builder(route, messages);
  }

  private GenerateResult asked() {
    spine.a.then(says(FinishReason.Kind.PAUSED, ASKING));
    return spine.gateway().generate(ask(List.of(Message.user("Hi")), A).build());
  }

  @Test
  void the_result_says_what_is_asked_and_is_not_taken_for_a_whole_answer() {
    GenerateResult result = asked();

    assertEquals(List.of(ASKING.issuedBy("a")), result.pendingApprovals());
    assertEquals(FinishReason.Kind.PAUSED, result.finishReason().kind());
    assertEquals(Completeness.TRUNCATED, result.completeness());
  }

  @Test
  void tools_of_the_same_answer_run_and_then_the_program_has_the_word() {
    List<String> notes = new ArrayList<>();
    Tool note =
        Tool.of(
            "note",
            "Notes.",
            Note.class,
            EffectClass.PURE,
            (input, context) -> notes.add(input.text()));
    ToolCall call = new ToolCall("c1", "note", Json.parse("{\"text\":\"x\"}"));
    spine.a.then(says(FinishReason.Kind.TOOL_CALLS, ASKING, call));

    GenerateResult result =
        spine
            .gateway()
            .generate(ask(List.of(Message.user("Hi")), A).tools(note).maxSteps(5).build());

    assertEquals(List.of("x"), notes);
    assertEquals(1, result.steps().size(), "the model is not asked over the provider's head");
    assertEquals(FinishReason.Kind.PAUSED, result.finishReason().kind());
    assertEquals(1, result.pendingApprovals().size());
    assertEquals(Role.TOOL, result.messages().getLast().role());

    spine.a.says("Done.");
    Conversation answered =
        Conversation.of(result.messages()).answered("a", "r1", Answer.approve());
    assertEquals("Done.", spine.gateway().generate(ask(answered, A).build()).text());
    assertEquals(
        Optional.of(Answer.approve()),
        spine
            .a
            .calls()
            .getLast()
            .messages()
            .get(1)
            .approvals()
            .getFirst()
            .approval()
            .orElseThrow()
            .answer());
  }

  @Test
  @Tag("R70")
  void an_answer_goes_to_the_target_that_asked_and_to_no_other() {
    Conversation answered =
        Conversation.of(asked().messages()).answered("a", "r1", Answer.approve());

    NoEligibleTargetException nobody =
        assertThrows(
            NoEligibleTargetException.class,
            () -> spine.gateway().generate(ask(answered, B, Target.of("a", "other")).build()));
    assertEquals(
        List.of(Attempt.ReasonCode.OPERATION_SKIP, Attempt.ReasonCode.OPERATION_SKIP),
        nobody.trace().attempts().stream().map(Attempt::reasonCode).toList());
    spine.a.says("Done.");
    GenerateResult done = spine.gateway().generate(ask(answered, B, A).build());
    assertEquals("a", done.providerUsed());
    assertEquals(0, spine.b.calls().size());

    spine.b.says("Hello.");
    List<Message> more = new ArrayList<>(done.messages());
    more.add(Message.user("And?"));
    assertEquals("Hello.", spine.gateway().generate(ask(more, B).build()).text(), "it was told");
  }

  @ParameterizedTest
  @ValueSource(strings = {"other provider", "other id", "twice", "older answer", "no answer"})
  @Tag("A81")
  void an_answer_to_what_nobody_asks_is_refused(String what) {
    Conversation asked = Conversation.of(asked().messages());
    Conversation conversation =
        switch (what) {
          case "twice" -> asked.answered("a", "r1", Answer.deny("no"));
          case "older answer" -> asked.plus(Message.assistant("Never mind."));
          case "no answer" -> Conversation.of(List.of(Message.user("Hi")));
          default -> asked;
        };

    assertThrows(
        InvalidRequestException.class,
        () ->
            conversation.answered(
                what.equals("other provider") ? "b" : "a",
                what.equals("other id") ? "r2" : "r1",
                Answer.approve()));
  }

  @Test
  void what_a_cut_off_answer_asks_is_not_pending() {
    spine.a.then(says(FinishReason.Kind.LENGTH, ASKING));

    GenerateResult result = spine.gateway().generate(ask(List.of(Message.user("Hi")), A).build());

    assertEquals(List.of(), result.pendingApprovals());
    assertEquals(FinishReason.Kind.LENGTH, result.finishReason().kind());
  }

  @ParameterizedTest
  @ValueSource(strings = {"PAUSED", "STOP"})
  void there_is_no_object_before_the_approval_whatever_stands_beside_it(String finish) {
    spine.a.then(says(FinishReason.Kind.valueOf(finish), new Part.Text("{\"value\":1}"), ASKING));

    InvalidOutputException refused =
        assertThrows(
            InvalidOutputException.class,
            () ->
                spine
                    .gateway()
                    .generateObject(
                        ObjectRequest.of(
                            Sum.class,
                            MethodHandles.lookup(),
                            ask(List.of(Message.user("Hi")), A).build())));

    assertEquals(FailureKind.OUTPUT_TRUNCATION, refused.kind());
    assertTrue(String.valueOf(refused.getMessage()).contains("asks for an approval"));
  }

  @Test
  void an_adapter_cannot_answer_for_the_program() {
    spine.a.then(
        says(
            FinishReason.Kind.PAUSED,
            ASKING.asking(ASKING.approval().orElseThrow().answered(Answer.approve()))));

    AttemptsExhaustedException failed =
        assertThrows(
            AttemptsExhaustedException.class,
            () -> spine.gateway().generate(ask(List.of(Message.user("Hi")), A).build()));

    assertTrue(
        failed.trace().attempts().getFirst().message().contains("has an answer already"),
        failed.trace().attempts().getFirst().message());
  }
}
