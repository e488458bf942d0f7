package dev.warpwright.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the tools refuse, whatever a model was talked into. */
class TriageAgentTest {
  @TempDir Path folder;
  private Cli cli = new Cli(Path.of(""));

  @BeforeEach
  void open() {
    cli = new Cli(folder);
  }

  /** Lets the model make these calls one after the other for a ticket of Siobhan Tierney. */
  private String play(String... calls) throws IOException {
    StringBuilder rules = new StringBuilder();
    for (int turn = 0; turn < calls.length; turn++) {
      rules.append(
          "{\"when\":{\"turn\":%d},\"answer\":{\"tools\":[%s]}},".formatted(turn, calls[turn]));
    }
    Path script =
        cli.file(
            "script.json",
            "{\"rules\":[" + rules + "{\"when\":{},\"answer\":{\"text\":\"Done.\"}}]}");
    Path input =
        cli.file(
            "ticket.jsonl",
            "{\"id\":\"T-1\",\"customer\":\"Siobhan Tierney\",\"subject\":\"s\",\"body\":\"b\"}");
    cli.triage("--input", input.toString(), "--script", script.toString()).expect(0);
    return cli.show(cli.runOf("T-1"));
  }

  private static String refund(String order, String amount) {
    return "{\"name\":\"refund\",\"input\":{\"orderId\":\"%s\",\"amount\":%s}}"
        .formatted(order, amount);
  }

  @Test
  void anOrderOfAnotherCustomerIsNeitherShownNorPaidBack() throws IOException {
    String shown =
        play(
            "{\"name\":\"lookup_order\",\"input\":{\"orderId\":\"A-10004\"}}",
            refund("A-10004", "1"));
    assertEquals(2, shown.split("This customer has no order of that number", -1).length - 1, shown);
    assertEquals(List.of(), cli.effects());
  }

  @Test
  void anUnknownOrderIsNotPaidBack() throws IOException {
    assertTrue(play(refund("A-1", "1")).contains("This customer has no order of that number."));
    assertEquals(List.of(), cli.effects());
  }

  @Test
  void noMoreIsPaidBackThanTheOrderCost() throws IOException {
    String shown =
        play(refund("A-10002", "19.96"), refund("A-10002", "0"), refund("A-10002", "-5"));
    assertEquals(3, shown.split("must be above 0 and at most 19.95 EUR", -1).length - 1, shown);
    assertEquals(List.of(), cli.effects());
  }

  @Test
  void anOrderIsPaidBackOnceHoweverOftenTheModelAsks() throws IOException {
    String twice = refund("A-10002", "10") + "," + refund("A-10002", "10");
    String shown = play(twice, refund("A-10002", "5"));
    assertEquals(2, shown.split("has been paid back already", -1).length - 1, shown);
    assertEquals(List.of("T-1 refund {\"orderId\":\"A-10002\",\"amount\":10}"), cli.effects());
  }
}
