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
      List.of(CHAT, new ResponsesApi(), new MessagesApi());

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
    Conversation conversation;
    try {
      checkAddress(request);
      protocol.checkHeaders(request, requiredKey);
      conversation = protocol.read(request.body());
    } catch (RefusedException e) {
      return refuse(e, request, connection);
    }
    FaultSchedule.Arrival arrival = faults.arrive(conversation);
    Reply reply = reply(protocol, conversation, arrival.fault());
    String id = "req_" + arrival.number();
    Decision decision =
        new Decision(
            arrival.number(),
            reply.response.with(protocol.requestIdHeader(), id),
            reply.delay,
            reply.broken);
    int status = reply.broken.isPresent() ? 0 : reply.response.status();
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
    return request.path().endsWith(protocol(request).path());
  }

  /** The protocol that the path belongs to; that of Chat for a path of none. */
  private static Protocol protocol(ServerRequest request) {
    return PROTOCOLS.stream()
        .filter(protocol -> request.path().endsWith(protocol.path()))
        .findFirst()
        .orElse(CHAT);
  }

  private static void checkAddress(ServerRequest request) throws RefusedException {
    boolean forModel = isForModel(request);
    if (!forModel && !request.path().equals("/health")) {
      throw new RefusedException(
          404,
          "There is POST …/chat/completions, POST …/responses, POST …/messages and GET /health"
              + " here.");
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
      Duration delay,
      Optional<Fault.Broken> broken) {
    Reply slower(Duration more) {
      return new Reply(outcome, cause, response, delay.plus(more), broken);
    }
  }

  private Reply reply(Protocol protocol, Conversation conversation, Optional<FaultRule> rule) {
    if (rule.isEmpty()) {
      return answer(protocol, conversation);
    }
    Optional<String> place = Optional.of(rule.get().place());
    return switch (rule.get().fault()) {
      case Fault.SlowHeaders(Duration delay) -> answer(protocol, conversation).slower(delay);
      case Fault.Status status -> fault(place, failure(protocol, status));
      case Fault.NoJson() ->
          fault(place, ServerResponse.json(200, "<html>This is no JSON.</html>"));
      case Fault.Broken broken ->
          new Reply(
              ExchangeOutcome.FAULT,
              place,
              answer(protocol, conversation).response,
              Duration.ZERO,
              Optional.of(broken));
    };
  }

  private static Reply fault(Optional<String> place, ServerResponse response) {
    return new Reply(ExchangeOutcome.FAULT, place, response, Duration.ZERO, Optional.empty());
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
    return ServerResponse.of(status, fault.headers(), body.contentType(), body.text());
  }

  private Reply answer(Protocol protocol, Conversation conversation) {
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
    ScriptedAnswer answer = reply.get().answer();
    String modelId = conversation.modelId();
    String body = protocol.write(modelId, answer.to(modelId, conversation.messages()));
    return new Reply(
        ExchangeOutcome.ANSWERED,
        Optional.of(reply.get().rule()),
        ServerResponse.json(200, body),
        answer.latency(),
        Optional.empty());
  }

  private static Reply failure(String body) {
    return new Reply(
        ExchangeOutcome.NO_RULE,
        Optional.empty(),
        ServerResponse.json(500, body),
        Duration.ZERO,
        Optional.empty());
  }
}
