package dev.warpwright.adapters.google;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.warpwright.model.Image;
import dev.warpwright.model.Json;
import dev.warpwright.model.Message;
import dev.warpwright.model.ModelCall;
import dev.warpwright.model.OutputFormat;
import dev.warpwright.model.Part;
import dev.warpwright.model.ProviderException;
import dev.warpwright.model.ProviderState;
import dev.warpwright.model.Reasoning;
import dev.warpwright.model.Role;
import dev.warpwright.model.ToolCall;
import dev.warpwright.model.ToolChoice;
import dev.warpwright.model.ToolResult;
import dev.warpwright.model.ToolSpec;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Golden bodies: exact bytes. */
final class GeminiRequestTest {
  private static final String HI =
      "\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]}]";
  private static final ToolSpec WEATHER =
      new ToolSpec(
          "get_weather",
          "The weather in a city.",
          Json.parse(
              """
              {"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}
              """));
  private static final ToolSpec NOW =
      new ToolSpec("now", "The time.", Json.parse("{\"type\":\"object\",\"properties\":{}}"));
  private static final String TOOLS =
      """
      "tools":[{"functionDeclarations":[{"name":"get_weather",\
      "description":"The weather in a city.","parameters":{"type":"OBJECT",\
      "properties":{"city":{"type":"STRING"}},"required":["city"]}},\
      {"name":"now","description":"The time."}]}]\
      """;

  private static String body(ModelCall call) {
    return new String(GeminiRequest.body("g-3", call), StandardCharsets.UTF_8);
  }

  private static ModelCall.Builder call(Message... messages) {
    return ModelCall.builder(List.of(messages));
  }

  /** The array of contents alone. */
  private static String contents(Message... messages) {
    String body = body(call(messages).build());
    assertTrue(body.startsWith("{\"contents\":[") && body.endsWith("]}"), body);
    return body.substring("{\"contents\":[".length(), body.length() - 2);
  }

  private static Message says(Part... parts) {
    return new Message(Role.ASSISTANT, List.of(parts));
  }

  private static ProviderState state(String modelId, String data) {
    return ProviderState.of("gemini", modelId, Json.parse(data));
  }

  private static ProviderException refused(ModelCall call) {
    ProviderException refused = assertThrows(ProviderException.class, () -> body(call));
    assertEquals(ProviderException.Kind.UNSUPPORTED, refused.kind());
    return refused;
  }

