package dev.warpwright.adapters;

import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.contract.LanguageModelContract;
import java.util.List;
import java.util.stream.Stream;

/** The contract of models, with providers that play scripts. */
abstract class ScriptedContract extends LanguageModelContract {
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
            "\"reset\": \"IN_BODY\"",
            "\"cutBodyAfter\": 5",
            "\"garbage\": \"BYTES\"",
            "\"garbage\": \"BODY\"")
        .map(fault -> playing("{ " + fault + " }"))
        .toList();
  }
}
