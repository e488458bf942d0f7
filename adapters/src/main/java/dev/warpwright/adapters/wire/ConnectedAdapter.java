package dev.warpwright.adapters.wire;

import dev.warpwright.adapters.HttpAdapter;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.model.StreamingModel;
import java.util.Objects;
import java.util.function.Function;

/**
 * An adapter with one connection.
 *
 * @param name what it is, for {@link #toString()}
 * @param connection its connection
 * @param models makes the model of an id
 */
public record ConnectedAdapter(
    String name, Connection connection, Function<String, StreamingModel> models)
    implements HttpAdapter {
  @Override
  public StreamingModel model(String modelId) {
    return models.apply(Objects.requireNonNull(modelId, "modelId"));
  }

  @Override
  public int openExchanges() {
    return connection.openExchanges();
  }

  @Override
  public void close() {
    connection.close();
  }

  /** Shows the base URL, no credential. */
  @Override
  public String toString() {
    return name + "[" + connection + "]";
  }
}
