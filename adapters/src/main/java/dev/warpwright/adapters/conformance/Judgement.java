package dev.warpwright.adapters.conformance;

import dev.warpwright.model.Completeness;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.Usage;
import dev.warpwright.task.Outcome;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Whether what came is what a protocol promises. Pure. Details hold no text of a model; what a
 * provider says of a failure stands in them as the adapter has redacted it.
 */
final class Judgement {
  private static final int MAX_DETAIL = 200;
  private static final int MAX_CAUSES = 16;
  private static final int UNAUTHORIZED = 401;
  private static final int FORBIDDEN = 403;
  private static final int REQUEST_TIMEOUT = 408;
  private static final int TOO_MANY_REQUESTS = 429;

  private Judgement() {}

  /** An answer with a text that is complete. */
  static Verdict whole(Came came) {
    return answered(came, Judgement::whole);
  }

  private static Verdict whole(Came.Answer answer) {
    ModelResponse response = answer.response();
    return incomplete(response)
        .orElseGet(
            () ->
                Verdict.passed(
                    "%s, %s"
                        .formatted(
                            response.finishReason().kind(),
                            count(response.message().text().length(), "character"))));
  }

  private static Optional<Verdict> incomplete(ModelResponse response) {
    FinishReason reason = response.finishReason();
    if (response.completeness() != Completeness.COMPLETE) {
      String advice =
          reason.kind() == FinishReason.Kind.LENGTH ? "; allow it more tokens (maxTokens)" : "";
      return Optional.of(
          Verdict.failed(
              "the answer is %s, %s%s".formatted(response.completeness(), reason(reason), advice)));
    }
    if (response.message().text().isBlank()) {
      return Optional.of(Verdict.failed("the answer has no text, " + reason(reason)));
    }
    return Optional.empty();
  }

  private static String reason(FinishReason reason) {
    return "it ended with %s \"%s\"".formatted(reason.kind(), line(reason.raw()));
  }

  /** A complete answer whose text came in pieces. */
  static Verdict streamed(Came came) {
    return answered(
        came,
        answer ->
            wronglyTold(answer)
                .or(() -> incomplete(answer.response()))
                .or(() -> untold(answer.told()))
                .orElseGet(
                    () ->
                        Verdict.passed(
                            "%s, %s, the first after %d of %d ms"
                                .formatted(
                                    answer.response().finishReason().kind(),
                                    count(answer.told().pieces(), "piece"),
                                    answer.told().untilText().toMillis(),
                                    answer.told().untilEnd().toMillis()))));
  }

  private static Optional<Verdict> untold(Told told) {
    return told.pieces() == 0
        ? Optional.of(Verdict.failed("no text was told before the end"))
        : Optional.empty();
  }

  private static Optional<Verdict> wronglyTold(Came.Answer answer) {
    return answer.told().text().equals(answer.response().message().text())
        ? Optional.empty()
        : Optional.of(Verdict.failed("the pieces of the stream are not the text of the answer"));
  }

  /** The counters of two answers, as far as they came. */
  static Verdict usage(Optional<ModelResponse> whole, Optional<ModelResponse> streamed) {
    List<String> counted = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    whole.ifPresent(answer -> count("whole", answer.usage(), counted, missing));
    streamed.ifPresent(answer -> count("streamed", answer.usage(), counted, missing));
    if (!missing.isEmpty()) {
      return Verdict.failed(String.join("; ", missing));
    }
    return counted.isEmpty()
        ? Verdict.skipped("there is no answer to look at")
        : Verdict.passed(String.join("; ", counted));
  }

  private static void count(String what, Usage usage, List<String> counted, List<String> missing) {
    if (!usage.input().isPresent() || !usage.output().isPresent()) {
      missing.add("the %s answer does not report input and output tokens".formatted(what));
    } else if (usage.input().tokens() + usage.output().tokens() <= 0) {
      missing.add("the %s answer reports no token at all".formatted(what));
    } else {
      counted.add(
          "%s: %d in, %d out".formatted(what, usage.input().tokens(), usage.output().tokens()));
    }
  }

  /** An answer that was cut off by its limit. */
  static Verdict limited(Came came) {
    return answered(
        came,
        answer ->
            answer.response().finishReason().kind() == FinishReason.Kind.LENGTH
                ? Verdict.passed(
                    answer.response().usage().output().isPresent()
                        ? "cut off after %d tokens"
                            .formatted(answer.response().usage().output().tokens())
                        : "cut off")
                : Verdict.failed(
                    "a long answer was not cut off: " + reason(answer.response().finishReason())));
  }

