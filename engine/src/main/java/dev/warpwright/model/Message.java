package dev.warpwright.model;

import dev.warpwright.json.StrictJson;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One message of a conversation: a role and its parts, in order.
 *
 * <p>Text is cleaned of unpaired surrogates when the message is made.
 *
 * @param role who speaks
 * @param parts text for every role but TOOL, images for USER only, tool calls and private state of
 *     providers for ASSISTANT only, tool results for TOOL only
 */
public record Message(Role role, List<Part> parts) {
  /** Checks that every part may stand under the role, cleans text and copies the list. */
  public Message {
    Role speaker = role;
    parts =
        parts.stream()
            .map(
                part -> {
                  if (!allowed(speaker, part)) {
                    throw PortableHistory.invalid();
                  }
                  return part instanceof Part.Text text ? clean(text) : part;
                })
            .toList();
  }

  private static boolean allowed(Role role, Part part) {
    return switch (part) {
      case Part.Text text -> role != Role.TOOL;
      case Image image -> role == Role.USER;
      case ToolCall call -> role == Role.ASSISTANT;
      case ToolResult result -> role == Role.TOOL;
      case ProviderState state -> role == Role.ASSISTANT;
    };
  }

  private static Part clean(Part.Text part) {
    String clean = StrictJson.cleanText(part.text());
    return clean.equals(part.text()) ? part : new Part.Text(clean);
  }

  /**
   * Instructions of the program.
   *
   * @param text the text
   * @return the message
   */
  public static Message system(String text) {
    return new Message(Role.SYSTEM, List.of(new Part.Text(text)));
  }

  /**
   * What a person or program asks.
   *
   * @param text the text
   * @return the message
   */
  public static Message user(String text) {
    return new Message(Role.USER, List.of(new Part.Text(text)));
  }

  /**
   * What a person or program asks about pictures.
   *
   * @param text the text
   * @param images the pictures, behind the text
   * @return the message
   */
  public static Message user(String text, Image... images) {
    List<Part> parts = new ArrayList<>(images.length + 1);
    parts.add(new Part.Text(text));
    parts.addAll(List.of(images));
    return new Message(Role.USER, parts);
  }

  /**
   * A model's answer in words.
   *
   * @param text the text
   * @return the message
   */
  public static Message assistant(String text) {
    return new Message(Role.ASSISTANT, List.of(new Part.Text(text)));
  }

  /**
   * Results of tool calls.
   *
   * @param results the results in call order
   * @return the message
   */
  public static Message tool(List<ToolResult> results) {
    return new Message(Role.TOOL, List.copyOf(results));
  }

  /**
   * The text of all text parts, joined.
   *
   * @return the text, empty if there is none
   */
  public String text() {
    if (parts.size() == 1) {
      return parts.getFirst() instanceof Part.Text(String words) ? words : "";
    }
    StringBuilder text = new StringBuilder();
    for (Part part : parts) {
      if (part instanceof Part.Text(String words)) {
        text.append(words);
      }
    }
    return text.toString();
  }

  /**
   * The pictures among the parts.
   *
   * @return the images in order
   */
  public List<Image> images() {
    return partsOf(Image.class);
  }

  /**
   * The tool calls among the parts.
   *
   * @return the calls in order
   */
  public List<ToolCall> toolCalls() {
    return partsOf(ToolCall.class);
  }

  /**
   * The tool results among the parts.
   *
   * @return the results in order
   */
  public List<ToolResult> toolResults() {
    return partsOf(ToolResult.class);
  }

  /**
   * The private state by which a provider asks for approvals.
   *
   * @return the states among the parts that have an {@link ProviderState#approval}, in order,
   *     answered or not
   */
  public List<ProviderState> approvals() {
    List<ProviderState> found = null;
    for (Part part : parts) {
      if (part instanceof ProviderState state && state.approval().isPresent()) {
        if (found == null) {
          found = new ArrayList<>(parts.size());
        }
        found.add(state);
      }
    }
    return found == null ? List.of() : Collections.unmodifiableList(found);
  }

  private <P extends Part> List<P> partsOf(Class<P> kind) {
    List<P> found = null; // made when it is needed: most messages are one text
    for (Part part : parts) {
      if (kind.isInstance(part)) {
        if (found == null) {
          found = new ArrayList<>(parts.size());
        }
        found.add(kind.cast(part));
      }
    }
    return found == null ? List.of() : Collections.unmodifiableList(found);
  }

  /** Shows the role and how many parts there are, not the content. */
  @Override
  public String toString() {
    return "Message[" + role + ", " + parts.size() + " parts]";
  }
}
