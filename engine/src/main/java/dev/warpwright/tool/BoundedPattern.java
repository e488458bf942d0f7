package dev.warpwright.tool;

import com.networknt.schema.SchemaException;
import com.networknt.schema.regex.RegularExpression;
import com.networknt.schema.regex.RegularExpressions;
import java.util.regex.Pattern;

/**
 * A pattern of a schema, matched within bounds: a schema may come from a stranger, such as a tool
 * server, and the text from a model.
 *
 * <p>The JDK's matcher goes back and forth over the text and may do so for years. Each look at a
 * character is counted, over all patterns of one check.
 */
final class BoundedPattern implements RegularExpression {
  /**
   * The looks at characters of one check; a megabyte of text and a plain pattern need a million.
   */
  private static final int MAX_LOOKS = 20_000_000;

  /** Those of the check that the thread makes. */
  private static final ScopedValue<Looks> LOOKS = ScopedValue.newInstance();

  private final Pattern pattern;

  private BoundedPattern(Pattern pattern) {
    this.pattern = pattern;
  }

  static BoundedPattern of(String text) {
    String java =
        RegularExpressions.replaceLongformCharacterProperties(
            RegularExpressions.replaceDollarAnchors(text));
    try {
      return new BoundedPattern(Pattern.compile(java));
    } catch (StackOverflowError _) {
      throw new SchemaException("A pattern is nested too deeply.");
    }
  }

  /** Makes a check, with all looks left. */
  static void within(Runnable check) {
    ScopedValue.where(LOOKS, new Looks()).run(check);
  }

  /** Ends a check whose patterns took too much. The library passes it on. */
  static final class ExceededException extends SchemaException {
    private static final long serialVersionUID = 1L;

    ExceededException() {
      super("Matching the patterns takes too much.");
    }
  }

  @Override
  public boolean matches(String value) {
    try {
      return pattern.matcher(new Counted(value, LOOKS.get())).find();
    } catch (StackOverflowError _) { // some patterns nest for each character
      throw new ExceededException();
    }
  }

  /** What is left for one check; of its thread. */
  private static final class Looks {
    private int left = MAX_LOOKS;

    void count() {
      if (--left < 0) {
        throw new ExceededException();
      }
    }
  }

  /** A text that knows how often it was looked at. */
  private record Counted(CharSequence text, Looks looks) implements CharSequence {
    @Override
    public char charAt(int index) {
      looks.count();
      return text.charAt(index);
    }

    @Override
    public int length() {
      return text.length();
    }

    @Override
    public CharSequence subSequence(int start, int end) {
      return new Counted(text.subSequence(start, end), looks);
    }

    @Override
    public String toString() {
      return text.toString();
    }
  }
}
