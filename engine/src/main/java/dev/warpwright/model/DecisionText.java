package dev.warpwright.model;

import dev.warpwright.model.AdaptiveRecord.Candidate;
import dev.warpwright.model.AdaptiveRecord.Signal;
import dev.warpwright.model.RouteDecision.Standing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A route decision in words. */
final class DecisionText {
  private final RouteDecision decision;
  private final List<Attempt> attempts;

  DecisionText(RouteDecision decision, List<Attempt> attempts) {
    this.decision = decision;
    this.attempts = attempts;
  }

  String text() {
    StringBuilder text = new StringBuilder();
    text.append(decision.reasonCode()).append(": ").append(decision.reasonCode().reason());
    String mode =
        decision
            .ranking()
            .flatMap(RouteDecision.Ranking::mode)
            .map(asked -> "mode " + asked)
            .orElse("no mode asked for");
    text.append("\n  ").append(mode).append(", intent ").append(decision.intent());
    decision
        .adaptive()
        .ifPresent(
            record ->
                text.append(", policy ")
                    .append(record.policyVersion())
                    .append(", operation ")
                    .append(record.operation()));
    for (int rank = 0; rank < decision.orderedTargets().size(); rank++) {
      text.append("\n  rank ").append(rank).append(": ").append(line(rank));
    }
    return text.append('\n').toString();
  }

  private String line(int rank) {
    Target target = decision.orderedTargets().get(rank);
    List<String> parts = new ArrayList<>();
    decision.standing(rank).ifPresent(standing -> add(parts, standing));
    decision
        .adaptive()
        .ifPresent(
            record -> {
              record.candidate(target).ifPresent(candidate -> add(parts, candidate));
              if (record.exploration().filter(target::equals).isPresent()) {
                parts.add("goes first to be measured (exploration)");
              }
              record
                  .affinity()
                  .filter(affinity -> affinity.target().equals(target))
                  .ifPresent(affinity -> parts.add(kept(affinity)));
            });
    attempts.stream()
        .filter(attempt -> attempt.targetRank() == rank && attempt.target().equals(target))
        .forEach(attempt -> parts.add(outcome(attempt)));
    return parts.isEmpty() ? target.toString() : target + ": " + String.join("; ", parts);
  }

  private static void add(List<String> parts, Standing standing) {
    standing
        .score()
        .ifPresent(score -> parts.add("score " + String.format(Locale.ROOT, "%.4f", score)));
    if (!standing.unknownFacts().isEmpty()) {
      parts.add("not declared: " + String.join(", ", standing.unknownFacts()));
    }
    standing
        .estimatedCost()
        .ifPresent(
            quote ->
                parts.add(
                    "estimated cost "
                        + quote
                            .amount()
                            .map(Money::toString)
                            .orElse(
                                "unknown (" + String.join(", ", quote.unknownReasons()) + ")")));
  }

  private static void add(List<String> parts, Candidate candidate) {
    TargetSignals signals = candidate.signals();
    candidate
        .quality()
        .ifPresent(
            quality ->
                parts.add("quality " + quality.score() + " by " + quality.evaluationVersion()));
    signals.p95Latency().ifPresent(latency -> parts.add("p95 latency " + millis(latency)));
    signals
        .p95TimeToFirstText()
        .ifPresent(latency -> parts.add("p95 time to first text " + millis(latency)));
    signals.inFlight().ifPresent(count -> parts.add(count + " in flight"));
    if (signals.samples() > 0) {
      parts.add(signals.errors() + " of " + signals.samples() + " failed");
    }
    signals.tokensPerSecond().ifPresent(rate -> parts.add(rate + " tokens/s"));
    if (!candidate.missing().isEmpty()) {
      parts.add(
          "too little is known of "
              + candidate.missing().stream().map(Signal::label).collect(Collectors.joining(", ")));
    }
    if (!candidate.exclusions().isEmpty()) {
      parts.add("excluded: " + String.join(", ", candidate.exclusions()));
    }
  }

  private static String kept(AdaptiveRecord.Affinity affinity) {
    return affinity.followed()
        ? "goes first as it served this before (affinity)"
        : "served this before, but is not preferred now (affinity)";
  }

  private static String outcome(Attempt attempt) {
    return "step "
        + attempt.step()
        + " "
        + attempt.reasonCode()
        + (attempt.cacheHit() ? ", from the cache" : "")
        + (attempt.message().isEmpty() ? "" : ", " + attempt.message());
  }

  private static String millis(Duration duration) {
    return duration.toMillis() + " ms";
  }
}
