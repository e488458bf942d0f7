package dev.warpwright.task;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * What tasks hand over to one reader while they run, element after element, and what comes at the
 * end: a result or a failure.
 *
 * <p>It is bounded and drops nothing: a writer that is as far ahead as the feed holds waits for the
 * reader, and a reader that finds nothing waits for a writer.
 *
 * <p>Any number of {@linkplain #writer writers} may be open. Whoever closes one can be sure that
 * nothing comes from it any more, and learns whether anything has come. All methods are safe for
 * use by any thread, but the elements are read by one thread at a time.
 *
 * @param <E> the elements
 * @param <R> the result
 */
public final class Feed<E, R> implements AutoCloseable {

  /*
   * There are two buffers, each for half of what the feed holds. Writers fill one; a reader that is
   * through with its own takes the filled one and leaves its own in the place. So the reader takes
   * the lock once for as many elements as have come meanwhile.
   *
   *   writers ──put──► filling ◄──swap──► reading ──next──► reader
   *
   * Whoever has to wait notes under the lock that it does, and parks. Whoever changes what is waited
   * for takes the note away under the lock and wakes the other afterwards.
   */

  private final int halfCount;
  private final long halfWeight;
  private final ToLongFunction<? super E> weigher;
  private final Cancellation cancellation = new Cancellation();
  private final ReentrantLock lock = new ReentrantLock();
  private Buffer filling = new Buffer(); // guarded by lock
  private final Set<Line<?>> waitingWriters = new HashSet<>(2); // guarded by lock
  private @Nullable Thread waitingReader; // guarded by lock
  private final List<Thread> waitingClosers = new ArrayList<>(1); // guarded by lock
  private boolean read; // guarded by lock; there is an iterator
  private volatile @Nullable Outcome<R> end; // written under lock, once
  private Buffer reading = new Buffer(); // the reader's own

  /** Elements in order. Whoever has it fills it or reads it to its end. */
  private static final class Buffer {
    private @Nullable Object[] elements = new Object[8];
    private int count;
    private int next;
    private long weight;

    void add(Object element, long itsWeight) {
      if (count == elements.length) {
        elements = Arrays.copyOf(elements, 2 * count);
      }
      elements[count++] = element;
      weight += itsWeight;
    }

    /** The next element, which is forgotten; null after the last, and then it is as new. */
    @Nullable Object poll() {
      if (next == count) {
        count = 0;
        next = 0;
        weight = 0;
        return null;
      }
      Object element = elements[next];
      elements[next++] = null;
      return element;
    }
  }

  /**
   * Makes an empty feed.
   *
   * @param maxCount how many elements it holds at most; at least 2
   * @param maxWeight how much they weigh together at most; at least 2. An element that weighs more
   *     than half of it has a half for itself
   * @param weigher the weight of an element; must be cheap
   * @throws IllegalArgumentException if a bound is less than 2
   */
  public Feed(int maxCount, long maxWeight, ToLongFunction<? super E> weigher) {
    if (maxCount < 2 || maxWeight < 2) {
      throw new IllegalArgumentException(
          "a feed must hold at least 2 elements and a weight of 2: " + maxCount + ", " + maxWeight);
    }
    this.halfCount = maxCount / 2;
    this.halfWeight = maxWeight / 2;
    this.weigher = Objects.requireNonNull(weigher, "weigher");
  }

  /**
   * Opens a writer.
   *
   * @param <X> what it is given
   * @param asElement makes an element of it, on the writing thread
   * @return a writer that has not written anything
   */
  public <X> Writer<X> writer(Function<? super X, ? extends E> asElement) {
    return new Line<>(Objects.requireNonNull(asElement, "asElement"));
  }

  /**
   * Tells whoever writes that the reader wants no more. Then they should stop, and one of them
   * should come to the {@link #end}.
   *
   * @return the handle that {@link #cancel} and {@link #close} cancel
   */
  public Cancellation cancellation() {
    return cancellation;
  }

  /**
   * Comes to the end; nothing can be written any more. Only the first call counts.
   *
   * @param outcome what the reader gets behind the last element: a {@link Outcome.Success} or a
   *     {@link Outcome.Failure}
   * @throws IllegalArgumentException if it is another outcome
   */
  public void end(Outcome<R> outcome) {
    if (!(outcome instanceof Outcome.Success<R> || outcome instanceof Outcome.Failure<R>)) {
      throw new IllegalArgumentException("a feed ends with a result or a failure: " + outcome);
    }
    Thread reader;
    List<Thread> closers;
    Set<Line<?>> writers;
    lock.lock();
    try {
      if (end != null) {
        return;
      }
      end = outcome;
      reader = waitingReader;
      waitingReader = null;
      closers = List.copyOf(waitingClosers);
      waitingClosers.clear();
      writers = takeWaitingWriters();
    } finally {
      lock.unlock();
    }
    LockSupport.unpark(reader);
    closers.forEach(LockSupport::unpark);
    writers.forEach(Line::wake);
  }

  /** Whether it has come to its end; what was written before may still be unread. */
  boolean hasEnded() {
    return end != null;
  }

  /**
   * Says that the reader wants no more. What was written can still be read. Does not wait, and does
   * nothing after the end.
   *
   * @param why the reason
   */
  public void cancel(String why) {
    if (end == null) {
      cancellation.cancel(why);
    }
  }

  /**
   * Says that the reader wants no more, and waits for the end; does nothing after it. An interrupt
   * ends the wait and stays set.
   */
  @Override
  public void close() {
    cancel("the stream was closed");
    Thread closer = Thread.currentThread();
    lock.lock();
    try {
      if (end != null) {
        return;
      }
      waitingClosers.add(closer);
    } finally {
      lock.unlock();
    }
    while (end == null) {
      if (closer.isInterrupted()) {
        forget(closer);
        return;
      }
      LockSupport.park(this);
    }
  }

  private void forget(Thread closer) {
    lock.lock();
    try {
      waitingClosers.remove(closer);
    } finally {
      lock.unlock();
    }
  }

  /**
   * What a reader wants to see of the elements and, behind the last, of the end. If that is a
   * failure, {@code hasNext} throws it after what is seen of it.
   *
   * <p>An interrupt of a thread that waits in {@code hasNext} or {@code next} cancels the feed, and
   * stays set. The wait goes on to the end, which should come soon then.
   *
   * @param <X> what the reader sees
   * @param ofElement what it sees of an element; empty to pass it over
   * @param ofEnd what it sees of the end
   * @return the only iterator
   * @throws IllegalStateException if there is an iterator already
   */
  public <X> Iterator<X> iterator(
      Function<? super E, Optional<X>> ofElement, Function<? super Outcome<R>, List<X>> ofEnd) {
    lock.lock();
    try {
      if (read) {
        throw new IllegalStateException("A stream is read once, and this one has a reader.");
      }
      read = true;
    } finally {
      lock.unlock();
    }
    return new View<>(ofElement, ofEnd);
  }

  /**
   * The result. What was not read is passed over; an interrupt is as in {@link #iterator}.
   *
   * @return the result, always the same
   * @throws RuntimeException the failure, or the {@link Error}, if that is the end
   */
  public R result() {
    while (next() != null) {
      // passed over
    }
    return switch (Objects.requireNonNull(end)) {
      case Outcome.Success<R>(R result) -> result;
      case Outcome.Failure<R>(RuntimeException failure) -> throw failure;
      case Outcome.Failure<R>(Error error) -> throw error;
      case Outcome.Failure<R>(Throwable failure) -> throw new IllegalStateException(failure);
      default -> throw new IllegalStateException("neither a result nor a failure");
    };
  }

  /** The next element; null behind the last one, at the end. */
  @SuppressWarnings("unchecked") // nothing else is written
  private @Nullable E next() {
    Object element = reading.poll();
    return (E) (element == null ? awaitNext() : element);
  }

  private @Nullable Object awaitNext() {
    boolean interrupted = false;
    try {
      while (!swap()) {
        if (end != null) {
          return swap() ? reading.poll() : null; // nothing is written after the end
        }
        LockSupport.park(this);
        if (Thread.interrupted()) {
          interrupted = true;
          cancel("interrupted");
        }
      }
      return reading.poll();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Takes what has come. If nothing has and may still, the calling thread is noted as waiting. */
  private boolean swap() {
    Set<Line<?>> writers;
    lock.lock();
    try {
      if (filling.count == 0) {
        if (end == null) {
          noteReader(Thread.currentThread());
        }
        return false;
      }
      Buffer empty = reading;
      reading = filling;
      filling = empty;
      writers = takeWaitingWriters();
    } finally {
      lock.unlock();
    }
    writers.forEach(Line::wake);
    return true;
  }

  private void noteReader(Thread reader) { // the caller holds the lock
    if (waitingReader != null && waitingReader != reader) {
      throw new IllegalStateException(
          "A stream is read by one thread at a time, and another one waits for its next element.");
    }
    waitingReader = reader;
  }

  private Set<Line<?>> takeWaitingWriters() { // the caller holds the lock
    if (waitingWriters.isEmpty()) {
      return Set.of();
    }
    Set<Line<?>> taken = Set.copyOf(waitingWriters);
    waitingWriters.clear();
    return taken;
  }

  /**
   * One of those who write. It is used by one thread at a time; any thread may close it.
   *
   * @param <X> what it is given; each makes an element
   */
  public sealed interface Writer<X> permits Feed.Line {
    /**
     * Writes; waits while the feed is full.
     *
     * @param given what to write
     * @throws InterruptedException if the thread was interrupted while it waited, or the writer is
     *     closed, or the feed has ended: nobody wants it
     */
    void put(X given) throws InterruptedException;

    /**
     * Writes; waits in a scope while the feed is full.
     *
     * @param given what to write
     * @param scope a scope of the calling thread
     * @return whether it was written: false if before that the scope was cancelled, its owner
     *     interrupted or its deadline reached, or the writer closed, or the feed at its end
     */
    boolean put(X given, TaskScope scope);

    /**
     * Closes it: nothing comes from it any more. If it waits for room, it is woken and refused.
     *
     * @return how many elements it has written, final
     */
    long close();
  }

  /** A writer. */
  private final class Line<X> implements Writer<X> {
    private final Function<? super X, ? extends E> asElement;
    private long written; // guarded by lock
    private boolean closed; // guarded by lock
    private volatile @Nullable Runnable waker; // while it waits for room

    Line(Function<? super X, ? extends E> asElement) {
      this.asElement = asElement;
    }

    @Override
    public void put(X given) throws InterruptedException {
      E element = asElement.apply(given);
      long weight = weigher.applyAsLong(element);
      Offer offer = offer(element, weight, null);
      if (offer == Offer.NO_ROOM) {
        Runnable wake = new Unpark(Thread.currentThread());
        try {
          while ((offer = offer(element, weight, wake)) == Offer.NO_ROOM) {
            LockSupport.park(Feed.this);
            if (Thread.interrupted()) {
              throw new InterruptedException();
            }
          }
        } finally {
          waker = null;
        }
      }
      if (offer == Offer.REFUSED) {
        throw new InterruptedException("nobody wants what is written");
      }
    }

    @Override
    public boolean put(X given, TaskScope scope) {
      E element = asElement.apply(given);
      long weight = weigher.applyAsLong(element);
      Runnable wake = scope::wake;
      try {
        Offer offer;
        while ((offer = offer(element, weight, wake)) == Offer.NO_ROOM) {
          if (!scope.await(() -> !isNoted(), Deadline.never())) {
            return false;
          }
        }
        return offer == Offer.WRITTEN;
      } finally {
        waker = null;
      }
    }

    /** Writes if there is room. If there is none, it is noted how to wake the writer, if given. */
    private Offer offer(E element, long weight, @Nullable Runnable wake) {
      Thread reader;
      lock.lock();
      try {
        if (closed || end != null) {
          return Offer.REFUSED;
        }
        if (filling.count > 0
            && (filling.count == halfCount || filling.weight + weight > halfWeight)) {
          if (wake != null) {
            waker = wake;
            waitingWriters.add(this);
          }
          return Offer.NO_ROOM;
        }
        filling.add(element, weight);
        written++;
        reader = waitingReader;
        waitingReader = null;
      } finally {
        lock.unlock();
      }
      if (reader != null) {
        LockSupport.unpark(reader);
      }
      return Offer.WRITTEN;
    }

    /** Whether nobody has woken it yet. */
    private boolean isNoted() {
      lock.lock();
      try {
        return waitingWriters.contains(this);
      } finally {
        lock.unlock();
      }
    }

    @Override
    public long close() {
      boolean noted;
      long count;
      lock.lock();
      try {
        closed = true;
        count = written;
        noted = waitingWriters.remove(this);
      } finally {
        lock.unlock();
      }
      if (noted) {
        wake();
      }
      return count;
    }

    void wake() {
      Runnable wake = waker;
      if (wake != null) {
        wake.run();
      }
    }
  }

  private enum Offer {
    WRITTEN,
    NO_ROOM,
    REFUSED
  }

  /** What the reader sees. */
  private final class View<X> implements Iterator<X> {
    private final Function<? super E, Optional<X>> ofElement;
    private final Function<? super Outcome<R>, List<X>> ofEnd;
    private @Nullable X ahead;
    private @Nullable Iterator<X> last; // what is seen of the end

    View(Function<? super E, Optional<X>> ofElement, Function<? super Outcome<R>, List<X>> ofEnd) {
      this.ofElement = ofElement;
      this.ofEnd = ofEnd;
    }

    @Override
    public boolean hasNext() {
      while (ahead == null) {
        E element = Feed.this.next();
        if (element != null) {
          ahead = ofElement.apply(element).orElse(null);
        } else if (ofTheEnd().hasNext()) {
          ahead = ofTheEnd().next();
        } else {
          result(); // throws the failure
          return false;
        }
      }
      return true;
    }

    private Iterator<X> ofTheEnd() {
      if (last == null) {
        last = ofEnd.apply(Objects.requireNonNull(end)).iterator();
      }
      return last;
    }

    @Override
    public X next() {
      if (!hasNext()) {
        throw new NoSuchElementException("the stream has ended");
      }
      X seen = Objects.requireNonNull(ahead);
      ahead = null;
      return seen;
    }
  }
}
