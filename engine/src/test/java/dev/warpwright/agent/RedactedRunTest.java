package dev.warpwright.agent;

import static dev.warpwright.agent.FakeModel.call;
import static dev.warpwright.agent.FakeModel.calls;
import static dev.warpwright.agent.FakeModel.text;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.ProviderException;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEventCodec;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolExecution;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Where a secret may come from that is in no place where a failed run is told. */
@Timeout(60)
final class RedactedRunTest {
  private static final String SECRET = "sk-abcdefghijklmnop0123456789";
  private static final String TEXT = "Authorization: Bearer " + SECRET;
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  @RegisterExtension private final LeakCheck leaks = new LeakCheck();
  private final StringBuilder shown = new StringBuilder();

  /** Who throws the secret. */
  @SuppressWarnings("ImmutableEnumChecker") // functions without state
  enum Source {
    PROVIDER(
        builder -> builder,
        call -> {
          throw ProviderException.builder(ProviderException.Kind.HTTP_STATUS, TEXT)
              .status(400)
              .build();
        }),
    ADAPTER(
        builder -> builder,
        call -> {
          throw new IllegalStateException(TEXT);
        }),
    TOOL(
        builder -> builder.tools(failing()).toolExecution(ToolExecution.DEFAULT.stoppingOnError()),
        calls(call("c1", "refund", "o1"))),
    MEMORY(
        builder ->
            builder.memory(
                asked -> {
                  throw new IOException(TEXT);
                }),
        text("never")),
    ENVIRONMENT(builder -> builder.environment(new Broken()), text("never")),
    OBSERVER(builder -> builder, text("Hello."));

    private final UnaryOperator<Agent.Builder> options;
    private final FakeModel.Answer answer;

    Source(UnaryOperator<Agent.Builder> options, FakeModel.Answer answer) {
      this.options = options;
      this.answer = answer;
    }
  }

  private static final class Broken implements ExecutionEnvironment {
    @Override
    public String fingerprint() {
      return "image-1";
    }

    @Override
    public Handle acquire(RunKey run) throws IOException {
      throw new IOException(TEXT);
    }
  }

  private static Tool failing() {
    return Tool.of(
        "refund",
        "Fails.",
        World.Order.class,
        EffectClass.ONCE,
        (input, context) -> {
          throw new IllegalStateException(TEXT);
        });
  }

  private void show(Object told) {
    shown.append(told).append('\n');
  }

  private void showAll(Throwable thrown) {
    StringWriter all = new StringWriter();
    thrown.printStackTrace(new PrintWriter(all));
    show(all);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("A142")
  void a_secret_in_a_failure_is_in_no_result_log_event_or_telemetry(Source source) {
    Program program = Program.on(RunStore.inMemory(), FakeModel.of(source.answer));
    leaks.watch(program.gateway);
    List<AgentTelemetry> told = Collections.synchronizedList(new ArrayList<>());
    List<HookFailure> failures = Collections.synchronizedList(new ArrayList<>());
    Agents agents =
        Agents.builder(program.gateway)
            .store(program.store)
            .observer(
                telemetry -> {
                  told.add(telemetry);
                  if (source == Source.OBSERVER
                      && telemetry.event() instanceof AgentTelemetry.StepStart) {
                    throw new IllegalStateException(TEXT);
                  }
                })
            .hookFailures(HookFailurePolicy.FAIL.onError(failures::add))
            .build();
    Agent agent = source.options.apply(Agent.builder("agent", Program.ROUTE)).build();
    AgentRequest request = AgentRequest.builder(agent, "Do it.").runId("run-1").build();

    Optional<AgentResult> result = Optional.empty();
    try (AgentStream stream = agents.stream(request)) {
      for (AgentEvent event : stream) {
        show(event);
        if (event instanceof AgentEvent.Failure(Throwable cause)) {
          showAll(cause);
        }
      }
      result = Optional.of(stream.collect());
    } catch (RuntimeException e) {
      showAll(e);
    }
    assertTrue(program.gateway.flushObservers(Duration.ofSeconds(30)));

    result.ifPresent(
        ended -> {
          show(ended);
          show(ended.attempts());
          show(ended.tasks());
          try {
            show(ended.orThrow());
          } catch (RuntimeException e) {
            showAll(e);
          }
        });
    List<LoggedEvent> log = program.log(RUN);
    log.forEach(
        logged -> show(new String(RunEventCodec.encode(logged), StandardCharsets.UTF_8) + logged));
    show(program.agents.runs().timeline(RUN));
    show(told);
    show(failures);
    assertTrue(
        program.agents.runs().state(RUN).orElseThrow().status() == RunStatus.FAILED,
        shown::toString);
    assertFalse(shown.toString().contains(SECRET), shown::toString);
  }
}
