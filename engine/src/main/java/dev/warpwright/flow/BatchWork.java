package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Invocation;
import dev.warpwright.model.Attempt;
import dev.warpwright.run.LoggedEvent;
import dev.warpwright.run.RunEvent;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.run.Runs;
import dev.warpwright.task.TaskTree;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * What a batch puts its items through. Called on the items' own threads, at the same time.
 *
 * @param <T> an item
 * @param <R> what runs it
 */
sealed interface BatchWork<T, R> {
  /** Under what an item's run is claimed, and what is noted with it. */
  record Claim(RunScope scope, String key, Map<String, String> metadata) {}

  /** Where an item's run stands, and what this invocation did for it. */
  record Ended(RunState state, boolean driven, BatchItem.Work work) {}

  /** The tree that the tasks of the runs are part of. */
  TaskTree tasks(R on);

  /** Starts the item's run, goes on with it, or finds it as it is. */
  Ended run(R on, T item, Claim claim, Invocation invocation);

  /** Queues the item's run, if there is none yet. */
  RunKey enqueue(R on, T item, Claim claim);

  /** The item's run as the store has it, with what was done for it in all. */
  Optional<Ended> find(R on, T item, Claim claim);

  /** The operator's view of the store. */
  Runs runs(R on);

  /** Brings a run to its end that was cancelled, as far as that takes more. */
  void endCancelled(R on, RunKey run);

  /** One run of an agent an item. */
  record OfAgent<T>(Agent agent, Function<? super T, String> promptOf)
      implements BatchWork<T, Agents> {
    public OfAgent {
      Objects.requireNonNull(agent, "agent");
      Objects.requireNonNull(promptOf, "promptOf");
    }

    @Override
    public TaskTree tasks(Agents on) {
      return on.tasks();
    }

    @Override
    public Ended run(Agents on, T item, Claim claim, Invocation invocation) {
      AgentResult result = on.run(request(item, claim).invocation(invocation).build());
      return new Ended(result.state(), result.driven(), work(result));
    }

    @Override
    public RunKey enqueue(Agents on, T item, Claim claim) {
      return on.enqueue(request(item, claim).build());
    }

    @Override
    public Optional<Ended> find(Agents on, T item, Claim claim) {
      return on.find(request(item, claim).build())
          .map(found -> new Ended(found.state(), true, work(found.log())));
    }

    @Override
    public Runs runs(Agents on) {
      return on.runs();
    }

    @Override
    public void endCancelled(Agents on, RunKey run) {}

    private AgentRequest.Builder request(T item, Claim claim) {
      return AgentRequest.builder(agent, promptOf.apply(item))
          .scope(claim.scope())
          .idempotencyKey(claim.key())
          .metadata(claim.metadata());
    }

    private static BatchItem.Work work(AgentResult result) {
      return work(result.attempts(), result.toolCalls());
    }

    private static BatchItem.Work work(List<LoggedEvent> log) {
      List<Attempt> attempts = new ArrayList<>();
      int toolCalls = 0;
      for (LoggedEvent logged : log) {
        switch (logged.event()) {
          case RunEvent.ModelResponded answer -> attempts.addAll(answer.attempts());
          case RunEvent.ContextCompacted summary -> attempts.addAll(summary.attempts());
          case RunEvent.RunFailed end -> attempts.addAll(end.attempts());
          case RunEvent.RunCancelled end -> attempts.addAll(end.attempts());
          case RunEvent.RunTimedOut end -> attempts.addAll(end.attempts());
          case RunEvent.ToolStarted tool -> toolCalls++;
          case RunEvent.ChildStarted subAgent -> toolCalls++;
          default -> {}
        }
      }
      return work(attempts, toolCalls);
    }

    private static BatchItem.Work work(List<Attempt> attempts, int toolCalls) {
      int dispatches = 0;
      int retries = 0;
      int fallbacks = 0;
      Optional<Attempt> before = Optional.empty();
      for (Attempt attempt : attempts) {
        if (!attempt.dispatched()) {
          continue;
        }
        dispatches++;
        boolean sameStep = before.filter(last -> last.step() == attempt.step()).isPresent();
        if (attempt.retry() > 0) {
          retries++;
        } else if (sameStep) {
          fallbacks++;
        }
        before = Optional.of(attempt);
      }
      return new BatchItem.Work(dispatches, retries, fallbacks, toolCalls);
    }
  }

  /** One run of a flow an item. */
  record OfFlow<T, I>(Flow<I, ?> flow, Function<? super T, ? extends I> inputOf)
      implements BatchWork<T, Flows> {
    public OfFlow {
      Objects.requireNonNull(flow, "flow");
      Objects.requireNonNull(inputOf, "inputOf");
    }

    @Override
    public TaskTree tasks(Flows on) {
      return on.tasks();
    }

    @Override
    public Ended run(Flows on, T item, Claim claim, Invocation invocation) {
      FlowResult<?> result = on.run(request(item, claim).invocation(invocation).build());
      return new Ended(result.state(), result.driven(), BatchItem.Work.NONE);
    }

    @Override
    public RunKey enqueue(Flows on, T item, Claim claim) {
      return on.enqueue(request(item, claim).build());
    }

    @Override
    public Optional<Ended> find(Flows on, T item, Claim claim) {
      return on.find(request(item, claim).build())
          .map(found -> new Ended(found.state(), true, BatchItem.Work.NONE));
    }

    @Override
    public Runs runs(Flows on) {
      return Runs.in(on.store(), on.tasks().time());
    }

    @Override
    public void endCancelled(Flows on, RunKey run) {
      var _ = on.resume(flow, run); // what it takes back is its code's
    }

    private FlowRequest.Builder<I, ?> request(T item, Claim claim) {
      return FlowRequest.builder(flow, inputOf.apply(item))
          .scope(claim.scope())
          .idempotencyKey(claim.key())
          .metadata(claim.metadata());
    }
  }
}
