package dev.warpwright.adapters.scripted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.FailureKind;
import dev.warpwright.model.InvalidRequestException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("R379")
class ScriptErrorsTest {
  private static String refusal(String script) {
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> Script.parse(script));
    assertEquals(FailureKind.INVALID_CONFIGURATION, refused.kind());
    return String.valueOf(refused.getMessage());
  }

  private static void assertRefused(String script, String message) {
    assertEquals(message, refusal(script.replace('\'', '"')).replace('"', '\''));
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          []                                  | script: the script: must be an object, but is an array.
          {}                                  | script: the script: 'rules' is missing: an array of at least one rule.
          {'rules':[]}                        | script: rules: must hold at least one rule, but is an array without any.
          {'rules':{}}                        | script: rules: must be an array, but is an object.
          {'rules':[{}],'rule':1}             | script: the script: unknown key 'rule'; allowed are rules, faults.
          {'rules':[7]}                       | script: rules[0]: must be an object, but is the number 7.
          {'rules':[{'if':{}}]}               | script: rules[0]: unknown key 'if'; allowed are name, when, answer.
          {'rules':[{'answer':{}}]}           | script: rules[0]: 'when' is missing: an object of conditions, {} for a rule that always holds.
          {'rules':[{'when':{}}]}             | script: rules[0]: 'answer' is missing: an object with text, json, refusal or tools.
          {'rules':[{'name':' ','when':{},'answer':{'text':'a'}}]} | script: rules[0].name: must not be blank.
          """)
  void theShapeOfTheScriptIsChecked(String script, String message) {
    assertRefused(script, message);
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {'turns':1}             | : unknown key 'turns'; allowed are turn, user, system, model, result.
          {'turn':-1}             | .turn: must be a whole number, 0 to 1000000, but is the number -1.
          {'turn':1.5}            | .turn: must be a whole number, 0 to 1000000, but is the number 1.5.
          {'turn':'1'}            | .turn: must be a whole number, 0 to 1000000, but is a string.
          {'user':5}              | .user: must be a string, but is the number 5.
          {'user':'a(b'}          | .user: is no java.util.regex pattern: Unclosed group near index 3 of 'a(b'.
          {'model':'*'}           | .model: is no java.util.regex pattern: Dangling meta character '*' near index 0 of '*'.
          {'result':true}         | .result: must be an object, but is true.
          {'result':{'name':'t'}} | .result: unknown key 'name'; allowed are tool, output, error.
          {'result':{'output':'['}} | .result.output: is no java.util.regex pattern: Unclosed character class near index 0 of '['.
          {'result':{'error':'no'}} | .result.error: must be true or false, but is a string.
          {'user':'(?<a>x)','system':'(?<a>y)'} | : the group 'a' stands in more than one regex.
          """)
  void conditionsAreChecked(String when, String message) {
    assertRefused(
        "{'rules':[{'when':" + when + ",'answer':{'text':'a'}}]}",
        "script: rules[0].when" + message);
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                                  | : says nothing: at least one of text, pieces, json, refusal and tools is needed.
          {'tools':[]}                        | : says nothing: at least one of text, pieces, json, refusal and tools is needed.
          {'say':'a'}                         | : unknown key 'say'; allowed are text, pieces, json, refusal, tools, thinking, usage, finish, latency, stream.
          {'text':'a','json':1}               | : has more than one of text, pieces, json and refusal.
          {'refusal':'a','finish':'stop'}     | : a refusal stands alone: without text, json, tools and finish.
          {'text':['a']}                      | .text: must be a string, but is an array.
          {'text':'a','thinking':1}           | .thinking: must be a string, but is the number 1.
          {'thinking':'a'}                    | : says nothing: at least one of text, pieces, json, refusal and tools is needed.
          {'text':'${b}'}                     | .text: the variable 'b' is unknown: this rule's regexes declare a, c.
          {'text':'${a'}                      | .text: a '${' is not closed by '}'; write '$${' for a literal '${'.
          {'text':'n: ${a:json}'}             | .text: the variable 'a:json' is unknown: this rule's regexes declare a, c; '${…:json}' must be the whole string and stand in a tool's input or in json.
          {'json':{'x':[1,'${b}']}}           | .json.x[1]: the variable 'b' is unknown: this rule's regexes declare a, c.
          {'tools':{}}                        | .tools: must be an array, but is an object.
          {'tools':[{}]}                      | .tools[0]: 'name' is missing: the tool's name.
          {'tools':[{'name':'a b'}]}          | .tools[0].name: must match [A-Za-z0-9_-]{1,64}, but 'a b' does not.
          {'tools':[{'name':'t','arguments':{}}]} | .tools[0]: unknown key 'arguments'; allowed are name, input, rawInput.
          {'tools':[{'name':'t','input':[]}]} | .tools[0].input: must be an object, but is an array.
          {'tools':[{'name':'t','input':{'x':'${b:json}'}}]} | .tools[0].input.x: the variable 'b' is unknown: this rule's regexes declare a, c.
          {'tools':[{'name':'t','input':{},'rawInput':''}]} | .tools[0]: has both input and rawInput.
          {'text':'a','usage':{'input':1}}    | .usage: 'output' is missing: the number of output tokens.
          {'text':'a','usage':{'input':-1,'output':1}} | .usage.input: must be a whole number, 0 to 1000000000000, but is the number -1.
          {'text':'a','usage':{'tokens':1}}   | .usage: unknown key 'tokens'; allowed are input, output, cachedInput, cacheWrite, reasoning.
          {'text':'a','finish':'done'}        | .finish: must be stop, tool_calls, length or content_filter, but is 'done'.
          {'pieces':'a'}                      | .pieces: must be an array, but is a string.
          {'pieces':['a',1]}                  | .pieces[1]: must be a string, but is the number 1.
          {'pieces':['${b}']}                 | .pieces[0]: the variable 'b' is unknown: this rule's regexes declare a, c.
          {'text':'a','stream':true}          | .stream: must be an object, but is true.
          {'text':'a','stream':{'size':1}}    | .stream: unknown key 'size'; allowed are words, characters, firstPause, pause, heartbeats, lineEnd, dribble.
          {'text':'a','stream':{'words':0}}   | .stream.words: must be a whole number, 1 to 1000000, but is the number 0.
          {'text':'a','stream':{'words':1,'characters':1}} | .stream: has both words and characters.
          {'text':'a','stream':{'pause':'1s'}} | .stream.pause: must be an ISO duration from PT0S to PT24H, such as 'PT0.05S', but is '1s'.
          {'text':'a','stream':{'heartbeats':-1}} | .stream.heartbeats: must be a whole number, 0 to 1000000, but is the number -1.
          {'text':'a','stream':{'lineEnd':'NEL'}} | .stream.lineEnd: must be LF or CRLF or CR, but is 'NEL'.
          {'text':'a','stream':{'dribble':{}}} | .stream.dribble: 'bytes' is missing: how many bytes come at a time.
          {'text':'a','latency':'50ms'}       | .latency: must be an ISO duration from PT0S to PT24H, such as 'PT0.05S', but is '50ms'.
          {'text':'a','latency':'-PT1S'}      | .latency: must be an ISO duration from PT0S to PT24H, such as 'PT0.05S', but is '-PT1S'.
          """)
  void answersAreChecked(String answer, String message) {
    assertRefused(
        "{'rules':[{'when':{'user':'(?<c>x)','model':'(?<a>y)'},'answer':" + answer + "}]}",
        "script: rules[0].answer" + message);
  }

  @ParameterizedTest(name = "{1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                                  | : must have exactly one of status, stall, reset, cut, cutBodyAfter, errorEvent, wrongType, garbage, slowHeaders, but has none.
          {'status':503,'stall':true}         | : must have exactly one of status, stall, reset, cut, cutBodyAfter, errorEvent, wrongType, garbage, slowHeaders, but has status, stall.
          {'code':503}                        | : unknown key 'code'; allowed are when, every, from, times, status, headers, body, bodyBase64, stall, reset, cut, cutBodyAfter, errorEvent, wrongType, garbage, slowHeaders.
          {'status':200}                      | : a status of 200 needs a body.
          {'status':200,'bodyBase64':'?'}     | .bodyBase64: must be bytes in base64.
          {'status':200,'body':1,'bodyBase64':'YQ=='} | : has both body and bodyBase64.
          {'stall':true,'bodyBase64':'YQ=='}  | : headers and body go with status only, not with stall.
          {'status':204,'body':{}}            | .status: must be 200 or 400 to 599, but is the number 204.
          {'status':600}                      | .status: must be a whole number, 200 to 599, but is the number 600.
          {'every':0,'stall':true}            | .every: must be a whole number, 1 or more, but is the number 0.
          {'from':0,'stall':true}             | .from: must be a whole number, 1 or more, but is the number 0.
          {'times':0,'stall':true}            | .times: must be a whole number, 1 or more, but is the number 0.
          {'stall':false}                     | .stall: must be true; leave the fault out to switch it off.
          {'stall':true,'body':{}}            | : headers and body go with status only, not with stall.
          {'stall':{}}                        | .stall: must have exactly one of bytes, events, chunks, before, but has none.
          {'stall':{'events':1,'end':'RESET'}} | .stall: unknown key 'end'; allowed are bytes, events, chunks, before.
          {'cut':{'end':'CLEAN'}}             | .cut: must have exactly one of bytes, events, chunks, before, but has none.
          {'cut':{'bytes':1,'chunks':2}}      | .cut: must have exactly one of bytes, events, chunks, before, but has bytes, chunks.
          {'cut':{'events':-1}}               | .cut.events: must be a whole number, 0 to 2147483647, but is the number -1.
          {'cut':{'before':'END'}}            | .cut.before: must be FINISH or TERMINATOR, but is 'END'.
          {'cut':{'bytes':1,'end':'DIRTY'}}   | .cut.end: must be CLEAN or BETWEEN_CHUNKS or IN_CHUNK or RESET or HALF_CLOSED, but is 'DIRTY'.
          {'cut':5}                           | .cut: must be an object, but is the number 5.
          {'errorEvent':{'chunks':1}}         | .errorEvent: 'code' is missing: the provider's code of the error.
          {'errorEvent':{'code':'c','bytes':1}} | .errorEvent: unknown key 'bytes'; allowed are events, chunks, before, code, message, failed.
          {'wrongType':false}                 | .wrongType: must be true; leave the fault out to switch it off.
          {'reset':'LATER'}                   | .reset: must be BEFORE_HEADERS or AFTER_HEADERS or IN_BODY, but is 'LATER'.
          {'reset':true}                      | .reset: must be a string, but is true.
          {'cutBodyAfter':-1}                 | .cutBodyAfter: must be a whole number, 0 to 2147483647, but is the number -1.
          {'garbage':false}                   | .garbage: must be true; leave the fault out to switch it off.
          {'garbage':'HTTP'}                  | .garbage: must be BYTES or BODY, but is 'HTTP'.
          {'slowHeaders':1}                   | .slowHeaders: must be a string, but is the number 1.
          {'status':429,'headers':['a']}      | .headers: must be an object of strings, but is an array.
          {'status':429,'headers':{'a b':''}} | .headers.a b: is no name of a header field.
          {'status':429,'headers':{'Retry-After':1}} | .headers.Retry-After: must be a string of at most 1024 printable ASCII characters, but is the number 1.
          {'status':429,'headers':{'X':'a\\nb'}} | .headers.X: must be a string of at most 1024 printable ASCII characters, but is another string.
          {'status':429,'headers':{'content-length':'3'}} | .headers.content-length: is written by the server itself.
          {'when':{'user':'('},'stall':true}  | .when.user: is no java.util.regex pattern: Unclosed group near index 1 of '('.
          """)
  void faultsAreChecked(String fault, String message) {
    assertRefused(
        "{'rules':[{'when':{},'answer':{'text':'a'}}],'faults':[" + fault + "]}",
        "script: faults[0]" + message);
  }

  @Test
  void aRuleBehindOneThatAlwaysMatchesIsRefused() {
    assertRefused(
        "{'rules':[{'when':{},'answer':{'text':'a'}},{'when':{},'answer':{'text':'b'}}]}",
        "script: rules[1]: cannot be reached: the rule before it, whose when is {}, always"
            + " matches.");
  }

  @Test
  void namesAreUnique() {
    assertRefused(
        "{'rules':[{'name':'n','when':{'turn':0},'answer':{'text':'a'}},"
            + "{'name':'n','when':{},'answer':{'text':'b'}}]}",
        "script: rules[1].name: 'n' is the name of an earlier rule; names are unique.");
  }

  @Test
  void aSyntaxErrorNamesTheFileAndTheLine(@TempDir Path folder) throws Exception {
    Path file =
        Files.writeString(folder.resolve("bad.json"), "{\n  // a comment\n  \"rules\": [,]\n}");
    String message =
        String.valueOf(
            assertThrows(InvalidRequestException.class, () -> Script.load(file)).getMessage());
    assertTrue(message.startsWith(file + ": line 3, column "), message);
    assertTrue(message.endsWith("// comments are allowed."), message);
  }

  @Test
  void aRepeatedKeyTextBehindTheScriptAndNoTextAreRefused() {
    assertTrue(refusal("{\"rules\":[],\n\"rules\":[]}").startsWith("script: line 2, column "));
    assertTrue(refusal("{\"rules\":[]}\n{}").startsWith("script: line 2, column "));
    assertTrue(refusal("").startsWith("script: "));
  }

  @Test
  void aMissingFileIsNamed(@TempDir Path folder) {
    Path file = folder.resolve("none.json");
    UncheckedIOException failure =
        assertThrows(UncheckedIOException.class, () -> Script.load(file));
    assertEquals("The script " + file + " cannot be read.", failure.getMessage());
  }

  @Test
  void aScriptThatIsTooLargeIsNotRead() {
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return ' ';
          }
        };
    InvalidRequestException refused =
        assertThrows(InvalidRequestException.class, () -> Script.read(endless, "endless"));
    assertEquals(
        "endless: a script has at most 16777216 bytes, but this one has more.",
        refused.getMessage());
  }
}
