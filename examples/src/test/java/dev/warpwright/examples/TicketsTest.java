package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TicketsTest {
  @TempDir Path folder;

  @Test
  void badLinesAreNamedAndTheOthersGoOn() throws IOException {
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.writeBytes(utf8("\uFEFF" + ticket("T-1") + "\r\n\n"));
    file.writeBytes(utf8("id,customer\n{\"id\":\"T-2\"}\n[]\n"));
    file.writeBytes(new byte[] {'{', (byte) 0xC3, '\n'});
    file.writeBytes(utf8(ticket("T-1") + "\n" + ticket("T-3")));
    Path path = Files.write(folder.resolve("tickets.jsonl"), file.toByteArray());

    try (Tickets tickets = Tickets.open(() -> Lines.of(path))) {
      assertEquals(
          List.of(3L, 4L, 5L, 6L, 7L),
          tickets.badLines().stream().map(Tickets.BadLine::number).toList());
      assertEquals("It is no JSON object.", tickets.badLines().get(2).reason());
      assertEquals("Not UTF-8.", tickets.badLines().get(3).reason());
      assertTrue(tickets.badLines().get(1).reason().contains("$.customer is required"));
      assertTrue(tickets.badLines().get(4).reason().contains("T-1"));
      assertEquals(List.of("T-1", "T-3"), ids(tickets));
      assertEquals(List.of("T-1", "T-3"), ids(tickets), "iterated again");
    }
  }

  @Test
  void anEmptyFileHasNoTickets() throws IOException {
    Path path = Files.createFile(folder.resolve("tickets.jsonl"));
    try (Tickets tickets = Tickets.open(() -> Lines.of(path))) {
      assertEquals(List.of(), tickets.badLines());
      assertFalse(tickets.iterator().hasNext());
    }
  }

  @Test
  void theShippedTicketsAreGood() {
    try (Tickets tickets = Tickets.open(() -> Lines.ofResource("/data/tickets.jsonl"))) {
      assertEquals(List.of(), tickets.badLines());
      assertEquals(200, ids(tickets).size());
    }
  }

  private static String ticket(String id) {
    return "{\"id\":\"" + id + "\",\"customer\":\"Zoë\",\"subject\":\"s\",\"body\":\"b\"}";
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static List<String> ids(Tickets tickets) {
    List<String> ids = new ArrayList<>();
    tickets.forEach(ticket -> ids.add(ticket.id()));
    return ids;
  }
}
