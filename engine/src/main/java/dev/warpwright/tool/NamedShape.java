package dev.warpwright.tool;

import java.util.Map;

/** A record or a sealed interface: what can contain itself. */
abstract sealed class NamedShape implements Shape permits RecordShape, UnionShape {
  private final Class<?> type;
  private boolean recursive;

  NamedShape(Class<?> type) {
    this.type = type;
  }

  final Class<?> type() {
    return type;
  }

  /** Told while the shape is built, when the type turns up inside itself. */
  final void markRecursive() {
    recursive = true;
  }

  final boolean isRecursive() {
    return recursive;
  }

  /** The schema itself, never a reference to it. */
  abstract Map<String, Object> body(Definitions definitions);

  @Override
  public final Map<String, Object> schema(Definitions definitions) {
    return definitions.schema(this);
  }
}
