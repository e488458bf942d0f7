package dev.warpwright.model;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.RandomAccess;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a conversation: an immutable list from which a longer one is made without a copy.
 *
 * <p>A long run asks a model once for each step, and each call gets all that was said before. With
 * {@link #plus} a conversation and those that go on from it share their messages, and what is known
 * of the messages is carried on. So a step costs what it adds, however long the conversation is,
 * and whoever keeps an earlier one, such as an adapter or an observer, never sees it change.
 *
 * <p>Safe for use by several threads: of two that add to the same conversation, one goes on with
 * the shared messages and the other with a copy. One that is kept may keep as many later messages
 * in memory as there was room for when it was made, at most half of its own size and two.
 */
public final class Conversation extends AbstractList<Message> implements RandomAccess {
  private static final int MORE_ROOM = 2;

  private final Message[] messages; // written only behind the size of every conversation on it
  private final int size;
  private final Line line;
  private final boolean images;
  private final Set<Optional<String>> issuers; // of private state

  /** What a conversation and those that go on from it have in common. */
  private static final class Line {
    private static final VarHandle LENGTH;

    static {
      try {
        LENGTH = MethodHandles.lookup().findVarHandle(Line.class, "length", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    private volatile int length;
    volatile @Nullable Sum sum; // any one that was computed; a lost one is computed again

    Line(int length) {
      this.length = length;
    }

    /** Whether a message may be put behind so many; of two who ask for the same, one gets it. */
    boolean goesOnFrom(int size) {
      return LENGTH.compareAndSet(this, size, size + 1);
    }
  }

  /** A fact of the first messages of a line. */
  private record Sum(ToLongFunction<Message> of, int size, long total) {}

  private Conversation(
      Message[] messages, int size, Line line, boolean images, Set<Optional<String>> issuers) {
    this.messages = messages;
    this.size = size;
    this.line = line;
    this.images = images;
    this.issuers = issuers;
  }

  /**
   * The conversation of some messages.
   *
   * @param messages the messages, none of them null; copied unless they are a conversation already
   * @return the conversation
   */
  public static Conversation of(List<Message> messages) {
    if (messages instanceof Conversation same) {
      return same;
    }
    Message[] copy = messages.toArray(new Message[0]);
    boolean images = false;
    Set<Optional<String>> issuers = Set.of();
    for (Message message : copy) {
      images |= hasImage(message);
      issuers = withIssuers(issuers, message);
    }
    return new Conversation(copy, copy.length, new Line(copy.length), images, issuers);
  }

  /**
   * This conversation and one message more. This one stays as it is.
   *
   * @param next what is said next
   * @return the longer conversation
   */
  public Conversation plus(Message next) {
    Objects.requireNonNull(next, "next");
    boolean goesOn = line.goesOnFrom(size); // else somebody else does already
    Message[] all = messages;
    if (!goesOn || size == messages.length) {
      all = new Message[size + size / 2 + MORE_ROOM];
      System.arraycopy(messages, 0, all, 0, size);
    }
    all[size] = next;
    return new Conversation(
        all,
        size + 1,
        goesOn ? line : new Line(size + 1),
        images || hasImage(next),
        withIssuers(issuers, next));
  }

  private static boolean hasImage(Message message) {
    for (Part part : message.parts()) {
      if (part instanceof Image) {
        return true;
      }
    }
    return false;
  }

  private static Set<Optional<String>> withIssuers(Set<Optional<String>> known, Message message) {
    Set<Optional<String>> all = known;
    for (Part part : message.parts()) {
      if (part instanceof ProviderState state && !all.contains(state.provider())) {
        Set<Optional<String>> more = new HashSet<>(all);
        more.add(state.provider());
        all = Set.copyOf(more);
      }
    }
    return all;
  }

  /** The message at an index. */
  @Override
  public Message get(int index) {
    return messages[Objects.checkIndex(index, size)];
  }

  /** How many messages there are. */
  @Override
  public int size() {
    return size;
  }

  /**
   * Whether it shows a picture. Known without looking at the messages.
   *
   * @return true if one of the messages has an image
   */
  public boolean hasImages() {
    return images;
  }

  /**
   * Whether it has private state that was not issued by a provider. Known without looking at the
   * messages.
   *
   * @param provider the provider
   * @return true if one of the messages has state of another provider, or of one that is not named
   */
  public boolean hasStateOfOthersThan(String provider) {
    return !issuers.isEmpty() && !Set.of(Optional.of(provider)).containsAll(issuers);
  }

  /**
   * What a provider asks to approve by the last answer, with what it is to be told. A message of
   * the assistant behind that answer has taken it in; results of tools have not.
   *
   * @return the states with an approval, in order; empty if there is no answer
   */
  public List<ProviderState> approvals() {
    int last = issuers.isEmpty() ? -1 : lastAnswer();
    return last < 0 ? List.of() : messages[last].approvals();
  }

  /**
   * The state whose approval was answered and waits to be told to the provider that asked: the next
   * call is for that one and nobody else.
   *
   * @return one of those that wait; empty if there is none
   */
  public Optional<ProviderState> unsentAnswer() {
    return approvals().stream()
        .filter(state -> state.approval().orElseThrow().answer().isPresent())
        .findFirst();
  }

  /**
   * The conversation in which an approval that a provider asks for has its answer, which goes to
   * that provider with the next call.
   *
   * @param provider the provider that asks
   * @param requestId the provider's id of the request
   * @param answer what was decided
   * @return a copy
   * @throws InvalidRequestException if the last answer does not ask for it, or it is answered
   *     already
   */
  public Conversation answered(String provider, String requestId, ProviderApproval.Answer answer) {
    int last = lastAnswer();
    List<Part> parts = new ArrayList<>(last < 0 ? List.of() : messages[last].parts());
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i) instanceof ProviderState state && asks(state, provider, requestId)) {
        parts.set(i, state.asking(state.approval().orElseThrow().answered(answer)));
        Message[] copy = Arrays.copyOf(messages, size);
        copy[last] = new Message(Role.ASSISTANT, parts);
        return new Conversation(copy, size, new Line(size), images, issuers);
      }
    }
    throw new InvalidRequestException(
        FailureKind.INVALID_REQUEST,
        "The last answer has no open request for approval of that id by provider \""
            + provider
            + "\".");
  }

  private static boolean asks(ProviderState state, String provider, String requestId) {
    return state.provider().equals(Optional.of(provider))
        && state
            .approval()
            .filter(asked -> asked.answer().isEmpty() && asked.requestId().equals(requestId))
            .isPresent();
  }

  private int lastAnswer() {
    int i = size - 1;
    while (i >= 0 && messages[i].role() != Role.ASSISTANT) {
      i--;
    }
    return i;
  }

  /**
   * Whether it was made from an earlier conversation by nothing but {@link #plus}, in the shared
   * messages, so that the earlier one is its beginning.
   *
   * @param earlier another conversation, or this one
   * @return true if only the messages behind the earlier ones are new; false if that is not known
   */
  public boolean continues(Conversation earlier) {
    return line == earlier.line && earlier.size <= size;
  }

  /**
   * Adds a number up over all messages. If this line of conversations was asked for the same
   * before, only messages that are new since then are looked at.
   *
   * @param number gives a number that depends on nothing but its message; always the same object
   * @return the sum
   */
  public long sum(ToLongFunction<Message> number) {
    Sum known = line.sum;
    if (known == null || !known.of.equals(number) || known.size > size) {
      known = new Sum(number, 0, 0);
    }
    if (known.size == size) {
      return known.total;
    }
    long total = known.total;
    for (int i = known.size; i < size; i++) {
      total += number.applyAsLong(messages[i]);
    }
    line.sum = new Sum(number, size, total);
    return total;
  }
}
