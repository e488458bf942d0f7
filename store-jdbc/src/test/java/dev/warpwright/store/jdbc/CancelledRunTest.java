package dev.warpwright.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.warpwright.Gateway;
import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.run.RunEvent.RunCancelled;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunStatus;
import dev.warpwright.run.RunStore;
import dev.warpwright.run.Runs;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A run in a database is cancelled under its driver's hands. */
@Timeout(60)
final class CancelledRunTest {
  private static final RunKey RUN = new RunKey(RunScope.DEFAULT, "run-1");

  /** Says when it is asked, and never answers. */
  private record Silent(CountDownLatch asked) implements LanguageModel {
    @Override
    public ModelCapabilities capabilities() {
      return ModelCapabilities.TEXT_AND_TOOLS;
    }

    @Override
    public ModelResponse generate(ModelCall call) throws InterruptedException {
      asked.countDown();
      new CountDownLatch(1).await();
      throw new IllegalStateException("Nobody opens it.");
    }
  }

  @Test
  @Tag("A132")
  void its_driver_is_told_at_once_and_ends_it() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    Agent agent = Agent.builder("agent", Route.of(Target.of("silent", "model"))).build();
    try (Gateway gateway = Gateway.builder().adapter("silent", model -> new Silent(asked)).build();
        RunStore store = JdbcRunStore.open("jdbc:h2:mem:cancelled");
        ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      Agents agents = Agents.on(gateway, store);
      AgentRequest request = AgentRequest.builder(agent, "Hello.").runId(RUN.runId()).build();
      Future<AgentResult> driver = pool.submit(() -> agents.run(request));
      asked.await();

      var _ = Runs.in(store).cancel(RUN, "not needed");

      assertEquals(RunStatus.CANCELLED, driver.get().status());
      assertInstanceOf(RunCancelled.class, agents.runs().log(RUN).getLast().event());
      assertEquals(RunStatus.CANCELLED, agents.runs().cancel(RUN).status());
    }
  }
}
