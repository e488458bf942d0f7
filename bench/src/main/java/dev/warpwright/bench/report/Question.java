package dev.warpwright.bench.report;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * What a class of the suite answers, and what in it the others are compared with. The report reads
 * it.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Question {
  /**
   * The question.
   *
   * @return a sentence
   */
  String value();

  /**
   * Where it stands in the report.
   *
   * @return its place among the questions, from 1
   */
  int place();

  /**
   * What tells those apart that are compared with each other.
   *
   * @return the name of a parameter; empty, the default, for the methods of the class. Whatever
   *     else differs makes groups of their own
   */
  String by() default "";

  /**
   * The one that the others are compared with.
   *
   * @return a value of the parameter or the name of a method
   */
  String baseline();
}
