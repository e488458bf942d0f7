package dev.warpwright;

import dev.warpwright.control.CacheKey;
import dev.warpwright.task.Deadline;
import dev.warpwright.task.TaskScope;
import dev.warpwright.task.TaskTree;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Makes one call for all who want the same at the same time.
 *
 * <p>Who comes first for a key leads: the call is made as it wants it, but in a task that belongs
 * to nobody, so that it survives its leader. Who comes while it is under way subscribes to it. Each
 * waits in the scope of its own operation, and leaves when that is cancelled, interrupted or out of
 * time; the others do not notice, and the last who leaves cancels the call.
 *
 * <p>An answer is everybody's. A failure is the leader's: then the subscriber that has waited
 * longest leads a new call, with its own limit and context, and the others wait for that. A
 * subscriber to which this happens for the second time takes the failure as its own. So a target
 * that is down costs two calls and not as many as there are subscribers one after the other, and
 * nobody waits longer than for two calls.
 *
 * @param <R> what a call gives
 */
final class SharedCalls<R> {

  /*
   * A flight is what happens for one key: a call, perhaps a second one, and who waits for it. It is
   * in the map exactly as long as it has subscribers, the leader included.
   *
   *   board ──► asked to lead ──launch──► call under way ──answer──► everybody has its end
   *                  ▲                          │
   *                  └── the next one ──────────┴─failure──► the leader has its end
   *
   * Everything of a flight changes under the one lock, which is held for that alone: scopes are
   * woken and cancelled after it. A thread is woken only if it has something to do: it has its end,
   * or it is asked to lead. A call that ends when its flight no longer knows it ends for nobody.
   */

  /** Beyond so many keys, calls are made separately. */
  static final int MAX_KEYS = 1_024;

  /** The scope that is opened in the task has the limit. */
  private static final Duration UNBOUNDED = ChronoUnit.FOREVER.getDuration();

  private static final String NOBODY_WAITS = "nobody waits for the shared call any more";

  private final TaskTree tree;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<CacheKey, Flight<R>> flights = new HashMap<>(); // guarded by lock

  SharedCalls(TaskTree tree) {
    this.tree = tree;
  }

  /** A call that is wanted. */
  interface Call<R> {
    /**
     * Makes the call. Whatever it waits for, it waits for in the scope, whose deadline is the limit
     * of the call and which is cancelled when nobody waits for it any more.
     *
     * @param scope belongs to the thread that makes the call
     * @return the answer; a failure is thrown
     */
    R make(TaskScope scope) throws Exception;
  }

  /** How a call ended for one of those who wanted it. */
  sealed interface End<R> {
    /**
     * There is an answer.
     *
     * @param joined whether another one led the call
     */
    record Answered<R>(R value, boolean joined) implements End<R> {}

    /**
     * The call failed.
     *
     * @param joined whether another one led the call
     */
    record Failed<R>(Throwable cause, boolean joined) implements End<R> {}

    /** Its operation was cancelled, interrupted or out of time before there was an end. */
    record Left<R>() implements End<R> {}
  }

  /** Who waits for a flight. */
  private static final class Subscriber<R> {
    final TaskScope scope;
    boolean failedBefore; // guarded by lock
    volatile boolean asked; // to lead; written under the lock
    volatile @Nullable End<R> end; // written under the lock, once

    Subscriber(TaskScope scope) {
      this.scope = scope;
    }

    boolean isTold() {
      return asked || end != null;
    }
  }

  /** Guarded by lock. */
  private static final class Flight<R> {
    final CacheKey key;
    final SequencedSet<Subscriber<R>> subscribers = new LinkedHashSet<>();
    Subscriber<R> leader; // makes the call, or is asked to; may have left
    @Nullable Made made; // null while the leader is only asked

    Flight(CacheKey key, Subscriber<R> leader) {
      this.key = key;
      this.leader = leader;
      leader.asked = true;
    }

    Subscriber<R> askNext() {
      leader = subscribers.getFirst();
      leader.asked = true;
      return leader;
    }
  }

  /** A call that is being made. Guarded by lock. */
  private static final class Made {
    @Nullable TaskScope scope; // null until its thread runs
  }

  /**
   * Makes a call, or waits for one that is under way.
   *
   * @param key what is wanted
   * @param scope the caller's own; decides how long it waits
   * @param limit how long a call may take that this caller leads
   * @param call how this caller would make it
   * @return how it ended; never thrown
   */
  End<R> share(CacheKey key, TaskScope scope, Duration limit, Call<? extends R> call) {
    if (isOver(scope)) {
      return new End.Left<>();
    }
    Subscriber<R> me = new Subscriber<>(scope);
    Flight<R> flight = board(key, me);
    if (flight == null) {
      return makeAlone(scope, limit, call);
    }
    try {
      while (me.end == null && scope.await(me::isTold, Deadline.never())) {
        if (me.asked) {
          if (isOver(scope)) {
            break;
          }
          launch(flight, me, limit, call);
        }
      }
    } finally {
      leave(flight, me);
    }
    End<R> end = me.end; // also if it came while the caller was about to leave
    return end == null ? new End.Left<>() : end;
  }

