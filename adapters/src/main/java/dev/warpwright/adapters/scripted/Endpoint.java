package dev.warpwright.adapters.scripted;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides what a {@link ScriptedServer} does with a request; touches no socket. */
final class Endpoint {
  private static final Protocol CHAT = new ChatCompletions();
  private static final List<Protocol> PROTOCOLS =
      List.of(
          CHAT,
          new ResponsesApi(),
          new MessagesApi(),
          new GeminiApi(),
          new OllamaApi(),
          new ConverseApi());

  private final Script script;
  private final @Nullable String requiredKey;
  private final int maxRequestBytes;
  private final FaultSchedule faults;
  private final ServerLog log;

  Endpoint(Script script, @Nullable String requiredKey, int maxRequestBytes, ServerLog log) {
    this.script = script;
    this.requiredKey = requiredKey;
    this.maxRequestBytes = maxRequestBytes;
    this.faults = new FaultSchedule(script.faults());
    this.log = log;
  }

  int maxRequestBytes() {
    return maxRequestBytes;
  }

  /** Decides and records. */
  Decision decide(ServerRequest request, long connection) {
    long now = System.nanoTime();
    if (request.method().equals("GET") && request.path().equals("/health")) {
      return Decision.plain(ServerResponse.json(200, "{\"status\":\"ok\"}"));
    }
    Protocol protocol = protocol(request);
    ModelRequest asked;
    try {
      checkAddress(request);
      protocol.checkHeaders(request, requiredKey);
      asked = protocol.read(request);
    } catch (RefusedException e) {
      return refuse(e, request, connection);
    }
    FaultSchedule.Arrival arrival = faults.arrive(asked.conversation());
    Reply reply = reply(protocol, asked, arrival.fault());
    String id = "req_" + arrival.number();
    Decision decision =
        new Decision(
            arrival.number(),
            reply.response.with(protocol.requestIdHeader(), id),
            reply.stream,
            reply.delay,
            reply.broken);
    boolean sent = reply.broken.isEmpty() || reply.broken.get() instanceof Fault.InBody;
    int status = sent ? reply.response.status() : 0;
    record(request, connection, arrival.number(), reply.outcome, status, reply.cause, now);
    return decision;
  }

  /** Records a request that is refused. */
  Decision refuse(RefusedException refused, ServerRequest request, long connection) {
    ServerResponse response = refused.response(protocol(request));
    if (refused.status() == 405) {
      response = response.with("Allow", isForModel(request) ? "POST" : "GET");
    }
    record(
        request,
        connection,
        0,
        ExchangeOutcome.REFUSED,
        response.status(),
        Optional.empty(),
        System.nanoTime());
    return Decision.plain(response);
  }

  private void record(
      ServerRequest request,
      long connection,
      long number,
      ExchangeOutcome outcome,
      int status,
      Optional<String> cause,
      long now) {
    String body = log.recording() ? new String(request.body(), StandardCharsets.UTF_8) : "";
    log.record(
        new RecordedExchange(
            number,
            connection,
            request.method(),
            request.target(),
            request.headers(),
            body,
            outcome,
            status,
            cause,
            now));
  }

  private static boolean isForModel(ServerRequest request) {
    return protocol(request).serves(request.path());
  }

  /** The protocol that the path belongs to; that of Chat for a path of none. */
  private static Protocol protocol(ServerRequest request) {
    return PROTOCOLS.stream()
        .filter(protocol -> protocol.serves(request.path()))
        .findFirst()
        .orElse(CHAT);
  }

  private static void checkAddress(ServerRequest request) throws RefusedException {
    boolean forModel = isForModel(request);
    if (!forModel && !request.path().equals("/health")) {
      throw new RefusedException(
          404,
          "There is POST …/chat/completions, POST …/responses, POST …/messages, POST"
              + " …/models/…:generateContent, POST …/api/chat, POST …/model/{id}/converse, POST"
              + " …/model/{id}/converse-stream and GET /health here.");
    }
    if (!forModel || !request.method().equals("POST")) {
      throw new RefusedException(405, "The method " + request.method() + " is not allowed here.");
    }
  }

