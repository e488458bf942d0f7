package dev.warpwright.flow;

import dev.warpwright.agent.Agent;
import dev.warpwright.agent.AgentRequest;
import dev.warpwright.agent.AgentResult;
import dev.warpwright.agent.Agents;
import dev.warpwright.agent.Invocation;
import dev.warpwright.model.Attempt;
import dev.warpwright.run.RunKey;
import dev.warpwright.run.RunScope;
import dev.warpwright.run.RunState;
import dev.warpwright.task.TaskTree;
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

    private AgentRequest.Builder request(T item, Claim claim) {
      return AgentRequest.builder(agent, promptOf.apply(item))
          .scope(claim.scope())
          .idempotencyKey(claim.key())
          .metadata(claim.metadata());
    }

    private static BatchItem.Work work(AgentResult result) {
      int dispatches = 0;
      int retries = 0;
      int fallbacks = 0;
      Optional<Attempt> before = Optional.empty();
      for (Attempt attempt : result.attempts()) {
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
      return new BatchItem.Work(dispatches, retries, fallbacks, result.toolCalls());
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

    private FlowRequest.Builder<I, ?> request(T item, Claim claim) {
      return FlowRequest.builder(flow, inputOf.apply(item))
          .scope(claim.scope())
          .idempotencyKey(claim.key())
          .metadata(claim.metadata());
    }
  }
}
