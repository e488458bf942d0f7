package dev.warpwright.adapters.protocol.anthropic;

import java.util.Optional;

/**
 * Where a service takes Messages, and how a request names the model.
 *
 * @param path where whole answers are asked for; begins with a slash
 * @param streamPath where answers are asked for that come piece by piece
 * @param bodyVersion the version of the protocol, where it stands in the body and the path names
 *     the model; empty if the body names the model and a header the version
 */
public record MessagesService(String path, String streamPath, Optional<String> bodyVersion) {
  /** Anthropic's own. */
  public static final MessagesService ANTHROPIC =
      new MessagesService("/messages", "/messages", Optional.empty());
}