  /**
   * An answer that calls a tool.
   *
   * @param forced whether the request left the model no choice
   */
  static Verdict toolCall(Came came, boolean forced) {
    return answered(came, answer -> toolCalls(answer, 1, forced));
  }

  /** An answer that calls this tool and no other, because the request named it. */
  static Verdict namedTool(Came came, String name) {
    return answered(
        came,
        answer -> {
          Verdict verdict = toolCalls(answer, 1, true);
          boolean other =
              answer.response().message().toolCalls().stream()
                  .anyMatch(call -> !call.name().equals(name));
          return verdict.isPassed() && other
              ? Verdict.failed("a tool was called that was not the named one")
              : verdict;
        });
  }

  /** An answer that calls no tool, because the request forbade it. */
  static Verdict noTool(Came came) {
    return answered(
        came,
        answer ->
            answer.response().message().toolCalls().isEmpty()
                ? whole(answer)
                : Verdict.failed("a tool was called although that was forbidden"));
  }

  /** A streamed answer that calls a tool. */
  static Verdict streamedToolCall(Came came, boolean forced) {
    return answered(
        came, answer -> wronglyTold(answer).orElseGet(() -> toolCalls(answer, 1, forced)));
  }

  /** An answer with two calls; that there are two, no protocol can demand. */
  static Verdict parallelToolCalls(Came came, boolean forced) {
    return answered(came, answer -> toolCalls(answer, 2, forced));
  }

  private static Verdict toolCalls(Came.Answer answer, int wanted, boolean forced) {
    List<ToolCall> calls = answer.response().message().toolCalls();
    FinishReason reason = answer.response().finishReason();
    if (calls.isEmpty()) {
      String none = "the model called no tool, " + reason(reason);
      return forced ? Verdict.failed(none) : Verdict.notShown(none);
    }
    Set<String> ids = new HashSet<>();
    for (ToolCall call : calls) {
      Optional<String> fault = Cities.fault(call);
      if (fault.isPresent()) {
        return Verdict.failed(fault.get());
      }
      if (!ids.add(call.id())) {
        return Verdict.failed("two calls have the same id");
      }
    }
    if (!reason.allowsTools()) {
      return Verdict.failed("the calls may not run: " + reason(reason));
    }
    return calls.size() < wanted
        ? Verdict.notShown("the model called one tool only")
        : Verdict.passed(reason.kind() + ", " + count(calls.size(), "call"));
  }

  /** An answer to the result of a tool: words, or another call. */
  static Verdict toolResult(Came came) {
    return answered(
        came,
        answer ->
            answer.response().message().toolCalls().isEmpty()
                ? whole(answer)
                : toolCalls(answer, 1, true));
  }

  /**
   * A complete answer whose text is what the provider was to hold it to.
   *
   * @param fault what is wrong with a text
   */
  static Verdict object(Came came, Function<String, Optional<String>> fault) {
    return answered(
        came,
        answer -> {
          Verdict whole = whole(answer);
          return whole.isPassed()
              ? fault.apply(answer.response().message().text()).map(Verdict::failed).orElse(whole)
              : whole;
        });
  }

  /** The refusal of a model that does not exist; some servers have one model for every name. */
  static Verdict unknownModel(Came came) {
    return switch (came) {
      case Came.Answer _ -> Verdict.notShown("the server answers whatever model is asked for");
      case Came.Failed(ProviderException failure)
          when failure.kind() == ProviderException.Kind.HTTP_STATUS
              && isOfRequest(failure.status()) ->
          Verdict.passed(status(failure));
      default -> unanswered(came);
    };
  }

  private static boolean isOfRequest(int status) {
    return status >= 400
        && status < 500
        && status != UNAUTHORIZED
        && status != REQUEST_TIMEOUT
        && status != TOO_MANY_REQUESTS;
  }

  /** The refusal of a wrong key, which it must not show. */
  static Verdict wrongKey(Came came, String key) {
    return switch (came) {
      case Came.Answer _ -> Verdict.failed("a wrong key was accepted");
      case Came.Failed(ProviderException failure) when shows(failure, key) ->
          Verdict.failed("the failure shows the key");
      case Came.Failed(ProviderException failure)
          when failure.kind() == ProviderException.Kind.HTTP_STATUS
              && (failure.status() == UNAUTHORIZED || failure.status() == FORBIDDEN) ->
          Verdict.passed(status(failure));
      default -> unanswered(came);
    };
  }

