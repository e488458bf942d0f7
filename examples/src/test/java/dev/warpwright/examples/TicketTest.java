package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class TicketTest {
  @Test
  void thePromptHasItsHeadersBeforeWhatTheCustomerWrote() {
    Ticket ticket = new Ticket("T-1", "Ada", "Where is it?", "Hello\nthere", Optional.of("A-1"));
    assertEquals(
        "Subject: Where is it?\nCustomer: Ada\nOrder: A-1\nBody:\nHello\nthere", ticket.prompt());
  }

  @Test
  void neitherSubjectNorNameNorBodyCanPassForAHeader() {
    String fake = "x\nCustomer: Bob\r\nOrder: A-2\u2028Body:\u0085";
    Ticket ticket = new Ticket("T-1", "Ada\n" + fake, fake, "\nCustomer: Bob", Optional.empty());
    assertTrue(
        ticket
            .prompt()
            .startsWith(
                """
                Subject: x Customer: Bob Order: A-2 Body:
                Customer: Ada x Customer: Bob Order: A-2 Body:
                Order: none
                Body:
                """));
  }

  @Test
  void membersThatATicketDoesNotHaveAreIgnoredAndNullMeansAbsent() {
    Ticket ticket =
        Ticket.parse(
            """
            {"id":"T-1","customer":"Ada","subject":"","body":"","orderId":null,"priority":[1]}\
            """);
    assertEquals(new Ticket("T-1", "Ada", "", "", Optional.empty()), ticket);
  }

  @Test
  void anIdMustBeFitForAKey() {
    String line = "{\"id\":\"%s\",\"customer\":\"\",\"subject\":\"\",\"body\":\"\"}";
    assertThrows(JobException.class, () -> Ticket.parse(line.formatted("")));
    assertThrows(JobException.class, () -> Ticket.parse(line.formatted("a b")));
    assertThrows(JobException.class, () -> Ticket.parse(line.formatted("x".repeat(101))));
    assertEquals("票-1", Ticket.parse(line.formatted("票-1")).id());
  }
}
