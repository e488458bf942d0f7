package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every {@link LanguageModel} must do.
 *
 * <p>To check one, extend this class and say how to make it against three providers that the test
 * controls, such as three scripts of a server on the loopback address:
 *
 * <pre>{@code
 * final class MyModelTest extends LanguageModelContract {
 *   private final MyServer server = new MyServer(); // a fake of yours that counts its requests
 *
 *   @Override
 *   protected Subject echoing() {
 *     server.answer(request -> request.lastMessage());
 *     return new Subject(new MyModel(server.uri()), server::requests);
 *   }
 *
 *   // silent() and failing() likewise; close in an @AfterEach what is to be closed
 * }
 * }</pre>
 *
 * <p>Each method is called at most once in a test, and JUnit makes an instance of the class for
 * each test.
 */
@Timeout(60)
public abstract class LanguageModelContract {
  private static final int MANY = 200;

  /**
   * A model under test.
   *
   * @param model the model
   * @param received how many calls have reached its provider
   */
  public record Subject(LanguageModel model, LongSupplier received) {}

  /** A model whose provider answers each call with the text of its last message. */
  protected abstract Subject echoing();

  /** A model whose provider takes each call and never says anything. */
  protected abstract Subject silent();

  /**
   * Models whose providers fail every call, each in another way; among them those ways that pass by
   * themselves, such as a status 503 or a connection that breaks, which tempt to try again.
   */
  protected abstract List<Subject> failing();

  private static ModelCall call(String text) {
    return ModelCall.builder(List.of(Message.user(text))).build();
  }

  private static ModelResponse ask(Subject subject, String text) throws InterruptedException {
    return subject.model().generate(call(text));
  }

  /** For what has no latch: the provider is not part of the contract. */
  @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
  static void awaitReceived(Subject subject, long count) {
    long start = System.nanoTime();
    while (subject.received().getAsLong() < count) {
      assertTrue(System.nanoTime() - start < 10_000_000_000L, "waited 10 s for call " + count);
      Thread.yield();
    }
  }

  @Test
  void an_answer_is_whole_and_says_why_it_ended() throws Exception {
    Subject subject = echoing();

    ModelResponse response = ask(subject, "Hello.");

    assertEquals("Hello.", response.message().text());
    assertEquals(FinishReason.Kind.STOP, response.finishReason().kind());
    assertEquals(1, subject.received().getAsLong());
  }

  @Test
  void capabilities_are_always_the_same() throws Exception {
    Subject subject = echoing();
    ModelCapabilities before = subject.model().capabilities();
    FutureTask<ModelCapabilities> elsewhere =
        new FutureTask<>(() -> subject.model().capabilities());

    ask(subject, "Hello.");
    Thread.ofVirtual().start(elsewhere);

    assertEquals(before, subject.model().capabilities());
    assertEquals(before, elsewhere.get(60, TimeUnit.SECONDS));
  }

  @Test
  @Tag("R371")
  void a_call_may_be_made_on_any_thread() throws Exception {
    Subject subject = echoing();
    for (Thread.Builder builder : List.of(Thread.ofPlatform().daemon(), Thread.ofVirtual())) {
      FutureTask<String> answer = new FutureTask<>(() -> ask(subject, "Hello.").message().text());
      builder.start(answer);
      assertEquals("Hello.", answer.get(60, TimeUnit.SECONDS));
    }
  }

  @Test
  @Tag("R371")
  void many_calls_at_once_get_each_its_own_answer() throws Exception {
    Subject subject = echoing();
    CountDownLatch start = new CountDownLatch(1);
    List<FutureTask<String>> answers = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      String text = "Call " + i;
      FutureTask<String> answer =
          new FutureTask<>(
              () -> {
                start.await();
                return ask(subject, text).message().text();
              });
      Thread.ofVirtual().start(answer);
      answers.add(answer);
    }

    start.countDown();

