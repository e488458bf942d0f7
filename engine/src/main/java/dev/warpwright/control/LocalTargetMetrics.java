package dev.warpwright.control;

import dev.warpwright.model.Target;
import dev.warpwright.task.TimeSource;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** The measurements of one process. */
final class LocalTargetMetrics implements TargetMetrics {
  private final long windowNanos;
  private final TimeSource time;
  private final TargetTable<Samples> targets;

  LocalTargetMetrics(long windowNanos, int maxTargets, int maxSamples, TimeSource time) {
    this.windowNanos = windowNanos;
    this.time = time;
    this.targets = new TargetTable<>(maxTargets, () -> new Samples(maxSamples));
  }

  @Override
  public Measurement begin(Target target) {
    long nowNanos = time.nanoTime();
    Samples samples = targets.enter(target, nowNanos);
    return samples == null ? UNTRACKED : new Tracked(samples, nowNanos);
  }

  @Override
  public Optional<TargetSnapshot> snapshot(Target target) {
    Samples samples = targets.find(target);
    return samples == null
        ? Optional.empty()
        : Optional.of(samples.snapshot(time.nanoTime(), windowNanos));
  }

  /** An attempt on a target for which the table had no room. */
  private static final Measurement UNTRACKED =
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

  private final class Tracked implements Measurement {
    private static final long NONE = -1;

    private final Samples samples;
    private final long beginNanos;
    private final AtomicLong firstTextNanos = new AtomicLong(NONE); // since the begin
    private final AtomicBoolean ended = new AtomicBoolean();

    Tracked(Samples samples, long beginNanos) {
      this.samples = samples;
      this.beginNanos = beginNanos;
    }

    @Override
    public void firstText() {
      firstTextNanos.compareAndSet(NONE, time.nanoTime() - beginNanos);
    }

    @Override
    public void success(OptionalLong outputTokens) {
      if (ended.compareAndSet(false, true)) {
        complete(true, outputTokens);
      }
    }

    @Override
    public void error() {
      if (ended.compareAndSet(false, true)) {
        complete(false, OptionalLong.empty());
      }
    }

    @Override
    public void cancelled() {
      if (ended.compareAndSet(false, true)) {
        long nowNanos = time.nanoTime();
        samples.addCancelled(nowNanos);
        leave(nowNanos);
      }
    }

    @Override
    public void close() {
      if (ended.compareAndSet(false, true)) {
        leave(time.nanoTime());
      }
    }

    private void complete(boolean succeeded, OptionalLong outputTokens) {
      long first = firstTextNanos.get(); // before the clock is read: one that comes now is too late
      long nowNanos = time.nanoTime();
      long latencyNanos = nowNanos - beginNanos;
      OptionalLong firstText = first == NONE ? OptionalLong.empty() : OptionalLong.of(first);
      samples.add(
          new Samples.Sample(
              nowNanos,
              succeeded,
              latencyNanos,
              firstText,
              tokensPerSecond(outputTokens, firstText, latencyNanos)),
          time.now());
      leave(nowNanos);
    }

    private void leave(long nowNanos) {
      samples.touch(nowNanos);
      samples.leave();
    }
  }

  private static OptionalDouble tokensPerSecond(
      OptionalLong outputTokens, OptionalLong firstTextNanos, long latencyNanos) {
    if (firstTextNanos.isEmpty() || outputTokens.orElse(0) <= 1) {
      return OptionalDouble.empty();
    }
    long nanos = latencyNanos - firstTextNanos.getAsLong();
    return nanos > 0
        ? OptionalDouble.of((outputTokens.getAsLong() - 1) * 1e9 / nanos)
        : OptionalDouble.empty();
  }
}
