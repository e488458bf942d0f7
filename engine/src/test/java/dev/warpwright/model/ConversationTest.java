package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A conversation that grows while others keep what it was. */
@Timeout(60)
final class ConversationTest {
  private static final Message HI = Message.user("Hi");

  private static Message said(int number) {
    return Message.assistant("Said " + number);
  }

  @Test
  void whoever_keeps_a_conversation_never_sees_it_change() {
    List<Conversation> kept = new ArrayList<>();
    List<List<Message>> copies = new ArrayList<>();
    Conversation conversation = Conversation.of(List.of(HI));
    for (int i = 0; i < 200; i++) {
      kept.add(conversation);
      copies.add(List.copyOf(conversation));
      conversation = conversation.plus(said(i));
    }

    assertEquals(copies, kept);
    assertEquals(201, conversation.size());
    for (Conversation earlier : kept) {
      assertTrue(conversation.continues(earlier), "it shares their messages");
      assertFalse(earlier.continues(conversation));
    }
    assertThrows(IndexOutOfBoundsException.class, () -> kept.get(5).get(6));
  }

  @Test
  void two_ways_to_go_on_do_not_disturb_each_other() {
    Conversation begun = Conversation.of(List.of(HI)).plus(said(1));

    Conversation one = begun.plus(said(2)).plus(said(3));
    Conversation other = begun.plus(said(4));

    assertEquals(List.of(HI, said(1), said(2), said(3)), one);
    assertEquals(List.of(HI, said(1), said(4)), other);
    assertEquals(List.of(HI, said(1)), begun);
    assertFalse(other.continues(begun), "it is a copy");
  }

  @Test
  void threads_that_go_on_from_one_conversation_get_each_their_own() throws Exception {
    int threads = 4;
    CyclicBarrier together = new CyclicBarrier(threads);
    try (ExecutorService pool = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 300; round++) {
        Conversation begun = Conversation.of(List.of(HI)).plus(said(round));
        List<Future<Conversation>> grown = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
          int number = thread;
          grown.add(
              pool.submit(
                  () -> {
                    together.await();
                    return begun.plus(said(-number)).plus(HI);
                  }));
        }
        for (int thread = 0; thread < threads; thread++) {
          assertEquals(List.of(HI, said(round), said(-thread), HI), grown.get(thread).get());
        }
        assertEquals(1, grown.stream().filter(each -> each.resultNow().continues(begun)).count());
      }
    }
  }

  @Test
  void what_is_changed_by_whoever_gave_the_messages_does_not_reach_it() {
    List<Message> given = new ArrayList<>(List.of(HI, said(1)));
    Conversation conversation = Conversation.of(given);
    given.set(0, said(9));

    assertEquals(List.of(HI, said(1)), conversation);
    assertSame(conversation, Conversation.of(conversation));
    assertThrows(UnsupportedOperationException.class, () -> conversation.set(0, HI));
    assertThrows(UnsupportedOperationException.class, () -> conversation.add(HI));
    assertThrows(UnsupportedOperationException.class, () -> conversation.remove(0));
    assertThrows(UnsupportedOperationException.class, conversation::clear);
    given.add(null);
    assertThrows(NullPointerException.class, () -> Conversation.of(given));
    assertThrows(NullPointerException.class, () -> conversation.plus(null));
  }

  @Test
  void a_sum_looks_at_each_message_once_however_often_it_is_asked_for() {
    AtomicInteger looks = new AtomicInteger();
    ToLongFunction<Message> length =
        message -> {
          looks.incrementAndGet();
          return message.text().length();
        };
    Conversation conversation = Conversation.of(List.of(HI));
    Conversation early = conversation;
    long expected = 2;
    for (int i = 0; i < 100; i++) {
      conversation = conversation.plus(said(i));
      expected += said(i).text().length();
      assertEquals(expected, conversation.sum(length));
    }

    assertEquals(101, looks.get());
    assertEquals(2, early.sum(length), "a shorter one is summed for itself");
    assertEquals(101, conversation.sum(message -> 1), "another number is another sum");
    assertEquals(expected, conversation.sum(length));
  }

  @Test
  void it_knows_of_pictures_and_private_state_from_where_they_came_on() {
    Message picture = Message.user("Look", new Image("https://example.com/a.png"));
    ProviderState thought = new ProviderState(Optional.empty(), "protocol", "model", Json.of("hm"));
    Message thinking = new Message(Role.ASSISTANT, List.of(thought.issuedBy("a")));
    Conversation plain = Conversation.of(List.of(HI));
    Conversation shown = plain.plus(picture);
    Conversation mixed = shown.plus(thinking);

    assertFalse(plain.hasImages());
    assertTrue(shown.hasImages());
    assertTrue(mixed.hasImages());
    assertTrue(Conversation.of(List.of(HI, picture)).hasImages());
    assertFalse(shown.hasStateOfOthersThan("b"));
    assertFalse(mixed.hasStateOfOthersThan("a"));
    assertTrue(mixed.hasStateOfOthersThan("b"));
    Conversation both = mixed.plus(new Message(Role.ASSISTANT, List.of(thought.issuedBy("b"))));
    assertTrue(both.hasStateOfOthersThan("a"));
    assertTrue(both.hasStateOfOthersThan("b"));
  }
}
