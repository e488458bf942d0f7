package dev.warpwright.examples;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.GenerateResult;
import dev.warpwright.adapters.anthropic.Anthropic;
import dev.warpwright.adapters.openai.Api;
import dev.warpwright.adapters.openai.OpenAi;
import dev.warpwright.adapters.scripted.ExchangeOutcome;
import dev.warpwright.adapters.scripted.RecordedExchange;
import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedServer;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.tool.EffectClass;
import dev.warpwright.tool.Tool;
import dev.warpwright.tool.ToolContext;
import dev.warpwright.tool.ToolException;
import java.io.PrintStream;
import java.lang.invoke.MethodHandles;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A conversation with tools that begins at one provider and ends at another: Anthropic Messages,
 * then OpenAI's Chat Completions, then its Responses. Prints what each of them was sent.
 *
 * <p>The providers are scripted servers in this process, called over HTTP, so that the program
 * prints the same on every machine. They refuse what the real ones refuse: a result without its
 * call, a call without its result, a signed thought that was changed.
 */
final class ProviderSwitch {
  private static final Target CLAUDE = Target.of("anthropic", "claude");
  private static final Target LOCAL = Target.of("local", "small");
  private static final Target CHAT = Target.of("openai-chat", "gpt");
  private static final Target RESPONSES = Target.of("openai", "gpt");

  private static final Script SCRIPT =
      Script.parse(
          """
          { "rules": [
              { "when": { "turn": 0, "user": "A-7" }, "answer": {
                  "thinking": "Two orders, so two calls.", "text": "Let me look.",
                  "tools": [ { "name": "find_order", "input": { "id": "A-7" } },
                             { "name": "find_order", "input": { "id": "A-8" } } ] } },
              { "when": { "turn": 1, "user": "A-7" }, "answer": {
                  "text": "A-7 is on its way. There is no A-8." } },
              { "when": { "turn": 0, "user": "(?<id>A-[89])" }, "answer": {
                  "tools": [ { "name": "find_order", "input": { "id": "${id}" } } ] } },
              { "when": { "turn": 1 }, "answer": { "text": "A-9 is packed." } },
              { "when": { "user": "Sum" }, "answer": {
                  "text": "One of three is on its way, one is packed." } },
              { "when": {}, "answer": { "text": "You are welcome." } } ] }
          """);

  private record OrderId(String id) {}

  private final PrintStream out;
  private final AtomicInteger lookUps = new AtomicInteger();

  private ProviderSwitch(PrintStream out) {
    this.out = out;
  }

  static void main() {
    new ProviderSwitch(System.out).run();
  }

  static void run(PrintStream out) {
    new ProviderSwitch(out).run();
  }

  private Object find(OrderId order, ToolContext context) throws ToolException {
    lookUps.incrementAndGet();
    return switch (order.id()) {
      case "A-7" -> Map.of("status", "on its way");
      case "A-9" -> Map.of("status", "packed");
      default -> throw new ToolException("There is no order " + order.id() + ".");
    };
  }

  private Tool findOrder() {
    return Tool.builder(
            "find_order",
            "Finds an order.",
            OrderId.class,
            MethodHandles.lookup(),
            EffectClass.PURE,
            this::find)
        .build();
  }

  private void run() {
    try (ScriptedServer claude = ScriptedServer.start(SCRIPT);
        ScriptedServer chat = ScriptedServer.start(SCRIPT);
        ScriptedServer responses = ScriptedServer.start(SCRIPT);
        Gateway gateway =
            Gateway.builder()
                .adapter(
                    "anthropic",
                    Anthropic.builder().baseUrl(claude.uri()).thinkingBudget(1_024).build())
                .adapter(
                    "local",
                    OpenAi.builder()
                        .baseUrl(chat.uri())
                        .capabilities(model -> ModelCapabilities.TEXT_AND_TOOLS)
                        .build())
                .adapter("openai-chat", OpenAi.builder().baseUrl(chat.uri()).build())
                .adapter(
                    "openai", OpenAi.builder().api(Api.RESPONSES).baseUrl(responses.uri()).build())
                .build()) {
      List<Message> messages = List.of(Message.system("Be brief."));
      messages = ask(gateway, claude, messages, "Where are A-7 and A-8?", Route.of(CLAUDE));
      messages = ask(gateway, chat, messages, "And A-9?", Route.of(LOCAL, CHAT));
      messages = ask(gateway, responses, messages, "Sum it up.", Route.of(RESPONSES));
      messages = ask(gateway, claude, messages, "Thank you.", Route.of(CLAUDE));

      long refused =
          List.of(claude, chat, responses).stream()
              .mapToLong(server -> server.count(ExchangeOutcome.REFUSED))
              .sum();
      out.println(
          "%d messages, %d look-ups, %d requests refused."
              .formatted(messages.size(), lookUps.get(), refused));
    }
  }

  /** Asks one more thing in the conversation so far, and gives the conversation after it. */
  private List<Message> ask(
      Gateway gateway,
      ScriptedServer server,
      List<Message> messages,
      String question,
      Route route) {
    List<Message> asked = new ArrayList<>(messages);
    asked.add(Message.user(question));
    GenerateResult result =
        gateway.generate(
            GenerateRequest.builder(route, asked).tools(findOrder()).maxSteps(3).build());

    out.println("== " + question);
    result.attempts().stream()
        .filter(attempt -> !attempt.dispatched())
        .forEach(skip -> out.println("skipped " + skip.target() + ": " + skip.message()));
    out.println("answered by " + result.targetUsed() + ": " + result.text());
    RecordedExchange last = server.exchanges().getLast();
    out.println("the last request to it, " + last.target() + ":");
    conversation(last).forEach(item -> out.println("  " + Json.of(item).text()));
    out.println();
    return result.messages();
  }

  /** What a request's body holds of the conversation, whatever the protocol calls it. */
  private static List<?> conversation(RecordedExchange exchange) {
    if (!(Json.parse(exchange.body()).value() instanceof Map<?, ?> body)) {
      throw new IllegalStateException("A request's body is a JSON object.");
    }
    String member = body.containsKey("input") ? "input" : "messages";
    return body.get(member) instanceof List<?> items ? items : List.of();
  }
}