  /** What is sent, how, and why. */
  private record Reply(
      ExchangeOutcome outcome,
      Optional<String> cause,
      ServerResponse response,
      Optional<ServerStream> stream,
      Duration delay,
      Optional<Fault.Broken> broken) {
    static Reply plain(ExchangeOutcome outcome, Optional<String> cause, ServerResponse response) {
      return new Reply(outcome, cause, response, Optional.empty(), Duration.ZERO, Optional.empty());
    }

    Reply slower(Duration more) {
      return new Reply(outcome, cause, response, stream, delay.plus(more), broken);
    }

    /** The same as what a fault made of it. */
    Reply faulty(String place) {
      return new Reply(
          ExchangeOutcome.FAULT, Optional.of(place), response, stream, Duration.ZERO, broken);
    }

    Reply breaking(Fault.Broken fault) {
      return stream.isPresent() && fault instanceof Fault.InBody happens
          ? happening(happens)
          : new Reply(outcome, cause, response, Optional.empty(), delay, Optional.of(fault));
    }

    /** The same with something that happens in its stream, if it is one. */
    Reply happening(Fault.InBody fault) {
      return new Reply(
          outcome, cause, response, stream.map(told -> told.with(fault)), delay, broken);
    }
  }

  private Reply reply(Protocol protocol, ModelRequest asked, Optional<FaultRule> rule) {
    boolean streamed = asked.form().stream();
    if (rule.isEmpty()) {
      return answer(protocol, asked, streamed);
    }
    String place = rule.get().place();
    return switch (rule.get().fault()) {
      case Fault.SlowHeaders(Duration delay) -> answer(protocol, asked, streamed).slower(delay);
      case Fault.Status status -> fault(place, failure(protocol, status));
      case Fault.NoJson() ->
          fault(place, ServerResponse.json(200, "<html>This is no JSON.</html>"));
      case Fault.WrongType() -> answer(protocol, asked, !streamed).faulty(place);
      case Fault.ErrorEvent event ->
          streamed
              ? answer(protocol, asked, true).faulty(place).happening(event)
              : fault(
                  place, ServerResponse.json(200, protocol.error(event.code(), event.message())));
      case Fault.Broken broken -> answer(protocol, asked, streamed).faulty(place).breaking(broken);
    };
  }

  private static Reply fault(String place, ServerResponse response) {
    return Reply.plain(ExchangeOutcome.FAULT, Optional.of(place), response);
  }

  private static ServerResponse failure(Protocol protocol, Fault.Status fault) {
    int status = fault.status();
    Fault.Body body =
        fault
            .body()
            .orElseGet(
                () ->
                    new Fault.Body(
                        "application/json",
                        protocol.error(status, ErrorBody.scriptedText(status), null)));
    ServerResponse response =
        ServerResponse.of(status, fault.headers(), body.contentType(), body.bytes());
    return fault.body().isEmpty() ? response.with(protocol.errorHeaders(status)) : response;
  }

  private Reply answer(Protocol protocol, ModelRequest asked, boolean streamed) {
    Conversation conversation = asked.conversation();
    Optional<Script.Reply> reply;
    try {
      reply = script.answer(conversation);
    } catch (StackOverflowError e) {
      // A regex of the script recurses too deeply for this text; that is no reason to fall silent.
      return failure(
          protocol.scriptError(
              "A regex of the script cannot cope with this text.", "script_failure"));
    }
    if (reply.isEmpty()) {
      return failure(protocol.scriptError(Failures.noRuleText(conversation), Failures.NO_RULE));
    }
    Said said = Said.of(reply.get().answer(), asked);
    return new Reply(
        ExchangeOutcome.ANSWERED,
        Optional.of(reply.get().rule()),
        streamed
            ? ServerResponse.events(protocol.framing())
            : ServerResponse.json(200, protocol.write(said)),
        streamed
            ? Optional.of(new ServerStream(protocol, said, Optional.empty()))
            : Optional.empty(),
        said.answer().latency(),
        Optional.empty());
  }

  private static Reply failure(String body) {
    return Reply.plain(ExchangeOutcome.NO_RULE, Optional.empty(), ServerResponse.json(500, body));
  }
}
