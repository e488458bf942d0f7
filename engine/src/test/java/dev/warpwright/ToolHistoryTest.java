package dev.warpwright;

import static dev.warpwright.Spine.A;
import static dev.warpwright.Spine.B;
import static dev.warpwright.Spine.C;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.Attempt;
import dev.warpwright.model.Attempt.ReasonCode;
import dev.warpwright.model.AttemptsExhaustedException;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidOutputException;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.NoEligibleTargetException;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.StreamBrokenException;
import dev.warpwright.model.Target;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolHistory;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolResultFormat;
import dev.warpwright.model.UnknownOutcomeException;
import dev.warpwright.model.Usage;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.RunQuery;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStore;
import dev.warpwright.task.Cancellation;
import dev.warpwright.task.Deadline;
import dev.warpwright.tool.JsonType;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A conversation in which tools were called elsewhere goes on here. */
final class ToolHistoryTest {
  private static final ModelCapabilities NATIVE =
      ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.NATIVE);
  private static final ModelCapabilities JSON =
      ModelCapabilities.TEXT_AND_TOOLS.with(ToolHistory.JSON);
  private static final String FAILED = "Provider failed while continuing tool history.";
  private static final String SECRET = "what-a-tool-said";

  private static final ToolCall GOOD =
      new ToolCall("call_1", "echo", Json.parse("{\"text\":\"" + SECRET + "\"}"));
  private static final ToolCall BAD =
      new ToolCall("call_2", "echo", Json.parse("{\"text\":\"x\"}"));
  private static final Message ASK = Message.user("Look twice.");
  private static final Message CALLS = answer(new Part.Text("Looking."), GOOD, BAD);
  private static final Message RESULTS =
      Message.tool(
          List.of(
              ToolResult.failure(BAD, "There is no x."),
              ToolResult.success(GOOD, Json.parse("{\"error\":\"" + SECRET + "\"}"))));
  private static final List<Message> HISTORY =
      List.of(Message.system("Be brief."), ASK, CALLS, RESULTS);

  @RegisterExtension final Spine spine = new Spine();

  private static Message answer(Part... parts) {
    return new Message(Role.ASSISTANT, List.of(parts));
  }

  private static GenerateRequest.Builder goOn(List<Message> messages, Target... targets) {
    Target[] fallbacks = Arrays.copyOfRange(targets, 1, targets.length);
    return GenerateRequest.builder(Route.of(targets[0], fallbacks), messages);
  }

  private static GenerateRequest.Builder goOn(Target... targets) {
    return goOn(HISTORY, targets);
  }

  private static List<Message> interleaved() {
    ToolCall call = Tools.call("c1");
    return List.of(
        ASK,
        answer(call, new Part.Text("That was it.")),
        Message.tool(List.of(ToolResult.success(call, Json.of("x")))));
  }

  // What is refused.

  /** The eleven faults, each in a conversation that is right without it. */
  static Map<String, Supplier<List<Message>>> malformed() {
    Map<String, Supplier<List<Message>>> faults = new LinkedHashMap<>();
    ToolCall call = Tools.call(SECRET);
    ToolResult result = ToolResult.success(call, Json.of("x"));
    Message asked = answer(call);
    Message told = Message.tool(List.of(result));
    faults.put("orphan", () -> List.of(ASK, told));
    faults.put("unresolved", () -> List.of(ASK, asked));
    faults.put("duplicate", () -> List.of(ASK, asked, told, ASK, asked, told));
    faults.put(
        "wrong name",
        () ->
            List.of(
                ASK,
                asked,
                Message.tool(List.of(new ToolResult(SECRET, "other", Json.of("x"), false)))));
    faults.put("wrong role", () -> List.of(new Message(Role.USER, List.of(call)), told));
    faults.put(
        "ambiguous form",
        () ->
            List.of(
                ASK,
                asked,
                Message.tool(
                    List.of(new ToolResult(SECRET, "echo", Json.parse("{\"rows\":3}"), true)))));
    faults.put(
        "provider data",
        () -> List.of(ASK, answer(ProviderState.of("p", "m", Json.of(SECRET)), call), told));
    faults.put("late system message", () -> List.of(ASK, asked, told, Message.system("Late.")));
    faults.put(
        "non-JSON",
        () -> {
          ToolCall text = new ToolCall(SECRET, "echo", Json.of("text"));
          return List.of(ASK, answer(text), told);
        });
    faults.put("duplicate result", () -> List.of(ASK, asked, told, told));
    faults.put("interrupted", () -> List.of(ASK, asked, ASK, told));
    return faults;
  }

  static Set<String> faults() {
    return malformed().keySet();
  }

  record Answer(String text) {}

  @ParameterizedTest
  @MethodSource("faults")
  @Tag("C36")
  @Tag("R15")
  @Tag("R189")
  @Tag("R190")
  @Tag("R191")
  void a_malformed_history_is_refused_by_every_operation_before_any_adapter_is_made(String fault) {
    AtomicInteger made = new AtomicInteger();
    RunStore store = RunStore.inMemory();
    Gateway gateway =
        spine.build(
            Gateway.builder()
                .time(spine.time)
                .adapter(
                    "a",
                    id -> {
                      made.incrementAndGet();
                      return spine.a;
                    }));
    Supplier<List<Message>> messages = malformed().get(fault);
    Agent agent = Agent.builder("agent", Route.of(A)).instructions("Be brief.").build();

    List<InvalidRequestException> refusals =
        List.of(
            assertThrows(
                InvalidRequestException.class,
                () -> gateway.generate(goOn(messages.get(), A).build())),
            assertThrows(
                InvalidRequestException.class,
                () ->
                    gateway.generateObject(
                        ObjectRequest.of(
                            Answer.class,
                            MethodHandles.lookup(),
                            goOn(messages.get(), A).build()))),
            assertThrows(
                InvalidRequestException.class,
                () -> gateway.streamText(goOn(messages.get(), A).build())),
            assertThrows(
                InvalidRequestException.class,
                () ->
                    gateway.streamObject(
                        ObjectRequest.of(
                            Answer.class,
                            MethodHandles.lookup(),
                            goOn(messages.get(), A).build()))),
            assertThrows(
                InvalidRequestException.class,
                () ->
                    Agents.on(gateway, store).stream(
                        AgentRequest.builder(agent, messages.get()).build())),
            assertThrows(
                InvalidRequestException.class,
                () ->
                    Agents.on(gateway, store)
                        .run(AgentRequest.builder(agent, messages.get()).build())));

    for (InvalidRequestException refused : refusals) {
      assertEquals("Invalid or unsupported message history.", refused.getMessage());
      assertEquals(FailureKind.INVALID_HISTORY, refused.kind());
      assertEquals(OperationTrace.NONE, refused.trace());
      assertNull(refused.getCause());
    }
    assertEquals(0, made.get());
    assertEquals(0, gateway.diagnostics().liveTasks().size());
    assertEquals(List.of(), store.list(RunQuery.all(RunScope.DEFAULT), Deadline.never()));
  }

  // Where it may go.

  @Test
  @Tag("R192")
  @Tag("R193")
  void it_goes_to_targets_only_that_declare_how_they_take_it() {
    spine.a.with(ModelCapabilities.TEXT_AND_TOOLS);
    spine.b.with(ModelCapabilities.TEXT.with(ToolHistory.JSON));
    spine.c.with(JSON).says("Done.");

    GenerateResult result = spine.gateway().generate(goOn(A, B, C).build());

    assertEquals(C, result.targetUsed());
    assertEquals(
        List.of("The model does not declare toolHistory.", "The model does not declare tools.", ""),
        result.attempts().stream().map(Attempt::message).toList());
    assertEquals(ReasonCode.MODEL_CAPABILITIES, result.attempts().getFirst().reasonCode());
    assertEquals(0, spine.a.count() + spine.b.count());
  }

  @Test
  @Tag("R203")
  @Tag("R206")
  void a_conversation_without_tools_goes_to_any_target() {
    spine.a.with(ModelCapabilities.TEXT).says("Hi.");
    List<Message> plain =
        List.of(Message.system("Be brief."), ASK, Message.assistant("At what?"), ASK);

    assertEquals("Hi.", spine.gateway().generate(goOn(plain, A).build()).text());
    assertEquals(plain, spine.a.calls().getFirst().messages());
  }

  @Test
  @Tag("R202")
  void text_behind_a_call_goes_to_targets_only_that_keep_it_there() {
    spine.a.with(JSON);
    spine.b.with(NATIVE).says("Done.");

    GenerateResult result = spine.gateway().generate(goOn(interleaved(), A, B).build());

    Attempt skip = result.attempts().getFirst();
    assertEquals(ReasonCode.MODEL_CAPABILITIES, skip.reasonCode());
    assertTrue(skip.message().contains("interleaved"), skip.message());
    assertEquals(interleaved(), spine.b.calls().getFirst().messages());
  }

  @Test
  @Tag("R202")
  void text_before_a_call_goes_anywhere() {
    spine.a.with(JSON).says("Done.");

    assertEquals(A, spine.gateway().generate(goOn(A).build()).targetUsed());
  }

  @Test
  @Tag("R192")
  void without_a_target_for_it_nobody_is_called() {
    var failure =
        assertThrows(
            NoEligibleTargetException.class, () -> spine.gateway().generate(goOn(A, B).build()));

    assertEquals(2, failure.trace().attempts().size());
    assertEquals(0, spine.a.count() + spine.b.count());
  }

  @Test
  @Tag("R191")
  void an_object_needs_its_mode_besides() {
    spine.a.with(NATIVE);
    spine.b.with(NATIVE.with(Capability.JSON_MODE)).says("{\"text\":\"Done.\"}");
    spine.c.with(ModelCapabilities.TEXT_AND_TOOLS.with(Capability.JSON_MODE));

    ObjectResult<Answer> result =
        spine
            .gateway()
            .generateObject(
                ObjectRequest.builder(
                        JsonType.of(Answer.class, MethodHandles.lookup()), goOn(A, C, B).build())
                    .mode(ObjectMode.PROMPTED)
                    .build());

    assertEquals(new Answer("Done."), result.object());
    assertEquals(B, result.answer().targetUsed());
    assertEquals(0, spine.a.count() + spine.c.count());
  }

  // What arrives.

  @Test
  @Tag("R181")
  void what_tools_did_before_is_told_and_not_done_again() {
    List<String> done = Collections.synchronizedList(new ArrayList<>());
    ToolCall fresh = Tools.call("call_3");
    spine.a.with(JSON).asksFor(fresh).says("Done.");

    GenerateResult result =
        spine
            .gateway()
            .generate(
                goOn(A)
                    .tools(
                        Tools.of(
                            "echo",
                            input -> {
                              done.add(input.text());
                              return input.text();
                            }))
                    .maxSteps(2)
                    .build());

    assertEquals(List.of("text of call_3"), done);
    assertEquals(List.of("call_3"), result.toolResults().stream().map(ToolResult::callId).toList());
    assertEquals(HISTORY, spine.a.calls().getFirst().messages());
    assertEquals(HISTORY, result.messages().subList(0, HISTORY.size()));
    assertEquals(HISTORY.size() + 3, result.messages().size());
  }

  @Test
  @Tag("R196")
  @Tag("R197")
  void what_an_adapter_does_to_its_input_never_reaches_the_fallback_or_the_caller() {
    List<Message> mine = new ArrayList<>(HISTORY);
    spine
        .a
        .with(JSON)
        .then(
            call -> {
              assertUnchangeable(call.messages());
              for (Message message : call.messages()) {
                assertUnchangeable(message.parts());
                assertUnchangeable(message.toolCalls());
                assertUnchangeable(message.toolResults());
              }
              Map<?, ?> input =
                  (Map<?, ?>) call.messages().get(2).toolCalls().get(0).input().value();
              assertThrows(UnsupportedOperationException.class, input::clear);
              throw FakeModel.status(400);
            });
    spine.b.with(NATIVE).says("Done.");
    GenerateRequest request = goOn(mine, A, B).build();
    mine.clear();

    GenerateResult result = spine.gateway().generate(request);

    assertEquals(HISTORY, spine.b.calls().getFirst().messages());
    assertEquals(HISTORY, request.messages());
    assertEquals(HISTORY, result.messages().subList(0, HISTORY.size()));
  }

  private static void assertUnchangeable(List<?> list) {
    assertThrows(UnsupportedOperationException.class, () -> list.remove(0));
    assertThrows(UnsupportedOperationException.class, list::clear);
  }

  @Test
  @Tag("R198")
  @Tag("R372")
  void results_stand_in_envelopes_after_a_history_and_else_when_it_is_asked_for() {
    spine.a.with(JSON).says("1").says("2").says("3");
    Gateway gateway = spine.gateway();

    gateway.generate(goOn(A).build());
    gateway.generate(Spine.ask(A).build());
    gateway.generate(Spine.ask(A).toolResultFormat(ToolResultFormat.ENVELOPE).build());

    assertEquals(
        List.of(ToolResultFormat.ENVELOPE, ToolResultFormat.PLAIN, ToolResultFormat.ENVELOPE),
        spine.a.calls().stream().map(ModelCall::toolResults).toList());
  }

  @Test
  @Tag("R208")
  void the_estimate_counts_calls_and_results_as_they_are_serialised() {
    spine
        .a
        .with(JSON)
        .then(
            call ->
                FakeModel.response(
                    List.of(new Part.Text("Done.")), FinishReason.Kind.STOP, Usage.ABSENT));
    ToolCall call = new ToolCall("c", "f", Json.EMPTY_OBJECT);
    List<Message> messages =
        List.of(
            Message.user("x"),
            answer(call),
            Message.tool(List.of(ToolResult.failure(call, "No."))));
    String serialised =
        "x"
            + "{'type':'tool_call','id':'c','name':'f','input':{}}"
            + "{'type':'tool_result','id':'c','name':'f','error':'No.'}";

    Usage usage = spine.gateway().generate(goOn(messages, A).build()).usage();

    assertEquals((serialised.length() + 3) / 4, usage.input().tokens());
    assertEquals(TokenCount.Provenance.ESTIMATED, usage.input().provenance());
    assertEquals((serialised.length() + 3) / 4, InputSize.tokens(messages, List.of(), 0));
  }

  // What is told of a failure.

  private static ProviderException talkative(int status) {
    IllegalStateException cause =
        new IllegalStateException("cause: " + SECRET, new RuntimeException("deeper: " + SECRET));
    ProviderException failure =
        ProviderException.builder(
                ProviderException.Kind.HTTP_STATUS, "The request failed: " + SECRET)
            .status(status)
            .code("invalid_input")
            .requestId("request-7")
            .providerMessage("Unexpected " + SECRET)
            .retryAfter(Duration.ZERO)
            .cause(cause)
            .build();
    failure.addSuppressed(new RuntimeException("suppressed: " + SECRET));
    return failure;
  }

  private static String everything(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      if (each instanceof ProviderException provider) {
        text.append(provider.providerMessage().toString());
      }
      for (Throwable suppressed : each.getSuppressed()) {
        text.append(everything(suppressed));
      }
    }
    if (thrown instanceof WarpwrightException own) {
      text.append(own.trace().attempts().toString());
    }
    return text.toString();
  }

  @Test
  @Tag("R207")
  @Tag("R358")
  void a_failure_is_told_without_a_word_of_the_provider() {
    List<String> observed = Collections.synchronizedList(new ArrayList<>());
    spine.a.with(JSON).fails(talkative(503), 3);
    spine.b.with(NATIVE).fails(new IllegalArgumentException("not " + SECRET));
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .observerMode(ObserverMode.AWAIT)
                .attemptObserver((id, attempt) -> observed.add(attempt.message())));

    var failure =
        assertThrows(AttemptsExhaustedException.class, () -> gateway.generate(goOn(A, B).build()));

    assertFalse(everything(failure).contains(SECRET), everything(failure));
    assertTrue(String.valueOf(failure.getMessage()).contains(FAILED), failure.getMessage());
    assertEquals(List.of(FAILED, FAILED, FAILED, FAILED), observed);
    assertEquals(observed, failure.trace().attempts().stream().map(Attempt::message).toList());
    ProviderException cause = assertInstanceOf(ProviderException.class, failure.getCause());
    assertEquals(FAILED, cause.getMessage());
    assertEquals(503, cause.status());
    assertEquals(Optional.of("invalid_input"), cause.code());
    assertEquals(Optional.of("request-7"), cause.requestId());
    assertEquals(Optional.of(Duration.ZERO), cause.retryAfter());
    assertEquals(Optional.of(A), cause.target());
    assertEquals(Optional.empty(), cause.providerMessage());
  }

  @Test
  @Tag("C37")
  @Tag("R207")
  @Tag("R362")
  void a_stream_that_breaks_tells_no_word_of_the_provider_and_is_not_begun_again() {
    spine.a.with(JSON).breaks(talkative(503), "It is ");
    spine.b.with(NATIVE);
    try (TextStream stream = spine.gateway().streamText(goOn(A, B).build())) {
      var failure = assertThrows(StreamBrokenException.class, stream::collect);

      assertFalse(everything(failure).contains(SECRET), everything(failure));
      assertTrue(String.valueOf(failure.getMessage()).contains(FAILED), failure.getMessage());
      assertEquals(
          List.of(FAILED), failure.trace().attempts().stream().map(Attempt::message).toList());
      assertEquals("It is ", failure.partialText());
      assertEquals(0, spine.b.count());
    }
  }

  @Test
  @Tag("C37")
  @Tag("R207")
  void the_reason_to_cancel_a_stream_is_not_told() throws Exception {
    spine
        .a
        .with(JSON)
        .tells(
            (call, events) -> {
              events.tell(new ModelEvent.Text("It is "));
              return FakeModel.blocks(call);
            });
    Cancellation handle = new Cancellation();
    try (TextStream stream = spine.gateway().streamText(goOn(A).cancellation(handle).build())) {
      assertEquals("It is ", stream.text().iterator().next());
      handle.cancel(SECRET);

      var cancelled = assertThrows(OperationCancelledException.class, stream::collect);

      assertFalse(everything(cancelled).contains(SECRET), everything(cancelled));
      assertEquals("Request cancelled.", cancelled.trace().attempts().getFirst().message());
    }
  }

  @Test
  @Tag("R207")
  void a_tool_of_the_provider_that_failed_keeps_whether_it_may_have_acted() {
    spine
        .a
        .with(NATIVE)
        .fails(
            ProviderException.builder(ProviderException.Kind.TOOL_CALL, SECRET)
                .withoutEffects(true)
                .build())
        .fails(ProviderException.builder(ProviderException.Kind.TOOL_CALL, SECRET).build());
    spine.b.with(NATIVE);

    var failure =
        assertThrows(
            AttemptsExhaustedException.class, () -> spine.gateway().generate(goOn(A, B).build()));

    assertEquals(FailureKind.PROVIDER_TOOL, failure.kind());
    assertEquals(2, spine.a.count());
    assertFalse(everything(failure).contains(SECRET), everything(failure));
  }

  static List<WarpwrightException> ends() {
    return List.of(
        new InvalidRequestException(FailureKind.INVALID_REQUEST, SECRET),
        new InvalidOutputException(
            FailureKind.OUTPUT_SCHEMA, SECRET, List.of(SECRET), null, OperationTrace.NONE),
        new ConflictException(SECRET, new RuntimeException(SECRET), OperationTrace.NONE),
        new OperationCancelledException(SECRET, null, OperationTrace.NONE),
        new UnknownOutcomeException(SECRET, null, OperationTrace.NONE));
  }

  @ParameterizedTest
  @MethodSource("ends")
  @Tag("R207")
  void an_adapter_that_ends_the_operation_does_not_speak_either(WarpwrightException end) {
    spine.a.with(NATIVE).fails(end);
    spine.b.with(NATIVE);

    var failure = assertThrows(end.getClass(), () -> spine.gateway().generate(goOn(A, B).build()));

    assertEquals(end.kind(), failure.kind());
    assertFalse(everything(failure).contains(SECRET), everything(failure));
    assertEquals(0, spine.b.count());
  }

  @Test
  @Tag("R3")
  void an_error_is_thrown_as_it_is() {
    Error error = new StackOverflowError("deep");
    spine
        .a
        .with(NATIVE)
        .then(
            call -> {
              throw error;
            });

    assertEquals(
        error,
        assertThrows(StackOverflowError.class, () -> spine.gateway().generate(goOn(A).build())));
  }

  @Test
  @Tag("R207")
  void a_reason_to_cancel_is_not_told() throws Exception {
    List<String> observed = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch told = new CountDownLatch(1);
    spine.a.with(NATIVE).hangs();
    spine.b.with(NATIVE);
    Gateway gateway =
        spine.build(
            spine
                .builder()
                .attemptObserver(
                    (id, attempt) -> {
                      observed.add(attempt.message());
                      told.countDown();
                    }));
    Cancellation cancellation = new Cancellation();
    Caller<GenerateResult> caller =
        Caller.start(() -> gateway.generate(goOn(A, B).cancellation(cancellation).build()));
    spine.a.awaitBusy();

    cancellation.cancel("because of " + SECRET);

    var failure = caller.failure(OperationCancelledException.class);
    Spine.await("the observer", told);
    assertEquals("Request cancelled.", failure.getMessage());
    assertEquals("Request cancelled.", failure.trace().attempts().getFirst().message());
    assertEquals(ReasonCode.REQUEST_ABORTED, failure.trace().attempts().getFirst().reasonCode());
    assertEquals(List.of("Request cancelled."), observed);
    assertFalse(everything(failure).contains(SECRET), everything(failure));
  }

  @Test
  @Tag("R207")
  void nor_is_one_of_before_the_operation_began() {
    Cancellation cancellation = new Cancellation();
    cancellation.cancel("because of " + SECRET);

    var failure =
        assertThrows(
            OperationCancelledException.class,
            () -> spine.gateway().generate(goOn(A).cancellation(cancellation).build()));

    assertEquals("Request cancelled.", failure.getMessage());
  }

  @ParameterizedTest
  @EnumSource(names = {"NATIVE", "JSON"})
  @Tag("R191")
  void it_is_routed_and_counted_like_any_other(ToolHistory form) {
    spine.a.with(NATIVE).fails(FakeModel.status(503), 3);
    spine
        .b
        .with(ModelCapabilities.TEXT_AND_TOOLS.with(form))
        .then(call -> FakeModel.answer("Do", FinishReason.Kind.LENGTH));

    GenerateResult result = spine.gateway().generate(goOn(A, B).build());

    assertEquals(B, result.targetUsed());
    assertEquals(FinishReason.Kind.LENGTH, result.finishReason().kind());
    assertEquals(Usage.reported(10, 5).output(), result.usage().output());
    assertEquals(
        List.of("PROVIDER_ERROR", "PROVIDER_ERROR", "PROVIDER_ERROR", "PROVIDER_SUCCESS"),
        result.attempts().stream().map(attempt -> attempt.reasonCode().name()).toList());
  }
}