  private static boolean isOver(TaskScope scope) {
    return scope.isCancelled()
        || scope.deadline().hasPassed()
        || Thread.currentThread().isInterrupted();
  }

  /** Enters the flight of the key, or begins one; null if there are too many. */
  private @Nullable Flight<R> board(CacheKey key, Subscriber<R> me) {
    lock.lock();
    try {
      Flight<R> flight = flights.get(key);
      if (flight == null) {
        if (flights.size() >= MAX_KEYS) {
          return null;
        }
        flight = new Flight<>(key, me);
        flights.put(key, flight);
      }
      flight.subscribers.add(me);
      return flight;
    } finally {
      lock.unlock();
    }
  }

  private End<R> makeAlone(TaskScope scope, Duration limit, Call<? extends R> call) {
    try (TaskScope own =
        tree.open("unshared call", "unshared call", Deadline.after(tree.time(), limit))) {
      return new End.Answered<>(call.make(own), false);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new End.Left<>();
    } catch (Throwable cause) {
      return isOver(scope) ? new End.Left<>() : new End.Failed<>(cause, false);
    }
  }

  private void launch(Flight<R> flight, Subscriber<R> me, Duration limit, Call<? extends R> call) {
    Made made = new Made();
    lock.lock();
    try {
      me.asked = false;
      flight.made = made;
    } finally {
      lock.unlock();
    }
    Deadline deadline = Deadline.after(tree.time(), limit);
    boolean started =
        tree.detach(
            "shared call",
            "shared call " + flight.key,
            UNBOUNDED,
            () -> make(flight, made, deadline, call));
    if (!started) {
      failed(flight, made, new IllegalStateException("no thread for a shared call"));
    }
  }

  private void make(Flight<R> flight, Made made, Deadline deadline, Call<? extends R> call) {
    R answer;
    try (TaskScope scope = tree.open("shared call", "call", deadline)) {
      if (!begin(flight, made, scope)) {
        return;
      }
      answer = call.make(scope);
    } catch (Throwable cause) {
      failed(flight, made, cause);
      return;
    }
    answered(flight, made, answer);
  }

  /** Whether anybody waits for the call. */
  private boolean begin(Flight<R> flight, Made made, TaskScope scope) {
    lock.lock();
    try {
      made.scope = scope;
      return flight.made == made;
    } finally {
      lock.unlock();
    }
  }

  private void answered(Flight<R> flight, Made made, R answer) {
    List<Subscriber<R>> told;
    lock.lock();
    try {
      if (flight.made != made) {
        return;
      }
      for (Subscriber<R> subscriber : flight.subscribers) {
        subscriber.end = new End.Answered<>(answer, subscriber != flight.leader);
      }
      told = List.copyOf(flight.subscribers);
      flight.subscribers.clear();
      flights.remove(flight.key);
    } finally {
      lock.unlock();
    }
    told.forEach(subscriber -> subscriber.scope.wake());
  }

  private void failed(Flight<R> flight, Made made, Throwable cause) {
    List<Subscriber<R>> told = new ArrayList<>();
    lock.lock();
    try {
      if (flight.made != made) {
        return;
      }
      for (Subscriber<R> subscriber : flight.subscribers) {
        boolean leads = subscriber == flight.leader;
        if (leads || subscriber.failedBefore) {
          subscriber.end = new End.Failed<>(cause, !leads);
          told.add(subscriber);
        }
        subscriber.failedBefore = true;
      }
      told.forEach(flight.subscribers::remove);
      flight.made = null;
      if (flight.subscribers.isEmpty()) {
        flights.remove(flight.key);
      } else {
        told.add(flight.askNext());
      }
    } finally {
      lock.unlock();
    }
    told.forEach(subscriber -> subscriber.scope.wake());
  }

  /** Gives the caller's place up, unless it has its end already. */
  private void leave(Flight<R> flight, Subscriber<R> me) {
    TaskScope unwanted = null;
    Subscriber<R> next = null;
    lock.lock();
    try {
      if (!flight.subscribers.remove(me)) {
        return;
      }
      if (flight.subscribers.isEmpty()) {
        flights.remove(flight.key);
        unwanted = flight.made == null ? null : flight.made.scope;
        flight.made = null;
      } else if (me.asked) {
        next = flight.askNext();
      }
    } finally {
      lock.unlock();
    }
    if (unwanted != null) {
      unwanted.cancel(NOBODY_WAITS);
    }
    if (next != null) {
      next.scope.wake();
    }
  }

  /** How many different calls are under way. */
  int inFlight() {
    lock.lock();
    try {
      return flights.size();
    } finally {
      lock.unlock();
    }
  }
}
