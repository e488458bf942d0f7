package dev.warpwright.tool;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Tells a model what a record, an enum, a sealed interface or one component of a record means; it
 * becomes {@code description} in the {@linkplain JsonType#schema() schema}.
 *
 * <p>On a component it wins over the description of the component's type. State here what the type
 * cannot say: the unit, the bounds that the record's constructor checks, where a value comes from.
 *
 * <pre>{@code
 * @Description("A place and the days to forecast for it")
 * record Forecast(
 *     @Description("City and country, for example 'Bern, Switzerland'") String place,
 *     @Description("1 to 14") int days) {}
 * }</pre>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.RECORD_COMPONENT})
public @interface Description {
  /**
   * The text for the model.
   *
   * @return the text; a blank one is refused when the {@link JsonType} is made
   */
  String value();
}
