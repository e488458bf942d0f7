package dev.warpwright.adapters.scripted;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A text with {@code ${variables}}; <code>$${</code> is a literal <code>${</code>. Immutable. */
final class Template {
  private final List<Piece> pieces;

  private Template(List<Piece> pieces) {
    this.pieces = List.copyOf(pieces);
  }

  private sealed interface Piece {
    record Literal(String text) implements Piece {}

    record Variable(String name) implements Piece {}
  }

  /** Reads a text and refuses variables that are not declared. */
  static Template of(String text, Set<String> declared, Place place) {
    List<Piece> pieces = new ArrayList<>();
    StringBuilder literal = new StringBuilder();
    int at = 0;
    while (at < text.length()) {
      if (text.startsWith("$${", at)) {
        literal.append("${");
        at += 3;
      } else if (text.startsWith("${", at)) {
        int end = text.indexOf('}', at);
        if (end < 0) {
          throw place.refuse("a \"${\" is not closed by \"}\"; write \"$${\" for a literal \"${\"");
        }
        pieces.add(new Piece.Literal(literal.toString()));
        literal.setLength(0);
        pieces.add(new Piece.Variable(declared(text.substring(at + 2, end), declared, place)));
        at = end + 1;
      } else {
        literal.append(text.charAt(at));
        at++;
      }
    }
    pieces.add(new Piece.Literal(literal.toString()));
    return new Template(pieces);
  }

  static String declared(String name, Set<String> declared, Place place) {
    if (declared.contains(name)) {
      return name;
    }
    String known =
        declared.isEmpty()
            ? "this rule's regexes declare none"
            : "this rule's regexes declare " + String.join(", ", declared);
    String hint =
        name.endsWith(":json")
            ? "; \"${…:json}\" must be the whole string and stand in a tool's input or in json"
            : "";
    throw place.refuse("the variable \"" + name + "\" is unknown: " + known + hint);
  }

  /** Whether the text is the same whatever the variables are. */
  boolean constant() {
    return pieces.size() == 1;
  }

  String fill(Map<String, String> variables) {
    StringBuilder text = new StringBuilder();
    for (Piece piece : pieces) {
      switch (piece) {
        case Piece.Literal(String words) -> text.append(words);
        case Piece.Variable(String name) -> text.append(variables.getOrDefault(name, ""));
      }
    }
    return text.toString();
  }
}
