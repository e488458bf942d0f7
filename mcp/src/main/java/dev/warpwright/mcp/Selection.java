package dev.warpwright.mcp;

import dev.warpwright.model.Json;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * What the program says of a server's tools; their names are the server's.
 *
 * @param only those that are taken; empty if all are
 * @param prefix what the names begin with for the model
 * @param names other names for the model, in place of the server's and the prefix
 * @param effects what the program knows of effects
 * @param trustAnnotations whether what the server says of effects counts where the program says
 *     nothing
 * @param each adds to a tool what the program wants of it
 */
record Selection(
    Optional<Set<String>> only,
    String prefix,
    Map<String, String> names,
    Map<String, EffectClass> effects,
    boolean trustAnnotations,
    BiConsumer<String, Tool.Builder<Json>> each) {
  boolean takes(RemoteTool tool) {
    return only.isEmpty() || only.get().contains(tool.name());
  }

  String nameOf(RemoteTool tool) {
    String given = names.get(tool.name());
    return given == null ? prefix + tool.fittingName() : given;
  }

  EffectClass effectOf(RemoteTool tool) {
    EffectClass known = effects.get(tool.name());
    if (known != null) {
      return known;
    }
    if (trustAnnotations && tool.readOnly()) {
      return EffectClass.PURE;
    }
    return trustAnnotations && tool.idempotent() ? EffectClass.IDEMPOTENT : EffectClass.ONCE;
  }
}
