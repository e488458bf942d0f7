package dev.warpwright.adapters;

import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.testing.LeakCheck;
import dev.warpwright.testing.Leftovers;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The contract of models over real sockets; no exchange is left open after a test. */
abstract class HttpContract extends ScriptedContract {
  @RegisterExtension final LeakCheck leaks = new LeakCheck();

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final Map<LanguageModel, HttpAdapter> adapters = new HashMap<>();

  abstract HttpAdapter adapter(URI baseUrl);

  @Override
  Subject playing(Script script) {
    ScriptedServer server = ScriptedServer.start(script);
    opened.push(server);
    HttpAdapter adapter = adapter(server.uri());
    opened.push(adapter);
    leaks.watch(Leftovers.count("open exchanges", adapter::openExchanges));
    leaks.watch(Leftovers.count("open connections", server::openConnections));
    Subject subject = new Subject(adapter.model("model"), server::requests);
    adapters.put(subject.model(), adapter);
    return subject;
  }

  @Override
  protected long openExchanges(Subject subject) {
    return Objects.requireNonNull(adapters.get(subject.model())).openExchanges();
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable closeable : opened) {
      closeable.close();
    }
  }
}
