package dev.warpwright.adapters.scripted;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import dev.warpwright.model.Message;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a scripted model says: rules that answer conversations, and faults that stand before them.
 *
 * <p>A script is immutable and safe for use by any thread. {@link ScriptedModel} plays it inside
 * the program, {@link ScriptedServer} plays it over real sockets.
 *
 * {@snippet :
 * Script script = Script.parse("""
 *     { "rules": [
 *         { "name": "look the order up",
 *           "when": { "turn": 0, "user": "Order: (?<order>A-\\\\d+)" },
 *           "answer": { "tools": [ { "name": "lookup_order", "input": { "id": "${order}" } } ] } },
 *         { "name": "end", "when": {}, "answer": { "text": "Done." } } ],
 *       "faults": [ { "every": 9, "status": 503 } ] }
 *     """);
 * try (ScriptedServer server = ScriptedServer.start(script)) {
 *   System.out.println(server.uri()); // http://127.0.0.1:…/v1
 * }
 * }
 *
 * <h2>The form</h2>
 *
 * One JSON object in UTF-8; {@code //} and {@code /* *}{@code /} comments are allowed. Unknown and
 * repeated keys are refused everywhere. Durations are ISO texts such as {@code "PT0.05S"}.
 *
 * <table>
 * <caption>The script</caption>
 * <tr><th>key</th><th>value</th></tr>
 * <tr><td>{@code rules}</td><td>at least one rule; the first whose {@code when} holds answers. A
 *     rule behind one that always holds is refused</td></tr>
 * <tr><td>{@code faults}</td><td>optional; the first that applies to a request wins, before any
 *     rule</td></tr>
 * </table>
 *
 * <table>
 * <caption>A rule</caption>
 * <tr><th>key</th><th>value</th></tr>
 * <tr><td>{@code name}</td><td>optional, unique, for people; by default the place, such as {@code
 *     rules[2]}</td></tr>
 * <tr><td>{@code when}</td><td>the conditions, all of which must hold; <code>{}</code> always
 *     holds</td></tr>
 * <tr><td>{@code answer}</td><td>what the model says</td></tr>
 * </table>
 *
 * <table>
 * <caption>When</caption>
 * <tr><th>key</th><th>holds if</th></tr>
 * <tr><td>{@code turn}</td><td>so many assistant messages stand after the last user
 *     message</td></tr>
 * <tr><td>{@code user}</td><td>the regex is found in the text of the last user message</td></tr>
 * <tr><td>{@code system}</td><td>the regex is found in the system messages, joined by line
 *     feeds</td></tr>
 * <tr><td>{@code model}</td><td>the regex is found in the model id</td></tr>
 * <tr><td>{@code result}</td><td>the latest tool result of the conversation fits: of {@code tool}
 *     (then the latest of that tool), with the regex {@code output} found in its compact JSON text,
 *     and {@code error} true or false; each optional</td></tr>
 * </table>
 *
 * Regexes are {@link java.util.regex.Pattern}s and see the first 1 048 576 characters of a text. A
 * rule's named groups are its variables: {@code ${order}} in any text of the answer is replaced by
 * what the group captured, or by nothing if the group took no part. A JSON string that is exactly
 * {@code "${amount:json}"} becomes the JSON value that was captured, such as a number; a capture
 * that is no JSON stays a string. <code>$${</code> is a literal <code>${</code>. A variable that no
 * regex of the rule declares is refused when the script is loaded.
 *
 * <table>
 * <caption>Answer: at least one of text, pieces, json, refusal and tools</caption>
 * <tr><th>key</th><th>value</th></tr>
 * <tr><td>{@code text}</td><td>the words</td></tr>
 * <tr><td>{@code pieces}</td><td>instead of {@code text}: the words in the pieces that a stream
 *     tells; an empty piece is an event without words</td></tr>
 * <tr><td>{@code json}</td><td>instead of {@code text}: any JSON value, sent as its compact
 *     text</td></tr>
 * <tr><td>{@code refusal}</td><td>instead of everything else: the model declines with these
 *     words</td></tr>
 * <tr><td>{@code tools}</td><td>calls, each with a {@code name} and an {@code input} object (by
 *     default <code>{}</code>), or a {@code rawInput} text to send broken arguments</td></tr>
 * <tr><td>{@code thinking}</td><td>what the model thinks first; only Anthropic's protocol, and a
 *     {@link ScriptedModel}, has a place for it. Over Responses it can be read if the request asks
 *     for a summary</td></tr>
 * <tr><td>{@code usage}</td><td>{@code input} and {@code output}, optionally {@code cachedInput},
 *     {@code cacheWrite} and {@code reasoning}; nothing is reported without it</td></tr>
 * <tr><td>{@code finish}</td><td>{@code stop}, {@code tool_calls}, {@code length} or {@code
 *     content_filter}; by default {@code tool_calls} with tools and {@code stop}
 *     without</td></tr>
 * <tr><td>{@code latency}</td><td>how long the model thinks first</td></tr>
 * <tr><td>{@code stream}</td><td>how the answer is streamed to those who ask for a stream</td></tr>
 * </table>
 *
 * <table>
 * <caption>Stream: all optional</caption>
 * <tr><th>key</th><th>value</th></tr>
 * <tr><td>{@code words}, {@code characters}</td><td>how many of them make a chunk; one word by
 *     default. Arguments of calls are cut by characters, by default every 16</td></tr>
 * <tr><td>{@code firstPause}, {@code pause}</td><td>how long the first chunk, and each further
 *     chunk, lets wait. A server has sent its headers and the events in front of the chunk by
 *     then</td></tr>
 * <tr><td>{@code heartbeats}</td><td>how many signs of life come in front of each chunk, each
 *     behind such a pause: {@code ping} with Anthropic's protocol, a comment with OpenAI's, a blank
 *     line with Ollama's, an event that nobody knows with Bedrock's</td></tr>
 * <tr><td>{@code lineEnd}</td><td>{@code LF} by default, {@code CRLF} or {@code CR}; servers
 *     only</td></tr>
 * <tr><td>{@code dribble}</td><td>{@code bytes}, how many bytes come at a time wherever that cuts,
 *     and {@code pause}, how long each further parcel lets wait; servers only. By default each
 *     event comes at once, as one chunk of the transfer</td></tr>
 * </table>
 *
 * <table>
 * <caption>A fault: a selection and exactly one effect</caption>
 * <tr><th>key</th><th>meaning</th></tr>
 * <tr><td>{@code when}</td><td>optional conditions, as above. Requests are counted per server or
 *     model from 1 in order of arrival; a fault with {@code when} counts only those for which it
 *     holds</td></tr>
 * <tr><td>{@code every}</td><td>applies to every n-th counted request; 1 by default</td></tr>
 * <tr><td>{@code from}</td><td>the first request that it applies to; the value of {@code every} by
 *     default, so that {@code "every": 9} is 9, 18, 27 and {@code "every": 9, "from": 3} is 3, 12,
 *     21</td></tr>
 * <tr><td>{@code times}</td><td>how often it applies at most; without a limit by default</td></tr>
 * <tr><td>{@code status}</td><td>effect: an HTTP status 400 to 599, with optional {@code headers}
 *     (an object of texts) and {@code body} (JSON, or a string to send as plain text; by default
 *     an error in the form of the protocol that was spoken) or {@code bodyBase64} (any bytes). Or
 *     200 with one of these, which may be an error, or the bytes of a stream if {@code headers} has
 *     their content type</td></tr>
 * <tr><td>{@code stall}</td><td>effect: {@code true}, never answers; or an object with a place in
 *     the body, behind which nothing more comes</td></tr>
 * <tr><td>{@code reset}</td><td>effect: the connection is reset {@code BEFORE_HEADERS}, {@code
 *     AFTER_HEADERS} or {@code IN_BODY}</td></tr>
 * <tr><td>{@code cut}</td><td>effect: an object with a place in the body, behind which it does not
 *     go on, and its {@code end}: {@code CLEAN}, in order, as if it were whole; {@code
 *     BETWEEN_CHUNKS}, the connection ends between two chunks of the transfer; {@code IN_CHUNK},
 *     the default, it ends where more was promised; {@code RESET}; {@code HALF_CLOSED}, the server
 *     ends its half and goes on reading. Unless it ends {@code CLEAN}, at least the last byte is
 *     missing</td></tr>
 * <tr><td>{@code cutBodyAfter}</td><td>the same as {@code cut} with this number of {@code
 *     bytes}</td></tr>
 * <tr><td>{@code errorEvent}</td><td>effect: an object with a {@code code}, optionally a {@code
 *     message} and a place (by default in front of the first chunk) where the provider reports
 *     this error and the body ends in order; {@code "failed": true} reports it over Responses as a
 *     failed response. What is not streamed is status 200 with the error as its body</td></tr>
 * <tr><td>{@code wrongType}</td><td>effect: {@code true}; a request for a stream is answered with
 *     JSON, any other with a stream</td></tr>
 * <tr><td>{@code garbage}</td><td>effect: {@code "BYTES"} or {@code true} sends bytes that are no
 *     HTTP, {@code "BODY"} a success whose body is no JSON</td></tr>
 * <tr><td>{@code slowHeaders}</td><td>effect: waits so long, then answers by the rules</td></tr>
 * </table>
 *
 * A place in a body is one of: {@code bytes}, behind so many bytes; {@code events}, behind so many
 * events; {@code chunks}, behind so many chunks of the answer, 0 being in front of the first;
 * {@code before}, in front of {@code "FINISH"}, which says why the answer ended, or in front of the
 * {@code "TERMINATOR"}. A body that never comes there is hit at its end, and one that is not
 * streamed counts as one event with one chunk. Signs of life are no events.
 *
 * <p>Faults but {@code slowHeaders} happen at once, without the answer's latency; only the pauses
 * of a stream pass.
 */
public final class Script {
  /** The longest script that is read, in bytes. */
  static final int MAX_BYTES = 16 * 1024 * 1024;

  private final List<Rule> rules;
  private final List<FaultRule> faults;

  Script(List<Rule> rules, List<FaultRule> faults) {
    this.rules = List.copyOf(rules);
    this.faults = List.copyOf(faults);
  }

  /**
   * Reads a script.
   *
   * @param text the whole script
   * @return the script
   * @throws InvalidRequestException of kind INVALID_CONFIGURATION if it breaks a rule of the form;
   *     the message names the line or the JSON path, and what is allowed there
   */
  public static Script parse(String text) {
    return ScriptReader.read(text, "script");
  }

  /**
   * Reads a script from a file.
   *
   * @param file the file, UTF-8, at most 16 MiB
   * @return the script
   * @throws InvalidRequestException as {@link #parse}, the message begins with the file's name
   * @throws UncheckedIOException if the file cannot be read
   */
  public static Script load(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return read(in, file.toString());
    } catch (IOException e) {
      throw new UncheckedIOException("The script " + file + " cannot be read.", e);
    }
  }

  /**
   * Reads a script from a stream, such as a resource of the class path.
   *
   * @param in the stream, UTF-8, at most 16 MiB; it is read to its end and left open
   * @param name what messages call it
   * @return the script
   * @throws InvalidRequestException as {@link #parse}, the message begins with the name
   * @throws UncheckedIOException if the stream cannot be read
   */
  public static Script read(InputStream in, String name) {
    byte[] bytes;
    try {
      bytes = in.readNBytes(MAX_BYTES + 1);
    } catch (IOException e) {
      throw new UncheckedIOException("The script " + name + " cannot be read.", e);
    }
    if (bytes.length > MAX_BYTES) {
      throw new InvalidRequestException(
          FailureKind.INVALID_CONFIGURATION,
          name + ": a script has at most " + MAX_BYTES + " bytes, but this one has more.");
    }
    return ScriptReader.read(new String(bytes, StandardCharsets.UTF_8), name);
  }

  /**
   * What the rules say to a conversation. Pure: the same conversation has the same answer, whatever
   * was asked before. Faults play no part here.
   *
   * @param modelId the id of the model that is asked
   * @param messages the conversation
   * @return the answer of the first rule that matches, empty if none does
   */
  public Optional<ScriptedAnswer> answer(String modelId, List<Message> messages) {
    return answer(Conversation.of(modelId, messages)).map(Reply::answer);
  }

  Optional<Reply> answer(Conversation conversation) {
    for (Rule rule : rules) {
      Optional<ScriptedAnswer> said = rule.answer(conversation);
      if (said.isPresent()) {
        return Optional.of(new Reply(rule.name(), said.get()));
      }
    }
    return Optional.empty();
  }

  List<FaultRule> faults() {
    return faults;
  }

  /** What a rule says. */
  record Reply(String rule, ScriptedAnswer answer) {}

  /** Shows how many rules and faults there are. */
  @Override
  public String toString() {
    return "Script[" + rules.size() + " rules, " + faults.size() + " faults]";
  }
}
