package dev.warpwright.adapters.protocol.openai;

import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Members of a request that may be there already, from the provider options. */
final class Members {
  private Members() {}

  /** The object that is there, else a new one in its place. */
  static ObjectNode object(ObjectNode body, String member) {
    return body.get(member) instanceof ObjectNode given ? given : body.putObject(member);
  }

  /** The list that is there, else a new one in its place. */
  static ArrayNode array(ObjectNode body, String member) {
    return body.get(member) instanceof ArrayNode given ? given : body.putArray(member);
  }
}
