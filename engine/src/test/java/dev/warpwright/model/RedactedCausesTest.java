package dev.warpwright.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.warpwright.model.ProviderException.Kind;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Secrets in the causes and suppressed exceptions of what is thrown. */
@Tag("R358")
final class RedactedCausesTest {
  private static final String SECRET = "tomato-4711";
  private static final Duration PATIENCE = Duration.ofSeconds(30); // against never

  private static String printed(Throwable thrown) {
    StringWriter text = new StringWriter();
    thrown.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  private static Throwable leaky() {
    IOException root = new IOException("GET https://example.com/v1?key=" + SECRET + " failed");
    IllegalStateException middle = new IllegalStateException("no connection", root);
    middle.addSuppressed(new IOException("Authorization: Bearer " + SECRET));
    return middle;
  }

  @Test
  void a_chain_without_secrets_stays_as_it_is() {
    Throwable clean = new IllegalStateException("no", new IOException("connection reset"));
    assertSame(clean, Redaction.redact(clean));
  }

  @Test
  void a_secret_anywhere_in_the_chain_is_gone_and_the_rest_is_kept() {
    Throwable leaky = leaky();

    Throwable redacted = Redaction.redact(leaky);

    assertFalse(printed(redacted).contains(SECRET), printed(redacted));
    assertEquals("java.lang.IllegalStateException: no connection", redacted.toString());
    assertArrayEquals(leaky.getStackTrace(), redacted.getStackTrace());
    Throwable cause = Objects.requireNonNull(redacted.getCause());
    assertEquals(
        "java.io.IOException: GET https://example.com/v1?key=[REDACTED] failed", cause.toString());
    assertEquals(1, redacted.getSuppressed().length);
  }

  @Test
  void a_chain_with_more_ways_through_it_than_can_be_counted_is_copied_once() {
    Exception shared = new IOException("?key=" + SECRET);
    Exception broken = shared;
    for (int level = 0; level < 200; level++) {
      Exception next = new IOException("level " + level, broken);
      next.addSuppressed(broken);
      broken = next;
    }
    Exception top = broken;
    Exception circular = new IOException("?key=" + SECRET);
    for (int connection = 0; connection < 20; connection++) {
      circular.addSuppressed(new IOException("close of " + connection, circular));
    }

    Throwable chain = assertTimeoutPreemptively(PATIENCE, () -> Redaction.redact(top));
    Throwable circle = assertTimeoutPreemptively(PATIENCE, () -> Redaction.redact(circular));

    assertSame(chain.getCause(), chain.getSuppressed()[0]);
    assertEquals(20, circle.getSuppressed().length);
    assertFalse(printed(circle).contains(SECRET));
  }

  @Test
  void what_adapters_and_operations_throw_has_no_secret_in_its_causes() {
    ProviderException provider =
        ProviderException.builder(Kind.READ, "It broke.").cause(leaky()).build();
    assertFalse(printed(provider).contains(SECRET));
    assertFalse(printed(provider.at(Target.of("p", "m"))).contains(SECRET));

    StoreException store = new StoreException("The store failed: token=" + SECRET, leaky());
    assertFalse(printed(store).contains(SECRET), printed(store));
    assertNotNull(store.getCause());
  }

  @Test
  void what_is_suppressed_later_is_redacted_where_the_target_is_named() {
    ProviderException provider = ProviderException.builder(Kind.READ, "It broke.").build();
    provider.addSuppressed(leaky());
    assertFalse(printed(provider.at(Target.of("p", "m"))).contains(SECRET));
  }

  @Test
  void a_code_from_outside_is_redacted_and_bounded() {
    ProviderException provider =
        ProviderException.builder(Kind.HTTP_STATUS, "No.")
            .code("token=" + SECRET + " " + "x".repeat(1_000))
            .build();
    assertFalse(provider.code().orElseThrow().contains(SECRET));
    assertEquals(256, provider.code().orElseThrow().length());
  }

  @Test
  void chains_in_a_circle_and_very_deep_ones_come_to_an_end() {
    Exception one = new Exception("Bearer " + SECRET);
    Exception two = new Exception("two", one);
    one.addSuppressed(two);
    assertFalse(printed(Redaction.redact(one)).contains(SECRET));

    Throwable deep = new Exception("Bearer " + SECRET);
    for (int i = 0; i < 5_000; i++) {
      deep = new Exception("level " + i, deep);
    }
    assertFalse(printed(Redaction.redact(deep)).contains(SECRET));
  }

  @Test
  void an_exception_whose_own_text_fails_is_named_by_its_class_alone() {
    RuntimeException hostile =
        new RuntimeException() {
          private static final long serialVersionUID = 1L;

          @Override
          public String getMessage() {
            throw new IllegalStateException("Bearer " + SECRET);
          }
        };
    assertEquals(hostile.getClass().getName(), Redaction.redact(hostile).toString());
  }
}
