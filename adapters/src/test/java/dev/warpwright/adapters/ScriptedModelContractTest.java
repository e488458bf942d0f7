package dev.warpwright.adapters;

import dev.warpwright.adapters.scripted.Script;
import dev.warpwright.adapters.scripted.ScriptedModel;

/** The scripted model keeps the contract of models. */
final class ScriptedModelContractTest extends ScriptedContract {
  @Override
  Subject playing(Script script) {
    ScriptedModel model = ScriptedModel.of(script);
    return new Subject(model, model::calls);
  }

  @Override
  protected long openExchanges(Subject subject) {
    return ((ScriptedModel) subject.model()).running();
  }
}
