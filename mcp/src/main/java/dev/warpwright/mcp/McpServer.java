package dev.warpwright.mcp;

import dev.warpwright.adapters.http.Authorization;
import dev.warpwright.adapters.http.Connection;
import dev.warpwright.adapters.http.ConnectionSettings;
import dev.warpwright.adapters.http.HeaderValues;
import dev.warpwright.adapters.http.LastSecrets;
import dev.warpwright.json.StrictJson;
import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Json;
import dev.warpwright.model.OperationCancelledException;
import dev.warpwright.model.OperationTrace;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderException.Kind;
import dev.warpwright.task.TaskTree;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.OutcomeUnknownException;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolContext;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A tool server of the Model Context Protocol, whose tools an agent can use.
 *
 * {@snippet :
 * try (McpServer crm =
 *     McpServer.http(URI.create("https://tools.example.com/mcp"))
 *         .bearer(token)
 *         .only("find_customer", "send_letter")
 *         .effect(EffectClass.PURE, "find_customer")
 *         .each((name, tool) -> tool.timeout(Duration.ofSeconds(20)))
 *         .connect()) {
 *   Agent agent = Agent.builder("clerk", route).tools(crm.tools()).build();
 *   ...
 * }
 * }
 *
 * <p><b>Calls.</b> A call is bounded by the tool's timeout and the operation's deadline. When one
 * of them passes, or the caller or the run is cancelled, the call ends at once, and the server is
 * told with {@code notifications/cancelled}, beside the caller and within 2 s. What the server
 * refuses ({@code isError}, an error of JSON-RPC) is an error result whose words the model sees, at
 * most 10 000 characters of them. A request that did not reach the server has failed, and so has
 * one that it refused with an HTTP status of 300 to 499, save 408. After every other failure it is
 * not known whether the server has acted: see {@link EffectClass}. A session that the server has
 * forgotten (status 404), or whose process has ended, is begun anew, and a call that surely was not
 * executed is made once more in it.
 *
 * <p><b>Effects.</b> A tool is {@link EffectClass#ONCE} unless the program says otherwise, with
 * {@link Builder#effect} or {@link Builder#trustAnnotations}. Each call carries the idempotency key
 * in its {@code _meta}, as {@value #IDEMPOTENCY_KEY}: a server that knows it need not act twice.
 *
 * <p><b>What a server says is not trusted.</b> A message may have 1 048 576 bytes or characters,
 * JSON 100 levels, a list 64 pages and 256 tools, a schema 65 536 characters; a description is cut
 * at 16 384. A tool that breaks a bound or has no usable schema is left out, with a warning in the
 * log. A description and a result are text of a stranger in front of your model: take tools by name
 * ({@link Builder#only}), and let somebody approve calls that matter ({@link Builder#each}). A
 * changed description or schema is another version of the tool, so open approvals no longer fit.
 *
 * <p>Of what servers may ask of their clients, {@code ping} is answered and everything else refused
 * as a method that is not there. Notifications are passed over, {@code tools/list_changed} too: an
 * agent keeps the tools that it was made with, and {@link #tools()} always asks again.
 *
 * <p>Safe for use by any thread. {@link #toString()} shows where the server is, and no secret.
 */
public final class McpServer implements AutoCloseable {
  /** The member of a call's {@code _meta} that holds its idempotency key. */
  public static final String IDEMPOTENCY_KEY = "dev.warpwright/idempotencyKey";

  private static final Logger LOG = LoggerFactory.getLogger(McpServer.class);
  private static final int MAX_PAGES = 64;
  private static final int MAX_TOOLS = 256;

  private final Dialogue dialogue;
  private final Selection selection;

  private McpServer(Dialogue dialogue, Selection selection) {
    this.dialogue = dialogue;
    this.selection = selection;
  }

  /**
   * Begins with a server that is reached over Streamable HTTP.
   *
   * @param endpoint its one URL: absolute, without user-info, query and fragment; {@code http} to
   *     the loopback only, unless it is allowed
   * @return a builder
   */
  public static HttpBuilder http(URI endpoint) {
    return new HttpBuilder(endpoint);
  }

  /**
   * Begins with a server that is started as a process and reached over its standard streams.
   *
   * @param command program and arguments; no shell reads them
   * @return a builder
   */
  public static StdioBuilder stdio(String... command) {
    return new StdioBuilder(List.of(command));
  }

  /**
   * Asks the server for its tools. Takes at most {@link Builder#timeout}, or what is left of the
   * operation that it is called in.
   *
   * @return those that are taken, as the server lists them now, in its order
   * @throws ProviderException if the server cannot be reached, does not answer, or breaks the
   *     protocol
   * @throws InvalidRequestException if it lacks a tool that {@link Builder#only} names
   * @throws OperationCancelledException if the thread was interrupted; the interrupt stays set
   */
  public List<Tool> tools() {
    return toTools(orThrow(() -> dialogue.withinTimeout("mcp tools", this::list)));
  }

  /** An answer, or the exceptions of the API. */
  private static <T> T orThrow(Dialogue.Work<T> work) {
    try {
      return work.run();
    } catch (ExchangeException e) {
      throw e.failure();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw new OperationCancelledException(
          "Interrupted while a tool server was asked.", null, OperationTrace.NONE);
    }
  }

  private List<JsonNode> list() throws ExchangeException, InterruptedException {
    List<JsonNode> tools = new ArrayList<>();
    String cursor = null;
    for (int page = 0; page < MAX_PAGES; page++) {
      ObjectNode params = Rpc.object();
      if (cursor != null) {
        params.put("cursor", cursor);
      }
      JsonNode result =
          Dialogue.result(
              dialogue.ask("tools/list", params, () -> "no longer wanted"), "to list its tools");
      result.path("tools").forEach(tools::add);
      if (tools.size() > MAX_TOOLS) {
        throw Dialogue.failure(Kind.PROTOCOL, "lists more than " + MAX_TOOLS + " tools.");
      }
      JsonNode next = result.path("nextCursor");
      if (!next.isString()) {
        return tools;
      }
      cursor = next.stringValue();
    }
    throw Dialogue.failure(Kind.PROTOCOL, "lists its tools on more than " + MAX_PAGES + " pages.");
  }

  private List<Tool> toTools(List<JsonNode> listed) {
    Map<String, Tool> tools = new LinkedHashMap<>();
    Set<String> missing = new TreeSet<>(selection.only().orElse(Set.of()));
    for (JsonNode one : listed) {
      switch (RemoteTool.read(one)) {
        case RemoteTool.Reading.Usable(RemoteTool remote) -> {
          if (selection.takes(remote)) {
            add(remote, tools, missing);
          }
        }
        case RemoteTool.Reading.Unusable(String name, String why) -> leaveOut(name, why);
      }
    }
    if (!missing.isEmpty()) {
      throw invalid(
          "The tool server must have every tool that only(…) names, but lacks, or has in a form"
              + " that cannot be used: "
              + String.join(", ", missing)
              + ".");
    }
    return List.copyOf(tools.values());
  }

  private void add(RemoteTool remote, Map<String, Tool> tools, Set<String> missing) {
    String name = selection.nameOf(remote);
    if (tools.containsKey(name)) {
      leaveOut(RemoteTool.harmless(remote.name()), "has the name of one before it");
      return;
    }
    Tool.Builder<Json> builder;
    try {
      builder =
          Tool.builder(
              name,
              remote.description(),
              remote.schema(),
              selection.effectOf(remote),
              (input, context) -> call(remote.name(), input, context));
    } catch (InvalidRequestException _) { // whose text quotes what a stranger wrote
      leaveOut(
          RemoteTool.harmless(remote.name()),
          "has a name that does not fit [A-Za-z0-9_-]{1,64}, or no valid schema");
      return;
    }
    builder.version(remote.version());
    selection.each().accept(remote.name(), builder);
    tools.put(name, builder.build());
    missing.remove(remote.name());
  }

  private void leaveOut(String name, String why) {
    LOG.warn("The tool \"{}\" of the server {} is left out: it {}.", name, dialogue, why);
  }

  /** On a tool's own thread, which is interrupted when its time is up. */
  private Json call(String name, Json input, ToolContext context) throws InterruptedException {
    ObjectNode params = Rpc.object();
    params.put("name", name);
    params.set("arguments", StrictJson.read(input.text()));
    ObjectNode meta = Rpc.object();
    meta.put(IDEMPOTENCY_KEY, context.idempotencyKey());
    params.set("_meta", meta);
    Supplier<String> reason = () -> context.deadline().hasPassed() ? "timed out" : "cancelled";
    Incoming.Reply reply;
    try {
      reply = dialogue.ask("tools/call", params, reason);
    } catch (ExchangeException e) {
      throw e.mayHaveActed() ? new OutcomeUnknownException(e.failure()) : e.failure();
    }
    return switch (reply) {
      case Incoming.Failure failure -> throw CallOutput.refused(failure);
      case Incoming.Result(long _, JsonNode value) when value.isObject() -> CallOutput.of(value);
      case Incoming.Result _ ->
          throw new OutcomeUnknownException(
              Dialogue.failure(Kind.PROTOCOL, "sent a result that is no object."));
    };
  }

  /**
   * Ends the session, and the process if there is one. Calls under way fail; those that were just
   * cancelled are announced first. Takes some seconds at most, and less with a server that answers.
   */
  @Override
  public void close() {
    dialogue.close();
  }

  /** Shows where the server is. */
  @Override
  public String toString() {
    return "McpServer[" + dialogue + "]";
  }

  private static InvalidRequestException invalid(String message) {
    return new InvalidRequestException(FailureKind.INVALID_CONFIGURATION, message);
  }

  /**
   * Collects what is said of a server and its tools; not thread-safe. Tools are named as the server
   * names them.
   *
   * @param <B> the builder itself
   */
  public abstract static sealed class Builder<B extends Builder<B>>
      permits HttpBuilder, StdioBuilder {
    private static final int LONGEST_PREFIX = 32;

    private @Nullable Set<String> only;
    private String prefix = "";
    private final Map<String, String> names = new HashMap<>();
    private final Map<String, EffectClass> effects = new HashMap<>();
    private boolean trustAnnotations;
    private BiConsumer<String, Tool.Builder<Json>> each = (name, tool) -> {};
    private Duration timeout = Duration.ofSeconds(30);
    private TaskTree tasks = TaskTree.builder().build();

    private Builder() {}

    abstract B self();

    abstract Transport transport(TaskTree tree);

    /**
     * Takes these tools and no others; all by default.
     *
     * @param tools the server's names; {@link McpServer#tools()} refuses a server that lacks one
     * @return this builder
     */
    public final B only(String... tools) {
      this.only = Set.of(tools);
      return self();
    }

    /**
     * Begins the names that models see with the same characters, so that those of several servers
     * differ. Characters of a server's name that providers do not take become {@code _} in any
     * case.
     *
     * @param prefix at most 32 characters of {@code [A-Za-z0-9_-]}; none by default
     * @return this builder
     */
    public final B prefix(String prefix) {
      if (!prefix.matches("[A-Za-z0-9_-]{0," + LONGEST_PREFIX + "}")) {
        throw invalid(
            "A prefix must match [A-Za-z0-9_-]{0,%d}, but \"%s\" does not."
                .formatted(LONGEST_PREFIX, prefix));
      }
      this.prefix = prefix;
      return self();
    }

    /**
     * Gives a tool another name for the model, without the prefix.
     *
     * @param tool the server's name
     * @param name 1 to 64 characters of {@code [A-Za-z0-9_-]}
     * @return this builder
     */
    public final B rename(String tool, String name) {
      if (!name.matches("[A-Za-z0-9_-]{1,64}")) {
        throw invalid(
            "A tool's name must match [A-Za-z0-9_-]{1,64}, but \"" + name + "\" does not.");
      }
      names.put(tool, name);
      return self();
    }

    /**
     * Says what running some tools twice would mean; of the others {@link EffectClass#ONCE} is
     * assumed. A tool may be IDEMPOTENT if running it again changes nothing more, or if the server
     * honours {@link McpServer#IDEMPOTENCY_KEY}.
     *
     * @param effect what it would mean
     * @param tools the server's names
     * @return this builder
     */
    public final B effect(EffectClass effect, String... tools) {
      Objects.requireNonNull(effect, "effect");
      for (String tool : tools) {
        effects.put(tool, effect);
      }
      return self();
    }

    /**
     * Believes the server where {@link #effect} says nothing: a tool with {@code readOnlyHint} is
     * PURE, one with {@code idempotentHint} IDEMPOTENT. A wrong hint makes a call that is repeated
     * after a timeout or a crash act twice. Off by default.
     *
     * @return this builder
     */
    public final B trustAnnotations() {
      this.trustAnnotations = true;
      return self();
    }

    /**
     * Adds to each tool what the program wants of it: a timeout, approvals, guardrails, a
     * reconciler.
     *
     * @param more is given the server's name of the tool and its builder; called by {@link
     *     McpServer#tools()} on the calling thread
     * @return this builder
     */
    public final B each(BiConsumer<String, Tool.Builder<Json>> more) {
      this.each = Objects.requireNonNull(more, "more");
      return self();
    }

    /**
     * Limits what is no call of a tool: beginning a session, and listing the tools.
     *
     * @param timeout more than zero; 30 s by default
     * @return this builder
     */
    public final B timeout(Duration timeout) {
      if (!timeout.isPositive()) {
        throw invalid("A server's timeout must be more than 0, but is " + timeout + ".");
      }
      this.timeout = timeout;
      return self();
    }

    final B tasks(TaskTree tree) {
      this.tasks = tree;
      return self();
    }

    final McpServer unconnected() {
      Selection selection =
          new Selection(
              Optional.ofNullable(only),
              prefix,
              Map.copyOf(names),
              Map.copyOf(effects),
              trustAnnotations,
              each);
      return new McpServer(new Dialogue(transport(tasks), tasks, timeout), selection);
    }

    /**
     * Begins a session.
     *
     * @return the server, to be closed
     * @throws InvalidRequestException if a setting breaks its rule
     * @throws ProviderException if the server cannot be reached, does not answer, or speaks no
     *     known revision of the protocol (2024-11-05 to 2025-11-25)
     * @throws OperationCancelledException if the thread was interrupted; the interrupt stays set
     */
    public final McpServer connect() {
      McpServer server = unconnected();
      boolean connected = false;
      try {
        orThrow(
            () -> {
              server.dialogue.connect();
              return server;
            });
        connected = true;
        return server;
      } finally {
        if (!connected) {
          server.close();
        }
      }
    }
  }

  /** Collects what is said of a server that is reached over HTTP; not thread-safe. */
  public static final class HttpBuilder extends Builder<HttpBuilder> {
    private final ConnectionSettings settings =
        new ConnectionSettings(
            ConnectionSettings.Defaults.bearer(
                HttpTransport.ERRORS.provider(), URI.create("https://localhost/none"), "", ""));
    private final String path;

    private HttpBuilder(URI endpoint) {
      settings.baseUrl(endpoint);
      this.path = endpoint.toString().endsWith("/") ? "/" : "";
    }

    @Override
    HttpBuilder self() {
      return this;
    }

    /**
     * Sends a bearer token with each request.
     *
     * @param token visible ASCII characters; it is shown nowhere
     * @return this builder
     */
    public HttpBuilder bearer(String token) {
      HeaderValues.requireToken("bearer", token);
      return tokens(() -> token);
    }

    /**
     * Sends a bearer token with each request, for tokens that end, in place of one that stays.
     *
     * @param source gives the token, visible ASCII characters, on the thread of the request; it
     *     should have one at hand
     * @return this builder
     */
    public HttpBuilder tokens(Supplier<String> source) {
      Objects.requireNonNull(source, "source");
      settings.authorization(clock -> new Bearer(source));
      return this;
    }

    /**
     * Adds a header to each request.
     *
     * @param name 1 to 100 letters, digits and hyphens; none that the protocol or HTTP itself uses
     * @param value visible ASCII characters and spaces; it is shown nowhere
     * @return this builder
     */
    public HttpBuilder header(String name, String value) {
      if (name.regionMatches(true, 0, "mcp-", 0, 4)) {
        throw invalid("A header's name must not begin with Mcp-, which is the protocol's.");
      }
      settings.header(name, value);
      return this;
    }

    /**
     * Limits how long a connection may take to be made.
     *
     * @param timeout more than zero; 10 s by default
     * @return this builder
     */
    public HttpBuilder connectTimeout(Duration timeout) {
      settings.connectTimeout(timeout);
      return this;
    }

    /**
     * Lends a client, for a proxy or certificates of your own; it is not closed with the server.
     *
     * @param client one that follows no redirects
     * @return this builder
     */
    public HttpBuilder httpClient(HttpClient client) {
      settings.httpClient(client);
      return this;
    }

    /**
     * Allows {@code http://} to other hosts than the loopback: token and content travel readable.
     *
     * @return this builder
     */
    public HttpBuilder allowCleartext() {
      settings.allowCleartext();
      return this;
    }

    /**
     * Refuses hosts with a private or loopback address, before each request, for URLs that come
     * from outside the program.
     *
     * @return this builder
     */
    public HttpBuilder publicHostsOnly() {
      settings.publicHostsOnly();
      return this;
    }

    @Override
    Transport transport(TaskTree tree) {
      Connection connection = settings.connect(Map.of(), HttpTransport.ERRORS);
      return new HttpTransport(connection, path, tree);
    }

    /** Shows no secret. */
    @Override
    public String toString() {
      return "McpServer.HttpBuilder";
    }
  }

  /** A token that the program has at hand. */
  private static final class Bearer implements Authorization {
    private final Supplier<String> token;
    private final LastSecrets sent = new LastSecrets();

    Bearer(Supplier<String> token) {
      this.token = token;
    }

    @Override
    public Map<String, String> headers(URI uri, Map<String, String> headers, byte[] body) {
      String now = HeaderValues.requireToken("bearer", token.get());
      sent.add(now);
      return Map.of("Authorization", ConnectionSettings.Defaults.BEARER + now);
    }

    @Override
    public List<String> secrets() {
      return sent.all();
    }
  }

  /** Collects what is said of a server that is started as a process; not thread-safe. */
  public static final class StdioBuilder extends Builder<StdioBuilder> {
    private final List<String> command;
    private final Map<String, String> environment = new HashMap<>();
    private @Nullable Path directory;
    private boolean showErrors;
    private Child.@Nullable Launcher launcher;

    private StdioBuilder(Collection<String> command) {
      if (command.isEmpty() || command.iterator().next().isBlank()) {
        throw invalid("The command of a tool server must begin with a program, but is empty.");
      }
      this.command = List.copyOf(command);
    }

    @Override
    StdioBuilder self() {
      return this;
    }

    /**
     * Sets a variable of the server's environment. It inherits only what programs need to run, such
     * as {@code PATH}, {@code HOME} and {@code LANG}: the keys of this program are not among them.
     *
     * @param name not blank
     * @param value it is shown nowhere
     * @return this builder
     */
    public StdioBuilder environment(String name, String value) {
      if (name.isBlank() || name.indexOf('=') >= 0 || (name + value).indexOf('\0') >= 0) {
        throw invalid("A variable must have a name without \"=\", and no NUL in name or value.");
      }
      environment.put(name, value);
      return this;
    }

    /**
     * Sets where the server runs.
     *
     * @param directory a directory; that of this program by default
     * @return this builder
     */
    public StdioBuilder directory(Path directory) {
      this.directory = Objects.requireNonNull(directory, "directory");
      return this;
    }

    /**
     * Shows what the server writes to its standard error on this program's; it is discarded by
     * default.
     *
     * @return this builder
     */
    public StdioBuilder showErrors() {
      this.showErrors = true;
      return this;
    }

    StdioBuilder launcher(Child.Launcher other) {
      this.launcher = other;
      return this;
    }

    @Override
    Transport transport(TaskTree tree) {
      Child.Launcher starts =
          launcher == null
              ? new ChildProcess(command, Map.copyOf(environment), directory, showErrors)
              : launcher;
      return new StdioTransport(starts, tree);
    }

    /** Shows no argument and no variable. */
    @Override
    public String toString() {
      return "McpServer.StdioBuilder[" + command.getFirst() + "]";
    }
  }
}