    for (int i = 0; i < MANY; i++) {
      assertEquals("Call " + i, answers.get(i).get(30, TimeUnit.SECONDS));
    }
    assertEquals(MANY, subject.received().getAsLong());
  }

  @Test
  @Tag("R375")
  @Tag("R103")
  void a_failed_call_throws_a_ProviderException_and_is_made_once() {
    List<Subject> subjects = failing();
    assertNotEquals(List.of(), subjects);
    for (Subject subject : subjects) {
      for (int i = 1; i <= 3; i++) {
        ProviderException failure =
            assertThrows(ProviderException.class, () -> ask(subject, "my-own-words"));
        assertFalse(failure.toString().contains("my-own-words"), "content in the message");
        assertEquals(i, subject.received().getAsLong(), failure::toString);
      }
    }
  }

  @Test
  @Tag("R371")
  void an_interrupt_ends_a_call_that_the_provider_never_answers() throws Exception {
    Subject subject = silent();
    for (Thread.Builder builder : List.of(Thread.ofPlatform().daemon(), Thread.ofVirtual())) {
      long before = subject.received().getAsLong();
      FutureTask<Boolean> call =
          new FutureTask<>(
              () -> {
                assertThrows(InterruptedException.class, () -> ask(subject, "Hello."));
                return Thread.currentThread().isInterrupted();
              });
      Thread caller = builder.start(call);
      awaitReceived(subject, before + 1);

      caller.interrupt();

      assertFalse(call.get(60, TimeUnit.SECONDS), "the flag is clear when it is thrown");
      assertEquals(before + 1, subject.received().getAsLong(), "it is not made again");
    }
  }

  @Test
  @Tag("R371")
  void a_call_of_an_interrupted_thread_ends_as_interrupted() throws Exception {
    Subject subject = silent();
    FutureTask<Boolean> call =
        new FutureTask<>(
            () -> {
              Thread.currentThread().interrupt();
              assertThrows(InterruptedException.class, () -> ask(subject, "Hello."));
              return Thread.currentThread().isInterrupted();
            });

    Thread.ofVirtual().start(call);

    assertFalse(call.get(60, TimeUnit.SECONDS), "the flag is clear when it is thrown");
  }

  /** What a caller does that may be interrupted. */
  interface Asking {
    void ask() throws InterruptedException;
  }

  /** A caller that may be interrupted at any moment of its call. */
  static final class Interrupted {
    final CountDownLatch ready = new CountDownLatch(1);
    final FutureTask<Boolean> call;
    private final Thread thread;
    private volatile boolean sent;

    Interrupted(Asking asking) {
      this.call =
          new FutureTask<>(
              () -> {
                ready.countDown();
                boolean thrown = false;
                try {
                  asking.ask();
                } catch (InterruptedException e) {
                  thrown = true;
                }
                awaitSent();
                assertSame(
                    !thrown, Thread.interrupted(), "either thrown or still set, and not both");
                return thrown;
              });
      this.thread = Thread.ofVirtual().start(call);
    }

    void interrupt() {
      thread.interrupt();
      sent = true;
    }

    /** Keeps the flag as it is. */
    @SuppressWarnings("ThreadPriorityCheck") // it only saves processor time
    private void awaitSent() {
      while (!sent) {
        Thread.yield();
      }
    }
  }

  @Test
  @Tag("R371")
  void an_interrupt_at_any_moment_is_thrown_or_kept_and_disturbs_no_other_call() throws Exception {
    Subject subject = echoing();
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < MANY / 4; round++) {
      FutureTask<String> undisturbed =
          new FutureTask<>(() -> ask(subject, "Leave me alone.").message().text());
      Thread.ofVirtual().start(undisturbed);
      String text = "Round " + round;
      Interrupted caller =
          new Interrupted(() -> assertEquals(text, ask(subject, text).message().text()));
      assertTrue(caller.ready.await(60, TimeUnit.SECONDS), "seed " + seed);
      spin(random.nextInt(200_000));
      caller.interrupt();

      var _ = caller.call.get(60, TimeUnit.SECONDS);
      assertEquals("Leave me alone.", undisturbed.get(60, TimeUnit.SECONDS), "seed " + seed);
    }
  }

  /** Passes a moment, so that interrupts come at all stages of a call. */
  static void spin(int nanos) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < nanos) {
      Thread.onSpinWait();
    }
  }
}