  private static boolean shows(ProviderException failure, String key) {
    String own =
        String.join(
            "\n",
            failure.code().orElse(""),
            failure.requestId().orElse(""),
            failure.providerMessage().orElse(""));
    return own.contains(key) || shows(failure, key, MAX_CAUSES);
  }

  private static boolean shows(@Nullable Throwable failure, String key, int depth) {
    if (failure == null || depth == 0) {
      return false;
    }
    if (failure.toString().contains(key) || shows(failure.getCause(), key, depth - 1)) {
      return true;
    }
    for (Throwable suppressed : failure.getSuppressed()) {
      if (shows(suppressed, key, depth - 1)) {
        return true;
      }
    }
    return false;
  }

  /** A call that ended when it was cancelled. */
  static Verdict cancelled(Stopped stopped) {
    return switch (stopped.outcome()) {
      case Outcome.Success<Came.Answer> _ ->
          Verdict.notShown("the whole answer was there before it could be cancelled");
      case Outcome.Failure<Came.Answer>(ProviderException failure) ->
          unanswered(new Came.Failed(failure));
      case Outcome.Failure<Came.Answer>(Throwable cause) -> unanswered(new Came.Broken(cause));
      case Outcome.TimedOut<Came.Answer>(boolean abandoned) -> unanswered(new Came.Late(abandoned));
      case Outcome.Cancelled<Came.Answer>(String _, boolean abandoned) when abandoned ->
          Verdict.failed("it had not ended %s after the cancel".formatted(Session.GRACE));
      case Outcome.Cancelled<Came.Answer> _ ->
          stopped.open() == 0
              ? Verdict.passed("ended %d ms after the cancel".formatted(stopped.took().toMillis()))
              : Verdict.failed(openExchanges(stopped.open()));
    };
  }

  /** What is left when everything is over. */
  static Verdict connections(int openExchanges) {
    return openExchanges == 0
        ? Verdict.passed("no exchange is open")
        : Verdict.failed(openExchanges(openExchanges));
  }

  private static String openExchanges(int count) {
    return count(count, "exchange") + " left open";
  }

  private static String count(int count, String what) {
    return count + " " + what + (count == 1 ? "" : "s");
  }

  /** The first of two verdicts that is not a pass; both must be one. */
  static Verdict both(Verdict first, Verdict second) {
    if (first.outcome() == CheckOutcome.FAILED || second.isPassed()) {
      return first;
    }
    return second;
  }

  private static Verdict answered(Came came, Function<Came.Answer, Verdict> judge) {
    return came instanceof Came.Answer answer ? judge.apply(answer) : unanswered(came);
  }

  private static Verdict unanswered(Came came) {
    return switch (came) {
      case Came.Answer _ -> throw new AssertionError("An answer is judged by what is in it.");
      case Came.Failed(ProviderException failure) when isUnsent(failure) ->
          Verdict.skipped(line("the adapter does not ask for it: " + failure.getMessage()));
      case Came.Failed(ProviderException failure) -> Verdict.failed(failure(failure));
      case Came.Broken(Throwable cause) ->
          Verdict.failed("the adapter threw a " + cause.getClass().getSimpleName());
      case Came.Late(boolean abandoned) ->
          Verdict.failed(
              "no end within the time limit" + (abandoned ? ", and not soon after it" : ""));
    };
  }

  /** Whether nothing came because the adapter has refused the call before it sent anything. */
  static boolean isUnsent(Came came) {
    return came instanceof Came.Failed(ProviderException failure) && isUnsent(failure);
  }

  /** Whether the adapter has refused a call before it sent anything. */
  static boolean isUnsent(Throwable failure) {
    return failure instanceof ProviderException refused
        && refused.kind() == ProviderException.Kind.UNSUPPORTED;
  }

  private static String failure(ProviderException failure) {
    String said = failure.providerMessage().orElse(String.valueOf(failure.getMessage()));
    return line(failure.kind() + statusAndCode(failure) + ": " + said);
  }

  private static String status(ProviderException failure) {
    return line("refused with" + statusAndCode(failure));
  }

  private static String statusAndCode(ProviderException failure) {
    String status = failure.status() == 0 ? "" : " " + failure.status();
    return status + failure.code().map(code -> " " + code).orElse("");
  }

  /** One line of a report, whatever a server has sent. */
  private static String line(String text) {
    String line = text.replaceAll("[\\p{C}\\p{Z}\\s]+", " ").strip();
    return line.length() <= MAX_DETAIL ? line : line.substring(0, MAX_DETAIL) + "…";
  }
}
