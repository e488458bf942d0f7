package dev.warpwright.control;

import dev.warpwright.model.Target;
import dev.warpwright.task.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** The measurements of one process. */
final class LocalTargetMetrics implements TargetMetrics {
  private final long windowNanos;
  private final TimeSource time;
  private final TargetTable<Samples> targets;

  LocalTargetMetrics(long windowNanos, int maxTargets, int maxSamples, TimeSource time) {
    this.windowNanos = windowNanos;
    this.time = time;
    this.targets = new TargetTable<>(maxTargets, time::nanoTime, () -> new Samples(maxSamples));
  }

  @Override
  public Measurement begin(Target target) {
    Samples samples = targets.enter(target);
    return samples == null ? UNTRACKED : new Tracked(samples, time.nanoTime());
  }

  @Override
  public Optional<TargetSnapshot> snapshot(Target target) {
    Samples samples = targets.find(target);
    return samples == null
        ? Optional.empty()
        : Optional.of(samples.snapshot(time.now(), time.nanoTime(), windowNanos));
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
    private static final VarHandle FIRST_TEXT;
    private static final VarHandle ENDED;

    static {
      try {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        FIRST_TEXT = lookup.findVarHandle(Tracked.class, "firstTextNanos", long.class);
        ENDED = lookup.findVarHandle(Tracked.class, "ended", boolean.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private final Samples samples;
    private final long beginNanos;
    private volatile long firstTextNanos = NONE; // since the begin; set by the first text
    private volatile boolean ended; // set by whoever says first how the attempt ended

    Tracked(Samples samples, long beginNanos) {
      this.samples = samples;
      this.beginNanos = beginNanos;
    }

    @Override
    public void firstText() {
      FIRST_TEXT.compareAndSet(this, NONE, time.nanoTime() - beginNanos);
    }

    @Override
    public void success(OptionalLong outputTokens) {
      if (endsNow()) {
        complete(true, outputTokens);
      }
    }

    @Override
    public void error() {
      if (endsNow()) {
        complete(false, OptionalLong.empty());
      }
    }

    @Override
    public void cancelled() {
      if (endsNow()) {
        samples.addCancelled(time.nanoTime());
        leave();
      }
    }

    @Override
    public void close() {
      if (endsNow()) {
        leave();
      }
    }

    private void complete(boolean succeeded, OptionalLong outputTokens) {
      long first = firstTextNanos; // before the clock is read: one that comes now is too late
      long nowNanos = time.nanoTime();
      long latencyNanos = nowNanos - beginNanos;
      OptionalLong firstText = first == NONE ? OptionalLong.empty() : OptionalLong.of(first);
      OptionalDouble rate = tokensPerSecond(outputTokens, firstText, latencyNanos);
      samples.add(nowNanos, succeeded, latencyNanos, firstText, rate);
      leave();
    }

    private boolean endsNow() {
      return !ended && ENDED.compareAndSet(this, false, true);
    }

    private void leave() {
      targets.touch(samples);
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
