package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelEvent;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.StreamingModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What every {@link StreamingModel} must do, beyond what every model must.
 *
 * <p>To check one, extend this class instead of {@link LanguageModelContract}; the models of all
 * subjects are streaming models then, and their providers stream when they are asked to. Say also
 * how to make a model against two more providers, and how many of a model's exchanges are open.
 */
public abstract class StreamingModelContract extends LanguageModelContract {
  private static final int MANY = 100;
  private static final String WORDS = "One two three, four: 五 🌍.";

  /** A model whose provider streams the word {@code Once} and never says anything more. */
  protected abstract Subject stalling();

  /**
   * Models whose providers fail every stream after they have streamed the word {@code Once}, each
   * in another way: the connection breaks, an error is reported, the stream just ends.
   */
  protected abstract List<Subject> breaking();

  /**
   * How many exchanges of a model with its provider are open at this moment.
   *
   * @param subject one of those that this test has made
   */
  protected abstract long openExchanges(Subject subject);

  private static ModelCall call(String text) {
    return ModelCall.builder(List.of(Message.user(text))).build();
  }

  private static ModelResponse stream(Subject subject, String text, StreamingModel.Events events)
      throws InterruptedException {
    return assertInstanceOf(StreamingModel.class, subject.model()).stream(call(text), events);
  }

  private static String text(List<ModelEvent> told) {
    StringBuilder text = new StringBuilder();
    told.forEach(event -> text.append(event instanceof ModelEvent.Text(String piece) ? piece : ""));
    return text.toString();
  }

  /** Calls back when the first text is told. */
  private static StreamingModel.Events onText(Telling first) {
    return event -> {
      if (event instanceof ModelEvent.Text) {
        first.told();
      }
    };
  }

  private interface Telling {
    void told() throws InterruptedException;
  }

  private void requireClosed(Subject subject, long received) {
    assertEquals(0, openExchanges(subject), "the exchange is closed when the method has ended");
    assertEquals(received, subject.received().getAsLong(), "it is made once");
  }

  @Test
  void a_streamed_answer_is_the_one_that_would_have_come_whole() throws Exception {
    Subject subject = echoing();
    List<ModelEvent> told = new ArrayList<>();

    ModelResponse streamed = stream(subject, WORDS, told::add);

    ModelResponse whole = subject.model().generate(call(WORDS));
    assertEquals(whole.message(), streamed.message());
    assertEquals(whole.finishReason(), streamed.finishReason());
    assertEquals(whole.usage(), streamed.usage());
    requireClosed(subject, 2);
  }

  @Test
  @Tag("R374")
  void the_pieces_that_are_told_joined_are_the_text_of_the_answer() throws Exception {
    List<ModelEvent> told = new ArrayList<>();

    ModelResponse streamed = stream(echoing(), WORDS, told::add);

    assertEquals(WORDS, streamed.message().text());
    assertEquals(WORDS, text(told));
    assertFalse(told.contains(new ModelEvent.Text("")), "an empty piece");
    assertFalse(told.contains(new ModelEvent.Reasoning("")), "an empty piece");
  }

  @Test
  @Tag("R371")
  void everything_is_told_on_the_calling_thread_whatever_thread_that_is() throws Exception {
    Subject subject = echoing();
    for (Thread.Builder builder : List.of(Thread.ofPlatform().daemon(), Thread.ofVirtual())) {
      FutureTask<String> stream =
          new FutureTask<>(
              () -> {
                Thread caller = Thread.currentThread();
                return stream(
                        subject,
                        WORDS,
                        _ -> assertSame(caller, Thread.currentThread(), "the calling thread"))
                    .message()
                    .text();
              });
      builder.start(stream);
      assertEquals(WORDS, stream.get(60, TimeUnit.SECONDS));
    }
  }

