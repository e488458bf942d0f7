package dev.warpwright.adapters.scripted;

import org.jspecify.annotations.Nullable;

/** A request that a real server would refuse; its message goes to the client. */
final class RefusedException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final @Nullable String param;

  RefusedException(int status, String message) {
    this(status, message, null);
  }

  /** Makes one that names the place in the body. */
  RefusedException(int status, String message, @Nullable String param) {
    super(message, null, false, false);
    this.status = status;
    this.param = param;
  }

  int status() {
    return status;
  }

  ServerResponse response(Protocol protocol) {
    return ServerResponse.json(status, protocol.error(status, String.valueOf(getMessage()), param))
        .with(protocol.errorHeaders(status));
  }
}
