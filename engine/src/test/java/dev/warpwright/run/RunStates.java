package dev.warpwright.run;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.warpwright.model.InvalidRequestException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

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
          view.put(method.getName(), content(method.invoke(state)));
        } catch (ReflectiveOperationException e) {
          throw new LinkageError(e.getMessage(), e);
        }
      }
    }
    return view;
  }

  /**
   * All that a state consists of, by field, so that one that {@link RunState#copy} forgets is
   * found.
   */
  private static Map<String, Object> fields(Object state) {
    Map<String, Object> fields = new TreeMap<>();
    for (Field field : state.getClass().getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        try {
          field.setAccessible(true);
          fields.put(field.getName(), content(field.get(state)));
        } catch (ReflectiveOperationException e) {
          throw new LinkageError(e.getMessage(), e);
        }
      }
    }
    return fields;
  }

  private static @Nullable Object content(@Nullable Object value) {
    return switch (value) {
      case Children part -> fields(part);
      case RunCost part -> fields(part);
      case FlowJournal part -> fields(part);
      case Optional<?> part when part.isPresent() && part.get() instanceof FlowJournal journal ->
          fields(journal);
      case List<?> list -> List.copyOf(list);
      case Set<?> set -> List.copyOf(set); // in order
      case Map<?, ?> map -> Map.copyOf(map);
      case null, default -> value;
    };
  }

  /** Adds an event to a state, and to a copy of it, which must not know of each other. */
  private static void applyTwice(RunState state, LoggedEvent event) {
    Map<String, Object> before = fields(state);
    RunState copy = state.copy();
    assertEquals(before, fields(copy), "a copy is equal");
    state.apply(event);
    assertEquals(before, fields(copy), "and stays what it was");
    Map<String, Object> after = fields(state);
    copy.apply(event);
    assertEquals(after, fields(copy), "until the same event is added");
    assertEquals(after, fields(state), "which leaves the first one as it is");
  }

  /** Folds the rest of a log onto a copy of the state of its beginning, which must not change. */
  static RunState foldOntoCopy(List<LoggedEvent> log, int known) {
    RunState beginning = RunState.of(log.subList(0, known));
    Map<String, Object> before = fields(beginning);
    RunState copy = beginning.copy();
    log.subList(known, log.size()).forEach(copy::apply);
    assertEquals(before, fields(beginning));
    return copy;
  }

  /** The state of a log that is folded event by event, each prefix checked against its own fold. */
  public static RunState foldStepwise(List<LoggedEvent> log) {
    RunState state = RunState.of(log.subList(0, 1));
    for (int i = 1; i < log.size(); i++) {
      applyTwice(state, log.get(i));
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
