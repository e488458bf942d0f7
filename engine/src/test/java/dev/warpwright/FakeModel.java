package dev.warpwright;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.Role;
import dev.warpwright.model.StreamingModel;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A model that says what it was told to say, in order, and remembers what it was asked. */
class FakeModel implements StreamingModel {
  /** What the model does when it is called. */
  @FunctionalInterface
  interface Reply {
    ModelResponse to(ModelCall call) throws InterruptedException;
  }

  /** What the model does when it is asked to stream. */
  @FunctionalInterface
  interface Telling {
    ModelResponse to(ModelCall call, StreamingModel.Events events) throws InterruptedException;
  }

  /** A reply that tells by itself what comes. */
  private record Live(Telling telling) implements Reply {
    @Override
    public ModelResponse to(ModelCall call) {
      throw new AssertionError("not asked to stream");
    }
  }

  private static final Pattern BEHIND_SPACES = Pattern.compile("(?<= )");

  private final Deque<Reply> replies = new ArrayDeque<>(); // guarded by itself
  private final List<ModelCall> calls = Collections.synchronizedList(new ArrayList<>());
  private final CountDownLatch released = new CountDownLatch(1);
  private final CountDownLatch busy = new CountDownLatch(1);
  private final CountDownLatch interrupted = new CountDownLatch(1);
  private volatile @Nullable Thread streaming; // the last one
  private volatile boolean acts;
  private volatile boolean honoursInterrupts;
  private volatile ModelCapabilities capabilities = ModelCapabilities.TEXT_AND_TOOLS;

  FakeModel with(ModelCapabilities declared) {
    capabilities = declared;
    return this;
  }

  /** Declares that its provider runs tools that have effects. */
  FakeModel acting() {
    acts = true;
    return this;
  }

  @Override
  public boolean mayAct(ModelCall call) {
    return acts;
  }

  /** Says whether it declares that, and so is asked on the operation's own thread. */
  FakeModel honouringInterrupts(boolean declared) {
    honoursInterrupts = declared;
    return this;
  }

  @Override
  public boolean honoursInterrupts() {
    return honoursInterrupts;
  }

  FakeModel then(Reply reply) {
    synchronized (replies) {
      replies.add(reply);
    }
    return this;
  }

  /** Answers a stream. */
  FakeModel tells(Telling telling) {
    return then(new Live(telling));
  }

  /** Tells so much of an answer and fails then. */
  FakeModel breaks(RuntimeException failure, String... pieces) {
    return tells(
        (call, events) -> {
          for (String piece : pieces) {
            events.tell(new ModelEvent.Text(piece));
          }
          throw failure;
        });
  }

  FakeModel says(String text) {
    return then(call -> answer(text, FinishReason.Kind.STOP));
  }

  FakeModel asksFor(ToolCall... toolCalls) {
    return then(call -> answer(FinishReason.Kind.TOOL_CALLS, toolCalls));
  }

  /** Throws the very same exception so many times. */
  FakeModel fails(RuntimeException failure, int times) {
    for (int i = 0; i < times; i++) {
      then(
          call -> {
            throw failure;
          });
    }
    return this;
  }

  FakeModel fails(RuntimeException failure) {
    return fails(failure, 1);
  }

  /** Waits until it is interrupted, as an adapter should. */
  FakeModel hangs() {
    return then(
        call -> {
          busy.countDown();
          try {
            new CountDownLatch(1).await();
          } catch (InterruptedException e) {
            interrupted.countDown();
            throw e;
          }
          throw new AssertionError("unreachable");
        });
  }

  /** A reply that never comes; ends at an interrupt. */
  static ModelResponse blocks(ModelCall call) throws InterruptedException {
    new CountDownLatch(1).await();
    throw new AssertionError("unreachable");
  }

  /** Waits until it is released, interrupted or not, and answers then. */
  FakeModel ignoresInterrupts() {
    return honouringInterrupts(false)
        .then(
            call -> {
              busy.countDown();
              while (true) {
                try {
                  released.await();
                  return answer("too late", FinishReason.Kind.STOP);
                } catch (InterruptedException e) {
                  interrupted.countDown(); // noticed, not obeyed
                }
              }
            });
  }

  void release() {
    released.countDown();
  }

  void awaitBusy() throws InterruptedException {
    Spine.await("the model to be called", busy);
  }

  void awaitInterrupted() throws InterruptedException {
    Spine.await("the model to be interrupted", interrupted);
  }

  /** Waits until the model waits for the reader of its stream. */
  void awaitNoRoom() {
    Spine.until("the model to wait for room", () -> waitsForRoom(streaming));
  }

  private static boolean waitsForRoom(@Nullable Thread thread) {
    if (thread == null || thread.getState() != Thread.State.WAITING) {
      return false;
    }
    List<String> frames =
        Arrays.stream(thread.getStackTrace()).map(StackTraceElement::toString).toList();
    return frames.stream().anyMatch(frame -> frame.contains("Feed$Line.put"))
        && frames.stream().noneMatch(frame -> frame.contains("Feed$Line.offer"));
  }

  int count() {
    return calls.size();
  }

  List<ModelCall> calls() {
    return List.copyOf(calls);
  }

  @Override
  public ModelCapabilities capabilities() {
    return capabilities;
  }

  @Override
  public ModelResponse generate(ModelCall call) throws InterruptedException {
    return next(call).to(call);
  }

  /** Tells the text of a whole answer word by word. */
  @Override
  public ModelResponse stream(ModelCall call, Events events) throws InterruptedException {
    streaming = Thread.currentThread();
    Reply reply = next(call);
    if (reply instanceof Live(Telling telling)) {
      return telling.to(call, events);
    }
    ModelResponse response = reply.to(call);
    for (String word : BEHIND_SPACES.splitAsStream(response.message().text()).toList()) {
      events.tell(new ModelEvent.Text(word));
    }
    return response;
  }

  private Reply next(ModelCall call) {
    calls.add(call);
    Reply reply;
    synchronized (replies) {
      reply = replies.poll();
    }
    if (reply == null) {
      throw new AssertionError("call " + calls.size() + " was not expected");
    }
    return reply;
  }

  static ModelResponse answer(String text, FinishReason.Kind kind) {
    return response(List.of(new Part.Text(text)), kind, Usage.reported(10, 5));
  }

  static ModelResponse answer(FinishReason.Kind kind, ToolCall... toolCalls) {
    return response(List.of(toolCalls), kind, Usage.reported(10, 5));
  }

  static ModelResponse response(List<? extends Part> parts, FinishReason.Kind kind, Usage usage) {
    return new ModelResponse(
        new Message(Role.ASSISTANT, List.copyOf(parts)),
        new FinishReason(kind, "raw-" + kind),
        usage,
        Optional.of("request-1"));
  }

  static ProviderException status(int status) {
    return ProviderException.builder(
            ProviderException.Kind.HTTP_STATUS, "The request failed with status " + status + ".")
        .status(status)
        .build();
  }

  static ProviderException failure(ProviderException.Kind kind) {
    return ProviderException.builder(kind, "It failed with " + kind + ".").build();
  }
}
