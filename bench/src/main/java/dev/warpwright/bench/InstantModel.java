package dev.warpwright.bench;

import dev.warpwright.Gateway;
import dev.warpwright.GenerateRequest;
import dev.warpwright.model.Capability;
import dev.warpwright.model.FinishReason;
import dev.warpwright.model.LanguageModel;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.ModelCapabilities;
import dev.warpwright.model.ModelResponse;
import dev.warpwright.model.Route;
import dev.warpwright.model.Target;
import dev.warpwright.model.Usage;
import java.util.List;
import java.util.Optional;

/** A model that has its answer at once, always the same one, so that only the rest costs. */
final class InstantModel implements LanguageModel {
  static final Target TARGET = Target.of("none", "instant");
  static final InstantModel HELLO = new InstantModel("Hello.");
  static final InstantModel UNDECLARED = new InstantModel("Hello.", false);
  private static final ModelCapabilities CAPABILITIES =
      ModelCapabilities.of(Capability.STRUCTURED_OUTPUT);
  static final ModelCall CALL = ModelCall.builder(List.of(Message.user("Hello"))).build();

  private final ModelResponse answer;
  private final boolean declared;

  /** A model that says this, and declares that it honours interrupts. */
  InstantModel(String text) {
    this(text, true);
  }

  private InstantModel(String text, boolean declared) {
    this.declared = declared;
    this.answer =
        new ModelResponse(
            Message.assistant(text),
            new FinishReason(FinishReason.Kind.STOP, "stop"),
            Usage.reported(10, 2),
            Optional.empty());
  }

  /** A gateway that knows this model under {@link #TARGET} and has nothing switched on. */
  Gateway.Builder gateway() {
    return Gateway.builder().adapter(TARGET.provider(), id -> this);
  }

  /** A request for it. */
  static GenerateRequest.Builder ask() {
    return GenerateRequest.builder(Route.of(TARGET), "Hello");
  }

  @Override
  public ModelCapabilities capabilities() {
    return CAPABILITIES;
  }

  @Override
  public boolean honoursInterrupts() {
    return declared;
  }

  @Override
  public ModelResponse generate(ModelCall call) {
    return answer;
  }
}
