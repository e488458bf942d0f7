package dev.warpwright.run;

import dev.warpwright.model.InvalidRequestException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Compares states by everything that they say, so that a new accessor is compared too. */
public final class RunStates {
  private RunStates() {}

  /** What all accessors of a state return, by name. */
  public static Map<String, Object> view(RunState state) {
    Map<String, Object> view = new TreeMap<>();
    for (Method method : RunState.class.getMethods()) {
      if (method.getDeclaringClass() == RunState.class
          && method.getParameterCount() == 0
          && !Modifier.isStatic(method.getModifiers())) {
        try {
          Object value = method.invoke(state);
          view.put(method.getName(), value instanceof List<?> list ? List.copyOf(list) : value);
        } catch (ReflectiveOperationException e) {
          throw new LinkageError(e.getMessage(), e);
        }
      }
    }
    return view;
  }

  /** The state of a log that is folded event by event, each prefix checked against its own fold. */
  public static RunState foldStepwise(List<LoggedEvent> log) {
    RunState state = RunState.of(log.subList(0, 1));
    for (int i = 1; i < log.size(); i++) {
      state.apply(log.get(i));
      Map<String, Object> whole = view(RunState.of(log.subList(0, i + 1)));
      if (!whole.equals(view(state))) {
        throw new AssertionError("Prefix " + (i + 1) + ": " + whole + " is not " + view(state));
      }
    }
    return state;
  }

  /** Whether an event may follow; if it may not, the state must not have changed. */
  static boolean accepts(RunState state, LoggedEvent event) {
    Map<String, Object> before = view(state);
    try {
      state.apply(event);
      return true;
    } catch (InvalidRequestException refused) {
      Map<String, Object> after = view(state);
      if (!before.equals(after)) {
        throw new AssertionError(
            "Refused and yet changed: " + event + ", " + before + " to " + after, refused);
      }
      String message = String.valueOf(refused.getMessage());
      for (String named :
          Arrays.asList(
              event.event().getClass().getSimpleName(), String.valueOf(event.sequence()))) {
        if (!message.contains(named)) {
          throw new AssertionError("The refusal does not name " + named + ": " + message);
        }
      }
      return false;
    }
  }
}
