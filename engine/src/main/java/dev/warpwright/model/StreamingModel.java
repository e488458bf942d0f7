package dev.warpwright.model;

/**
 * A model whose answers can be had while they come.
 *
 * <p>Implementations are thread-safe: calls come from any number of virtual threads at once.
 */
public interface StreamingModel extends LanguageModel {
  /**
   * Asks the model, tells what comes as it comes, and blocks until the answer is complete.
   *
   * <p>Everything happens on the calling thread, the exchange's beginning included. Between two
   * events nothing is held that others wait for: telling an event may block for as long as whoever
   * reads the stream is slow. An interrupt of the calling thread is the cancel signal, also while
   * an event is told: the exchange is closed and the method ends at once by throwing {@link
   * InterruptedException}. It never retries on its own.
   *
   * <p>A stream that ends without the protocol's finish signal, that breaks off, or in which the
   * provider reports an error, is a {@link ProviderException}, whatever was told before; who called
   * knows what was told, and decides what that means.
   *
   * @param call what is asked
   * @param events is told what comes, in order, on the calling thread
   * @return the complete answer, as {@link #generate} would have returned it; its text is that of
   *     the {@link ModelEvent.Text} events, joined
   * @throws ProviderException if the call failed
   * @throws InterruptedException if the thread was interrupted, or {@code events} threw it
   */
  ModelResponse stream(ModelCall call, Events events) throws InterruptedException;

  /** Is told the events of one call. Used by the thread that streams, and by no other. */
  @FunctionalInterface
  interface Events {
    /**
     * Tells an event; blocks while whoever reads is not ready for it.
     *
     * @param event what came
     * @throws InterruptedException if the thread was interrupted, or nobody wants the answer any
     *     more; the model closes the exchange and lets it through
     */
    void tell(ModelEvent event) throws InterruptedException;
  }
}
