package dev.warpwright.tool;

import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A record as an object whose members are the components, and no others. */
final class RecordShape extends NamedShape {
  /** The member that tells which record of a sealed interface an object is. */
  static final String TAG = "type";

  private final boolean tagged;
  private final MethodHandle constructor;
  private List<Component> components = List.of();

  /**
   * One component.
   *
   * @param name its name, in Java and in JSON
   * @param shape the shape of its value, without the {@code Optional} around it
   * @param required whether it must be there
   * @param wrapped whether its type is {@code Optional}
   * @param description what a model is told of it
   * @param accessor from the record, as an {@code Object}, to the value, as an {@code Object}
   */
  record Component(
      String name,
      Shape shape,
      boolean required,
      boolean wrapped,
      @Nullable Description description,
      MethodHandle accessor) {

    Map<String, Object> schema(Definitions definitions) {
      Map<String, Object> schema = shape.schema(definitions);
      return Definitions.described(required ? schema : Definitions.orNull(schema), description);
    }
  }

  /**
   * The shape before its components are known, so that they can refer to it.
   *
   * @param tagged whether the object starts with its simple name as {@link #TAG}
   * @param constructor from {@code Object[]} to {@code Object}
   */
  RecordShape(Class<?> type, boolean tagged, MethodHandle constructor) {
    super(type);
    this.tagged = tagged;
    this.constructor = constructor;
  }

  void complete(List<Component> components) {
    this.components = List.copyOf(components);
  }

  String tag() {
    return type().getSimpleName();
  }

  @Override
  Map<String, Object> body(Definitions definitions) {
    Map<String, Object> properties = new LinkedHashMap<>();
    if (tagged) {
      Map<String, Object> tag = new LinkedHashMap<>();
      tag.put("type", "string");
      tag.put("const", tag());
      properties.put(TAG, tag);
    }
    for (Component component : components) {
      properties.put(component.name, component.schema(definitions));
    }
    Map<String, Object> schema = new LinkedHashMap<>();
    schema.put("type", "object");
    schema.put("properties", properties);
    List<String> required = new ArrayList<>();
    if (tagged) {
      required.add(TAG);
    }
    components.stream().filter(Component::required).map(Component::name).forEach(required::add);
    if (!required.isEmpty()) {
      schema.put("required", required);
    }
    schema.put("additionalProperties", false);
    return Definitions.described(schema, type().getAnnotation(Description.class));
  }

  @Override
  public @Nullable Object read(JsonNode node, Walk walk) {
    if (!node.isObject()) {
      walk.report(Walk.mustBe("an object", node));
      return null;
    }
    int before = walk.found();
    int declared = tagged ? 1 : 0;
    @Nullable Object[] values = new @Nullable Object[components.size()];
    for (int i = 0; i < values.length; i++) {
      Component component = components.get(i);
      JsonNode member = node.get(component.name);
      if (member != null) {
        declared++;
      }
      values[i] = read(component, member, walk);
    }
    if (node.size() > declared) {
      walk.report(undeclared(node.size() - declared));
    }
    return walk.found() > before ? null : construct(values, walk);
  }

  private static @Nullable Object read(Component component, @Nullable JsonNode member, Walk walk) {
    Object value = null;
    if (component.required || (member != null && !member.isNull())) {
      walk.enterMember(component.name);
      if (member == null) {
        walk.report("is required");
      } else {
        value = component.shape.read(member, walk);
      }
      walk.leave();
    }
    return component.wrapped ? Optional.ofNullable(value) : value;
  }

  private String undeclared(int count) {
    String names = Walk.listed(components.stream().map(Component::name).toList());
    return "has "
        + (count == 1 ? "a member that is not declared" : count + " members that are not declared")
        + (names.isEmpty() ? "; none is" : "; declared are " + names);
  }

  private @Nullable Object construct(@Nullable Object[] values, Walk walk) {
    try {
      return (Object) constructor.invokeExact(values);
    } catch (Error e) {
      throw e;
    } catch (Throwable e) { // the constructor of a record declares no checked exception
      walk.report(
          "is refused by the record "
              + type().getSimpleName()
              + " ("
              + e.getClass().getSimpleName()
              + ")");
      return null;
    }
  }

  @Override
  public Object write(@Nullable Object value, Walk walk) {
    Object present = walk.present(value);
    Map<String, Object> members = new LinkedHashMap<>();
    if (tagged) {
      members.put(TAG, tag());
    }
    for (Component component : components) {
      Object member = RecordAccess.get(component.accessor, present);
      if (component.wrapped && member instanceof Optional<?> optional) {
        member = optional.orElse(null);
      }
      if (component.required || member != null) {
        walk.enterMember(component.name);
        members.put(component.name, component.shape.write(member, walk));
        walk.leave();
      }
    }
    return members;
  }
}
