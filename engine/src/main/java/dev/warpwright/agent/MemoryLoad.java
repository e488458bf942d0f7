package dev.warpwright.agent;

import dev.warpwright.Operation;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.Image;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.WarpwrightException;
import dev.warpwright.run.RunEvent.MemoryLoaded;
import dev.warpwright.run.RunState;
import dev.warpwright.run.RunStatus;
import dev.warpwright.task.Outcome;
import java.util.List;

/**
 * Loads an agent's memory into a run that begins.
 *
 * <p>The run is in the store by then, and owned: only so can somebody ask to cancel it meanwhile,
 * and only the one who claimed the key asks the memory. What was loaded is an event of its own, so
 * that a resume goes on with the same messages.
 */
final class MemoryLoad {
  private MemoryLoad() {}

  /** Whether the run has not made a step yet and should remember something first. */
  static boolean isDue(Agent agent, RunState state) {
    return agent.memory().isPresent()
        && state.status() == RunStatus.RUNNING
        && state.step() == 0
        && !state.isMemoryLoaded();
  }

  /**
   * Asks the memory. If it fails and the policy ignores that, nothing is remembered.
   *
   * @throws WarpwrightException if the operation has come to its end, or the failure is fatal
   */
  static MemoryLoaded of(LiveInvocation invocation, RunState state) {
    Agent agent = invocation.agent();
    Operation operation = invocation.operation();
    Memory memory = agent.memory().orElseThrow();
    Memory.Request asked =
        new Memory.Request(
            state.run(), agent.id(), List.copyOf(state.messages()), state.started().metadata());
    Outcome<List<Message>> outcome =
        operation.call("memory", "load memory", () -> checked(memory.load(asked)));
    return switch (outcome) {
      case Outcome.Success<List<Message>>(List<Message> loaded) -> new MemoryLoaded(loaded);
      case Outcome.Failure<List<Message>>(Throwable cause) -> {
        invocation.hooks().fails(HookFailure.Hook.MEMORY, cause);
        invocation.hooks().requireNoFatalFailure();
        yield new MemoryLoaded(List.of());
      }
      default ->
          throw operation
              .end(0)
              .orElseThrow(() -> new IllegalStateException("The memory ended without a reason."));
    };
  }

  private static List<Message> checked(List<Message> loaded) {
    List<Message> messages = List.copyOf(loaded);
    for (Message message : messages) {
      for (Part part : message.parts()) {
        if (message.role() == Role.TOOL || !(part instanceof Part.Text || part instanceof Image)) {
          throw new InvalidRequestException(
              FailureKind.INVALID_REQUEST,
              "A memory gives messages of text and images, but gave a %s in a message of role %s."
                  .formatted(part.getClass().getSimpleName(), message.role()));
        }
      }
    }
    return messages;
  }
}
