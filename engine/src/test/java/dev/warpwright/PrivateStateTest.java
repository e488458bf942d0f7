package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Conversation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a provider says to itself stays in its place and goes back to nobody else. */
@Tag("R70")
@Tag("Y47")
final class PrivateStateTest {
  private static final ProviderState THOUGHT =
      ProviderState.of("p", "model-a", Json.parse("{\"s3cr3t\":\"thought\"}"));
  private static final ToolCall CALL = new ToolCall("c1", "nowhere", Json.EMPTY_OBJECT);

  @RegisterExtension final Spine spine = new Spine();

  private static FakeModel.Reply thinks(Part... parts) {
    return call -> FakeModel.response(List.of(parts), FinishReason.Kind.STOP, Usage.reported(1, 1));
  }

  private static List<ProviderState> states(List<Message> messages) {
    return messages.stream()
        .flatMap(message -> message.parts().stream())
        .flatMap(part -> part instanceof ProviderState state ? Stream.of(state) : Stream.empty())
        .toList();
  }

  private GenerateResult twoSteps() {
    return spine.gateway().generate(ask(A, B).maxSteps(2).build());
  }

  @Test
  void it_comes_back_to_its_issuer_in_its_place_and_under_its_provider() {
    spine.a.then(thinks(THOUGHT, new Part.Text("Wait."), THOUGHT, CALL)).says("Done.");

    GenerateResult result = twoSteps();

    ProviderState issued = THOUGHT.issuedBy("a");
    Message turn =
        new Message(Role.ASSISTANT, List.of(issued, new Part.Text("Wait."), issued, CALL));
    assertEquals(turn, spine.a.calls().getLast().messages().get(1));
    assertEquals(turn, result.messages().get(1));
  }

  @Test
  void a_fallback_sees_the_conversation_without_it_and_the_result_keeps_it() {
    spine
        .a
        .then(thinks(THOUGHT, CALL))
        .fails(ProviderException.builder(ProviderException.Kind.OTHER, "Gone.").build());
    spine.b.then(thinks(THOUGHT, new Part.Text("Done.")));

    GenerateResult result = twoSteps();

    List<Message> seen = spine.b.calls().getFirst().messages();
    assertEquals(List.of(), states(seen));
    assertEquals(List.of(CALL), seen.get(1).parts());
    assertEquals(List.of(THOUGHT.issuedBy("a"), THOUGHT.issuedBy("b")), states(result.messages()));
  }

  @Test
  void a_history_of_the_programs_own_is_filtered_alike() {
    Conversation history =
        Conversation.of(
            List.of(
                Message.user("Hi"),
                new Message(
                    Role.ASSISTANT,
                    List.of(THOUGHT, THOUGHT.issuedBy("b"), THOUGHT.issuedBy("a"), CALL)),
                Message.user("Go on")));
    PrivateState.Views views = new PrivateState.Views();

    assertEquals(List.of(THOUGHT.issuedBy("a")), states(views.visibleTo("a", history)));
    assertEquals(List.of(), states(views.visibleTo("c", history)));
    Conversation plain = Conversation.of(List.of(Message.user("Hi"), Message.assistant("Hello")));
    assertSame(plain, views.visibleTo("a", plain));
  }

  @Test
  void what_was_filtered_of_a_conversation_is_not_looked_at_again_when_it_grows() {
    PrivateState.Views views = new PrivateState.Views();
    Conversation all = Conversation.of(List.of(Message.user("Hi")));
    Conversation before = views.visibleTo("b", all);
    for (int i = 0; i < 50; i++) {
      all = all.plus(new Message(Role.ASSISTANT, List.of(THOUGHT.issuedBy("a"), CALL)));
      all = all.plus(Message.user("Go on " + i));
      Conversation seen = views.visibleTo("b", all);
      assertEquals(List.of(), states(seen));
      assertEquals(all.size(), seen.size());
      assertSame(all.getLast(), seen.getLast());
      assertTrue(i == 0 || seen.continues(before), "it goes on from what was filtered before");
      before = seen;
    }
    Conversation another = Conversation.of(all.subList(0, 3)).plus(Message.user("Other"));

    assertEquals(4, views.visibleTo("b", another).size());
    assertEquals("Other", views.visibleTo("b", another).getLast().text());
  }

  @Test
  void an_adapter_cannot_give_its_state_the_name_of_another_provider() throws Exception {
    ModelResponse forged = thinks(THOUGHT.issuedBy("b")).to(null);

    assertEquals(
        List.of(THOUGHT.issuedBy("a")),
        states(List.of(PrivateState.issuedBy("a", forged).message())));
  }

  @ParameterizedTest
  @EnumSource(value = Role.class, mode = EnumSource.Mode.EXCLUDE, names = "ASSISTANT")
  void it_stands_in_answers_only(Role role) {
    List<Part> parts = List.of(THOUGHT);

    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> new Message(role, parts));

    assertEquals(FailureKind.INVALID_HISTORY, refused.kind());
  }

  @Test
  void it_is_no_text_and_shows_no_content() {
    Message message = new Message(Role.ASSISTANT, List.of(THOUGHT, new Part.Text("Hi")));

    assertEquals("Hi", message.text());
    assertFalse(THOUGHT.issuedBy("a").toString().contains("s3cr3t"));
    assertEquals("ProviderState[a, p, model-a]", THOUGHT.issuedBy("a").toString());
  }
}
