package dev.warpwright.adapters;

import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.contract.StreamingModelContract;
import java.util.List;
import java.util.stream.Stream;

/** The contract of models, whole and streamed, with providers that play scripts. */
abstract class ScriptedContract extends StreamingModelContract {
  /** A model of a provider that plays a script; closed after the test. */
  abstract Subject playing(Script script);

  private Subject playing(String faults) {
    return playing(
        Script.parse(
            """
            { "rules": [ { "when": { "user": "(?<words>.+)" }, "answer": { "text": "${words}" } } ],
              "faults": [ %s ] }
            """
                .formatted(faults)));
  }

  @Override
  protected Subject echoing() {
    return playing("");
  }

  @Override
  protected Subject silent() {
    return playing("{ \"stall\": true }");
  }

  @Override
  protected List<Subject> failing() {
    return Stream.of(
            "\"status\": 400",
            "\"status\": 408",
            "\"status\": 429, \"headers\": { \"Retry-After\": \"0\" }",
            "\"status\": 503",
            "\"reset\": \"BEFORE_HEADERS\"",
            "\"cut\": { \"chunks\": 0, \"end\": \"RESET\" }",
            "\"cutBodyAfter\": 5",
            "\"garbage\": \"BYTES\"",
            "\"garbage\": \"BODY\"")
        .map(fault -> playing("{ " + fault + " }"))
        .toList();
  }

  /** What happens behind the first word of an answer that has more. */
  private Subject playingOnce(String fault) {
    return playing(
        Script.parse(
            """
            { "rules": [ { "when": {}, "answer": { "text": "Once upon a time." } } ],
              "faults": [ { %s } ] }
            """
                .formatted(fault)));
  }

  @Override
  protected Subject stalling() {
    return playingOnce("\"stall\": { \"chunks\": 1 }");
  }

  @Override
  protected List<Subject> breaking() {
    return Stream.of(
            "\"cut\": { \"chunks\": 1, \"end\": \"IN_CHUNK\" }",
            "\"cut\": { \"chunks\": 1, \"end\": \"BETWEEN_CHUNKS\" }",
            "\"cut\": { \"chunks\": 1, \"end\": \"HALF_CLOSED\" }",
            "\"cut\": { \"chunks\": 1, \"end\": \"CLEAN\" }",
            "\"errorEvent\": { \"code\": \"overloaded_error\", \"chunks\": 1 }",
            "\"errorEvent\": { \"code\": \"invalid_request_error\", \"chunks\": 1 }")
        .map(this::playingOnce)
        .toList();
  }
}
