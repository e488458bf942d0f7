package dev.warpwright.adapters.scripted;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides what a {@link ScriptedServer} does with a request; touches no socket. */
final class Endpoint {
  private static final String CHAT = "/chat/completions";

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
    Conversation conversation;
    try {
      checkAddress(request);
      checkKey(request);
      conversation = ChatCompletions.read(request.body());
    } catch (RefusedException e) {
      return refuse(e, request, connection);
    }
    FaultSchedule.Arrival arrival = faults.arrive(conversation);
    Reply reply = reply(conversation, arrival.fault());
    String id = "req_" + arrival.number();
    Decision decision =
        new Decision(
            arrival.number(), reply.response.with("x-request-id", id), reply.delay, reply.broken);
    int status = reply.broken.isPresent() ? 0 : reply.response.status();
    record(request, connection, arrival.number(), reply.outcome, status, reply.cause, now);
    return decision;
  }

  /** Records a request that is refused. */
  Decision refuse(RefusedException refused, ServerRequest request, long connection) {
    ServerResponse response = refused.response();
    if (refused.status() == 405) {
      response = response.with("Allow", request.path().endsWith(CHAT) ? "POST" : "GET");
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

  private static void checkAddress(ServerRequest request) throws RefusedException {
    boolean chat = request.path().endsWith(CHAT);
    if (!chat && !request.path().equals("/health")) {
      throw new RefusedException(404, "There is POST …" + CHAT + " and GET /health here.");
    }
    if (!chat || !request.method().equals("POST")) {
      throw new RefusedException(405, "The method " + request.method() + " is not allowed here.");
    }
  }

  private void checkKey(ServerRequest request) throws RefusedException {
    if (requiredKey == null
        || request.header("authorization").equals(Optional.of("Bearer " + requiredKey))
        || request.header("api-key").equals(Optional.of(requiredKey))) {
      return;
    }
    throw new RefusedException(401, "The API key is missing or wrong.");
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

  private Reply reply(Conversation conversation, Optional<FaultRule> rule) {
    if (rule.isEmpty()) {
      return answer(conversation);
    }
    Optional<String> place = Optional.of(rule.get().place());
    return switch (rule.get().fault()) {
      case Fault.SlowHeaders(Duration delay) -> answer(conversation).slower(delay);
      case Fault.Status(var status, var headers, var contentType, var body) ->
          fault(place, ServerResponse.of(status, headers, contentType, body));
      case Fault.NoJson() ->
          fault(place, ServerResponse.json(200, "<html>This is no JSON.</html>"));
      case Fault.Broken broken ->
          new Reply(
              ExchangeOutcome.FAULT,
              place,
              answer(conversation).response,
              Duration.ZERO,
              Optional.of(broken));
    };
  }

  private static Reply fault(Optional<String> place, ServerResponse response) {
    return new Reply(ExchangeOutcome.FAULT, place, response, Duration.ZERO, Optional.empty());
  }

  private Reply answer(Conversation conversation) {
    Optional<Script.Reply> reply;
    try {
      reply = script.answer(conversation);
    } catch (StackOverflowError e) {
      // A regex of the script recurses too deeply for this text; that is no reason to fall silent.
      return failure("A regex of the script cannot cope with this text.", "script_failure");
    }
    if (reply.isEmpty()) {
      return failure(Failures.noRuleText(conversation), Failures.NO_RULE);
    }
    ScriptedAnswer answer = reply.get().answer();
    String body = ChatCompletions.write(conversation.modelId(), answer.to(conversation.messages()));
    return new Reply(
        ExchangeOutcome.ANSWERED,
        Optional.of(reply.get().rule()),
        ServerResponse.json(200, body),
        answer.latency(),
        Optional.empty());
  }

  private static Reply failure(String message, String code) {
    return new Reply(
        ExchangeOutcome.NO_RULE,
        Optional.empty(),
        ServerResponse.json(500, ErrorBody.ofScript(message, code)),
        Duration.ZERO,
        Optional.empty());
  }
}
