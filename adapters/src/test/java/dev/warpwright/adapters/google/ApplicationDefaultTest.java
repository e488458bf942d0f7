package dev.warpwright.adapters.google;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.auth.oauth2.UserCredentials;
import com.sun.net.httpserver.HttpServer;
import dev.warpwright.adapters.AccessToken;
import dev.warpwright.model.ProviderException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class ApplicationDefaultTest {
  private final AtomicInteger asked = new AtomicInteger();
  private final HttpServer server;
  private volatile int status = 200;
  private final CountDownLatch arrived = new CountDownLatch(1);
  private volatile CountDownLatch gate = new CountDownLatch(0);

  ApplicationDefaultTest() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/token",
        exchange -> {
          arrived.countDown();
          try {
            gate.await();
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
          exchange.getRequestBody().readAllBytes();
          byte[] answer =
              (status == 200
                      ? "{\"access_token\":\"ya29.%d\",\"expires_in\":3600,\"token_type\":\"Bearer\"}"
                          .formatted(asked.incrementAndGet())
                      : "{\"error\":\"invalid_grant\",\"error_description\":\"s3cr3t\"}")
                  .getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "application/json");
          exchange.sendResponseHeaders(status, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private ApplicationDefault tokens() {
    URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/token");
    return new ApplicationDefault(
        () ->
            UserCredentials.newBuilder()
                .setClientId("client")
                .setClientSecret("s3cr3t")
                .setRefreshToken("r3fr3sh")
                .setTokenServerUri(uri)
                .build());
  }

  @Test
  void each_fetch_is_a_new_token_with_its_expiry() throws Exception {
    ApplicationDefault tokens = tokens();
    AccessToken first = tokens.fetch();
    assertEquals("ya29.1", first.value());
    assertTrue(first.expiry().isPresent());
    assertEquals("ya29.2", tokens.fetch().value()); // it may be asked since the first was refused
  }

  @Test
  void a_refusal_of_the_token_server_is_a_status_without_its_words() {
    status = 403;
    ProviderException refused = assertThrows(ProviderException.class, () -> tokens().fetch());
    assertEquals(ProviderException.Kind.HTTP_STATUS, refused.kind());
    assertEquals(403, refused.status());
    assertFalse(refused.toString().contains("s3cr3t"), refused.toString());
  }

  @Test
  void an_interrupt_ends_it() throws Exception {
    gate = new CountDownLatch(1);
    FutureTask<AccessToken> fetch = new FutureTask<>(() -> tokens().fetch());
    Thread thread = Thread.ofVirtual().start(fetch);
    arrived.await();
    thread.interrupt();
    ExecutionException end =
        assertThrows(ExecutionException.class, () -> fetch.get(60, TimeUnit.SECONDS));
    assertEquals(InterruptedException.class, end.getCause().getClass());
    gate.countDown();
  }
}
