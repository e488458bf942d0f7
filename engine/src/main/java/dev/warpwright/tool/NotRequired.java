package dev.warpwright.tool;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a component of a record that may be absent from the JSON object, or null in it; both are
 * read as {@code null}, or as an empty {@code Optional}, and both are written by leaving the member
 * out.
 *
 * <p>Every other component is required, except one of type {@code Optional}, which needs no mark. A
 * primitive cannot be absent: {@link JsonType#of(Class)} refuses the mark on one. The nullness
 * annotations of the program are not looked at, since they need not be there when it runs.
 *
 * <pre>{@code
 * record Search(String query, @NotRequired @Nullable Integer limit, Optional<String> language) {}
 * }</pre>
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface NotRequired {}
