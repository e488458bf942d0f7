package dev.warpwright.adapters.scripted;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** How the readers of requests look at members and refuse them. */
final class RequestFields {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  private RequestFields() {}

  static String text(JsonNode node, String key, String path) throws RefusedException {
    JsonNode value = node.path(key);
    if (!value.isString()) {
      throw refuse("A string is needed.", path + key);
    }
    return value.stringValue();
  }

  /** The name of a tool. */
  static String name(JsonNode node, String path) throws RefusedException {
    String name = text(node, "name", path + ".");
    if (!NAME.matcher(name).matches()) {
      throw refuse("A name must match " + NAME + ".", path + ".name");
    }
    return name;
  }

  static RefusedException refuse(String message, @Nullable String param) {
    return new RefusedException(400, message, param);
  }
}