  @Test
  @Tag("R371")
  void many_streams_at_once_tell_each_its_own_answer() throws Exception {
    Subject subject = echoing();
    CountDownLatch start = new CountDownLatch(1);
    List<FutureTask<String>> streams = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      String words = "This is stream " + i;
      FutureTask<String> stream =
          new FutureTask<>(
              () -> {
                List<ModelEvent> told = new ArrayList<>();
                start.await();
                assertEquals(words, stream(subject, words, told::add).message().text());
                return text(told);
              });
      Thread.ofVirtual().start(stream);
      streams.add(stream);
    }

    start.countDown();

    for (int i = 0; i < MANY; i++) {
      assertEquals("This is stream " + i, streams.get(i).get(30, TimeUnit.SECONDS));
    }
    requireClosed(subject, MANY);
  }

  @Test
  void a_slow_reader_misses_nothing_and_holds_up_nobody() throws Exception {
    Subject subject = echoing();
    CountDownLatch telling = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    List<ModelEvent> told = new ArrayList<>();
    FutureTask<ModelResponse> slow =
        new FutureTask<>(
            () ->
                stream(
                    subject,
                    WORDS,
                    event -> {
                      telling.countDown();
                      goOn.await();
                      told.add(event);
                    }));
    Thread.ofVirtual().start(slow);
    assertTrue(telling.await(60, TimeUnit.SECONDS));

    for (int i = 0; i < 20; i++) {
      assertEquals("Hello.", stream(subject, "Hello.", _ -> {}).message().text());
      assertEquals("Hello.", subject.model().generate(call("Hello.")).message().text());
    }
    assertFalse(slow.isDone());
    goOn.countDown();

    assertEquals(WORDS, slow.get(60, TimeUnit.SECONDS).message().text());
    assertEquals(WORDS, text(told));
  }

  @Test
  void what_the_one_who_is_told_throws_is_let_through_and_closes_the_exchange() {
    for (Exception thrown :
        List.of(new InterruptedException("enough"), new IllegalStateException("theirs"))) {
      Subject subject = stalling();
      Exception caught =
          assertThrows(
              Exception.class,
              () ->
                  stream(
                      subject,
                      WORDS,
                      _ -> {
                        if (thrown instanceof InterruptedException interrupt) {
                          throw interrupt;
                        }
                        throw (RuntimeException) thrown;
                      }));
      assertSame(thrown, caught);
      assertFalse(Thread.currentThread().isInterrupted());
      requireClosed(subject, 1);
    }
  }

  @Test
  @Tag("R375")
  @Tag("R103")
  void a_stream_that_fails_from_the_start_tells_no_output_and_is_made_once() {
    List<Subject> subjects = failing();
    assertNotEquals(List.of(), subjects);
    for (Subject subject : subjects) {
      for (int i = 1; i <= 3; i++) {
        List<ModelEvent> told = new ArrayList<>();
        ProviderException failure =
            assertThrows(ProviderException.class, () -> stream(subject, "my-own-words", told::add));
        assertFalse(failure.toString().contains("my-own-words"), "content in the message");
        assertEquals("", text(told), failure::toString);
        requireClosed(subject, i);
      }
    }
  }

  @Test
  @Tag("R141")
  @Tag("R143")
  void a_stream_that_breaks_is_a_failure_and_is_made_once() {
    List<Subject> subjects = breaking();
    assertNotEquals(List.of(), subjects);
    for (Subject subject : subjects) {
      List<ModelEvent> told = new ArrayList<>();
      ProviderException failure =
          assertThrows(ProviderException.class, () -> stream(subject, "my-own-words", told::add));
      // A connection that breaks may take with it what had come and was not read yet.
      assertTrue("Once".startsWith(text(told).strip()), failure::toString);
      assertFalse(failure.toString().contains("Once"), "content in the message");
      requireClosed(subject, 1);
    }
  }

  /** A caller whose stream will be interrupted: says whether the flag is set when it has ended. */
  private static FutureTask<Boolean> interrupted(Subject subject, StreamingModel.Events events) {
    return new FutureTask<>(
        () -> {
          assertThrows(InterruptedException.class, () -> stream(subject, WORDS, events));
          return Thread.currentThread().isInterrupted();
        });
  }

  @Test
  @Tag("R371")
  void an_interrupt_ends_a_stream_that_says_nothing_more() throws Exception {
    for (Thread.Builder builder : List.of(Thread.ofPlatform().daemon(), Thread.ofVirtual())) {
      Subject subject = stalling();
      CountDownLatch told = new CountDownLatch(1);
      FutureTask<Boolean> stream = interrupted(subject, onText(told::countDown));
      Thread caller = builder.start(stream);
      assertTrue(told.await(60, TimeUnit.SECONDS));
      assertEquals(1, openExchanges(subject));

      caller.interrupt();

      assertFalse(stream.get(60, TimeUnit.SECONDS), "the flag is clear when it is thrown");
      requireClosed(subject, 1);
    }
  }

  @Test
  @Tag("R371")
  void an_interrupt_ends_a_stream_while_an_event_is_told() throws Exception {
    Subject subject = echoing();
    CountDownLatch telling = new CountDownLatch(1);
    FutureTask<Boolean> stream =
        interrupted(
            subject,
            _ -> {
              telling.countDown();
              new CountDownLatch(1).await();
            });
    Thread caller = Thread.ofVirtual().start(stream);
    assertTrue(telling.await(60, TimeUnit.SECONDS));

    caller.interrupt();

    assertFalse(stream.get(60, TimeUnit.SECONDS), "the flag is clear when it is thrown");
    requireClosed(subject, 1);
  }

  @Test
  @Tag("R371")
  void an_interrupt_ends_a_stream_of_which_nothing_has_come() throws Exception {
    Subject subject = silent();
    FutureTask<Boolean> stream = interrupted(subject, _ -> {});
    Thread caller = Thread.ofVirtual().start(stream);
    awaitReceived(subject, 1);

    caller.interrupt();

    assertFalse(stream.get(60, TimeUnit.SECONDS), "the flag is clear when it is thrown");
    requireClosed(subject, 1);
  }

  @Test
  @Tag("R371")
  void a_stream_of_an_interrupted_thread_ends_as_interrupted_and_tells_nothing() throws Exception {
    Subject subject = silent();
    List<ModelEvent> told = new ArrayList<>();
    FutureTask<Boolean> stream =
        new FutureTask<>(
            () -> {
              Thread.currentThread().interrupt();
              assertThrows(InterruptedException.class, () -> stream(subject, "Hello.", told::add));
              return Thread.currentThread().isInterrupted();
            });

    Thread.ofVirtual().start(stream);

    assertFalse(stream.get(60, TimeUnit.SECONDS), "the flag is clear when it is thrown");
    assertEquals(List.of(), told);
    assertEquals(0, openExchanges(subject));
  }

  @Test
  @Tag("R371")
  void an_interrupt_at_any_moment_of_a_stream_is_thrown_or_kept_and_leaves_nothing_open()
      throws Exception {
    Subject subject = echoing();
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < MANY / 2; round++) {
      FutureTask<String> undisturbed =
          new FutureTask<>(() -> stream(subject, "Leave me alone.", _ -> {}).message().text());
      Thread.ofVirtual().start(undisturbed);
      Interrupted caller =
          new Interrupted(
              () -> {
                List<ModelEvent> told = new ArrayList<>();
                String text = stream(subject, WORDS, told::add).message().text();
                assertEquals(WORDS, text);
                assertEquals(WORDS, text(told));
              });
      assertTrue(caller.ready.await(60, TimeUnit.SECONDS), "seed " + seed);
      spin(random.nextInt(400_000));
      caller.interrupt();

      var _ = caller.call.get(60, TimeUnit.SECONDS);
      assertEquals("Leave me alone.", undisturbed.get(60, TimeUnit.SECONDS), "seed " + seed);
      assertEquals(0, openExchanges(subject), "seed " + seed);
    }
  }
}
