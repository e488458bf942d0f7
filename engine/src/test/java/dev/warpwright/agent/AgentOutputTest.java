package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.ended;
import static dev.warpwright.agent.FakeModel.saying;
import static dev.warpwright.agent.FakeModel.status;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.ObjectMode;
import dev.warpwright.model.Capability;
import dev.warpwright.model.ConflictException;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Role;
import dev.warpwright.model.Route;
import dev.warpwright.model.RunFailedException;
import dev.warpwright.run.RunEvent.RunCompleted;
import dev.warpwright.run.RunEvent.RunFailed;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.JsonType;
import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An agent whose final answer is an object. */
@Timeout(60)
final class AgentOutputTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");
  private static final String GOOD = "{\"team\":\"billing\",\"urgent\":true}";
  private static final Capability[] NATIVE = {Capability.TOOLS, Capability.STRUCTURED_OUTPUT};
  private static final Capability[] PROMPTED = {Capability.TOOLS, Capability.JSON_MODE};

  /** What is answered. */
  public record Triage(String team, boolean urgent) {}

  private record Hidden(String team, boolean urgent) {}

  private final World world = new World();
  private final RunStore store = RunStore.inMemory();
  private final List<ModelCall> calls = new CopyOnWriteArrayList<>();
  private Optional<Program> program = Optional.empty();

  @AfterEach
  void nothingIsLeft() {
    program.ifPresent(Program::assertNothingIsLeft);
  }

  private FakeModel model(Capability[] capabilities, FakeModel.Answer... answers) {
    return FakeModel.of(List.of(answers).stream().map(this::noting).toList())
        .declaring(capabilities);
  }

  private FakeModel.Answer noting(FakeModel.Answer answer) {
    return call -> {
      calls.add(call);
      return answer.give(call);
    };
  }

  private Program program(FakeModel model) {
    program = Optional.of(Program.on(store, model));
    return program.get();
  }

  private Program natively(FakeModel.Answer... answers) {
    return program(model(NATIVE, answers));
  }

  private Agent.Builder agent() {
    return Agent.builder("agent", Program.ROUTE)
        .tools(world.tool("refund", EffectClass.ONCE).build())
        .output(Triage.class);
  }

  private static AgentResult run(Program program, Agent agent) {
    return program.agents.run(
        AgentRequest.builder(agent, "Do it.").runId("run-1").idempotencyKey("key").build());
  }

  private static AgentResult stream(Program program, Agent agent) {
    try (AgentStream stream =
        program.agents.stream(AgentRequest.builder(agent, "Do it.").runId("run-1").build())) {
      return stream.collect();
    }
  }

  @Test
  @Tag("A38")
  void the_object_is_the_text_of_the_last_step_alone_and_the_text_is_all_of_it() {
    Program program = natively(saying("{\"team\":", call("c1", "refund", "o1")), text(GOOD));
    Agent agent = agent().build();

    AgentResult result = run(program, agent);

    assertEquals(new Triage("billing", true), result.output(Triage.class));
    assertEquals("{\"team\":" + GOOD, result.text());
    RunCompleted end = assertInstanceOf(RunCompleted.class, program.events(RUN).getLast());
    assertEquals(Optional.of(Json.parse(GOOD)), end.output());
    assertEquals(Optional.of(ObjectMode.NATIVE), end.outputMode());

    AgentResult again = run(program, agent);
    assertFalse(again.driven());
    assertEquals(new Triage("billing", true), again.output(Triage.class), "from the log");
  }

  @ParameterizedTest
  @CsvSource({"true", "false"})
  @Tag("A64")
  void the_mode_is_decided_for_each_destination(boolean strictFirst) {
    FakeModel strict = model(NATIVE, strictFirst ? status(500) : text(GOOD));
    FakeModel loose =
        model(PROMPTED, strictFirst ? text("Here:\n```json\n" + GOOD + "\n```") : status(500));
    Program program =
        strictFirst ? Program.on(store, strict, loose) : Program.on(store, loose, strict);
    this.program = Optional.of(program);
    Agent agent =
        Agent.builder("agent", Route.of(Program.TARGET, Program.SPARE))
            .instructions("You triage.")
            .output(Triage.class)
            .build();

    AgentResult result = run(program, agent);

    assertEquals(new Triage("billing", true), result.output(Triage.class));
    assertEquals(
        Optional.of(strictFirst ? ObjectMode.PROMPTED : ObjectMode.NATIVE),
        result.state().outputMode());
    ModelCall natively = calls.get(strictFirst ? 0 : 1);
    ModelCall byPrompt = calls.get(strictFirst ? 1 : 0);
    assertInstanceOf(OutputFormat.JsonSchema.class, natively.output().orElseThrow());
    assertEquals(2, natively.messages().size());
    assertEquals(3, byPrompt.messages().size());
    assertEquals(Role.SYSTEM, byPrompt.messages().get(1).role());
    assertTrue(byPrompt.messages().get(1).text().contains("JSON Schema"));
    assertEquals(3, result.state().messages().size(), "the log has the caller's messages only");
  }

  @Test
  @Tag("A64")
  void each_step_asks_so_and_a_target_that_can_do_neither_is_skipped() {
    Program program =
        Program.on(
            store,
            model(new Capability[] {Capability.TOOLS}),
            model(PROMPTED, saying("", call("c1", "refund", "o1")), text(GOOD)));
    this.program = Optional.of(program);
    Agent agent =
        Agent.builder("agent", Route.of(Program.TARGET, Program.SPARE))
            .tools(world.tool("refund", EffectClass.ONCE).build())
            .output(Triage.class)
            .build();

    AgentResult result = run(program, agent);

    assertEquals(Optional.of(ObjectMode.PROMPTED), result.state().outputMode());
    assertEquals(2, calls.size());
    assertTrue(
        calls.stream()
            .allMatch(
                call ->
                    call.messages().stream().filter(m -> m.role() == Role.SYSTEM).count() == 1));
  }

  @ParameterizedTest
  @CsvSource({
    "OUTPUT_PARSE, STOP, 'No idea.'",
    "OUTPUT_SCHEMA, STOP, '{\"team\":\"billing\",\"urgent\":\"very\"}'",
    "OUTPUT_REFUSAL, REFUSAL, '{\"team\":\"billing\",\"urgent\":true}'",
    "OUTPUT_TRUNCATION, LENGTH, '{\"team\":\"billing\",\"urgent\":true}'",
  })
  @Tag("A65")
  @Tag("A12")
  void an_answer_that_is_not_the_object_fails_the_run_for_good(
      FailureKind kind, FinishReason.Kind finish, String answer) {
    Function<Program, AgentResult> blocking = program -> run(program, agent().build());
    Function<Program, AgentResult> streamed = program -> stream(program, agent().build());
    for (Function<Program, AgentResult> way : List.of(blocking, streamed)) {
      RunStore fresh = RunStore.inMemory();
      Program program =
          Program.on(
              fresh,
              FakeModel.of(ended(finish, answer))
                  .declaring(Capability.STREAMING, Capability.TOOLS, Capability.STRUCTURED_OUTPUT));
      AgentResult result = way.apply(program);

      RunFailed failure = result.state().failure().orElseThrow();
      assertEquals(kind, failure.kind());
      assertFalse(failure.resumable());
      assertFalse(failure.message().contains("very"), "no content");
      assertEquals(answer, result.text(), "the answer was paid for and is kept");
      assertEquals(
          List.of("RunStarted", "StepStarted", "RouteBound", "ModelResponded", "RunFailed"),
          program.types(RUN));
      RunFailedException thrown =
          assertThrows(RunFailedException.class, () -> result.output(Triage.class));
      assertEquals(kind, thrown.kind());
      assertFalse(program.agents.resume(agent().build(), RUN).driven());
      program.assertNothingIsLeft();
    }
  }

  @Test
  @Tag("A64")
  void a_stream_gives_the_same_object() {
    Program program =
        program(
            FakeModel.of(text(GOOD))
                .declaring(Capability.STREAMING, Capability.TOOLS, Capability.JSON_MODE));

    AgentResult result = stream(program, agent().build());

    assertEquals(new Triage("billing", true), result.output(Triage.class));
    assertEquals(Optional.of(ObjectMode.PROMPTED), result.state().outputMode());
  }

  @Test
  void a_record_that_is_not_public_is_read_by_the_programs_lookup() {
    Program program = natively(text(GOOD));
    JsonType<Hidden> type = JsonType.of(Hidden.class, MethodHandles.lookup());

    AgentResult result = run(program, agent().output(type).build());

    assertEquals(new Hidden("billing", true), result.output(Hidden.class));
  }

  @Test
  void null_for_absent_is_what_a_provider_sends_that_holds_to_a_given_schema() {
    Json schema =
        Json.parse(
            """
            {"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},
             "required":["a"],"additionalProperties":false}\
            """);
    Program program = natively(text("{\"a\":\"x\",\"b\":null}"));

    AgentResult result = run(program, agent().output(JsonType.ofSchema(schema)).build());

    assertEquals(Json.parse("{\"a\":\"x\",\"b\":null}"), result.output(Json.class));
  }

  @Test
  void an_answer_is_read_as_what_the_agent_was_asked_for_and_nothing_else() {
    Program program = natively(text(GOOD));
    AgentResult result = run(program, agent().build());

    InvalidRequestException other =
        assertThrows(InvalidRequestException.class, () -> result.output(String.class));
    assertTrue(other.getMessage().contains("is Triage"), other.getMessage());

    AgentResult words =
        Program.with(text("Hello."))
            .agents
            .run(AgentRequest.builder(Agent.builder("a", Program.ROUTE).build(), "Hi.").build());
    InvalidRequestException none =
        assertThrows(InvalidRequestException.class, () -> words.output(Triage.class));
    assertTrue(none.getMessage().contains("is a text"), none.getMessage());
  }

  @Test
  @Tag("A105")
  void the_output_is_part_of_what_a_key_was_claimed_with() {
    Program program = natively(text(GOOD));
    var _ = run(program, agent().build());

    for (Agent other :
        List.of(
            agent().outputMode(ObjectMode.NATIVE).build(),
            agent().output(World.Order.class).build())) {
      ConflictException conflict = assertThrows(ConflictException.class, () -> run(program, other));
      assertTrue(
          String.valueOf(conflict.getMessage()).contains("differs in output"),
          conflict.getMessage());
    }
  }

  /** What is answered; its constructor waits, once. */
  public record Slow(String team) {
    static final AtomicBoolean waits = new AtomicBoolean();
    static final CountDownLatch waiting = new CountDownLatch(1);

    /** Waits. */
    public Slow {
      if (waits.compareAndSet(true, false)) {
        waiting.countDown();
        try {
          new CountDownLatch(1).await();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
    }
  }

  @Test
  @Tag("C31")
  @Tag("A129")
  void the_deadline_holds_while_the_object_is_made_and_a_resume_reads_the_paid_answer()
      throws Exception {
    Program program = natively(text("{\"team\":\"billing\"}"));
    Agent agent = agent().output(Slow.class).build();
    Slow.waits.set(true);
    Invocation invocation = Invocation.builder().timeout(Duration.ofSeconds(5)).build();
    AgentResult late;
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<AgentResult> caller =
          pool.submit(
              () ->
                  program.agents.run(
                      AgentRequest.builder(agent, "Do it.")
                          .runId("run-1")
                          .invocation(invocation)
                          .build()));
      Slow.waiting.await();
      program.time.advance(Duration.ofSeconds(5));
      late = caller.get();
    }
    RunFailed failure = late.state().failure().orElseThrow();
    assertEquals(FailureKind.DEADLINE, failure.kind());
    assertTrue(failure.resumable());

    AgentResult done = program.agents.resume(agent, RUN);

    assertEquals(RunStatus.COMPLETED, done.status());
    assertEquals(new Slow("billing"), done.output(Slow.class));
    assertEquals(1, calls.size(), "the model is not asked again");
    assertEquals(late.state().usage(), done.state().usage());
    assertEquals("{\"team\":\"billing\"}", done.text());
  }

  @Test
  void a_mode_that_the_schema_does_not_allow_is_refused_by_the_builder() {
    Json free = Json.parse("{\"type\":\"object\",\"additionalProperties\":true}");
    Agent.Builder builder = agent().output(JsonType.ofSchema(free)).outputMode(ObjectMode.NATIVE);

    InvalidRequestException refusal = assertThrows(InvalidRequestException.class, builder::build);

    assertTrue(refusal.getMessage().contains("strict form"), refusal.getMessage());
  }
}
