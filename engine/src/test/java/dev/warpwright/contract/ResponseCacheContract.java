package dev.warpwright.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.warpwright.control.CacheKey;
import dev.warpwright.control.ResponseCache;
import dev.warpwright.model.Digest;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Part;
import dev.warpwright.model.Role;
import dev.warpwright.model.TokenCount;
import dev.warpwright.model.TokenCount.Provenance;
import dev.warpwright.model.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What every {@link ResponseCache} must do, as long as it has room and nothing has grown old. It
 * may be shared: each test has keys of its own.
 */
@Timeout(60)
public abstract class ResponseCacheContract {
  private static int tests;
  private final String name = getClass().getName() + System.nanoTime() + "/" + tests++;

  /** Opens a cache with room for 100 answers, each for an hour. */
  protected abstract ResponseCache open();

  private CacheKey key(int number) {
    return new CacheKey(Digest.hex(name + "/" + number));
  }

  private static ModelResponse text(String text) {
    return new ModelResponse(
        Message.assistant(text),
        new FinishReason(FinishReason.Kind.STOP, "stop"),
        Usage.reported(3, 4),
        Optional.of("request-1"));
  }

  @Test
  @Tag("R347")
  void what_was_never_put_is_a_miss() throws Exception {
    assertEquals(Optional.empty(), open().get(key(1)));
  }

  @Test
  @Tag("R345")
  void every_component_of_an_answer_comes_back() throws Exception {
    ModelResponse response =
        new ModelResponse(
            new Message(
                Role.ASSISTANT,
                List.of(new Part.Text("Because \"it\" is\n"), new Part.Text("naïve 🙂 \u0000"))),
            new FinishReason(FinishReason.Kind.LENGTH, "max_tokens"),
            new Usage(
                new TokenCount(Long.MAX_VALUE, Provenance.REPORTED),
                new TokenCount(0, Provenance.REPORTED),
                TokenCount.ABSENT,
                new TokenCount(7, Provenance.ESTIMATED),
                TokenCount.ABSENT,
                new TokenCount(8, Provenance.DERIVED),
                Optional.of("fast")),
            Optional.of("request-1"));
    ModelResponse bare =
        new ModelResponse(
            Message.assistant("Yes."),
            new FinishReason(FinishReason.Kind.STOP, ""),
            Usage.ABSENT,
            Optional.empty());
    ResponseCache cache = open();
    cache.put(key(1), response);
    cache.put(key(2), bare);

    assertEquals(Optional.of(response), cache.get(key(1)));
    assertEquals(Optional.of(response), cache.get(key(1)));
    assertEquals(Optional.of(bare), cache.get(key(2)));
  }

  @Test
  @Tag("R345")
  void nobody_can_change_what_is_kept() throws Exception {
    List<Part> parts = new ArrayList<>(List.of(new Part.Text("Because.")));
    ModelResponse response =
        new ModelResponse(
            new Message(Role.ASSISTANT, parts),
            new FinishReason(FinishReason.Kind.STOP, "stop"),
            Usage.ABSENT,
            Optional.empty());
    ResponseCache cache = open();
    cache.put(key(1), response);
    parts.set(0, new Part.Text("Changed."));

    List<Part> found = cache.get(key(1)).orElseThrow().message().parts();
    assertEquals(List.of(new Part.Text("Because.")), found);
    assertThrows(UnsupportedOperationException.class, found::clear);
  }

  @Test
  void the_last_put_counts() throws Exception {
    ResponseCache cache = open();
    cache.put(key(1), text("first"));
    cache.put(key(1), text("second"));
    assertEquals(Optional.of(text("second")), cache.get(key(1)));
  }

  @Test
  @Tag("R335")
  void no_key_gives_the_answer_of_another() throws Exception {
    ResponseCache cache = open();
    for (int i = 0; i < 50; i++) {
      cache.put(key(i), text("answer " + i));
    }
    for (int i = 0; i < 50; i++) {
      assertEquals(Optional.of(text("answer " + i)), cache.get(key(i)));
    }
    assertEquals(Optional.empty(), cache.get(key(50)));
  }

  @Test
  void many_may_use_it_at_once() throws Exception {
    ResponseCache cache = open();
    CountDownLatch ready = new CountDownLatch(20);
    List<FutureTask<Boolean>> users = new ArrayList<>();
    for (int n = 0; n < 20; n++) {
      int number = n;
      FutureTask<Boolean> user =
          new FutureTask<>(
              () -> {
                ready.countDown();
                ready.await();
                for (int i = 0; i < 100; i++) {
                  cache.put(key(number % 5), text("answer " + number % 5));
                  assertEquals(
                      Optional.of(text("answer " + number % 5)), cache.get(key(number % 5)));
                }
                return true;
              });
      users.add(user);
      Thread.ofVirtual().start(user);
    }
    for (FutureTask<Boolean> user : users) {
      user.get(30, TimeUnit.SECONDS);
    }
  }
}
