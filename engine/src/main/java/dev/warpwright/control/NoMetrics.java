package dev.warpwright.control;

import dev.warpwright.model.Target;
import java.util.Optional;
import java.util.OptionalLong;

/** Measures nothing. */
enum NoMetrics implements TargetMetrics {
  INSTANCE;

  private static final Measurement NOTHING =
      new Measurement() {
        @Override
        public void firstText() {}

        @Override
        public void success(OptionalLong outputTokens) {}

        @Override
        public void error() {}

        @Override
        public void cancelled() {}

        @Override
        public void close() {}
      };

  @Override
  public Measurement begin(Target target) {
    return NOTHING;
  }

  @Override
  public Optional<TargetSnapshot> snapshot(Target target) {
    return Optional.empty();
  }
}
