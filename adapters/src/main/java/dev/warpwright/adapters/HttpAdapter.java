package dev.warpwright.adapters;

import dev.warpwright.model.ProviderAdapter;
import dev.warpwright.model.StreamingModel;

/**
 * A provider that is reached over HTTP: what every {@link AdapterBuilder} makes.
 *
 * <p>Calls of its models block and set no time limit of their own beyond the connect timeout: an
 * interrupt of the calling thread closes the connection and ends the call. Nothing is retried and
 * no redirect is followed. Cleartext {@code http://} always uses HTTP/1.1. An answer may have 128
 * MiB, one event of a stream 1 048 576 characters, the arguments of one tool call 1 MiB; more is a
 * PROTOCOL failure.
 *
 * <p>How calls fail: see {@link dev.warpwright.model.ProviderException.Kind}. An error object with
 * status 200 counts as its embedded status, or as the status that its code stands for; an input
 * longer than the context window is recognised by code, and where servers send none by a closed
 * table of whole messages.
 *
 * <p>Thread-safe; one instance serves any number of calls. {@link #close()} refuses new calls and
 * aborts open ones without waiting, and leaves a client alone that the program lent. Its text shows
 * the base URL and no credential.
 */
public interface HttpAdapter extends ProviderAdapter {
  @Override
  StreamingModel model(String modelId);

  /**
   * How many exchanges with the provider are open: begun, and their answer neither read to its end
   * nor given up. None of a call that has returned is.
   *
   * @return the number at this moment
   */
  int openExchanges();
}
