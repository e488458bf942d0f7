package dev.warpwright.model;

import java.util.Optional;

/**
 * A model at a provider: the port that adapters implement.
 *
 * <p>Implementations are thread-safe: calls come from any number of virtual threads at once.
 */
public interface LanguageModel {
  /**
   * What this model can do.
   *
   * @return the capabilities, always the same
   */
  ModelCapabilities capabilities();

  /**
   * Whether the output tokens that this model's answers report include its reasoning.
   *
   * @return how reasoning is counted; empty, the default, if that cannot be told
   */
  default Optional<ReasoningAccounting> reasoningAccounting() {
    return Optional.empty();
  }

  /**
   * Whether the provider itself may act in answering a call, by a tool that it runs and that has
   * effects. Then a call whose time is over is not made again, here or elsewhere: the tool may have
   * acted. A failure says that by itself, as {@link ProviderException.Kind#TOOL_CALL}.
   *
   * @param call what is asked
   * @return false by default
   */
  default boolean mayAct(ModelCall call) {
    return false;
  }

  /**
   * Whether it is certain that a call ends soon after an interrupt of its thread, at every moment
   * of it, and that it leaves the thread as it found it: the interrupt is thrown, or stays set, and
   * thread-locals are as before.
   *
   * <p>Then {@link #generate} runs on the operation's own thread, which is the caller's, and saves
   * a thread per attempt. Whoever declares this without keeping it keeps callers waiting beyond
   * their deadline: nothing takes the operation off a thread that does not come back. A model that
   * does not declare it runs on a thread of its own, which is left behind if it ignores its
   * interrupt.
   *
   * @return false by default; always the same
   */
  default boolean honoursInterrupts() {
    return false;
  }

  /**
   * Asks the model and blocks until its whole answer is there.
   *
   * <p>An interrupt of the calling thread is the cancel signal: the exchange is closed and the
   * method ends at once by throwing {@link InterruptedException}, with the interrupt status clear.
   * It never retries on its own.
   *
   * @param call what is asked
   * @return the answer
   * @throws ProviderException if the call failed
   * @throws InterruptedException if the thread was interrupted
   */
  ModelResponse generate(ModelCall call) throws InterruptedException;
}
