package dev.warpwright.agent;

import dev.warpwright.Operation;
import dev.warpwright.model.Digest;
import dev.warpwright.model.Json;
import dev.warpwright.model.LimitExceededException;
import dev.warpwright.model.Message;
import dev.warpwright.run.RunEvent.ContextCompacted;
import dev.warpwright.run.RunState;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Replaces the older part of a run's conversation by a summary, before a model is asked. */
final class ContextCompaction {
  private final Compaction options;
  private final Operation operation;
  private final Optional<String> budgetScope;

  ContextCompaction(Compaction options, Operation operation, Optional<String> budgetScope) {
    this.options = options;
    this.operation = operation;
    this.budgetScope = budgetScope;
  }

  /** What has to be replaced now, if anything. */
  Optional<CompactionPlan> due(RunState state) {
    return CompactionPlan.of(options, state.messages());
  }

  /**
   * Has the part summed up.
   *
   * @return what is to be written before the model is asked
   * @throws LimitExceededException if the conversation does not come within the limits so
   */
  ContextCompacted carryOut(CompactionPlan plan, RunState state) {
    List<Message> all = state.messages();
    List<Message> part = all.subList(plan.from(), plan.to());
    int count = all.size() - part.size() + 1;
    if (part.size() < 2
        || CompactionPlan.passed(options, count, 0)
            .contains(ContextCompacted.Reason.MAX_MESSAGES)) {
      throw failed(
          state, "leaves %d of %d messages".formatted(Math.min(count, all.size()), all.size()));
    }
    String digest = Transcript.digest(part);
    String id = id(state, digest);
    Compactor.Source source =
        new Compactor.Source(id, part, operation.deadline().remaining(), budgetScope);
    Compactor.Summary summary =
        operation.call("compaction", state.nextStep(), () -> options.compactor().summarize(source));
    if (summary.text().isBlank()) {
      throw failed(state, "has no summary: the compactor gave a blank one");
    }
    List<Message> compacted = plan.apply(all, ContextCompacted.message(summary.text()));
    long tokens = Transcript.tokens(compacted);
    if (tokens >= plan.tokens()
        || !CompactionPlan.passed(options, compacted.size(), tokens).isEmpty()) {
      throw failed(state, "leaves about %d of %d tokens".formatted(tokens, plan.tokens()));
    }
    return new ContextCompacted(
        id,
        state.nextStep(),
        List.copyOf(plan.reasons()),
        digest,
        Transcript.digest(compacted),
        plan.from(),
        plan.to(),
        all.size(),
        compacted.size(),
        plan.tokens(),
        tokens,
        summary.text(),
        summary.usage(),
        summary.attempts());
  }

  /** The same again when a process died before the summary was written. */
  private static String id(RunState state, String digest) {
    String runId = state.run().runId();
    Json subject =
        Json.of(Map.of("runId", runId, "step", state.nextStep(), "sourceDigest", digest));
    return runId + ":compaction_" + Digest.hex(subject.canonical());
  }

  private LimitExceededException failed(RunState state, String what) {
    return new LimitExceededException(
        "The compaction of the conversation before step %d %s; its limits are maxMessages %s and maxEstimatedInputTokens %s."
            .formatted(
                state.nextStep(),
                what,
                options.maxMessages().isPresent() ? options.maxMessages().getAsInt() : "none",
                options.maxEstimatedInputTokens().isPresent()
                    ? options.maxEstimatedInputTokens().getAsLong()
                    : "none"),
        null,
        operation.trace());
  }
}
