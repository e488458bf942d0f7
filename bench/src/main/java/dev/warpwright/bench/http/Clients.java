package dev.warpwright.bench.http;

import dev.warpwright.model.Target;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;

/** Who makes the calls. */
enum Clients {
  /** The JDK's client with the JSON work by hand: the baseline. */
  JDK {
    @Override
    ChatClient open(URI base, int callers) {
      return new JdkClient(base);
    }
  },

  /** Warpwright with nothing switched on. */
  WARPWRIGHT {
    @Override
    ChatClient open(URI base, int callers) {
      return WarpwrightClient.open(base, false);
    }
  },

  /** Warpwright with all controls. */
  WARPWRIGHT_CONTROLLED {
    @Override
    ChatClient open(URI base, int callers) {
      return WarpwrightClient.open(base, true);
    }
  },

  /** LangChain4j. */
  LANGCHAIN4J {
    @Override
    ChatClient open(URI base, int callers) {
      return new LangChain4jClient(base);
    }
  },

  /** OpenAI's own client. */
  OPENAI {
    @Override
    ChatClient open(URI base, int callers) {
      return new OfficialClient(base, callers);
    }
  };

  static final Target TARGET = Target.of("none", "instant");
  static final String KEY = "none";

  /** Longer than any measurement takes. */
  static final Duration PATIENCE = Duration.ofMinutes(30);

  /**
   * Makes a client.
   *
   * @param base the server's base URL
   * @param callers how many will call at once at most
   */
  abstract ChatClient open(URI base, int callers);

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