  @Test
  void a_whole_call_is_written_with_every_member_in_its_place() {
    ModelCall call =
        call(
                Message.system("Be brief."),
                Message.system(""),
                Message.system("Be kind."),
                Message.user("Hi"),
                Message.assistant("Hello."),
                Message.user(""),
                Message.user("Weather?"))
            .tools(List.of(WEATHER, NOW))
            .toolChoice(ToolChoice.REQUIRED)
            .temperature(OptionalDouble.of(0.2))
            .maxTokens(OptionalInt.of(99))
            .reasoning(Optional.of(Reasoning.budget(2_048)))
            .output(
                Optional.of(
                    new OutputFormat.JsonSchema(
                        "x",
                        Optional.empty(),
                        Json.parse(
                            """
                            {"type":"object","properties":{"a":{"type":"integer"}},
                             "required":["a"],"additionalProperties":false}
                            """))))
            .build();
    assertEquals(
        """
        {"contents":[{"role":"user","parts":[{"text":"Hi"}]},\
        {"role":"model","parts":[{"text":"Hello."}]},\
        {"role":"user","parts":[{"text":"Weather?"}]}],\
        "systemInstruction":{"parts":[{"text":"Be brief."},{"text":"Be kind."}]},\
        %s,"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},\
        "generationConfig":{"temperature":0.2,"maxOutputTokens":99,\
        "thinkingConfig":{"thinkingBudget":2048,"includeThoughts":true},\
        "responseMimeType":"application/json","responseSchema":{"type":"OBJECT",\
        "properties":{"a":{"type":"INTEGER"}},"required":["a"]}}}\
        """
            .formatted(TOOLS),
        body(call));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "NONE|{\"thinkingBudget\":0}",
        "MINIMAL|{\"thinkingLevel\":\"MINIMAL\",\"includeThoughts\":true}",
        "LOW|{\"thinkingLevel\":\"LOW\",\"includeThoughts\":true}",
        "MEDIUM|{\"thinkingLevel\":\"MEDIUM\",\"includeThoughts\":true}",
        "HIGH|{\"thinkingLevel\":\"HIGH\",\"includeThoughts\":true}",
        "MAX|{\"thinkingLevel\":\"HIGH\",\"includeThoughts\":true}"
      })
  void an_effort_is_a_level_and_none_is_no_budget(Reasoning.Effort effort, String expected) {
    assertEquals(
        "{" + HI + ",\"generationConfig\":{\"thinkingConfig\":" + expected + "}}",
        body(call(Message.user("Hi")).reasoning(Optional.of(Reasoning.effort(effort))).build()));
  }

  @Test
  void any_object_is_asked_for_by_the_media_type_alone() {
    assertEquals(
        "{" + HI + ",\"generationConfig\":{\"responseMimeType\":\"application/json\"}}",
        body(call(Message.user("Hi")).output(Optional.of(new OutputFormat.JsonObject())).build()));
  }

  @Test
  void provider_options_are_kept_and_what_the_call_says_stands_beside_them() {
    ModelCall call =
        call(Message.user("Hi"))
            .tools(List.of(NOW))
            .toolChoice(ToolChoice.tool("now"))
            .maxTokens(OptionalInt.of(5))
            .providerOptions(
                Json.parse(
                    """
                    {"safetySettings":[],"tools":[{"googleSearch":{}}],
                     "toolConfig":{"retrievalConfig":{"languageCode":"en"}},
                     "generationConfig":{"topK":3,"maxOutputTokens":7}}
                    """))
            .build();
    assertEquals(
        """
        {"safetySettings":[],"tools":[{"googleSearch":{}},\
        {"functionDeclarations":[{"name":"now","description":"The time."}]}],\
        "toolConfig":{"retrievalConfig":{"languageCode":"en"},\
        "functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["now"]}},\
        "generationConfig":{"topK":3,"maxOutputTokens":5},%s}\
        """
            .formatted(HI),
        body(call));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "{\"tools\":{}}",
        "{\"toolConfig\":1}",
        "{\"generationConfig\":[]}",
        "{\"generationConfig\":{\"thinkingConfig\":7}}"
      })
  void options_of_another_shape_are_refused(String options) {
    refused(
        call(Message.user("Hi"))
            .tools(List.of(NOW))
            .toolChoice(ToolChoice.REQUIRED)
            .maxTokens(OptionalInt.of(1))
            .reasoning(Optional.of(Reasoning.budget(1)))
            .providerOptions(Json.parse(options))
            .build());
  }

  @Test
  void images_are_inline_data_or_files() {
    assertEquals(
        """
        {"role":"user","parts":[{"text":"See"},\
        {"inlineData":{"mimeType":"image/png","data":"AQI="}},\
        {"fileData":{"mimeType":"image/jpeg","fileUri":"https://x.org/a.JPG?size=1.png"}},\
        {"fileData":{"fileUri":"https://x.org/files/17"}}]}\
        """,
        contents(
            Message.user(
                "See",
                Image.of("image/png", new byte[] {1, 2}),
                new Image("https://x.org/a.JPG?size=1.png"),
                new Image("https://x.org/files/17"))));
  }

  // --- tool rounds -------------------------------------------------------------------------------

  private static final ToolCall A =
      new ToolCall("call_a", "f", Json.parse("{\"id\":2512292042121000001,\"n\":1.10}"));
  private static final ToolCall B = new ToolCall("call_b", "g", Json.EMPTY_OBJECT);

  @Test
  @Tag("FR-G07")
  @Tag("Y28")
  @Tag("Y43")
  @Tag("R202")
  void results_are_objects_in_call_order_and_a_made_up_id_is_never_sent() {
    assertEquals(
        """
        {"role":"user","parts":[{"text":"Hi"}]},\
        {"role":"model","parts":[{"text":"Wait."},\
        {"functionCall":{"name":"f","args":{"id":2512292042121000001,"n":1.10}}},\
        {"functionCall":{"name":"g","args":{}}},{"text":"So."}]},\
        {"role":"user","parts":[\
        {"functionResponse":{"name":"f","response":{"output":[9007199254740993,null]}}},\
        {"functionResponse":{"name":"g","response":{"error":"No \\ufffd."}}}]},\
        {"role":"user","parts":[{"text":"Go on."}]}\
        """
            .replace("\\ufffd", "\ufffd"),
        contents(
            Message.user("Hi"),
            says(new Part.Text("Wait."), A, B, new Part.Text("So.")),
            Message.tool(List.of(ToolResult.failure(B, "No \ud83d."))),
            Message.tool(List.of(ToolResult.success(A, Json.parse("[9007199254740993,null]")))),
            Message.user("Go on.")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"null", "\"text\"", "{\"error\":\"x\"}", "{\"output\":1}", "[]", "1.50"})
  void a_success_of_any_shape_is_told_from_a_failure(String output) {
    String sent =
        contents(
            Message.user("Hi"),
            says(A),
            Message.tool(List.of(ToolResult.success(A, Json.parse(output)))));
    assertTrue(sent.endsWith("\"response\":{\"output\":" + output + "}}}]}"), sent);
  }

  @Test
  @Tag("FR-G05")
  @Tag("FR-G07")
  @Tag("Y47")
  @Tag("R70")
  void signatures_and_ids_of_the_service_go_back_on_their_parts_only() {
    Message answer =
        says(
            state(
                "g-3",
                "{\"part\":{\"text\":\"Hm.\",\"thought\":true,\"thoughtSignature\":\"t+/=\"}}"),
            state(
                "g-3", "{\"before\":\"text 2ee28d54daf55677\",\"thoughtSignature\":\"elsewhere\"}"),
            new Part.Text("Look."),
            state("g-3", "{\"before\":\"text 34621f0d50c83c4d\",\"thoughtSignature\":\"s0\"}"),
            new Part.Text("Wait!"),
            state(
                "g-3",
                "{\"before\":\"call call_a\",\"thoughtSignature\":\"s1+/=\",\"issuedId\":true}"),
            A,
            state("g-3", "{\"before\":\"call call_b\",\"issuedId\":true}"),
            B,
            new ToolCall("c3", "h", Json.EMPTY_OBJECT),
            state("g-3", "{\"part\":{\"text\":\"\",\"thoughtSignature\":\"end\"}}"));
    Message results =
        Message.tool(
            List.of(
                ToolResult.success(A, Json.of(1)),
                ToolResult.success(B, Json.of(2)),
                new ToolResult("c3", "h", Json.of(3), false)));
    assertEquals(
        """
        {"role":"user","parts":[{"text":"Hi"}]},{"role":"model","parts":[\
        {"text":"Hm.","thought":true,"thoughtSignature":"t+/="},{"text":"Look."},\
        {"text":"Wait!","thoughtSignature":"s0"},\
        {"functionCall":{"id":"call_a","name":"f","args":{"id":2512292042121000001,"n":1.10}},\
        "thoughtSignature":"s1+/="},\
        {"functionCall":{"id":"call_b","name":"g","args":{}}},\
        {"functionCall":{"name":"h","args":{}}},{"text":"","thoughtSignature":"end"}]},\
        {"role":"user","parts":[\
        {"functionResponse":{"id":"call_a","name":"f","response":{"output":1}}},\
        {"functionResponse":{"id":"call_b","name":"g","response":{"output":2}}},\
        {"functionResponse":{"name":"h","response":{"output":3}}}]}\
        """,
        contents(Message.user("Hi"), answer, results));
  }

  @Test
  @Tag("FR-G05")
  @Tag("FR-G07")
  @Tag("R70")
  void state_of_another_model_protocol_or_part_is_left_out() {
    String data = "{\"before\":\"call call_a\",\"thoughtSignature\":\"s3cr3t\",\"issuedId\":true}";
    List<List<Part>> answers =
        List.of(
            List.of(state("g-2", data), A),
            List.of(ProviderState.of("anthropic-messages", "g-3", Json.parse(data)), A),
            List.of(state("g-3", data), B),
            List.of(state("g-3", data), new Part.Text("x"), A),
            List.of(state("g-3", "[7]"), A),
            List.of(state("g-2", "{\"part\":{\"text\":\"s3cr3t\"}}"), A));
    for (List<Part> parts : answers) {
      List<ToolResult> results = new ArrayList<>();
      Message answer = new Message(Role.ASSISTANT, parts);
      answer.toolCalls().forEach(c -> results.add(ToolResult.success(c, Json.of(1))));
      String sent = contents(Message.user("Hi"), answer, Message.tool(results));
      assertFalse(sent.contains("s3cr3t") || sent.contains("call_"), sent);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "auto|``|true",
        "none|{\"mode\":\"NONE\"}|false",
        "required|{\"mode\":\"ANY\"}|true",
        "now|{\"mode\":\"ANY\",\"allowedFunctionNames\":[\"now\"]}|true"
      })
  void behind_a_result_no_tool_is_demanded_and_a_forbidden_one_not_offered(
      String choice, String before, boolean offered) {
    ToolChoice wanted =
        switch (choice) {
          case "auto" -> ToolChoice.AUTO;
          case "none" -> ToolChoice.NONE;
          case "required" -> ToolChoice.REQUIRED;
          default -> ToolChoice.tool(choice);
        };
    String tools =
        ",\"tools\":[{\"functionDeclarations\":[{\"name\":\"now\",\"description\":\"The"
            + " time.\"}]}]";
    ModelCall first = call(Message.user("Hi")).tools(List.of(NOW)).toolChoice(wanted).build();
    assertEquals(
        "{"
            + HI
            + tools
            + (before.isEmpty() ? "" : ",\"toolConfig\":{\"functionCallingConfig\":" + before + "}")
            + "}",
        body(first));
    ModelCall later =
        call(Message.user("Hi"), says(B), Message.tool(List.of(ToolResult.success(B, Json.of(1)))))
            .tools(List.of(NOW))
            .toolChoice(wanted)
            .build();
    assertTrue(body(later).endsWith(offered ? "}}}]}]" + tools + "}" : "}}}]}]}"), body(later));
    assertFalse(body(later).contains("toolConfig"), body(later));
  }

  @Test
  void what_the_service_would_refuse_is_refused_before_it_is_sent() {
    refused(call(Message.system("Only.")).build());
    refused(call(Message.user("")).build());
    refused(call(Message.user("Hi")).toolChoice(ToolChoice.REQUIRED).build());
    refused(call(Message.user("Hi")).temperature(OptionalDouble.of(Double.NaN)).build());
    for (String name : List.of("7up", "-x")) {
      ToolSpec tool = new ToolSpec(name, "D.", Json.EMPTY_OBJECT);
      String message = refused(call(Message.user("Hi")).tools(List.of(tool)).build()).getMessage();
      assertTrue(message.contains(name), message);
    }
  }
}
